//! Purchases at merchants, and refunds.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::{BankStatus, BlockState};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::event::DeclinedPurchase;
use kopeck_domain::limit::{self, PaymentAttempt};
use kopeck_domain::payment::{Payer, PaymentRefusal};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::BankCard;
use kopeck_port_bank::sandbox::{CommandKey, Purchase, PurchaseOutcome, Refund, SandboxError};

use crate::blocks;
use crate::cards::column;
use crate::clock_reading::{ClockReading, to_micros};
use crate::error::SimulatorError;
use crate::feed;
use crate::idempotency;
use crate::ledger::{self, NewTransaction};
use crate::limits;
use crate::sandbox::existing;
use crate::schema::transactions;
use crate::simulator::Simulator;

impl Simulator {
    pub(crate) fn make_purchase(
        &self,
        number: CardNumber,
        purchase: &Purchase,
    ) -> Result<PurchaseOutcome, SandboxError> {
        let now = self.moment();
        let at = purchase.at.map_or(now, |at| self.moment_of(at));
        positive(purchase.amount)?;
        self.database.write(|connection| {
            let card = existing(connection, number)?;
            if let Some(outcome) = recorded(connection, purchase.key.as_ref())? {
                return Ok(outcome);
            }
            if let Err(refusal) = self.decide(connection, number, &card, purchase, at)? {
                feed::add_declined(connection, number, &declined(purchase, refusal, at), now)?;
                let outcome = PurchaseOutcome::Declined(refusal);
                record(connection, purchase.key.as_ref(), outcome, now)?;
                return Ok(outcome);
            }
            let payment = NewTransaction {
                card: column(number),
                kind: TransactionType::Payment.as_str(),
                amount: purchase.amount.get(),
                executed_at: to_micros(at.now),
                place: purchase.place.as_deref(),
                mcc: purchase.mcc.as_deref(),
                merchant_id: purchase.merchant_id.as_deref(),
                instruction_id: None,
                payment_id: None,
            };
            let transaction = post(connection, payment, purchase.key.as_ref(), now)?;
            self.tell(connection, transaction)?;
            Ok(PurchaseOutcome::Approved(transaction))
        })
    }

    /// Whether a card makes this purchase at this time.
    fn decide(
        &self,
        connection: &mut SqliteConnection,
        number: CardNumber,
        card: &BankCard,
        purchase: &Purchase,
        at: ClockReading,
    ) -> Result<Result<(), PaymentRefusal>, SimulatorError> {
        let limit = limits::of(connection, number)?;
        let spent = match limit.period_around(self.zone(), at.now) {
            Some(period) => ledger::spent(connection, column(number), &period)?,
            None => Kopecks::ZERO,
        };
        let attempt = PaymentAttempt::new(at.now, purchase.amount).at_merchant(purchase.mcc.as_deref());
        let limit = limit::decide(&limit, self.zone(), &attempt, spent);
        let is_blocked = !blocks::blocked(connection, &[number])?.is_empty();
        let block = if is_blocked { BlockState::Blocked } else { BlockState::Open };
        let payer = Payer {
            bank_status: BankStatus::of(card.standing, block),
            valid_until: card.valid_until,
            is_activated: card.activated_at.is_some(),
            balance: card.balance,
        };
        Ok(payer.pays(purchase.amount, at.today, &limit))
    }

    pub(crate) fn make_refund(&self, number: CardNumber, refund: &Refund) -> Result<i64, SandboxError> {
        let now = self.moment();
        positive(refund.amount)?;
        self.database.write(|connection| {
            let paid =
                Payment::find(connection, number, refund.payment)?.ok_or(SandboxError::UnknownPayment)?;
            if let Some(PurchaseOutcome::Approved(transaction)) = recorded(connection, refund.key.as_ref())? {
                return Ok(transaction);
            }
            let left = paid.left(connection)?;
            if refund.amount > left {
                return Err(SandboxError::OverPayment(left));
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
            let transaction = post(connection, given_back, refund.key.as_ref(), now)?;
            self.tell(connection, transaction)?;
            Ok(transaction)
        })
    }

    /// Leaves a transaction in the feed, unless the feed is silent.
    fn tell(&self, connection: &mut SqliteConnection, transaction: i64) -> Result<(), SimulatorError> {
        if self.faults.get().silent_feed { feed::leave_out(connection, transaction) } else { Ok(()) }
    }
}

fn declined(purchase: &Purchase, refusal: PaymentRefusal, at: ClockReading) -> DeclinedPurchase {
    DeclinedPurchase {
        at: at.now,
        amount: purchase.amount,
        reason: Some(refusal),
        place: purchase.place.clone(),
        mcc: purchase.mcc.clone(),
        merchant_id: purchase.merchant_id.clone(),
    }
}

fn positive(amount: Kopecks) -> Result<(), SandboxError> {
    if amount.is_positive() { Ok(()) } else { Err(SandboxError::Amount) }
}

fn recorded(
    connection: &mut SqliteConnection,
    key: Option<&CommandKey>,
) -> Result<Option<PurchaseOutcome>, SimulatorError> {
    key.map_or(Ok(None), |key| idempotency::outcome(connection, key))
}

fn record(
    connection: &mut SqliteConnection,
    key: Option<&CommandKey>,
    outcome: PurchaseOutcome,
    now: ClockReading,
) -> Result<(), SimulatorError> {
    key.map_or(Ok(()), |key| idempotency::note(connection, key, outcome, now))
}

/// Writes a transaction and the key that it was made under.
fn post(
    connection: &mut SqliteConnection,
    transaction: NewTransaction<'_>,
    key: Option<&CommandKey>,
    now: ClockReading,
) -> Result<i64, SimulatorError> {
    let id = ledger::post_one(connection, transaction, to_micros(now.now))?;
    record(connection, key, PurchaseOutcome::Approved(id), now)?;
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
    ) -> Result<Option<Self>, SimulatorError> {
        Ok(transactions::table
            .find(id)
            .filter(transactions::card.eq(column(number)))
            .filter(transactions::kind.eq(TransactionType::Payment.as_str()))
            .select(Self::as_select())
            .first(connection)
            .optional()?)
    }

    /// The amount that is not refunded yet.
    fn left(&self, connection: &mut SqliteConnection) -> Result<Kopecks, SimulatorError> {
        let refunds: Vec<i64> = transactions::table
            .filter(transactions::payment_id.eq(self.id))
            .select(transactions::amount)
            .load(connection)?;
        // Each refund was at most the rest, so the sum and the difference stay within `0..=amount`.
        Ok(Kopecks::new(self.amount - refunds.iter().sum::<i64>()))
    }
}
