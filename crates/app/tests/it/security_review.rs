//! The security review and the page on the database describe the newest schema, and name tests and files that exist.

use std::collections::{BTreeMap, BTreeSet};

use crate::pages::{ROOT, files};

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{path}")).expect(path)
}

fn review() -> String {
    read("docs/SECURITY-REVIEW.md")
}

/// The code spans of a text.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The tables of the service's database, by the schema that the store is compiled against.
fn tables() -> BTreeSet<String> {
    let schema = ["schema.rs", "schema/access.rs"]
        .map(|file| read(&format!("crates/adapter-store-diesel/src/{file}")));
    let name = |line: &str| Some(line.strip_prefix("    ")?.split_once(" (")?.0.to_owned());
    let is_name = |name: &String| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let tables =
        schema.iter().flat_map(|file| file.lines()).filter(|line| line.ends_with(") {")).filter_map(name);
    let tables: BTreeSet<String> = tables.filter(is_name).collect();
    assert!(
        tables.len() > 25 && tables.contains("audit_checkpoints") && tables.contains("users"),
        "{tables:?}"
    );
    tables
}

/// A review of an older schema says nothing of what is new.
#[test]
fn the_review_is_not_older_than_the_newest_migration() {
    let newest = |database: &str| {
        let folders = std::fs::read_dir(format!("{ROOT}/migrations/{database}")).unwrap();
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).max().unwrap()
    };
    let newest = newest("sqlite").max(newest("postgres"));
    let review = review();
    let row = review.lines().find(|line| line.starts_with("| newest migration |")).unwrap();
    assert!(
        row.contains(&format!("`{newest}`")),
        "review docs/SECURITY-REVIEW.md again for {newest}, then name it, its date and the commit"
    );
}

#[test]
fn every_table_is_on_the_page_about_data() {
    let text = read("docs/DATABASE.md");
    let (_, rest) = text.split_once("\n## What is kept\n").unwrap();
    let rows = rest.split("\n## ").next().unwrap().lines().filter(|line| line.starts_with("| "));
    let named: BTreeSet<String> =
        rows.flat_map(|row| code(row).map(str::to_owned).collect::<Vec<_>>()).collect();
    let missing: Vec<_> = tables().into_iter().filter(|table| !named.contains(table)).collect();
    assert!(missing.is_empty(), "no row for {missing:?}");
}

/// The items of the review, such as `- 6.2.3 L1 n.a.: …`: requirements, level and result, which is `pass` if none is named.
fn rows(review: &str) -> Vec<(Vec<&str>, &str, &str)> {
    let is_number =
        |text: &&str| text.split('.').count() == 3 && text.starts_with(|c: char| c.is_ascii_digit());
    let items = review.lines().filter_map(|line| {
        let (head, _) = line.strip_prefix("- ")?.split_once(": ")?;
        let (requirements, rating) = head.split_once(" L")?;
        let requirements: Vec<&str> = requirements.split(", ").collect();
        let (level, result) = rating.split_once(' ').unwrap_or((rating, "pass"));
        requirements.iter().all(is_number).then_some((requirements, level, result.trim_matches('*')))
    });
    let rows: Vec<_> = items.collect();
    assert!(rows.len() > 150, "{}", rows.len());
    rows
}

#[test]
fn the_totals_of_the_review_are_those_of_its_rows() {
    let review = review();
    let mut counted: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for (requirements, level, result) in rows(&review) {
        assert!(["pass", "fail", "n.a."].contains(&result), "{requirements:?}: {result}");
        // A row with both levels is not applicable.
        let level = if level.contains('–') { "both" } else { level };
        assert!(level != "both" || result == "n.a.", "{requirements:?}");
        *counted.entry((level, result)).or_default() += requirements.len();
        for requirement in requirements {
            assert!(seen.insert(requirement), "{requirement} stands twice");
        }
    }
    let count = |level, result| counted.get(&(level, result)).copied().unwrap_or_default();
    for level in ["1", "2"] {
        let totals = format!("| {level} | {} | {} |", count(level, "pass"), count(level, "fail"));
        assert!(review.contains(&totals), "{totals}");
    }
    let sum = |result| ["1", "2", "both"].map(|level| count(level, result)).iter().sum::<usize>();
    let totals = format!("| both | {} | {} | {} | {} |", sum("pass"), sum("fail"), sum("n.a."), seen.len());
    assert!(review.contains(&totals), "{totals}");
    // Each failure is explained above, and nothing else is.
    let (_, why) = review.split_once("## What fails and why").unwrap();
    let why = why.split("\n## ").next().unwrap();
    let explained: BTreeSet<&str> = why
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
        .filter(|cell| cell.contains('.'))
        .collect();
    let failed = rows(&review).into_iter().filter(|row| row.2 == "fail").flat_map(|row| row.0).collect();
    assert_eq!(explained, failed);
}

/// A test that was renamed is evidence no more.
#[test]
fn the_review_names_tests_and_files_that_exist() {
    let sources = files(&["rs", "js", "yaml", "yml", "toml", "md", "service", "txt", "sql"]);
    let outside = |path: &std::path::PathBuf| !path.ends_with("docs/SECURITY-REVIEW.md");
    let text: String = sources
        .iter()
        .filter(|path| outside(path))
        .map(|path| std::fs::read_to_string(path).unwrap_or_default())
        .collect();
    let names: BTreeSet<&str> =
        text.split(|character: char| !character.is_alphanumeric() && character != '_').collect();
    let review = review();
    let mut tests = 0;
    for word in code(&review) {
        let is_test = word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.matches('_').count() >= 2
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte.is_ascii_digit());
        if is_test {
            tests += 1;
            assert!(names.contains(word), "nothing is called {word}");
        }
        if word.contains('/')
            && !word.contains(' ')
            && word.rsplit_once('.').is_some_and(|(_, kind)| kind.len() <= 7)
        {
            let found = [word.to_owned(), format!("crates/{word}")];
            assert!(
                found.iter().any(|path| std::path::Path::new(&format!("{ROOT}/{path}")).exists()),
                "no file {word}"
            );
        }
    }
    assert!(tests > 100, "{tests}");
}
