//! Closings: batches that close cards for good, and bring their money back card by card.

use std::convert::Infallible;

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::BatchItem;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::closing::{Closing, ClosingItem, ClosingReason, ClosingRefusal, ClosingTerms, Closings};
use kopeck_domain::event::ReturnOrigin;
use kopeck_domain::ids::{CardId, ClosingId, PartnerId};
use kopeck_domain::ledger::Reference;
use kopeck_domain::request::RequestReference;
use kopeck_port_bank::{DeclineReason, Instruction};
use kopeck_port_store::{BatchTarget, StoreError, UnitOfWork};
use time::{Date, Duration};

use crate::card_batches::{self, BatchDecision, ConflictReason, CreateBatchError, ProcessedKind};
use crate::{Env, cards, events, returns};

/// A card to close, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardClosing {
    /// The card; no card stands twice in a batch.
    pub card: CardRef,
    /// Why it is closed.
    pub reason: ClosingReason,
}

/// Accepts a batch of cards to close, linked or not. Lost and stolen cards are blocked at once.
///
/// # Errors
/// [`CreateBatchError`].
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    closings: &[CardClosing],
    reference: Option<&RequestReference>,
) -> Result<Closing, CreateBatchError<Infallible>> {
    let cards: Vec<_> = closings.iter().map(|closing| (closing.card.clone(), closing.reason)).collect();
    let terms = ClosingTerms::of(closings.iter().map(|closing| closing.reason));
    card_batches::create(unit, env, partner, &cards, Ok(terms), reference)
}

impl ProcessedKind for Closings {
    const NAME: &'static str = "closing";
    const KEY: &'static str = "closing";
    const RETURNS_MONEY: bool = true;
    const CHUNK: u32 = returns::CHUNK;

    /// An expired card can be closed too.
    fn conflict(_: &BatchTarget, _: Date) -> Option<ConflictReason> {
        None
    }

    /// None if a card is lost or stolen.
    fn delay(env: &Env, items: &[ClosingItem]) -> Duration {
        let is_urgent = items.iter().any(|item| item.terms.is_urgent());
        if is_urgent { Duration::ZERO } else { env.settings.processing_delay }
    }

    /// Blocks the lost and stolen ones.
    fn accepted(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        items: &[ClosingItem],
    ) -> Result<(), StoreError> {
        for item in items.iter().filter(|item| item.terms.is_urgent()) {
            let Some(record) = unit.cards().get(partner, item.card)? else { continue };
            if let Some((card, event)) = record.card.freeze(record.bank.standing) {
                unit.cards().set_link(partner, &card)?;
                events::append(unit, env, partner, event)?;
            }
        }
        Ok(())
    }

    /// Until no card of an urgent closing is in a batch that moves money: the bank's answer to that may be on its way.
    fn has_to_wait(
        unit: &mut dyn UnitOfWork,
        partner: PartnerId,
        batch: &Closing,
    ) -> Result<bool, StoreError> {
        if !batch.terms().is_urgent {
            return Ok(false);
        }
        let items = unit.closings().items(partner, batch.id(), 0, batch.cards())?;
        let cards: Vec<CardId> = items.iter().map(|item| item.card).collect();
        Ok(unit.closings().targets(partner, &cards)?.iter().any(|target| target.claims.money))
    }

    fn instruction(_: &ClosingTerms, item: &ClosingItem) -> Instruction {
        Instruction::CloseCard { card: item.number }
    }

    fn refusal(reason: DeclineReason) -> ClosingRefusal {
        match reason {
            DeclineReason::Closed => ClosingRefusal::Closed,
            DeclineReason::OverCardLimit
            | DeclineReason::Blocked
            | DeclineReason::BlockedByPartner
            | DeclineReason::Expired
            | DeclineReason::NotActivated
            | DeclineReason::NotEnoughOnCard
            | DeclineReason::Refused => ClosingRefusal::RefusedByBank,
        }
    }

    fn start(_: &mut dyn UnitOfWork, _: &Env, _: PartnerId, _: &Closing) -> Result<(), StoreError> {
        Ok(())
    }

    /// Stores that the cards are closed, and books what came back from each.
    fn apply(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        batch: &Closing,
        decided: &BatchDecision<'_, Self>,
    ) -> Result<(), StoreError> {
        for item in &decided.done {
            cards::store_closed(unit, env, partner, item.card)?;
            returns::book(unit, env, partner, batch, item, ReturnOrigin::Closing(batch.id()))?;
        }
        returns::outdate(unit, env, partner, &decided.refused)
    }

    fn held(_: &BatchItem<Self>) -> Option<Kopecks> {
        None
    }

    fn reference(id: ClosingId) -> Option<Reference> {
        Some(Reference::Closing(id))
    }
}

#[cfg(test)]
mod tests;
