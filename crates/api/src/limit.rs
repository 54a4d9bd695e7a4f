//! Limits on what a card may pay.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use time::{PrimitiveDateTime, Weekday};
use uuid::Uuid;

use crate::open_enum::open_enum;
use crate::request::RequestState;
use crate::shape::{OrAbsent, Reference, body};
use crate::wire;

open_enum! {
    /// The calendar period that an amount is for, in the service's time zone.
    pub enum LimitPeriod as "Period",
        "Calendar periods. CDAY: day. CWEEK: week, from Monday. CMONTH: month. CQUARTET: quarter."
    {
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

body! {
    /// A spending limit.
    #[derive(Default)]
    pub struct CardLimit as "Limit" {
        /// `true`: any time, any day, as far as the card's balance goes.
        #[serde(default, deserialize_with = "wire::null_as_default")]
        unlimited: bool,
        /// Kopecks to spend in each period; `null` if the amount is not limited.
        amount: Option<i64>,
        /// The period of the amount.
        period: Option<LimitPeriod>,
        /// Weekdays on which it pays, 1 (Monday) to 7 (Sunday); empty: any day.
        #[serde(default, serialize_with = "weekday_numbers", deserialize_with = "weekdays")]
        days: Vec<Weekday>,
        /// Windows in which it pays; empty: any time.
        #[serde(default, deserialize_with = "wire::null_as_default")]
        times: Vec<TimeWindow>,
        /// The merchants at which it pays; absent: any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        merchant_categories: Option<MerchantCategories> as OrAbsent<MerchantCategories>,
    }
}

/// A limit to set is either none at all, or any of an amount per period, weekdays, times of day and
/// merchant categories.
/// Each of several has to allow a payment.
///
/// ```
/// use kopeck_api::{CardLimit, LimitPeriod, TimeWindow};
/// use time::Weekday;
///
/// // 500.00 a day, on weekends, from ten in the evening to six in the morning, in restaurants.
/// let limit = CardLimit::per(LimitPeriod::Day, 50_000)
///     .on_days([Weekday::Saturday, Weekday::Sunday])
///     .within([TimeWindow::new("22:00", "06:00")])
///     .only_at(["5812"]);
/// assert_eq!((limit.unlimited, limit.amount), (false, Some(50_000)));
/// ```
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

    /// Only at merchants of these categories: codes of four digits, `5812`, or ranges of them, `5411-5499`.
    #[must_use]
    pub fn only_at(self, categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { merchant_categories: Some(MerchantCategories::only(categories)), ..self }
    }

    /// At all merchants but those of these categories.
    #[must_use]
    pub fn except_at(self, categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { merchant_categories: Some(MerchantCategories::except(categories)), ..self }
    }
}

body! {
    /// Merchants by their category codes (ISO 18245): either `only` those of a list, or all `except` those.
    /// A merchant without a four-digit code matches no list.
    #[derive(Default)]
    pub struct MerchantCategories as "MerchantCategories" {
        /// The card pays only at these: codes of four digits, `5812`, or ranges of them, `5411-5499`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Vec<String>> as OrAbsent<Vec<String>>,
        /// The card pays at all but these.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        except: Option<Vec<String>> as OrAbsent<Vec<String>>,
    }
}

impl MerchantCategories {
    /// Only these.
    #[must_use]
    pub fn only(categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { only: Some(categories.into_iter().map(Into::into).collect()), except: None }
    }

    /// All but these.
    #[must_use]
    pub fn except(categories: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { only: None, except: Some(categories.into_iter().map(Into::into).collect()) }
    }
}

body! {
    /// A part of the day. If `from` is later than `to`, it spans midnight.
    pub struct TimeWindow as "Window" {
        /// The first minute, `HH:MM`.
        from: String,
        /// The minute after the last one, up to `24:00`.
        to: String,
    }
}

impl TimeWindow {
    /// From the one time to the other, each `HH:MM`.
    #[must_use]
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self { from: from.into(), to: to.into() }
    }
}

body! {
    /// A limit change that was accepted.
    pub struct LimitChangeCreated as "LimitChangeAccepted" {
        /// A message for people.
        message: String,
        /// The identifier of the change.
        set_limits_cards_id: Uuid,
    }
}

body! {
    /// The outcome of one card of a limit change.
    pub struct LimitResult as "LimitChangeResult" {
        /// The card.
        id_card: Uuid,
        /// Whether it has the new limit; if not, it keeps the old one.
        result_limit: bool,
        /// Why not: `the card is blocked by the bank`, `the card has expired`, `the card is not activated`,
        /// `refused by the
        /// bank`.
        error_limit: Option<String>,
    }
}

body! {
    /// A limit change in a list.
    pub struct LimitChange as "LimitChange" {
        /// The change.
        set_limits_cards_id: Uuid,
        /// Its state.
        state: RequestState = "status",
        /// How many cards it is about.
        number_cards: u64,
        /// When it was accepted.
        #[serde(with = "wire::text")]
        created_at: PrimitiveDateTime,
        /// When its state changed last.
        #[serde(alias = "statusUpdateAt", with = "wire::text")]
        status_updated_at: PrimitiveDateTime,
        /// Your own name for it; `null` if you gave none.
        #[serde(default)]
        reference: Option<String>,
    }
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

body! {
    /// The state of a limit change.
    pub struct LimitChangeState as "LimitChangeState" {
        /// Its state.
        message: RequestState,
        /// The change.
        set_limits_cards_id: Uuid,
        /// Your own name for it; absent if you gave none.
        #[serde(skip_serializing_if = "Option::is_none")]
        reference: Option<String> as OrAbsent<Reference>,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_comes_back_as_it_was() {
        let json = |limit: &CardLimit| serde_json::to_string(limit).unwrap();
        assert_eq!(
            json(&CardLimit::unlimited()),
            r#"{"unlimited":true,"amount":null,"period":null,"days":[],"times":[]}"#
        );
        let limit = CardLimit::per(LimitPeriod::Month, 500_000)
            .on_days([Weekday::Monday, Weekday::Sunday])
            .within([TimeWindow::new("08:00", "24:00")]);
        assert_eq!(
            json(&limit),
            r#"{"unlimited":false,"amount":500000,"period":"CMONTH","days":[1,7],"times":[{"from":"08:00","to":"24:00"}]}"#
        );
        assert_eq!(serde_json::from_str::<CardLimit>(&json(&limit)).unwrap(), limit);
        let limit = limit.only_at(["5812"]);
        assert!(json(&limit).ends_with(r#","merchantCategories":{"only":["5812"]}}"#));
        assert_eq!(serde_json::from_str::<CardLimit>(&json(&limit)).unwrap(), limit);
        assert!(json(&limit.except_at(["5411-5499"])).ends_with(r#":{"except":["5411-5499"]}}"#));
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
