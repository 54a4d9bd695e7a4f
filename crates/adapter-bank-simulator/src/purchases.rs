//! Purchases at merchants, and refunds.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit;
use kopeck_domain::payment::{Payer, PaymentRefusal};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::BankCard;
use time::OffsetDateTime;

use crate::cards::column;
use crate::clock_reading::{ClockReading, to_micros};
use crate::error::SimulatorError;
use crate::idempotency::CommandRetry;
use crate::ledger::{self, NewTransaction};
use crate::limits;
use crate::sandbox::{SandboxError, existing};
use crate::schema::transactions;
use crate::simulator::Simulator;

/// A purchase at a merchant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purchase<'a> {
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Name of the merchant's outlet.
    pub place: Option<&'a str>,
    /// Merchant category code.
    pub mcc: Option<&'a str>,
    /// The merchant's identifier.
    pub merchant_id: Option<&'a str>,
    /// Its time; now by default. It decides expiry and limit.
    pub at: Option<OffsetDateTime>,
    /// Its idempotency key, if it may be retried.
    pub once: Option<CommandRetry<'a>>,
}

/// The bank's decision on a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseDecision {
    /// Paid by this transaction.
    Approved {
        /// Its id among the transactions of the card.
        transaction: i64,
    },
    /// No effect and no transaction.
    Refused(PaymentRefusal),
}

/// Refunds all or part of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refund<'a> {
    /// The id of the payment among the transactions of the card.
    pub payment: i64,
    /// Kopecks, above zero.
    pub amount: Kopecks,
    /// Its idempotency key, if it may be retried.
    pub once: Option<CommandRetry<'a>>,
}

impl Simulator {
    /// Makes a purchase with a card.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], [`SandboxError::Amount`], or a database error.
    pub fn purchase(
        &self,
        number: CardNumber,
        purchase: &Purchase<'_>,
    ) -> Result<PurchaseDecision, SandboxError> {
        let now = self.moment();
        let at = purchase.at.map_or(now, |at| self.moment_of(at));
        positive(purchase.amount)?;
        self.database.write(|connection| {
            let card = existing(connection, number)?;
            if let Some(transaction) = made(connection, purchase.once)? {
                return Ok(PurchaseDecision::Approved { transaction });
            }
            if let Err(refusal) = self.decide(connection, number, &card, purchase.amount, at)? {
                return Ok(PurchaseDecision::Refused(refusal));
            }
            let payment = NewTransaction {
                card: column(number),
                kind: TransactionType::Payment.as_str(),
                amount: purchase.amount.get(),
                executed_at: to_micros(at.now),
                place: purchase.place,
                mcc: purchase.mcc,
                merchant_id: purchase.merchant_id,
                instruction_id: None,
                payment_id: None,
            };
            let transaction = post(connection, payment, purchase.once, now)?;
            Ok(PurchaseDecision::Approved { transaction })
        })
    }

    /// Whether a card pays at this time.
    fn decide(
        &self,
        connection: &mut SqliteConnection,
        number: CardNumber,
        card: &BankCard,
        amount: Kopecks,
        at: ClockReading,
    ) -> Result<Result<(), PaymentRefusal>, SimulatorError> {
        let limit = limits::of(connection, number)?;
        let spent = match limit.period_around(self.zone(), at.now) {
            Some(period) => ledger::spent(connection, column(number), &period)?,
            None => Kopecks::ZERO,
        };
        let limit = limit::decide(&limit, self.zone(), at.now, amount, spent);
        let payer = Payer {
            standing: card.standing,
            valid_until: card.valid_until,
            is_activated: card.activated_at.is_some(),
            balance: card.balance,
        };
        Ok(payer.pays(amount, at.today, &limit))
    }

    /// Refunds all or part of a payment of this card; returns the id of the new transaction. The state of the card
    /// does not matter.
    ///
    /// # Errors
    /// [`SandboxError::UnknownPayment`], [`SandboxError::OverPayment`], [`SandboxError::Amount`], or a database error.
    pub fn refund(&self, number: CardNumber, refund: &Refund<'_>) -> Result<i64, SandboxError> {
        let now = self.moment();
        positive(refund.amount)?;
        self.database.write(|connection| {
            let paid =
                Payment::find(connection, number, refund.payment)?.ok_or(SandboxError::UnknownPayment)?;
            if let Some(transaction) = made(connection, refund.once)? {
                return Ok(transaction);
            }
            let left = paid.left(connection)?;
            if refund.amount > left {
                return Err(SandboxError::OverPayment { left });
            }
            let given_back = NewTransaction {
                card: column(number),
                kind: TransactionType::Refund.as_str(),
                amount: refund.amount.get(),
                executed_at: to_micros(now.now),
                place: paid.place.as_deref(),
                mcc: paid.mcc.as_deref(),
                merchant_id: paid.merchant_id.as_deref(),
                instruction_id: None,
                payment_id: Some(refund.payment),
            };
            Ok(post(connection, given_back, refund.once, now)?)
        })
    }
}

fn positive(amount: Kopecks) -> Result<(), SandboxError> {
    if amount.is_positive() { Ok(()) } else { Err(SandboxError::Amount) }
}

fn made(
    connection: &mut SqliteConnection,
    once: Option<CommandRetry<'_>>,
) -> Result<Option<i64>, SimulatorError> {
    once.map_or(Ok(None), |once| once.made(connection))
}

/// Writes a transaction and the name that it was made under.
fn post(
    connection: &mut SqliteConnection,
    transaction: NewTransaction<'_>,
    once: Option<CommandRetry<'_>>,
    now: ClockReading,
) -> Result<i64, SimulatorError> {
    let id = ledger::post_one(connection, transaction)?;
    once.map_or(Ok(()), |once| once.note(connection, id, now))?;
    Ok(id)
}

/// A payment that can be refunded.
#[derive(Queryable, Selectable)]
#[diesel(table_name = transactions)]
struct Payment {
    id: i64,
    amount: i64,
    place: Option<String>,
    mcc: Option<String>,
    merchant_id: Option<String>,
}

impl Payment {
    fn find(
        connection: &mut SqliteConnection,
        number: CardNumber,
        id: i64,
    ) -> Result<Option<Self>, SandboxError> {
        Ok(transactions::table
            .find(id)
            .filter(transactions::card.eq(column(number)))
            .filter(transactions::kind.eq(TransactionType::Payment.as_str()))
            .select(Self::as_select())
            .first(connection)
            .optional()?)
    }

    /// What earlier refunds have left of it.
    fn left(&self, connection: &mut SqliteConnection) -> Result<Kopecks, SandboxError> {
        let refunds: Vec<i64> = transactions::table
            .filter(transactions::payment_id.eq(self.id))
            .select(transactions::amount)
            .load(connection)?;
        // None of them went over what was left, so neither the sum nor the difference can leave `0..=amount`.
        Ok(Kopecks::new(self.amount - refunds.iter().sum::<i64>()))
    }
}
