//! Card limits.

use diesel::prelude::*;
use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::{Days, Limit, MerchantCategories};
use kopeck_port_bank::{BankCard, DeclineReason};
use time::Date;

use crate::cards::column;
use crate::error::SimulatorError;
use crate::instructions::ROWS_OF_A_STATEMENT;
use crate::schema::limits;

/// Whether a limit is set. `None` is a card of another bank.
///
/// A blocked or inactive card accepts a limit: it moves no money.
pub(crate) fn decide(card: Option<&BankCard>, today: Date) -> Result<(), DeclineReason> {
    let card = card.ok_or(DeclineReason::Refused)?;
    match card.standing {
        Standing::Open | Standing::Blocked => {}
        Standing::Closed => return Err(DeclineReason::Blocked),
    }
    if today > card.valid_until { Err(DeclineReason::Expired) } else { Ok(()) }
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = limits, treat_none_as_default_value = false)]
struct LimitRow {
    card: i64,
    amount: Option<i64>,
    period: Option<String>,
    days: String,
    windows: String,
    only_categories: Option<String>,
    except_categories: Option<String>,
}

impl LimitRow {
    fn new(card: CardNumber, limit: &Limit) -> Self {
        let allowance = limit.allowance();
        let (only, except) = match limit.merchant_categories() {
            Some(MerchantCategories::Only(list)) => (Some(joined(list.ranges())), None),
            Some(MerchantCategories::Except(list)) => (None, Some(joined(list.ranges()))),
            None => (None, None),
        };
        Self {
            card: column(card),
            amount: allowance.map(|allowance| allowance.amount().get()),
            period: allowance.map(|allowance| allowance.period().to_string()),
            days: joined(limit.days().numbers()),
            windows: joined(limit.windows()),
            only_categories: only,
            except_categories: except,
        }
    }

    fn limit(self) -> Result<Limit, SimulatorError> {
        self.read().map_err(|_| SimulatorError::Corrupt("a malformed limit"))
    }

    fn read(self) -> Result<Limit, Invalid> {
        let days = split(&self.days).map(|day| day.parse::<i64>().map_err(|_| Invalid::new("no number")));
        let days = Days::parse(&days.collect::<Result<Vec<_>, _>>()?)?;
        let limit = Limit::on(days).within(split(&self.windows));
        let limit = match (&self.only_categories, &self.except_categories) {
            (Some(only), None) => limit.only_at(split(only)),
            (None, Some(except)) => limit.except_at(split(except)),
            (None, None) => limit,
            (Some(_), Some(_)) => return Err(Invalid::new("two settings of merchant categories")),
        };
        match (self.amount, self.period) {
            (Some(amount), Some(period)) => limit.per(period.parse()?, Kopecks::new(amount)).build(),
            (None, None) => limit.build(),
            (Some(_), None) | (None, Some(_)) => Err(Invalid::new("half of an amount with its period")),
        }
    }
}

fn joined(items: impl IntoIterator<Item: ToString>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(",")
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|part| !part.is_empty())
}

/// Reads the limit of a card.
pub(crate) fn of(connection: &mut SqliteConnection, card: CardNumber) -> Result<Limit, SimulatorError> {
    let row: Option<LimitRow> =
        limits::table.find(column(card)).select(LimitRow::as_select()).first(connection).optional()?;
    row.map_or(Ok(Limit::Unlimited), LimitRow::limit)
}

/// Sets the limits of cards, the last of several for one card.
pub(crate) fn set(
    connection: &mut SqliteConnection,
    changes: &[(CardNumber, &Limit)],
) -> Result<(), SimulatorError> {
    for chunk in changes.chunks(ROWS_OF_A_STATEMENT) {
        let unlimited = chunk.iter().filter(|(_, limit)| limit.is_unlimited());
        diesel::delete(limits::table.filter(limits::card.eq_any(unlimited.map(|(card, _)| column(*card)))))
            .execute(connection)?;
        let limited = chunk.iter().filter(|(_, limit)| !limit.is_unlimited());
        let rows: Vec<LimitRow> = limited.map(|(card, limit)| LimitRow::new(*card, limit)).collect();
        diesel::replace_into(limits::table).values(&rows).execute(connection)?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use kopeck_domain::Kopecks;
    use time::OffsetDateTime;

    use super::*;
    use crate::cards::bank_card;

    const TODAY: Date = OffsetDateTime::UNIX_EPOCH.date();

    /// The limit of these parts; of none it is unlimited. A window is `HH:MM-HH:MM`.
    pub(crate) fn limit(allowance: Option<(i64, &str)>, days: &[i64], windows: &[&str]) -> Limit {
        if allowance.is_none() && days.is_empty() && windows.is_empty() {
            return Limit::Unlimited;
        }
        let row = LimitRow {
            card: 0,
            amount: allowance.map(|(amount, _)| amount),
            period: allowance.map(|(_, period)| period.to_owned()),
            days: joined(days),
            windows: joined(windows),
            only_categories: None,
            except_categories: None,
        };
        row.limit().unwrap()
    }

    #[test]
    fn limits_survive_the_round_trip() {
        let number = CardNumber::from_u64(1_000_000_000).unwrap();
        for limit in [
            limit(Some((1, "CQUARTET")), &[], &[]),
            limit(None, &[7, 1, 3], &[]),
            limit(None, &[], &["22:00-06:00", "12:00-13:00"]),
            limit(Some((i64::MAX, "CDAY")), &[1, 2, 3, 4, 5, 6, 7], &["09:00-18:00", "18:00-24:00"]),
            Limit::only_at(["5812", "5411-5499"]).build().unwrap(),
            Limit::on([]).except_at(["0742", "0742"]).build().unwrap(),
        ] {
            assert_eq!(LimitRow::new(number, &limit).limit().unwrap(), limit);
        }
    }

    #[test]
    fn an_invalid_limit_is_corrupt() {
        let sound = || LimitRow {
            card: 0,
            amount: Some(1),
            period: Some("CDAY".to_owned()),
            days: String::new(),
            windows: String::new(),
            only_categories: None,
            except_categories: None,
        };
        let text = |text: &str| Some(text.to_owned());
        assert!(sound().limit().is_ok());
        for corrupt in [
            LimitRow { amount: None, ..sound() },
            LimitRow { period: Some("DAY".to_owned()), ..sound() },
            LimitRow { days: "8".to_owned(), ..sound() },
            LimitRow { days: "x".to_owned(), ..sound() },
            LimitRow { windows: "09:00".to_owned(), ..sound() },
            LimitRow { windows: "09:00-09:00".to_owned(), ..sound() },
            LimitRow { amount: None, period: None, ..sound() },
            LimitRow { only_categories: text(""), ..sound() },
            LimitRow { except_categories: text("581"), ..sound() },
            LimitRow { only_categories: text("5812"), except_categories: text("5812"), ..sound() },
        ] {
            assert!(matches!(corrupt.limit(), Err(SimulatorError::Corrupt(_))));
        }
    }

    #[test]
    fn only_closed_and_expired_cards_refuse_a_limit() {
        let card = |standing, valid_until| bank_card(Kopecks::ZERO, None, standing, valid_until);
        assert_eq!(decide(Some(&card(Standing::Open, TODAY)), TODAY), Ok(()));
        assert_eq!(decide(Some(&card(Standing::Blocked, TODAY)), TODAY), Ok(()));
        assert_eq!(decide(Some(&card(Standing::Closed, TODAY)), TODAY), Err(DeclineReason::Blocked));
        let yesterday = TODAY.previous_day().unwrap();
        assert_eq!(decide(Some(&card(Standing::Open, yesterday)), TODAY), Err(DeclineReason::Expired));
        assert_eq!(decide(None, TODAY), Err(DeclineReason::Refused));
    }
}
