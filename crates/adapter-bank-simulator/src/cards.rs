//! Cards in the database and in the port.

use std::collections::HashMap;
use std::str::FromStr;

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::{BankCard, IssuedCard};
use time::{Date, OffsetDateTime};

use crate::clock_reading::{from_julian, from_micros};
use crate::error::SimulatorError;
use crate::instructions::ROWS_OF_A_STATEMENT;
use crate::schema::{cards, instructions, transactions};

/// The greatest balance after a top-up, in kopecks: 15,000.00.
pub const CARD_LIMIT: Kopecks = Kopecks::new(1_500_000);

/// The column value of a number, which is far below `i64::MAX`.
pub(crate) const fn column(number: CardNumber) -> i64 {
    number.get().cast_signed()
}

pub(crate) fn number(column: i64) -> Result<CardNumber, SimulatorError> {
    CardNumber::from_u64(column.cast_unsigned())
        .map_err(|_| SimulatorError::Corrupt("a card with no card number"))
}

fn word<T: FromStr>(text: &str) -> Result<T, SimulatorError> {
    text.parse().map_err(|_| SimulatorError::Corrupt("a word that is not of the vocabulary"))
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = cards)]
struct AccountRow {
    number: i64,
    balance: i64,
    standing: String,
    valid_until: i32,
    activated_at: Option<i64>,
}

impl AccountRow {
    fn card(&self) -> Result<BankCard, SimulatorError> {
        Ok(bank_card(
            Kopecks::new(self.balance),
            self.activated_at.map(from_micros).transpose()?,
            word(&self.standing)?,
            from_julian(self.valid_until)?,
        ))
    }
}

/// A card of the simulator: balance and account are equal.
pub(crate) fn bank_card(
    balance: Kopecks,
    activated_at: Option<OffsetDateTime>,
    standing: Standing,
    valid_until: Date,
) -> BankCard {
    // A closed card takes no money.
    let remaining_top_up = if standing == Standing::Closed { Kopecks::ZERO } else { room(balance) };
    BankCard { balance, remaining_top_up, account: balance, activated_at, standing, valid_until }
}

/// The possible top-up of a card with this balance. A balance is never negative, so the difference fits.
fn room(balance: Kopecks) -> Kopecks {
    CARD_LIMIT.minus(balance).unwrap_or_default().max(Kopecks::ZERO)
}

pub(crate) fn card(
    connection: &mut SqliteConnection,
    number: CardNumber,
) -> Result<Option<BankCard>, SimulatorError> {
    let row: Option<AccountRow> =
        cards::table.find(column(number)).select(AccountRow::as_select()).first(connection).optional()?;
    row.map(|row| row.card()).transpose()
}

/// The cards of this bank among `numbers`.
pub(crate) fn cards(
    connection: &mut SqliteConnection,
    numbers: &[CardNumber],
) -> Result<HashMap<CardNumber, BankCard>, SimulatorError> {
    let mut found = HashMap::with_capacity(numbers.len());
    for chunk in numbers.chunks(ROWS_OF_A_STATEMENT) {
        let rows: Vec<AccountRow> = cards::table
            .filter(cards::number.eq_any(chunk.iter().copied().map(column)))
            .select(AccountRow::as_select())
            .load(connection)?;
        for row in rows {
            found.insert(number(row.number)?, row.card()?);
        }
    }
    Ok(found)
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = cards)]
struct IssuedRow {
    number: i64,
    kind: String,
    valid_until: i32,
    issued_at: i64,
    activated_at: Option<i64>,
    first_top_up: Option<i64>,
    activation_code: Option<String>,
    code_valid_until: Option<i32>,
}

impl IssuedRow {
    fn card(self) -> Result<IssuedCard, SimulatorError> {
        let first_top_up = self.first_top_up.map(Kopecks::new);
        Ok(IssuedCard {
            number: number(self.number)?,
            kind: word::<CardType>(&self.kind)?,
            valid_until: from_julian(self.valid_until)?,
            activation_code: self.activation_code,
            code_valid_until: self.code_valid_until.map(from_julian).transpose()?,
            first_top_up,
            remaining_top_up: room(first_top_up.unwrap_or_default()),
            activated_at: self.activated_at.map(from_micros).transpose()?,
            issued_at: from_micros(self.issued_at)?,
        })
    }
}

/// Cards of the order under `key` from offset `skip` on.
pub(crate) fn issued(
    connection: &mut SqliteConnection,
    key: &str,
    skip: u32,
    limit: u32,
) -> Result<Vec<IssuedCard>, SimulatorError> {
    let order: Option<i64> = instructions::table
        .filter(instructions::key.eq(key))
        .select(instructions::id)
        .first(connection)
        .optional()?;
    let (Some(order), Ok(skip)) = (order, i32::try_from(skip)) else {
        return Ok(Vec::new());
    };
    let rows: Vec<IssuedRow> = cards::table
        .filter(cards::order_id.eq(order).and(cards::ordinal.ge(skip)))
        .order(cards::ordinal)
        .limit(i64::from(limit))
        .select(IssuedRow::as_select())
        .load(connection)?;
    rows.into_iter().map(IssuedRow::card).collect()
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = transactions)]
pub(crate) struct TransactionRow {
    id: i64,
    executed_at: i64,
    kind: String,
    amount: i64,
    place: Option<String>,
    mcc: Option<String>,
    merchant_id: Option<String>,
}

impl TransactionRow {
    pub(crate) fn transaction(self) -> Result<Transaction, SimulatorError> {
        Ok(Transaction {
            id: self.id,
            executed_at: from_micros(self.executed_at)?,
            kind: word::<TransactionType>(&self.kind)?,
            amount: Kopecks::new(self.amount),
            place: self.place,
            mcc: self.mcc,
            merchant_id: self.merchant_id,
        })
    }
}

/// Transactions of a card with an id above `after`, oldest first.
pub(crate) fn transactions(
    connection: &mut SqliteConnection,
    number: CardNumber,
    after: i64,
    limit: u32,
) -> Result<Vec<Transaction>, SimulatorError> {
    let rows: Vec<TransactionRow> = transactions::table
        .filter(transactions::card.eq(column(number)).and(transactions::id.gt(after)))
        .order(transactions::id)
        .limit(i64::from(limit))
        .select(TransactionRow::as_select())
        .load(connection)?;
    rows.into_iter().map(TransactionRow::transaction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_room_on_a_card_is_never_negative() {
        assert_eq!(room(Kopecks::new(0)), CARD_LIMIT);
        assert_eq!(room(Kopecks::new(1_499_999)), Kopecks::new(1));
        assert_eq!(room(CARD_LIMIT), Kopecks::ZERO);
        assert_eq!(room(Kopecks::new(2_000_000)), Kopecks::ZERO);
    }
}
