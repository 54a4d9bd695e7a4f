//! The person whom the service asks where a bank must not be sent anything twice and does not know what it was sent.

use anyhow::{Context as _, ensure};
use kopeck_port_bank::BankKey;
use serde_json::Value;

use crate::bank;
use crate::installation::Installation;

/// Settles every stuck instruction by what the bank's books say of it. Nothing may be on its way to the bank any more.
pub(crate) async fn settle(installation: &Installation) -> anyhow::Result<()> {
    let (succeeded, shown) = installation.run(&["requests", "stuck", "--json"]).await?;
    ensure!(succeeded, "requests stuck: {shown}");
    let requests: Vec<Value> = serde_json::from_str(&shown).context("requests stuck")?;
    for request in &requests {
        let id = text(request, "id")?;
        let instructions = request.get("instructions").and_then(Value::as_array);
        for instruction in instructions.into_iter().flatten() {
            let key = text(instruction, "bankKey")?;
            let applied = bank::books(installation)?.applied(&BankKey::new(key))? > 0;
            let outcome = if applied { "applied" } else { "refused" };
            let mut arguments = vec!["requests", "settle", id, "--as", outcome];
            let card = instruction.get("idCard").and_then(Value::as_str);
            arguments.extend(card.into_iter().flat_map(|card| ["--card", card]));
            let (succeeded, said) = installation.run(&arguments).await?;
            // What is applied the worker finds out by itself, perhaps sooner than the person.
            println!(
                "a person settles {key} as {outcome}: {}{}",
                if succeeded { "" } else { "not any more: " },
                said.trim()
            );
        }
    }
    Ok(())
}

fn text<'a>(value: &'a Value, name: &str) -> anyhow::Result<&'a str> {
    value.get(name).and_then(Value::as_str).with_context(|| format!("requests stuck: no {name}"))
}
