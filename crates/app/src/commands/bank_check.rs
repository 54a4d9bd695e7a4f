//! `kopeck bank-check`.

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use kopeck_bank_check::{CheckSettings, RULES, Rule, StormReport, StormSettings, check, plan, storm};

use crate::bank;
use crate::cli::BankCheckArgs;
use crate::command_output::{aligned, note, print};
use crate::compose::SystemAdapters;

/// The exit code where nothing was checked.
const NOT_CHECKED: u8 = 2;

/// Checks a connector: exit 0 if every rule holds, 1 if one is broken, 2 if nothing was checked.
pub(super) fn run(args: &BankCheckArgs) -> ExitCode {
    match carry_out(args) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            crate::report(&error);
            ExitCode::from(NOT_CHECKED)
        }
    }
}

fn carry_out(args: &BankCheckArgs) -> anyhow::Result<bool> {
    let rules: Vec<&'static Rule> = RULES
        .iter()
        .filter(|rule| args.only.is_empty() || args.only.iter().any(|range| range.contains(&rule.number)))
        .collect();
    let Some(url) = args.bank_url.as_ref().filter(|_| !args.list) else {
        let row = |rule: &&Rule| [format!("{:>2}", rule.number), rule.name.to_owned(), rule.title.to_owned()];
        let rows: Vec<_> = rules.iter().map(row).collect();
        return print(format_args!("{}", aligned(&rows))).map(|()| true);
    };
    let adapters = SystemAdapters::real();
    let settings = CheckSettings {
        address: bank::address(url, &args.connection)?,
        run: adapters.ids.next_id(),
        patience: Duration::try_from(args.patience).context("--patience")?,
        clock: adapters.wall,
        progress: if io::stderr().is_terminal() { show_rule } else { |_| {} },
    };
    note(format_args!("kopeck bank-check, run {}, on the account behind {url}:", settings.run.simple()));
    plan().iter().for_each(|line| note(format_args!("  - {line}")));
    anyhow::ensure!(args.test_account, "--test-account confirms that this account is one for tests");
    match args.storm {
        Some(duration) => {
            let duration = Duration::try_from(duration).context("--storm")?;
            let report = storm(&settings, StormSettings { duration, seed: args.seed, cuts: args.cuts })?;
            show_storm(args, &report)?;
            Ok(report.discrepancies.is_empty())
        }
        None => {
            let report = check(&settings, &rules)?;
            if let Some(file) = &args.junit {
                let written = std::fs::write(file, report.to_junit());
                written.with_context(|| format!("cannot write {}", file.display()))?;
            }
            if args.json {
                print(format_args!("{}\n", serde_json::to_string_pretty(&report)?))?;
            } else {
                print(format_args!("{}", report.to_text()))?;
            }
            Ok(report.is_clean())
        }
    }
}

fn show_rule(rule: &Rule) {
    note(format_args!("checking {:>2}  {}", rule.number, rule.title));
}

fn show_storm(args: &BankCheckArgs, report: &StormReport) -> anyhow::Result<()> {
    if args.json {
        return print(format_args!("{}\n", serde_json::to_string_pretty(report)?));
    }
    let StormReport { seed, instructions, done, sent, cuts, discrepancies, left } = report;
    print(format_args!(
        "seed {seed}: {instructions} instructions with a verdict, {done} carried out, sent {sent} times, {cuts} \
         connections cut\n"
    ))?;
    for line in discrepancies {
        print(format_args!("DISCREPANCY {line}\n"))?;
    }
    for card in left {
        print(format_args!("card {card} could be neither closed nor emptied\n"))?;
    }
    let verdict = if discrepancies.is_empty() { "the books agree" } else { "the books do not agree" };
    print(format_args!("{verdict}\n"))
}
