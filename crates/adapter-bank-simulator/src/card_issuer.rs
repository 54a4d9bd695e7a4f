//! Issues the cards of an order.

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{DeclineReason, OrderedCards};
use kopeck_port_system::Entropy;

use crate::activation_codes;
use crate::card_numbers::CardNumbers;
use crate::cards;
use crate::clock_reading::{ClockReading, to_julian, to_micros};
use crate::error::SimulatorError;
use crate::instructions::ROWS_OF_A_STATEMENT;
use crate::ledger::{self, NewTransaction};
use crate::schema::{cards as cards_table, presses};

/// The most cards of an order.
pub const MOST_CARDS_OF_AN_ORDER: u64 = 100_000;

/// The bank refuses an order to an address with this word, so that partners can test a refusal.
const REFUSED_ADDRESS: &str = "DECLINE";

const THE_PRESS: i32 = 1;

/// Whether an order is accepted. After `Ok` only a database error can stop it.
pub(crate) fn decide(lines: &[OrderedCards]) -> Result<(), DeclineReason> {
    let cards: u64 = lines.iter().map(|line| u64::from(line.count)).sum();
    if (1..=MOST_CARDS_OF_AN_ORDER).contains(&cards) && lines.iter().all(acceptable) {
        Ok(())
    } else {
        Err(DeclineReason::Refused)
    }
}

fn acceptable(line: &OrderedCards) -> bool {
    let address_is_fine =
        line.delivery.as_ref().is_none_or(|delivery| !delivery.address.contains(REFUSED_ADDRESS));
    let money_is_fine = line.first_top_up.is_none_or(|amount| line.kind.is_virtual() && amount.is_positive());
    address_is_fine && money_is_fine
}

/// Issues cards.
pub(crate) struct CardIssuer<'a> {
    pub(crate) numbers: CardNumbers,
    pub(crate) entropy: &'a dyn Entropy,
    pub(crate) moment: ClockReading,
}

#[derive(Insertable)]
#[diesel(table_name = cards_table, treat_none_as_default_value = false)]
struct NewCard {
    number: i64,
    kind: &'static str,
    order_id: i64,
    ordinal: i32,
    standing: &'static str,
    valid_until: i32,
    issued_at: i64,
    activated_at: Option<i64>,
    first_top_up: Option<i64>,
    activation_code: Option<String>,
    code_valid_until: Option<i32>,
}

/// The serial numbers of the next cards, by sort.
#[derive(Queryable, Selectable, AsChangeset)]
#[diesel(table_name = presses)]
struct Serials {
    plastic_issued: i64,
    virtual_issued: i64,
}

impl Serials {
    fn next_number(&mut self, numbers: CardNumbers, is_virtual: bool) -> Result<CardNumber, SimulatorError> {
        let serial = if is_virtual { &mut self.virtual_issued } else { &mut self.plastic_issued };
        let unsigned = serial.cast_unsigned();
        let number = if is_virtual { numbers.virtual_card(unsigned) } else { numbers.plastic(unsigned) };
        *serial += 1;
        number.ok_or(SimulatorError::OutOfNumbers)
    }
}

impl CardIssuer<'_> {
    /// Issues the cards of an order that [`decide`] has accepted, after its earlier cards.
    pub(crate) fn issue(
        &self,
        connection: &mut SqliteConnection,
        order: i64,
        lines: &[OrderedCards],
    ) -> Result<(), SimulatorError> {
        let mut serials: Serials =
            presses::table.find(THE_PRESS).select(Serials::as_select()).first(connection)?;
        let mut ordinal = next_ordinal(connection, order)?;
        for line in lines {
            let mut left = usize::try_from(line.count).unwrap_or(usize::MAX);
            while left > 0 {
                let count = left.min(ROWS_OF_A_STATEMENT);
                let cards = self.make(&mut serials, order, &mut ordinal, line, count)?;
                diesel::insert_into(cards_table::table).values(&cards).execute(connection)?;
                fill(connection, order, &cards)?;
                left -= count;
            }
        }
        diesel::update(presses::table.find(THE_PRESS)).set(serials).execute(connection)?;
        Ok(())
    }

    fn make(
        &self,
        serials: &mut Serials,
        order: i64,
        ordinal: &mut i32,
        line: &OrderedCards,
        count: usize,
    ) -> Result<Vec<NewCard>, SimulatorError> {
        let is_virtual = line.kind.is_virtual();
        let issued_at = to_micros(self.moment.now);
        let mut codes = if is_virtual { activation_codes::draw(self.entropy, count) } else { Vec::new() };
        let mut made = Vec::with_capacity(count);
        for _ in 0..count {
            made.push(NewCard {
                number: cards::column(serials.next_number(self.numbers, is_virtual)?),
                kind: line.kind.as_str(),
                order_id: order,
                ordinal: *ordinal,
                standing: Standing::Open.as_str(),
                valid_until: to_julian(self.moment.card_valid_until()),
                issued_at,
                activated_at: (!is_virtual).then_some(issued_at),
                first_top_up: line.first_top_up.map(|amount| amount.get()),
                activation_code: codes.pop(),
                code_valid_until: is_virtual.then(|| to_julian(self.moment.code_valid_until())),
            });
            *ordinal += 1;
        }
        Ok(made)
    }
}

/// Posts the first top-ups of new cards.
fn fill(connection: &mut SqliteConnection, order: i64, cards: &[NewCard]) -> Result<(), SimulatorError> {
    let issued_at = cards.first().map_or(0, |card| card.issued_at);
    let first_top_ups: Vec<_> = cards
        .iter()
        .filter_map(|card| {
            let amount = card.first_top_up?;
            Some(NewTransaction::replenishment(card.number, amount, card.issued_at, order))
        })
        .collect();
    ledger::post(connection, &first_top_ups, issued_at)
}

fn next_ordinal(connection: &mut SqliteConnection, order: i64) -> Result<i32, SimulatorError> {
    let last: Option<i32> = cards_table::table
        .filter(cards_table::order_id.eq(order))
        .select(max(cards_table::ordinal))
        .first(connection)?;
    Ok(last.map_or(0, |last| last + 1))
}

/// The generator of this database; its key is drawn when the database is created.
pub(crate) fn numbers(
    connection: &mut SqliteConnection,
    entropy: &dyn Entropy,
) -> Result<CardNumbers, SimulatorError> {
    let key: Option<i64> =
        presses::table.find(THE_PRESS).select(presses::scramble_key).first(connection).optional()?;
    if let Some(key) = key {
        return Ok(CardNumbers::new(key.cast_unsigned()));
    }
    let mut bytes = [0; 8];
    entropy.fill(&mut bytes);
    let key = i64::from_le_bytes(bytes);
    diesel::insert_into(presses::table)
        .values((presses::id.eq(THE_PRESS), presses::scramble_key.eq(key)))
        .execute(connection)?;
    Ok(CardNumbers::new(key.cast_unsigned()))
}

#[cfg(test)]
mod tests {
    use kopeck_domain::Kopecks;
    use kopeck_domain::card::CardType;
    use kopeck_port_bank::Delivery;

    use super::*;

    const REFUSED: Result<(), DeclineReason> = Err(DeclineReason::Refused);

    fn line(kind: CardType, count: u32, amount: Option<i64>) -> OrderedCards {
        OrderedCards { kind, count, first_top_up: amount.map(Kopecks::new), delivery: None }
    }

    #[test]
    fn only_valid_orders_are_accepted() {
        assert_eq!(decide(&[line(CardType::Mlz, 1, Some(1)), line(CardType::Mp4, 1, None)]), Ok(()));
        assert_eq!(decide(&[line(CardType::Mlz, 60_000, None), line(CardType::Mlz, 40_000, None)]), Ok(()));
        for order in [
            vec![],
            vec![line(CardType::Mlz, 0, Some(1))],
            vec![line(CardType::Mlz, 1, Some(0))],
            vec![line(CardType::Mp4, 1, Some(1))],
            vec![line(CardType::Mlz, 60_000, None), line(CardType::Mlz, 40_001, None)],
            vec![line(CardType::Mlz, u32::MAX, None); 3],
        ] {
            assert_eq!(decide(&order), REFUSED, "{order:?}");
        }
    }

    #[test]
    fn an_address_with_decline_refuses_the_whole_order() {
        let to = |address: &str| {
            let delivery =
                Delivery { address: address.into(), recipient: "DECLINE".into(), phone: "9001234567".into() };
            OrderedCards { delivery: Some(delivery), ..line(CardType::Mp4, 1, None) }
        };
        assert_eq!(decide(&[to("1 Main Street"), to("Decline Road")]), Ok(()));
        assert_eq!(decide(&[to("1 Main Street"), to("1 DECLINE Street")]), REFUSED);
    }
}
