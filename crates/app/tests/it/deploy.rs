//! `deploy` and the pages for operators name metrics, alarms, settings and commands that exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, Parser as _};
use kopeck::cli::Cli;

use crate::process::{Installation, ask};

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
/// The first page for operators. [`read`] appends those of its folder.
const PAGE: &str = "docs/OPERATIONS.md";
const MORE_PAGES: &str = "docs/operations";
const ALARMS: &str = "deploy/prometheus-alerts.yaml";
const DASHBOARD: &str = "deploy/grafana-dashboard.json";
const COMPOSE: &str = "deploy/compose.yaml";
const DOCKERFILE: &str = "deploy/Dockerfile";
const UNITS: [&str; 2] = ["deploy/systemd/kopeck.service", "deploy/systemd/kopeck-worker.service"];

fn read(path: &str) -> String {
    let mut files = vec![format!("{TOP}/{path}").into()];
    if path == PAGE {
        files.extend(
            std::fs::read_dir(format!("{TOP}/{MORE_PAGES}")).unwrap().map(|file| file.unwrap().path()),
        );
    }
    files.into_iter().map(|file: PathBuf| std::fs::read_to_string(file).expect(path)).collect()
}

/// The words of `text` that begin with `start` and are made of such characters.
fn words<'a>(text: &'a str, start: &str, of: impl Fn(char) -> bool) -> BTreeSet<&'a str> {
    text.split(|character| !of(character)).filter(|word| word.starts_with(start)).collect()
}

fn figures(text: &str) -> BTreeSet<&str> {
    let words = |start| words(text, start, |character| character.is_ascii_lowercase() || character == '_');
    // The metrics of the process have the usual names.
    &words("kopeck_") | &words("process_")
}

fn settings(text: &str) -> BTreeSet<&str> {
    words(text, "KOPECK_", |character| character.is_ascii_uppercase() || character == '_')
}

/// The section of the page under this heading.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("\n{heading}\n")).expect(heading);
    rest.split("\n#").next().unwrap()
}

/// The exported metrics by name, with their kind.
fn exported(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect()
}

/// Whether a query by this name finds anything.
fn is_found(name: &str, exported: &BTreeMap<&str, &str>) -> bool {
    let part_of_a_histogram = || {
        let parts = ["_bucket", "_sum", "_count"].into_iter();
        parts
            .filter_map(|part| name.strip_suffix(part))
            .any(|whole| exported.get(whole) == Some(&"histogram"))
    };
    exported.get(name).is_some_and(|kind| *kind != "histogram") || part_of_a_histogram()
}

#[test]
fn dashboard_alarms_and_page_use_existing_metrics() {
    let installation = Installation::new();
    let running = installation.serve(&["--operations-listen", "127.0.0.1:0"]);
    assert_eq!(ask(&running.base_url, "/v1/balance").0, 401, "calls are counted from the first on");
    let (_, text) = running.ask("/metrics");
    let exported = exported(&text);
    for file in [ALARMS, DASHBOARD] {
        let text = read(file);
        let used = figures(&text);
        assert!(used.len() > 10, "{file}: {used:?}");
        let unknown: Vec<_> = used.into_iter().filter(|name| !is_found(name, &exported)).collect();
        assert!(unknown.is_empty(), "{file}: no such figures: {unknown:?}");
    }
    let page = read(PAGE);
    let explained: BTreeSet<_> = figures(section(&page, "## Metrics"));
    assert_eq!(explained, exported.keys().copied().collect(), "the table of {PAGE}");
}

#[test]
fn every_alarm_is_explained_and_no_other() {
    let (alarms, page) = (read(ALARMS), read(PAGE));
    let raised: BTreeSet<_> =
        alarms.lines().filter_map(|line| line.trim_start().strip_prefix("- alert: Kopeck")).collect();
    let row = |line| str::strip_prefix(line, "| `Kopeck")?.split('`').next();
    let explained: BTreeSet<_> = section(&page, "### What to do").lines().filter_map(row).collect();
    assert!(raised.len() > 10);
    assert_eq!(raised, explained);
}

/// The rule of an alarm: its lines after the name.
fn rule<'a>(alarms: &'a str, name: &str) -> &'a str {
    let (_, rest) = alarms.split_once(&format!("- alert: {name}\n")).expect(name);
    rest.split("\n      - alert: ").next().unwrap()
}

/// A time such as `15s`, `1m`, `7d`, in seconds.
fn seconds(text: &str) -> u64 {
    let (number, unit) = text.split_at(text.len() - 1);
    let unit = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        other => panic!("{other}"),
    };
    number.parse::<u64>().unwrap() * unit
}

/// How long the counters of a rule are looked back at.
fn windows(rule: &str) -> Vec<u64> {
    let windows = rule.split("increase(").skip(1).filter_map(|part| part.split_once('[')?.1.split_once(']'));
    windows.map(|(window, _)| seconds(window)).collect()
}

/// Something that happens once, such as a statement that a failover hits, does not page: an increase is over before the alarm
/// has waited for it.
#[test]
fn no_single_event_pages() {
    let alarms = read(ALARMS);
    let names: Vec<&str> =
        alarms.lines().filter_map(|line| line.trim_start().strip_prefix("- alert: ")).collect();
    let mut counted = 0;
    for name in names {
        let rule = rule(&alarms, name);
        let windows = windows(rule);
        if !rule.contains("severity: page") || windows.is_empty() {
            continue;
        }
        counted += 1;
        let wait = rule.lines().find_map(|line| line.trim().strip_prefix("for: ")).map_or(0, seconds);
        assert!(
            windows.iter().all(|window| *window <= wait),
            "{name} looks back {windows:?} and waits {wait}"
        );
    }
    assert!(counted > 0);
    assert!(rule(&alarms, "KopeckDatabaseFails").contains("for: 1m\n"));
}

/// A failed comparison is repeated only every ten minutes: the window has to hold more failures than the alarm needs.
#[test]
fn a_comparison_that_fails_each_time_is_an_alarm() {
    let alarms = read(ALARMS);
    let rule = rule(&alarms, "KopeckReconciliationFails");
    let (_, needed) = rule.lines().next().unwrap().rsplit_once(" > ").unwrap();
    let window = windows(rule)[0];
    let pause =
        u64::try_from(kopeck_adapter_workers::DailyReconciliation::RETRY_AFTER.whole_seconds()).unwrap();
    let sure = u32::try_from(window / pause - 1).unwrap();
    let needed: f64 = needed.parse().unwrap();
    assert!(needed < f64::from(sure), "{needed} of {sure} within {window} s");
    assert!(needed < 2.0, "two failures in a row");
}

/// The variables of a command and of all below it.
fn variables(command: &clap::Command) -> BTreeSet<String> {
    let own = command.get_arguments().filter_map(|argument| argument.get_env());
    let own = own.map(|name| name.to_str().unwrap().to_owned());
    own.chain(command.get_subcommands().flat_map(variables)).collect()
}

#[test]
fn settings_are_called_by_their_names() {
    let known = variables(&Cli::command());
    let files = [PAGE, COMPOSE, DOCKERFILE, "deploy/kopeck.env", "deploy/compose-secrets"];
    for file in files.into_iter().chain(UNITS) {
        let text = read(file);
        let unknown: Vec<_> = settings(&text).into_iter().filter(|name| !known.contains(*name)).collect();
        assert!(unknown.is_empty(), "{file}: no such settings: {unknown:?}");
    }
    // Every setting is on the page; the variables of `kopeck call` are on another one.
    let page = read(PAGE);
    let explained = settings(&page);
    for command in ["serve", "worker", "bank-simulator", "migrate", "check"] {
        let cli = Cli::command();
        for name in variables(cli.find_subcommand(command).unwrap()) {
            assert!(explained.contains(&*name), "{name} of {command} is not on {PAGE}");
        }
    }
}

#[test]
fn both_pages_for_operators_agree_on_health_checks_and_draining() {
    for page in [PAGE, "docs/SCALING.md"] {
        let text = read(page);
        for word in ["`/health/ready`", "`/health/live`", "`KOPECK_DRAIN_PAUSE`"] {
            assert!(text.contains(word), "{page} does not name {word}");
        }
        let paths = words(&text, "/health/", |character| character.is_ascii_lowercase() || character == '/');
        assert_eq!(paths, BTreeSet::from(["/health/live", "/health/ready"]), "{page}");
    }
}

#[test]
fn commands_are_such_that_the_binary_takes() {
    let compose = read(COMPOSE);
    let units = UNITS.map(read).concat();
    let in_compose =
        compose.lines().filter_map(|line| line.trim().strip_prefix("command: [")?.strip_suffix(']'));
    let in_units = units.lines().filter_map(|line| line.strip_prefix("ExecStart=/usr/bin/kopeck "));
    let commands: Vec<Vec<&str>> = in_compose
        .map(|list| list.split(", ").collect())
        .chain(in_units.map(|line| line.split(' ').collect()))
        .collect();
    assert_eq!(commands.len(), 6, "{commands:?}");
    for command in commands {
        match Cli::try_parse_from(["kopeck"].into_iter().chain(command.iter().copied())) {
            Ok(_) => {}
            // The bank's secret comes from the environment.
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::MissingRequiredArgument, "{command:?}: {error}");
            }
        }
    }
}

#[test]
fn compose_migrates_as_the_owner_and_serves_as_another_role() {
    let compose = read(COMPOSE);
    let urls =
        compose.lines().filter_map(|line| line.trim().strip_prefix("KOPECK_DATABASE_URL: postgres://"));
    let users: Vec<&str> = urls.filter_map(|url| url.split(':').next()).collect();
    assert_eq!(users, ["kopeck_service", "kopeck"], "of all, and of migrate");
    assert!(compose.contains("KOPECK_SERVICE_ROLE: kopeck_service\n"));
    assert!(read("deploy/postgres-service-role.sql").contains("CREATE ROLE kopeck_service LOGIN "));
}

#[test]
fn the_image_is_built_by_the_rust_that_the_workspace_asks_for() {
    let wanted = format!("ARG RUST={}", env!("CARGO_PKG_RUST_VERSION"));
    assert!(read(DOCKERFILE).lines().any(|line| line == wanted), "{wanted}");
}

#[test]
fn the_probe_of_the_image_tells_a_ready_process_from_others() {
    let installation = Installation::new();
    let running = installation.serve(&["--operations-listen", "127.0.0.1:0"]);
    let (_, port) = running.operations.rsplit_once(':').unwrap();
    let probe = |path: &str| {
        Command::new(format!("{TOP}/deploy/probe")).args([path, port]).output().unwrap().status.success()
    };
    assert!(probe("/health/live") && probe("/health/ready"));
    assert!(!probe("/elsewhere"));
    let port = port.to_owned();
    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());
    let after = Command::new(format!("{TOP}/deploy/probe")).args(["/health/live", &port]).output().unwrap();
    assert!(!after.status.success(), "the port is closed");
}

/// Files outside of the crates that the code includes.
fn included(folder: &std::path::Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            included(&entry, found);
        } else if entry.extension().is_some_and(|end| end == "rs") {
            let code = std::fs::read_to_string(&entry).unwrap();
            let paths = code.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next());
            let outside = paths.filter_map(|path| path.rsplit_once("../"));
            found.extend(outside.filter(|(up, _)| up.len() >= 9).map(|(_, path)| path.to_owned()));
        }
    }
}

#[test]
fn the_image_is_built_with_every_file_that_is_compiled_in() {
    let mut needed = BTreeSet::new();
    for source in ["adapter-http", "adapter-store-diesel", "app", "command-line", "service"] {
        included(&std::path::Path::new(TOP).join("crates").join(source).join("src"), &mut needed);
    }
    assert!(needed.contains("docs/API.md"), "{needed:?}");
    let copied = read("deploy/Dockerfile.dockerignore");
    for file in needed.iter().map(String::as_str).chain([".cargo"]) {
        assert!(copied.lines().any(|line| line.strip_prefix('!') == Some(file)), "{file} is left out");
    }
}
