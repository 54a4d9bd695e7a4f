//! The powers of the sandbox: what happens to cards outside of the gateway.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::BankCard;
use time::OffsetDateTime;

use crate::cards::{self, column};
use crate::error::SimulatorError;
use crate::ledger::{self, NewTransaction};
use crate::moments::{Moment, from_julian, to_julian, to_micros};
use crate::schema::{cards as cards_table, transactions};
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
    /// When it happens; now, if not given. It decides whether the card has expired.
    pub at: Option<OffsetDateTime>,
}

/// What the bank says to a purchase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PurchaseAnswer {
    /// The money was taken, by this transaction.
    Approved {
        /// Its id among the transactions of the card.
        transaction: i64,
    },
    /// Nothing happened, and there is no transaction.
    Refused(PurchaseRefusal),
}

/// Why a purchase is refused. The text is for the partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum PurchaseRefusal {
    /// Blocked or closed.
    #[error("the card is blocked by the bank")]
    Blocked,
    /// Past its last day.
    #[error("the card has expired")]
    Expired,
    /// A virtual card whose code was not used yet.
    #[error("the card is not activated")]
    NotActivated,
    /// More than there is on the card.
    #[error("not enough money on the card")]
    InsufficientBalance,
}

/// Why a power of the sandbox had no effect.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The bank has no such card.
    #[error("the bank has no such card")]
    UnknownCard,
    /// The card has no such payment.
    #[error("the card has no such payment")]
    UnknownPayment,
    /// The amount is not above zero.
    #[error("the amount must be above zero")]
    Amount,
    /// More than is left of the payment after earlier refunds.
    #[error("only {left} of the payment can still be refunded")]
    OverPayment {
        /// What can still be refunded.
        left: Kopecks,
    },
    /// Not the card's activation code.
    #[error("the activation code is wrong")]
    WrongCode,
    /// The card's code, but after its last day.
    #[error("the activation code has expired")]
    CodeExpired,
    /// The books failed.
    #[error(transparent)]
    Books(#[from] SimulatorError),
}

impl From<diesel::result::Error> for SandboxError {
    fn from(error: diesel::result::Error) -> Self {
        Self::Books(error.into())
    }
}

impl Simulator {
    /// Buys something with a card.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], [`SandboxError::Amount`], or a failure of the books.
    pub fn purchase(
        &self,
        number: CardNumber,
        purchase: &Purchase<'_>,
    ) -> Result<PurchaseAnswer, SandboxError> {
        let moment = purchase.at.map_or_else(|| self.moment(), |at| self.moment_of(at));
        positive(purchase.amount)?;
        self.writing.write(|connection| {
            let card = existing(connection, number)?;
            if let Some(refusal) = refusal(&card, purchase.amount, moment) {
                return Ok(PurchaseAnswer::Refused(refusal));
            }
            let payment = NewTransaction {
                card: column(number),
                kind: TransactionType::Payment.as_str(),
                amount: purchase.amount.get(),
                executed_at: to_micros(moment.now),
                place: purchase.place,
                mcc: purchase.mcc,
                merchant_id: purchase.merchant_id,
                instruction_id: None,
                payment_id: None,
            };
            Ok(PurchaseAnswer::Approved { transaction: ledger::post_one(connection, payment)? })
        })
    }

    /// Gives back all or part of a payment of this card, also in several goes, and gives the id of the new
    /// transaction. A card gets its money back whatever its state.
    ///
    /// # Errors
    /// [`SandboxError::UnknownPayment`], [`SandboxError::OverPayment`], [`SandboxError::Amount`], or a failure of
    /// the books.
    pub fn refund(&self, number: CardNumber, payment: i64, amount: Kopecks) -> Result<i64, SandboxError> {
        let now = to_micros(self.moment().now);
        positive(amount)?;
        self.writing.write(|connection| {
            let paid = Payment::find(connection, number, payment)?.ok_or(SandboxError::UnknownPayment)?;
            let left = paid.left(connection)?;
            if amount > left {
                return Err(SandboxError::OverPayment { left });
            }
            let refund = NewTransaction {
                card: column(number),
                kind: TransactionType::Refund.as_str(),
                amount: amount.get(),
                executed_at: now,
                place: paid.place.as_deref(),
                mcc: paid.mcc.as_deref(),
                merchant_id: paid.merchant_id.as_deref(),
                instruction_id: None,
                payment_id: Some(payment),
            };
            Ok(ledger::post_one(connection, refund)?)
        })
    }

    /// Activates a card, by its code or, without one, by the bank's own hand. A card that is active stays so since
    /// when it was, whatever the code.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], [`SandboxError::WrongCode`], [`SandboxError::CodeExpired`], or a failure of
    /// the books.
    pub fn activate(&self, number: CardNumber, code: Option<&str>) -> Result<(), SandboxError> {
        let moment = self.moment();
        self.writing.write(|connection| {
            if existing(connection, number)?.activated_at.is_some() {
                return Ok(());
            }
            if let Some(code) = code {
                accept_code(connection, number, code, moment)?;
            }
            diesel::update(cards_table::table.find(column(number)))
                .set(cards_table::activated_at.eq(to_micros(moment.now)))
                .execute(connection)?;
            Ok(())
        })
    }

    /// Blocks a card at the bank: it neither pays nor takes top-ups.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], or a failure of the books.
    pub fn block(&self, number: CardNumber) -> Result<(), SandboxError> {
        self.stand(number, Standing::Blocked)
    }

    /// Lifts the bank's block of a card.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], or a failure of the books.
    pub fn unblock(&self, number: CardNumber) -> Result<(), SandboxError> {
        self.stand(number, Standing::Open)
    }

    /// Makes yesterday the last day of a card.
    ///
    /// # Errors
    /// [`SandboxError::UnknownCard`], or a failure of the books.
    pub fn expire(&self, number: CardNumber) -> Result<(), SandboxError> {
        let yesterday = to_julian(self.moment().yesterday());
        self.writing.write(|connection| {
            let changed = diesel::update(cards_table::table.find(column(number)))
                .set(cards_table::valid_until.eq(yesterday))
                .execute(connection)?;
            found(changed)
        })
    }

    fn stand(&self, number: CardNumber, standing: Standing) -> Result<(), SandboxError> {
        self.writing.write(|connection| {
            let changed = diesel::update(cards_table::table.find(column(number)))
                .set(cards_table::standing.eq(standing.as_str()))
                .execute(connection)?;
            found(changed)
        })
    }
}

/// Why a purchase is refused, if it is. The spending limits of a card belong here too.
fn refusal(card: &BankCard, amount: Kopecks, moment: Moment) -> Option<PurchaseRefusal> {
    match card.standing {
        Standing::Blocked | Standing::Closed => return Some(PurchaseRefusal::Blocked),
        Standing::Open => {}
    }
    if moment.today > card.valid_until {
        return Some(PurchaseRefusal::Expired);
    }
    if card.activated_at.is_none() {
        return Some(PurchaseRefusal::NotActivated);
    }
    (amount > card.balance).then_some(PurchaseRefusal::InsufficientBalance)
}

fn positive(amount: Kopecks) -> Result<(), SandboxError> {
    if amount.is_positive() { Ok(()) } else { Err(SandboxError::Amount) }
}

fn existing(connection: &mut SqliteConnection, number: CardNumber) -> Result<BankCard, SandboxError> {
    cards::card(connection, number)?.ok_or(SandboxError::UnknownCard)
}

fn found(changed: usize) -> Result<(), SandboxError> {
    if changed == 0 { Err(SandboxError::UnknownCard) } else { Ok(()) }
}

fn accept_code(
    connection: &mut SqliteConnection,
    number: CardNumber,
    code: &str,
    moment: Moment,
) -> Result<(), SandboxError> {
    let (right, last_day): (Option<String>, Option<i32>) = cards_table::table
        .find(column(number))
        .select((cards_table::activation_code, cards_table::code_valid_until))
        .first(connection)?;
    if right.as_deref() != Some(code) {
        return Err(SandboxError::WrongCode);
    }
    match last_day.map(from_julian).transpose()? {
        Some(last_day) if moment.today > last_day => Err(SandboxError::CodeExpired),
        Some(_) | None => Ok(()),
    }
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
