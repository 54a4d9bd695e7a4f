//! Replenishments: batches of top-ups, whose money is held, then captured or released card by card.

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::card_batch::{BatchItem, ItemState};
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, PartnerId, ReplenishmentId};
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUpRefusal, TopUps, cover};
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::{Run, RunProgramme};
use kopeck_port_bank::{DeclineReason, Instruction};
use kopeck_port_store::{BatchTarget, StoreError, UnitOfWork};
use time::Date;

use crate::Env;
use crate::card_batches::{self, BatchDecision, ConflictReason, CreateBatchError, ProcessedKind};
use crate::money::{self, MoveError};

/// A card and the amount of its top-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopUp {
    /// The card; no card stands twice in a batch.
    pub card: CardRef,
    /// Kopecks, above zero.
    pub amount: Kopecks,
}

/// Accepts a batch of top-ups. Money is not held before a worker takes it up.
///
/// # Errors
/// [`CreateBatchError`]; its terms are refused if the sum of the amounts does not fit.
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    top_ups: &[TopUp],
    reference: Option<&RequestReference>,
) -> Result<Replenishment, CreateBatchError<AmountOverflow>> {
    let cards: Vec<_> = top_ups.iter().map(|top_up| (top_up.card.clone(), top_up.amount)).collect();
    let sum = Kopecks::sum(top_ups.iter().map(|top_up| top_up.amount));
    card_batches::create(unit, env, partner, &cards, sum, reference)
}

impl ProcessedKind for TopUps {
    const NAME: &'static str = "replenishment";
    const KEY: &'static str = "replenishment";
    const HEEDS_BLOCKS: bool = true;

    fn conflict(target: &BatchTarget, today: Date) -> Option<ConflictReason> {
        match target.status {
            Some(CardStatus::Main) if today > target.valid_until => Some(ConflictReason::Expired),
            Some(CardStatus::Main) => None,
            Some(CardStatus::Additional | CardStatus::TemporarilyBlocked) | None => {
                Some(ConflictReason::NotMain)
            }
        }
    }

    fn instruction(_: &Kopecks, item: &ReplenishmentItem) -> Instruction {
        Instruction::TopUp { card: item.number, amount: item.amount() }
    }

    fn refusal(reason: DeclineReason) -> TopUpRefusal {
        match reason {
            DeclineReason::OverCardLimit => TopUpRefusal::OverCardLimit,
            DeclineReason::Blocked => TopUpRefusal::Blocked,
            DeclineReason::BlockedByPartner => TopUpRefusal::BlockedByPartner,
            DeclineReason::Expired => TopUpRefusal::Expired,
            DeclineReason::NotActivated => TopUpRefusal::NotActivated,
            // A top-up takes no money from a card, so the second reason must mean something else.
            DeclineReason::Closed => TopUpRefusal::Blocked,
            DeclineReason::NotEnoughOnCard | DeclineReason::Refused => TopUpRefusal::RefusedByBank,
        }
    }

    /// Holds what the partner's balance covers, and refuses the other cards.
    fn start(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        batch: &Replenishment,
    ) -> Result<(), StoreError> {
        let sheet = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?;
        let available = sheet.balances.available;
        let (held, uncovered) = if batch.amount() <= available {
            (batch.amount(), Vec::new())
        } else {
            let run = unit.runs().of_replenishment(partner, batch.id())?;
            let programme = run.as_ref().and_then(Run::programme);
            let nobody = programme.is_some_and(RunProgramme::is_all_or_nothing);
            let items = unit.replenishments().items(partner, batch.id(), 0, batch.cards())?;
            cover(&items, if nobody { Kopecks::ZERO } else { available }).map_err(overflow)?
        };
        if !uncovered.is_empty() {
            let refused = ItemState::Refused(TopUpRefusal::NotEnoughBalance);
            let refused: Vec<_> = uncovered.into_iter().map(|ordinal| (ordinal, refused)).collect();
            unit.replenishments().settle_items(partner, batch.id(), &refused)?;
        }
        book(unit, env, partner, batch.id(), MovementKind::Hold, held)
    }

    /// Captures the money of the cards that were topped up, and releases that of the others.
    fn apply(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        batch: &Replenishment,
        decided: &BatchDecision<'_, Self>,
    ) -> Result<(), StoreError> {
        if !decided.done.is_empty() {
            // After the end of the batch every reader sees the new balance, whatever the age of the stored copy.
            let cards: Vec<CardId> = decided.done.iter().map(|item| item.card).collect();
            unit.cards().outdate_bank_view(partner, &cards, env.too_old_at())?;
        }
        book(unit, env, partner, batch.id(), MovementKind::Capture, sum(&decided.done)?)?;
        book(unit, env, partner, batch.id(), MovementKind::Release, sum(&decided.refused)?)
    }

    fn held(item: &ReplenishmentItem) -> Option<Kopecks> {
        Some(item.amount())
    }

    fn card_movement(item: &ReplenishmentItem) -> Option<Kopecks> {
        Some(item.amount())
    }

    fn reference(id: ReplenishmentId) -> Option<Reference> {
        Some(Reference::Replenishment(id))
    }
}

fn book(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: ReplenishmentId,
    kind: MovementKind,
    amount: Kopecks,
) -> Result<(), StoreError> {
    money::book(unit, env, partner, kind, Reference::Replenishment(id), amount).map_err(MoveError::unexpected)
}

fn sum(items: &[&BatchItem<TopUps>]) -> Result<Kopecks, StoreError> {
    Kopecks::sum(items.iter().map(|item| item.amount())).map_err(overflow)
}

fn overflow(error: AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("card_batch_items.amount: {error}"))
}

#[cfg(test)]
mod tests;
