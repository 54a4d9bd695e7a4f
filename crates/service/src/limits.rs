//! Limit changes: batches that give cards one limit. No money moves.

use std::convert::Infallible;

use kopeck_domain::Kopecks;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, LimitChangeId, PartnerId};
use kopeck_domain::ledger::Reference;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::{LimitChange, LimitChangeItem, LimitChangeRefusal, LimitChanges};
use kopeck_domain::request::RequestReference;
use kopeck_port_bank::{DeclineReason, Instruction};
use kopeck_port_store::{BatchTarget, StoreError, UnitOfWork};
use time::Date;

use crate::Env;
use crate::card_batches::{self, BatchDecision, ConflictReason, CreateBatchError, ProcessedKind};
use crate::card_refs::NamedCards;

/// Accepts one limit for many cards, linked or not. No card stands twice in a batch.
///
/// # Errors
/// [`CreateBatchError`].
pub fn set(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    cards: &[CardRef],
    limit: &Limit,
    reference: Option<&RequestReference>,
) -> Result<LimitChange, CreateBatchError<Infallible>> {
    let cards: Vec<_> = cards.iter().map(|card| (card.clone(), ())).collect();
    card_batches::create(unit, env, partner, &cards, Ok(limit.clone()), reference)
}

/// Refuses unknown cards, for a caller that has no valid limit: of the two errors, that of the cards comes first.
///
/// # Errors
/// [`CreateBatchError::Twice`] or [`CreateBatchError::UnknownCards`], and that of a store that fails.
pub fn check_cards(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    cards: &[CardRef],
) -> Result<(), CreateBatchError<Infallible>> {
    let named = NamedCards::find(unit, partner, cards.iter())?;
    card_batches::targets::<LimitChanges, _>(unit, partner, &named).map(drop)
}

impl ProcessedKind for LimitChanges {
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
