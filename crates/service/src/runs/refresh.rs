//! Refreshes the bank's data of cards that a new run names, so that its preview goes by balances of the moment.

use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::run::RunKind;
use kopeck_domain::run::row::{Cells, Meaning};
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Store, StoreError, transact};
use time::Duration;

use super::create::RunInput;
use crate::{Env, card_refs, cards};

/// How long a refresh takes at most. Cards that are left keep their copies: what the bank says of them otherwise is a
/// refusal.
const MOST_TIME: Duration = Duration::seconds(1);

/// Refreshes the stale copies of the cards of `input`, as far as the bank responds in time. Blocks during the bank requests.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn refresh(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    input: &RunInput,
) -> Result<(), StoreError> {
    if !matches!(input.kind, RunKind::TopUp | RunKind::Withdraw) {
        return Ok(());
    }
    let reference = |cells: &_| match Cells::new(cells).meaning(input.kind) {
        Ok(Meaning::TopUp(card, _) | Meaning::Withdraw(card, _)) => Some(card),
        _ => None,
    };
    let references: Vec<CardRef> = input.rows.iter().filter_map(|row| reference(&row.cells)).collect();
    let found = transact(store, Access::Read, move |unit| card_refs::find(unit, partner, &references))?;
    let stale = found.into_iter().flatten().filter(|found| env.is_stale(found.view.bank.seen_at));
    let stale: Vec<CardId> = stale.map(|found| found.view.card.id()).collect();
    let end = env.clock.steady() + MOST_TIME;
    for card in stale {
        if env.clock.steady() >= end {
            break;
        }
        let record = transact(store, Access::Read, move |unit| unit.cards().get(partner, card))?;
        if let Some(record) = record {
            cards::refresh(store, bank, env, partner, record)?;
        }
    }
    Ok(())
}
