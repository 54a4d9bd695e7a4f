//! Card limits.

use kopeck_domain::limit::{Limit, LimitDraft, WindowDraft};
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
        let window = |window: &kopeck_domain::limit::Window| WindowDto {
            from: window.from().to_string(),
            to: window.to().to_string(),
        };
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
        let window = |window: &WindowDto| {
            Ok(WindowDraft { from: Some(Ok(window.from.clone())), to: Some(Ok(window.to.clone())) })
        };
        let draft = LimitDraft {
            unlimited: Some(Ok(dto.unlimited)),
            amount: dto.amount.map(Ok),
            period: dto.period.clone().map(Ok),
            days: Some(Ok(dto.days.clone())),
            times: Some(Ok(dto.times.iter().map(window).collect())),
        };
        Self::parse(&draft, "limit").map_err(|_| ProtocolError::new("limit", "is no limit"))
    }
}
