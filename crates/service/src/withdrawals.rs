//! Withdrawals: batches that take money back from cards, which arrives on the partner's balance card by card.

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::BatchItem;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::event::ReturnOrigin;
use kopeck_domain::ids::{PartnerId, WithdrawalId};
use kopeck_domain::ledger::Reference;
use kopeck_domain::money::AmountOverflow;
use kopeck_domain::request::RequestReference;
use kopeck_domain::withdrawal::{Withdrawal, WithdrawalItem, WithdrawalRefusal, Withdrawals, asked};
use kopeck_port_bank::{DeclineReason, Instruction};
use kopeck_port_store::{BatchTarget, StoreError, UnitOfWork};
use time::Date;

use crate::card_batches::{self, BatchDecision, ConflictReason, CreateBatchError, ProcessedKind};
use crate::{Env, returns};

/// A card, and what to take from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardWithdrawal {
    /// The card; no card stands twice in a batch.
    pub card: CardRef,
    /// Kopecks, above zero; `None` for all that is on it.
    pub amount: Option<Kopecks>,
}

/// Accepts a batch of cards to take money from, linked or not, whether they can pay or not.
///
/// # Errors
/// [`CreateBatchError`]; its terms are refused if the sum of the amounts does not fit.
pub fn create(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    withdrawals: &[CardWithdrawal],
    reference: Option<&RequestReference>,
) -> Result<Withdrawal, CreateBatchError<AmountOverflow>> {
    let cards: Vec<_> =
        withdrawals.iter().map(|withdrawal| (withdrawal.card.clone(), withdrawal.amount)).collect();
    let amounts: Vec<_> = withdrawals.iter().map(|withdrawal| withdrawal.amount).collect();
    card_batches::create(unit, env, partner, &cards, asked(&amounts), reference)
}

impl ProcessedKind for Withdrawals {
    const NAME: &'static str = "withdrawal";
    const KEY: &'static str = "withdrawal";
    const RETURNS_MONEY: bool = true;
    const CHUNK: u32 = returns::CHUNK;

    /// An expired card gives its money back too.
    fn conflict(_: &BatchTarget, _: Date) -> Option<ConflictReason> {
        None
    }

    fn instruction(_: &Option<Kopecks>, item: &WithdrawalItem) -> Instruction {
        Instruction::Withdraw { card: item.number, amount: item.terms }
    }

    fn refusal(reason: DeclineReason) -> WithdrawalRefusal {
        match reason {
            DeclineReason::NotEnoughOnCard => WithdrawalRefusal::NotEnoughOnCard,
            DeclineReason::Closed => WithdrawalRefusal::Closed,
            DeclineReason::OverCardLimit
            | DeclineReason::Blocked
            | DeclineReason::BlockedByPartner
            | DeclineReason::Expired
            | DeclineReason::NotActivated
            | DeclineReason::Refused => WithdrawalRefusal::RefusedByBank,
        }
    }

    fn start(_: &mut dyn UnitOfWork, _: &Env, _: PartnerId, _: &Withdrawal) -> Result<(), StoreError> {
        Ok(())
    }

    /// Books what came back from each card.
    fn apply(
        unit: &mut dyn UnitOfWork,
        env: &Env,
        partner: PartnerId,
        batch: &Withdrawal,
        decided: &BatchDecision<'_, Self>,
    ) -> Result<(), StoreError> {
        for item in &decided.done {
            returns::book(unit, env, partner, batch, item, ReturnOrigin::Withdrawal(batch.id()))?;
        }
        let cards: Vec<_> = decided.done.iter().chain(&decided.refused).copied().collect();
        returns::outdate(unit, env, partner, &cards)
    }

    fn held(_: &BatchItem<Self>) -> Option<Kopecks> {
        None
    }

    fn reference(id: WithdrawalId) -> Option<Reference> {
        Some(Reference::Withdrawal(id))
    }
}

#[cfg(test)]
mod tests;
