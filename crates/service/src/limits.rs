//! Limit changes: batches that give cards one limit. No money moves.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, LimitChangeId, PartnerId};
use kopeck_domain::ledger::Reference;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::{LimitChange, LimitChangeItem, LimitChangeRefusal, LimitChanges};
use kopeck_domain::request::RequestReference;
use kopeck_port_bank::{DeclineReason, Instruction};
use kopeck_port_store::{BatchTarget, StoreError, UnitOfWork};
use time::Date;

use crate::Env;
use crate::card_batches::{self, BatchDecision, ConflictReason, CreateBatchError, Kind};

/// The limit is unlimited and has another setting too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unlimited is true beside another setting of the limit")]
pub struct LimitConflict;

/// Accepts one limit for many cards, linked or not. No card stands twice in a batch.
///
/// # Errors
/// [`CreateBatchError`]; its terms are refused if the settings of the limit contradict each other.
pub fn set(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    cards: &[CardId],
    limit: &Result<Limit, LimitConflict>,
    reference: Option<RequestReference>,
) -> Result<LimitChange, CreateBatchError<LimitConflict>> {
    let cards: Vec<_> = cards.iter().map(|card| (*card, ())).collect();
    card_batches::create(unit, env, partner, &cards, limit.clone(), reference)
}

impl Kind for LimitChanges {
    const NAME: &'static str = "limit change";
    const KEY: &'static str = "limit";

    fn conflict(target: &BatchTarget, today: Date) -> Option<ConflictReason> {
        (today > target.valid_until).then_some(ConflictReason::Expired)
    }

    fn instruction(limit: &Limit, item: &LimitChangeItem) -> Instruction {
        Instruction::SetLimit { card: item.number, limit: limit.clone() }
    }

    fn refusal(reason: DeclineReason) -> LimitChangeRefusal {
        match reason {
            DeclineReason::Blocked | DeclineReason::BlockedByPartner | DeclineReason::Closed => {
                LimitChangeRefusal::Blocked
            }
            DeclineReason::Expired => LimitChangeRefusal::Expired,
            DeclineReason::NotActivated => LimitChangeRefusal::NotActivated,
            // A limit change moves no money, so these reasons must mean something else.
            DeclineReason::OverCardLimit | DeclineReason::NotEnoughOnCard | DeclineReason::Refused => {
                LimitChangeRefusal::RefusedByBank
            }
        }
    }

    fn start(_: &mut dyn UnitOfWork, _: &Env, _: PartnerId, _: &LimitChange) -> Result<(), StoreError> {
        Ok(())
    }

    /// Stores the new limit of the cards that have it now.
    fn apply(
        unit: &mut dyn UnitOfWork,
        _: &Env,
        partner: PartnerId,
        batch: &LimitChange,
        decided: &BatchDecision<'_, Self>,
    ) -> Result<(), StoreError> {
        if decided.done.is_empty() {
            return Ok(());
        }
        let cards: Vec<CardId> = decided.done.iter().map(|item| item.card).collect();
        unit.cards().set_limit(partner, &cards, batch.limit())
    }

    fn held(_: &LimitChangeItem) -> Option<Kopecks> {
        None
    }

    fn reference(_: LimitChangeId) -> Option<Reference> {
        None
    }
}

#[cfg(test)]
mod tests;
