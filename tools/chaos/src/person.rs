//! The person whom the service asks where a bank must not be sent anything twice and does not know what it was sent.

use anyhow::{Context as _, ensure};
use kopeck_adapter_bank_simulator::Simulator;
use kopeck_port_bank::{BankGateway as _, BankKey, Verdict};
use serde_json::Value;

use crate::bank;
use crate::installation::Installation;

/// An instruction that waits for a person.
struct Stuck {
    /// The card that it is about; none for an order.
    card: Option<String>,
    /// The outcome in the bank's ledger.
    outcome: &'static str,
    /// Kopecks that came back from the card, if it is about money back.
    returned: Option<String>,
}

/// Settles every stuck instruction by what the bank's ledger says of it. Nothing may be on its way to the bank any more.
pub(crate) async fn settle(installation: &Installation) -> anyhow::Result<()> {
    let (succeeded, shown) = installation.run(&["requests", "stuck", "--json"]).await?;
    ensure!(succeeded, "requests stuck: {shown}");
    let requests: Vec<Value> = serde_json::from_str(&shown).context("requests stuck")?;
    for request in &requests {
        let id = text(request, "id")?;
        let stuck = instructions(&bank::books(installation)?, request)?;
        // All at once if they came to the same.
        let alike = stuck.windows(2).all(|pair| {
            matches!(pair, [one, other] if (one.outcome, &one.returned) == (other.outcome, &other.returned))
        });
        let said_of = stuck.iter().take(if alike { 1 } else { stuck.len() });
        for Stuck { card, outcome, returned } in said_of {
            let mut arguments = vec!["requests", "settle", id, "--as", outcome];
            if let Some(card) = card.as_ref().filter(|_| !alike) {
                arguments.extend(["--card", card]);
            }
            if let Some(amount) = returned {
                arguments.extend(["--returned", amount]);
            }
            // A worker may have settled it in the meantime.
            installation.run(&arguments).await?;
        }
        println!("a person looked into {} instructions of {id}", stuck.len());
    }
    Ok(())
}

fn instructions(books: &Simulator, request: &Value) -> anyhow::Result<Vec<Stuck>> {
    let instructions = request.get("instructions").and_then(Value::as_array);
    let stuck = instructions.into_iter().flatten().map(|instruction| {
        let key = BankKey::new(text(instruction, "bankKey")?)?;
        let applied = books.applied(&key)? > 0;
        let verdict = books.query(std::slice::from_ref(&key))?.pop().flatten();
        let returned = match verdict {
            Some(Verdict::Returned(amount)) if applied => Some(amount.to_string()),
            _ => None,
        };
        let card = instruction.get("idCard").and_then(Value::as_str).map(str::to_owned);
        Ok(Stuck { card, outcome: if applied { "applied" } else { "refused" }, returned })
    });
    stuck.collect()
}

fn text<'a>(value: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    value.get(name).and_then(Value::as_str).with_context(|| format!("requests stuck: no {name}"))
}
