//! The workflows in `.github`, and the scripts that they call.

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{TOP}/{path}")).expect(path)
}

fn workflows() -> Vec<(String, String)> {
    let files = std::fs::read_dir(format!("{TOP}/.github/workflows")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.map(|name| (name.clone(), read(&format!(".github/workflows/{name}")))).collect()
}

/// A tag can be moved, a commit cannot.
#[test]
fn actions_are_pinned_to_commits() {
    for (name, text) in workflows() {
        for action in
            text.lines().filter_map(|line| line.trim_start_matches([' ', '-']).strip_prefix("uses: "))
        {
            let (_, commit) = action.split_once('@').unwrap_or_default();
            let (commit, tag) = commit.split_once(" # v").unwrap_or_default();
            let pinned = commit.len() == 40 && commit.bytes().all(|digit| digit.is_ascii_hexdigit());
            assert!(pinned && !tag.is_empty(), "{name}: {action}");
        }
    }
}

#[test]
fn a_workflow_has_no_permission_but_those_of_its_jobs() {
    for (name, text) in workflows() {
        let (head, jobs) = text.split_once("\njobs:\n").expect(&name);
        assert!(head.contains("\npermissions: {}\n"), "{name}");
        let is_job = |line: &&str| line.starts_with("  ") && !line.starts_with("   ") && line.ends_with(':');
        let count = jobs.lines().filter(is_job).count();
        for each in ["    permissions:", "    timeout-minutes:"] {
            assert_eq!(jobs.lines().filter(|line| line.starts_with(each)).count(), count, "{name}: {each}");
        }
    }
}

/// Every step of the nightly workflow is one of `.ci/nightly`, which runs them all without a name.
#[test]
fn the_nightly_workflow_runs_every_step() {
    let script = read(".ci/nightly");
    let (_, all) = script.split_once("steps=(chaos").unwrap();
    let (all, _) = all.split_once(')').unwrap();
    let wanted = format!("step: [{}]", format!("chaos{all}").replace(' ', ", "));
    assert!(read(".github/workflows/nightly.yml").contains(&wanted), "{wanted}");
}

#[test]
fn ci_runs_what_partners_install() {
    let script = read(".ci/run");
    for step in
        ["scripts/test", "scripts/test-clients", "scripts/test-docs-page", "scripts/test-dependencies"]
    {
        assert!(script.lines().any(|line| line.trim_start() == format!("step {step}")), "{step}");
    }
}

/// The workflow has a job for each group of `.ci/run`, which runs them all without a name; the unit tests come first.
#[test]
fn the_workflow_runs_every_group() {
    let script = read(".ci/run");
    let (_, groups) = script.split_once("groups=(unit ").unwrap();
    let (groups, _) = groups.split_once(')').unwrap();
    let workflow = read(".github/workflows/ci.yml");
    let wanted = format!("group: [{}]", groups.replace(' ', ", "));
    assert!(workflow.contains(&wanted), "{wanted}");
    let (_, jobs) = workflow.split_once("\njobs:\n").unwrap();
    let first = jobs.lines().find(|line| line.ends_with(':') && !line.starts_with("   "));
    assert_eq!(first, Some("  unit:"));
    assert!(jobs.contains("      - run: bash .ci/run unit\n"));
}

/// The release of the toolchain is `rust-version` with a patch level.
#[test]
fn the_toolchain_is_pinned() {
    let text = read("rust-toolchain.toml");
    let channel = text.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"')).unwrap();
    let patch = channel.strip_prefix(concat!(env!("CARGO_PKG_RUST_VERSION"), ".")).expect(channel);
    assert!(patch.parse::<u8>().is_ok(), "{channel}");
}
