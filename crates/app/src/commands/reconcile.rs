//! `kopeck reconcile`.

use std::process::ExitCode;

use anyhow::Context as _;
use kopeck_audit::{Entry, Outcome};
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::date_text;
use kopeck_service::bank_reconciliation::Difference;
use serde_json::{Value, json};

use super::audited;
use crate::bank;
use crate::cli::ReconcileArgs;
use crate::command_output::{aligned, print, say};
use crate::compose::{Application, Storage, SystemAdapters};

/// The exit code where the days could not be compared.
const NOT_COMPARED: u8 = 2;

/// Compares days with the bank. What is yet to be read is no difference.
pub(super) fn run(args: &ReconcileArgs) -> ExitCode {
    let compared = compare(args).and_then(|(differences, unread)| {
        show(args, &differences, &unread)?;
        Ok(differences.is_empty())
    });
    match compared {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            crate::report(&error);
            ExitCode::from(NOT_COMPARED)
        }
    }
}

/// The differences, and the movements of the running day that are yet to be read.
fn compare(args: &ReconcileArgs) -> anyhow::Result<(Vec<Difference>, Vec<Difference>)> {
    anyhow::ensure!(args.from <= args.to, "--to is before --from");
    let adapters = SystemAdapters::real();
    let storage = Storage::open_existing(&args.store)?;
    let (adapters, _) = adapters.with_clock_of(&storage.folder)?;
    let keys = storage.keys.ring()?;
    let (url, settings) = (args.store.database_url(), args.store.settings());
    let application = Application::with_parts(url, &keys, &adapters, settings, super::parts(&args.store))?;
    let bank = bank::gateway(&args.bank, &storage.folder, &adapters, settings)?;
    let mut differences = Vec::new();
    let compared =
        application
            .bank_reconciler(bank)
            .compare(&(args.from..=args.to), &|| false, &mut |difference| differences.push(difference));
    let outcome = if compared.is_ok() { Outcome::Done } else { Outcome::Failed };
    let (from, to) = (date_text(args.from), date_text(args.to));
    let subject = format!("from:{from} to:{to} differences:{}", differences.len());
    let entry = Entry { subject, outcome, ..audited::entry(&*application.env.clock, "bank.reconcile", None) };
    audited::append(&*application.store, entry)?;
    let unread = compared.context("the days could not be compared")?;
    Ok((differences, unread))
}

fn show(args: &ReconcileArgs, differences: &[Difference], unread: &[Difference]) -> anyhow::Result<()> {
    if args.json {
        let [differences, unread] =
            [differences, unread].map(|list| list.iter().map(as_json).collect::<Vec<Value>>());
        let shown = json!({"differences": differences, "unread": unread});
        return say!("{}", serde_json::to_string_pretty(&shown)?);
    }
    if !unread.is_empty() {
        say!("left out, as the service has not read them from the bank's feed yet: {}", unread.len())?;
    }
    if differences.is_empty() {
        return say!("no differences");
    }
    let head = ["day", "card", "here", "bank", "transaction", "key", "difference"].map(str::to_owned);
    let lines: Vec<_> = std::iter::once(head).chain(differences.iter().map(row)).collect();
    print(format_args!("{}", aligned(&lines)))?;
    say!("differences: {}", differences.len())
}

fn row(difference: &Difference) -> [String; 7] {
    let Difference { day, partner: _, card, transaction, key, here, there, kind } = difference;
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let amount = |amount: &Option<Kopecks>| or_dash(amount.map(|amount| amount.to_string()));
    let transaction = or_dash(transaction.map(|id| id.to_string()));
    let key = or_dash(key.as_ref().map(|key| key.as_str().to_owned()));
    [date_text(*day), card.to_string(), amount(here), amount(there), transaction, key, kind.to_string()]
}

/// Money is kopecks, as in the API.
fn as_json(difference: &Difference) -> Value {
    let Difference { day, partner, card, transaction, key, here, there, kind } = difference;
    json!({
        "day": date_text(*day),
        "difference": kind.name(),
        "text": kind.to_string(),
        "partnerId": partner.map(|partner| partner.to_string()),
        "customIdCard": card.to_string(),
        "transactionId": transaction,
        "bankKey": key.as_ref().map(|key| key.as_str()),
        "amountHere": here.map(Kopecks::get),
        "amountBank": there.map(Kopecks::get),
    })
}
