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

/// The files of requirements in `.github/python`, by the name without its ending.
fn requirements() -> Vec<String> {
    let files = std::fs::read_dir(format!("{TOP}/.github/python")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter_map(|name| name.strip_suffix(".in").map(str::to_owned)).collect()
}

/// A version can be replaced where it is kept, and a package asks for others: each file that a release installs is known by its
/// digest, and nothing of it is built.
#[test]
fn a_release_installs_from_pypi_what_it_knows_by_digest() {
    let release = read(".github/workflows/release.yml");
    let installs: Vec<&str> = release.lines().filter(|line| line.contains("pip install")).collect();
    assert_eq!(installs.len(), requirements().len(), "{installs:?}");
    for line in installs {
        let (_, file) = line
            .split_once("--require-hashes --only-binary :all: --requirement .github/python/")
            .expect(line);
        let listed =
            file.strip_suffix(".txt").is_some_and(|name| requirements().iter().any(|one| one == name));
        assert!(listed, "{line}");
    }
    for line in release.lines().filter(|line| line.contains("python -m build ")) {
        assert!(line.contains(" --no-isolation "), "a backend would be fetched: {line}");
    }
    let tools = ["npx ", "pipx ", "curl ", "wget "];
    for (place, line) in release.lines().enumerate() {
        assert!(!tools.iter().any(|tool| line.contains(tool)), "line {}: {line}", place + 1);
    }
}

#[test]
fn each_requirement_of_a_release_has_its_digests() {
    for name in requirements() {
        let (asked, locked) =
            (read(&format!(".github/python/{name}.in")), read(&format!(".github/python/{name}.txt")));
        for package in asked.lines().filter(|line| !line.starts_with('#')) {
            assert!(
                package.contains("==") && locked.contains(&format!("{package} \\\n")),
                "{name}: {package}"
            );
        }
        // One entry: `name==version ; marker \`, and lines of digests.
        let entries = locked.replace(" \\\n    --hash", " --hash");
        for entry in entries.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let (package, digests) = entry.split_once(" --hash=").unwrap_or((entry, ""));
            assert!(package.contains("==") && !digests.is_empty(), "{name}: {entry}");
            for digest in digests.split(" --hash=") {
                let hex = digest.trim().strip_prefix("sha256:").expect(entry);
                assert!(hex.len() == 64 && hex.bytes().all(|digit| digit.is_ascii_hexdigit()), "{entry}");
            }
        }
    }
}

/// The backend that the client asks for is the one that a release has.
#[test]
fn the_backend_of_the_python_client_is_pinned() {
    let project = read("clients/python/pyproject.toml");
    let backend = project.lines().find_map(|line| line.strip_prefix("requires = [\"")?.split('>').next());
    let backend = backend.expect("the backend");
    assert!(read(".github/python/build.in").lines().any(|line| line.starts_with(&format!("{backend}=="))));
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
