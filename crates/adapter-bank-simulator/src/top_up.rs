//! The decision on a top-up.

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_port_bank::{BankCard, DeclineReason};
use time::Date;

use crate::cards::bank_card;

/// The kopecks of an amount that the bank refuses, so that a refusal can be tried out.
pub(crate) const REFUSED_KOPECKS: i64 = 13;

/// `card` after `amount` was put on it. `None` is a card that the bank does not have.
pub(crate) fn decide(
    card: Option<&BankCard>,
    amount: Kopecks,
    today: Date,
) -> Result<BankCard, DeclineReason> {
    let card = card.ok_or(DeclineReason::Refused)?;
    if !amount.is_positive() || amount.get() % 100 == REFUSED_KOPECKS {
        return Err(DeclineReason::Refused);
    }
    match card.standing {
        Standing::Blocked | Standing::Closed => return Err(DeclineReason::Blocked),
        Standing::Open => {}
    }
    if today > card.valid_until {
        return Err(DeclineReason::Expired);
    }
    if card.activated_at.is_none() {
        return Err(DeclineReason::NotActivated);
    }
    if amount > card.remaining_top_up {
        return Err(DeclineReason::OverCardLimit);
    }
    let balance = card.balance.plus(amount).map_err(|_| DeclineReason::OverCardLimit)?;
    Ok(bank_card(balance, card.activated_at, card.standing, card.valid_until))
}

#[cfg(test)]
mod tests {
    use time::OffsetDateTime;

    use super::*;

    const TODAY: Date = OffsetDateTime::UNIX_EPOCH.date();

    fn card() -> BankCard {
        bank_card(Kopecks::new(1_000_000), Some(OffsetDateTime::UNIX_EPOCH), Standing::Open, TODAY)
    }

    fn on(card: BankCard, amount: i64) -> Result<i64, DeclineReason> {
        decide(Some(&card), Kopecks::new(amount), TODAY).map(|card| card.balance.get())
    }

    #[test]
    fn up_to_the_limit_and_to_the_last_day_it_is_done() {
        assert_eq!(on(card(), 1), Ok(1_000_001));
        assert_eq!(on(card(), 500_000), Ok(1_500_000));
    }

    #[test]
    fn each_reason_to_refuse() {
        assert_eq!(on(card(), 500_001), Err(DeclineReason::OverCardLimit));
        for standing in [Standing::Blocked, Standing::Closed] {
            assert_eq!(on(BankCard { standing, ..card() }, 1), Err(DeclineReason::Blocked));
        }
        let expired = BankCard { valid_until: TODAY.previous_day().unwrap(), ..card() };
        assert_eq!(on(expired, 1), Err(DeclineReason::Expired));
        assert_eq!(on(BankCard { activated_at: None, ..card() }, 1), Err(DeclineReason::NotActivated));
        for amount in [13, 113, 500_013, 900_000_013, 0, -1] {
            assert_eq!(on(card(), amount), Err(DeclineReason::Refused), "{amount}");
        }
        assert_eq!(decide(None, Kopecks::new(1), TODAY), Err(DeclineReason::Refused));
    }
}
