//! Card limits.

use kopeck_domain::Kopecks;
use kopeck_domain::draft::Invalid;
use kopeck_domain::limit::{Days, Limit, TimeOfDay, Window};
use serde::{Deserialize, Serialize};

use crate::error::ProtocolError;

/// A card limit. Without any field but `unlimited` the card is unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitDto {
    /// Whether the card is bounded by its balance alone; then no other field is there.
    pub unlimited: bool,
    /// Kopecks that may be spent in each period.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// `CDAY`, `CWEEK`, `CMONTH` or `CQUARTET`: calendar periods of the bank's zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<String>,
    /// Weekdays on which the card may pay, 1 is Monday; none means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<i64>,
    /// Times of the day at which the card may pay; none means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub times: Vec<WindowDto>,
}

/// A part of a day; over midnight, if `to` comes before `from`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowDto {
    /// `HH:MM`, the first minute.
    pub from: String,
    /// `HH:MM`, the minute after the last.
    pub to: String,
}

impl From<&Limit> for LimitDto {
    fn from(limit: &Limit) -> Self {
        let allowance = limit.allowance();
        let window =
            |window: &Window| WindowDto { from: window.from().to_string(), to: window.to().to_string() };
        Self {
            unlimited: limit.is_unlimited(),
            amount: allowance.map(|allowance| allowance.amount().get()),
            period: allowance.map(|allowance| allowance.period().to_string()),
            days: limit.days().numbers().map(i64::from).collect(),
            times: limit.windows().iter().map(window).collect(),
        }
    }
}

impl TryFrom<&LimitDto> for Limit {
    type Error = ProtocolError;

    fn try_from(dto: &LimitDto) -> Result<Self, ProtocolError> {
        let no_limit = || ProtocolError::new("limit", "is no limit");
        let read = || -> Result<Self, Invalid> {
            let window = |window: &WindowDto| {
                Window::new(TimeOfDay::parse(&window.from)?, TimeOfDay::parse_end(&window.to)?)
            };
            let windows = dto.times.iter().map(window).collect::<Result<Vec<_>, _>>()?;
            let limit = Self::on(Days::parse(&dto.days)?).within(windows);
            match (dto.amount, &dto.period) {
                (Some(amount), Some(period)) => limit.per(period.parse()?, Kopecks::new(amount)).build(),
                (None, None) => limit.build(),
                (Some(_), None) | (None, Some(_)) => Err(Invalid::new("must have an amount and a period")),
            }
        };
        let LimitDto { unlimited, amount, period, days, times } = dto;
        if !unlimited {
            return read().map_err(|_| no_limit());
        }
        let is_alone = amount.is_none() && period.is_none() && days.is_empty() && times.is_empty();
        if is_alone { Ok(Self::unlimited()) } else { Err(no_limit()) }
    }
}
