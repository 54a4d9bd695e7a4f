//! Forecasts whether a payment would be approved. Nothing is booked.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::limit::{self, PaymentAttempt};
use kopeck_domain::payment::{Payer, PaymentRefusal};
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Store, UnitOfWork, transact};
use time::OffsetDateTime;

use crate::Env;
use crate::cards::{self, CardError, CardSnapshot};
use crate::transactions::{self, TransactionsError};

/// The forecast of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// The reason of a decline; `None` if it would be approved.
    pub refusal: Option<PaymentRefusal>,
    /// The rest of the limit in the period; `None` without an amount.
    pub remaining: Option<Kopecks>,
    /// The start of the next period; `None` without an amount.
    pub resets_at: Option<OffsetDateTime>,
}

/// Refreshes the copy of the card, and that of its transactions if the limit depends on them. While the bank is
/// unavailable, older copies serve. Blocks during bank requests.
///
/// # Errors
/// [`TransactionsError`].
pub fn prepare(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<(), TransactionsError> {
    let record = transact(store, Access::Read, move |unit| unit.cards().get(partner, id))?
        .ok_or(TransactionsError::NotFound)?;
    let spending_matters = record.limit.allowance().is_some();
    if env.is_stale(record.bank.seen_at) {
        cards::refresh(store, bank, env, partner, record)?;
    }
    if spending_matters { transactions::sync(store, bank, env, partner, id) } else { Ok(()) }
}

/// The payment to forecast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// How much.
    pub amount: Kopecks,
    /// When; now, if `None`.
    pub at: Option<OffsetDateTime>,
    /// The merchant's category code, as a bank names it.
    pub mcc: Option<String>,
}

/// Forecasts a payment from the stored copies.
///
/// # Errors
/// [`CardError`].
pub fn can_pay(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: CardId,
    question: &Question,
) -> Result<Forecast, CardError> {
    let (at, zone) = (question.at.unwrap_or_else(|| env.now()), env.settings.zone);
    let CardSnapshot { record, .. } = cards::get(unit, env, partner, id)?;
    let spent = match record.limit.period_around(zone, at) {
        Some(period) => unit.transactions().spent(partner, id, period.start, period.end)?,
        None => Kopecks::ZERO,
    };
    let attempt = PaymentAttempt::new(at, question.amount).at_merchant(question.mcc.as_deref());
    let decision = limit::decide(&record.limit, zone, &attempt, spent);
    let payer = Payer {
        bank_status: record.card.bank_status(record.bank.standing),
        valid_until: record.card.valid_until(),
        is_activated: record.bank.activated_at.is_some(),
        balance: record.bank.balance,
    };
    let refusal = payer.pays(question.amount, zone.day(at), &decision).err();
    Ok(Forecast { refusal, remaining: decision.remaining, resets_at: decision.resets_at })
}

#[cfg(test)]
mod tests;
