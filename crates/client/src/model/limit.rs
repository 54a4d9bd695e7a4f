//! Limits on what a card may pay.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::{PrimitiveDateTime, Weekday};
use uuid::Uuid;

use crate::model::open_enum::open_enum;
use crate::model::request::RequestState;
use crate::model::wire;

open_enum! {
    /// The calendar period that an amount is for, in the service's time zone.
    pub enum LimitPeriod {
        /// A day.
        Day = "CDAY",
        /// A week, from Monday.
        Week = "CWEEK",
        /// A month.
        Month = "CMONTH",
        /// A quarter of a year.
        Quarter = "CQUARTET",
    }
}

/// The limits of a card: either none at all, or any of an amount per period, weekdays and times of day. Each of several
/// has to allow a payment.
///
/// ```
/// use kopeck_client::{CardLimit, LimitPeriod, TimeWindow, Weekday};
///
/// // 500.00 a day, on weekends, from ten in the evening to six in the morning.
/// let limit = CardLimit::per(LimitPeriod::Day, 50_000)
///     .on_days([Weekday::Saturday, Weekday::Sunday])
///     .within([TimeWindow::new("22:00", "06:00")]);
/// assert_eq!((limit.unlimited, limit.amount), (false, Some(50_000)));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardLimit {
    /// No limits but the card's balance. Nothing else may be set beside it.
    #[serde(default, deserialize_with = "wire::null_as_default")]
    pub unlimited: bool,
    /// What may be spent in a period, in kopecks. Goes with `period`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// The period. Goes with `amount`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<LimitPeriod>,
    /// The days on which payment is allowed. Empty: on any day.
    #[serde(
        default,
        skip_serializing_if = "Vec::is_empty",
        serialize_with = "weekday_numbers",
        deserialize_with = "weekdays"
    )]
    pub days: Vec<Weekday>,
    /// The times of day at which payment is allowed. Empty: at any time.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "wire::null_as_default")]
    pub times: Vec<TimeWindow>,
}

impl CardLimit {
    /// No limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self { unlimited: true, ..Self::default() }
    }

    /// At most `amount` kopecks in each period.
    #[must_use]
    pub fn per(period: LimitPeriod, amount: i64) -> Self {
        Self { amount: Some(amount), period: Some(period), ..Self::default() }
    }

    /// On these days only.
    #[must_use]
    pub fn on_days(self, days: impl IntoIterator<Item = Weekday>) -> Self {
        Self { days: days.into_iter().collect(), ..self }
    }

    /// Within these times only.
    #[must_use]
    pub fn within(self, times: impl IntoIterator<Item = TimeWindow>) -> Self {
        Self { times: times.into_iter().collect(), ..self }
    }
}

/// A part of the day. One that starts later than it ends runs over midnight, and counts for the day on which it
/// starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    /// The first minute, `HH:MM`.
    pub from: String,
    /// The minute after the last one, `HH:MM`; `24:00` is the end of the day.
    pub to: String,
}

impl TimeWindow {
    /// From the one time to the other, each `HH:MM`.
    #[must_use]
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { from: from.into(), to: to.into() }
    }
}

/// The response to an accepted limit change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitChangeCreated {
    /// A text that says that the request awaits execution.
    pub message: String,
    /// The identifier to ask for state and result by.
    pub set_limits_cards_id: Uuid,
}

/// What became of one card of a change of limits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitResult {
    /// The card.
    pub id_card: Uuid,
    /// Whether it has the new limits.
    pub result_limit: bool,
    /// Why not.
    #[serde(default)]
    pub error_limit: Option<String>,
}

/// A change of limits in the list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LimitChange {
    /// The identifier.
    pub set_limits_cards_id: Uuid,
    /// The state.
    pub status: RequestState,
    /// How many cards it is for.
    pub number_cards: u64,
    /// When it was accepted, in the service's time zone.
    #[serde(with = "wire::text")]
    pub created_at: PrimitiveDateTime,
    /// When its state changed last.
    #[serde(alias = "statusUpdateAt", with = "wire::text")]
    pub status_updated_at: PrimitiveDateTime,
}

fn weekday_numbers<S: Serializer>(days: &[Weekday], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(days.iter().map(|day| day.number_from_monday()))
}

fn weekdays<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Weekday>, D::Error> {
    let numbers = Option::<Vec<u8>>::deserialize(deserializer)?.unwrap_or_default();
    numbers
        .into_iter()
        .map(|number| match number {
            1..=7 => Ok(Weekday::Monday.nth_next(number - 1)),
            _ => Err(D::Error::custom(format!("there is no weekday {number}"))),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_set_is_sent() {
        let json = |limit: &CardLimit| serde_json::to_string(limit).unwrap();
        assert_eq!(json(&CardLimit::unlimited()), r#"{"unlimited":true}"#);
        let limit = CardLimit::per(LimitPeriod::Month, 500_000)
            .on_days([Weekday::Monday, Weekday::Sunday])
            .within([TimeWindow::new("08:00", "24:00")]);
        assert_eq!(
            json(&limit),
            r#"{"unlimited":false,"amount":500000,"period":"CMONTH","days":[1,7],"times":[{"from":"08:00","to":"24:00"}]}"#
        );
        assert_eq!(serde_json::from_str::<CardLimit>(&json(&limit)).unwrap(), limit);
    }

    #[test]
    fn nulls_and_absent_fields_are_read() {
        for json in [
            r#"{"unlimited":true,"amount":null,"period":null,"days":null,"times":null}"#,
            r#"{"unlimited":true}"#,
        ] {
            assert_eq!(serde_json::from_str::<CardLimit>(json).unwrap(), CardLimit::unlimited());
        }
        assert!(serde_json::from_str::<CardLimit>(r#"{"days":[8]}"#).is_err());
    }
}
