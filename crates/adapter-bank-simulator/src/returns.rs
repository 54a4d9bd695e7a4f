//! Money that comes back from cards, and cards that are closed.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankCard, DeclineReason};

use crate::cards::{bank_card, column};
use crate::clock_reading::ClockReading;
use crate::error::SimulatorError;
use crate::feed::{self, CardChange};
use crate::schema::cards;
use crate::top_up::REFUSED_KOPECKS;

/// `card` after it was closed, and what came back. `None` is a card that the bank does not have.
///
/// Every purchase of the simulator is settled at once, so no closing waits.
pub(crate) fn close(card: Option<&BankCard>) -> Result<(BankCard, Kopecks), DeclineReason> {
    let card = not_closed(card)?;
    if card.balance.get() % 100 == REFUSED_KOPECKS {
        return Err(DeclineReason::Refused);
    }
    let closed = bank_card(Kopecks::ZERO, card.activated_at, Standing::Closed, card.valid_until);
    Ok((closed, card.balance))
}

/// `card` after `amount`, or all that is on it, was taken back, and what that came to. `None` is a card that the bank does not
/// have.
pub(crate) fn withdraw(
    card: Option<&BankCard>,
    amount: Option<Kopecks>,
) -> Result<(BankCard, Kopecks), DeclineReason> {
    let card = not_closed(card)?;
    let amount = amount.unwrap_or(card.balance);
    if !amount.is_positive() || amount > card.balance {
        return Err(DeclineReason::NotEnoughOnCard);
    }
    if amount.get() % 100 == REFUSED_KOPECKS {
        return Err(DeclineReason::Refused);
    }
    let left = card.balance.minus(amount).map_err(|_| DeclineReason::NotEnoughOnCard)?;
    Ok((bank_card(left, card.activated_at, card.standing, card.valid_until), amount))
}

fn not_closed(card: Option<&BankCard>) -> Result<&BankCard, DeclineReason> {
    let card = card.ok_or(DeclineReason::Refused)?;
    match card.standing {
        Standing::Open | Standing::Blocked => Ok(card),
        Standing::Closed => Err(DeclineReason::Closed),
    }
}

/// Closes cards permanently.
pub(crate) fn set_closed(
    connection: &mut SqliteConnection,
    numbers: &[CardNumber],
    moment: ClockReading,
) -> Result<(), SimulatorError> {
    for number in numbers {
        diesel::update(cards::table.find(column(*number)))
            .set(cards::standing.eq(Standing::Closed.as_str()))
            .execute(connection)?;
        feed::add_change(connection, *number, CardChange::Closed, moment)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use time::Date;

    use super::*;

    /// Long expired, never activated, and blocked: none of that is in the way.
    fn card(balance: i64) -> BankCard {
        bank_card(Kopecks::new(balance), None, Standing::Blocked, Date::MIN)
    }

    fn outcome(
        decided: Result<(BankCard, Kopecks), DeclineReason>,
    ) -> Result<(i64, i64, Standing), DeclineReason> {
        decided.map(|(card, returned)| (card.balance.get(), returned.get(), card.standing))
    }

    #[test]
    fn a_part_or_all_is_taken_back() {
        let take =
            |balance, amount: Option<i64>| outcome(withdraw(Some(&card(balance)), amount.map(Kopecks::new)));
        assert_eq!(take(500, Some(200)), Ok((300, 200, Standing::Blocked)));
        assert_eq!(take(500, Some(500)), Ok((0, 500, Standing::Blocked)));
        assert_eq!(take(500, None), Ok((0, 500, Standing::Blocked)));
        assert_eq!(take(500, Some(501)), Err(DeclineReason::NotEnoughOnCard));
        assert_eq!(take(0, None), Err(DeclineReason::NotEnoughOnCard));
        assert_eq!(take(500, Some(113)), Err(DeclineReason::Refused));
        assert_eq!(take(713, None), Err(DeclineReason::Refused));
        assert_eq!(take(713, Some(700)), Ok((13, 700, Standing::Blocked)));
    }

    #[test]
    fn a_closed_card_is_empty() {
        let closed = |balance| outcome(close(Some(&card(balance))));
        assert_eq!(closed(500), Ok((0, 500, Standing::Closed)));
        assert_eq!(closed(0), Ok((0, 0, Standing::Closed)));
        assert_eq!(closed(913), Err(DeclineReason::Refused));
        let gone = BankCard { standing: Standing::Closed, ..card(0) };
        assert_eq!(outcome(close(Some(&gone))), Err(DeclineReason::Closed));
        assert_eq!(outcome(withdraw(Some(&gone), None)), Err(DeclineReason::Closed));
        assert_eq!(
            (outcome(close(None)), outcome(withdraw(None, None))),
            (Err(DeclineReason::Refused), Err(DeclineReason::Refused))
        );
    }
}
