//! Card limits.

use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_domain::limit::{CategoryList, Days, Limit, MerchantCategories, TimeOfDay, Window};
use serde::{Deserialize, Serialize};

use crate::error::ProtocolError;

/// A card limit. Without any field but `unlimited` the card is unlimited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
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
    /// The merchants at which the card may pay; absent means any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merchant_categories: Option<MerchantCategoriesDto>,
}

/// Merchants by their category codes (ISO 18245). A merchant without a code of four digits is in no list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MerchantCategoriesDto {
    /// Only at these: codes `5812` and ranges `5411-5499`, 1 to 100.
    Only(Vec<String>),
    /// At all but these.
    Except(Vec<String>),
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
            merchant_categories: limit.merchant_categories().map(Into::into),
        }
    }
}

impl From<&MerchantCategories> for MerchantCategoriesDto {
    fn from(categories: &MerchantCategories) -> Self {
        let texts = |list: &CategoryList| list.ranges().iter().map(ToString::to_string).collect();
        match categories {
            MerchantCategories::Only(list) => Self::Only(texts(list)),
            MerchantCategories::Except(list) => Self::Except(texts(list)),
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
            let limit = match &dto.merchant_categories {
                Some(MerchantCategoriesDto::Only(list)) => limit.only_at(list.iter().map(String::as_str)),
                Some(MerchantCategoriesDto::Except(list)) => limit.except_at(list.iter().map(String::as_str)),
                None => limit,
            };
            match (dto.amount, &dto.period) {
                (Some(amount), Some(period)) => limit.per(period.parse()?, Kopecks::new(amount)).build(),
                (None, None) => limit.build(),
                (Some(_), None) | (None, Some(_)) => Err(Invalid::new("must have an amount and a period")),
            }
        };
        let LimitDto { unlimited, amount, period, days, times, merchant_categories } = dto;
        if !unlimited {
            return read().map_err(|_| no_limit());
        }
        let is_alone = amount.is_none()
            && period.is_none()
            && days.is_empty()
            && times.is_empty()
            && merchant_categories.is_none();
        if is_alone { Ok(Self::unlimited()) } else { Err(no_limit()) }
    }
}
