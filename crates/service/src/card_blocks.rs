//! Notifies the bank of the blocks that partners set on cards and lift.
//!
//! The partner's own block holds from the response on: `can-pay` and the events say so at once. The bank is notified apart from
//! all other work, so that a stolen card waits behind no top-ups. A block stays unconfirmed until the bank has confirmed it, so a
//! crash or an outage of the bank loses none. Several processes may send the same one: it has one key, and its number tells the
//! bank which of two is the later.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use kopeck_domain::card::Card;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_bank::{BankGateway, BankKey, DeclineReason, Instruction, Submission, Verdict};
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};

use crate::{Env, Progress, events};

/// Blocks of a round.
const PAGE: u32 = 1_000;

/// Sends blocks to the bank, a page at a time.
pub struct BlockSender {
    store: Arc<dyn Store>,
    bank: Arc<dyn BankGateway>,
    env: Arc<Env>,
    /// Blocks that the bank refused for other reasons. They are not sent again until a restart.
    refused: HashSet<(CardId, u32)>,
}

impl BlockSender {
    /// A sender over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, bank: Arc<dyn BankGateway>, env: Arc<Env>) -> Self {
        Self { store, bank, env, refused: HashSet::new() }
    }

    /// Sends what the bank has not confirmed, and stores what it confirms. Blocks during the bank request.
    ///
    /// # Errors
    /// [`StoreError`]; what was not stored is sent again.
    pub fn run_once(&mut self) -> Result<Progress, StoreError> {
        // Those that the bank refused stay unconfirmed, and must not fill the page.
        let page = PAGE.saturating_add(u32::try_from(self.refused.len()).unwrap_or(u32::MAX));
        let mut due =
            transact(&*self.store, Access::Read, move |unit| unit.cards().unconfirmed_blocks(page))?;
        due.retain(|(_, card)| !self.refused.contains(&(card.id(), card.block().change)));
        let submissions: Vec<Submission> = due.iter().filter_map(|(_, card)| submission(card)).collect();
        if submissions.is_empty() {
            return Ok(Progress::Idle);
        }
        let mut confirmed: BTreeMap<PartnerId, Vec<(CardId, u32)>> = BTreeMap::new();
        let mut unanswered = 0_usize;
        for ((partner, card), verdict) in due.iter().zip(self.bank.submit(&submissions)) {
            let (id, change) = (card.id(), card.block().change);
            match verdict {
                // A closed card pays no more than a blocked one; that it is closed comes with the bank's next word of it.
                Ok(Verdict::Done | Verdict::Declined(DeclineReason::Blocked | DeclineReason::Closed)) => {
                    confirmed.entry(*partner).or_default().push((id, change));
                }
                Ok(verdict @ (Verdict::Declined(_) | Verdict::Returned(_))) => {
                    log::error!(card:% = id, verdict:? = verdict; "the bank refused to block or unblock a card");
                    self.refused.insert((id, change));
                }
                Ok(Verdict::Pending) => unanswered += 1,
                Err(error) => {
                    if unanswered == 0 {
                        log::debug!(reason:% = error; "blocks of cards have no response from the bank yet");
                    }
                    unanswered += 1;
                }
            }
        }
        for (partner, changes) in confirmed {
            let env = Arc::clone(&self.env);
            transact(&*self.store, Access::Write, move |unit| confirm(unit, &env, partner, &changes))?;
        }
        Ok(if unanswered == 0 { Progress::More } else { Progress::BankUnavailable })
    }
}

fn submission(card: &Card) -> Option<Submission> {
    let blocked = card.block().unconfirmed()?;
    let (id, change) = (card.id(), card.block().change);
    let instruction = Instruction::SetBlock { card: card.number(), blocked, change };
    Some(Submission { key: BankKey::of("block", id.uuid(), Some(change)), instruction })
}

/// Stores what the bank confirmed, unless the partner has changed its mind since.
fn confirm(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    changes: &[(CardId, u32)],
) -> Result<(), StoreError> {
    for (id, change) in changes {
        let Some(record) = unit.cards().get(partner, *id)? else { continue };
        if record.card.block().change != *change {
            continue;
        }
        if let Some((card, event)) = record.card.confirm_block(record.bank.standing) {
            unit.cards().set_link(partner, &card)?;
            events::append(unit, env, partner, event)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
