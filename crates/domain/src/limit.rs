//! Spending limits of a card: how much it may spend in a period, on which weekdays, at which times and
//! at which merchants.
//!
//! | file | what it holds |
//! |---|---|
//! | `builder` | makes a limit from values |
//! | `canonical` | the one text of a limit |
//! | `days`, `window` | weekdays and times of the day |
//! | `merchant_categories` | the merchants, by their category codes |
//! | `period` | the calendar arithmetic of days, weeks, months and quarters |
//! | `decision` | the rule: may this card pay this amount now, and what is left |

mod builder;
mod canonical;
mod days;
mod decision;
mod merchant_categories;
mod period;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(feature = "serde")]
mod serde_form;
mod window;

use std::ops::Range;

use time::OffsetDateTime;

use crate::Kopecks;
use crate::calendar::Zone;

pub use crate::time_of_day::TimeOfDay;
pub use builder::LimitBuilder;
pub use days::Days;
pub use decision::{Decision, LimitRefusal, PaymentAttempt, decide};
pub use merchant_categories::{
    CategoryList, CategoryRange, MAX_CATEGORIES, MerchantCategories, MerchantCategory,
};
pub use period::Period;
pub use window::Window;

/// The greatest number of windows in one limit.
pub const MAX_WINDOWS: usize = 10;

/// What a card may spend, when and where. Made from values by a [`LimitBuilder`], so that every limit keeps the rules.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(into = "serde_form::LimitForm", try_from = "serde_form::LimitForm"))]
pub enum Limit {
    /// Any time and anywhere, bounded only by the balance of the card. What a new card has.
    #[default]
    Unlimited,
    /// Within these bounds.
    Limited(Restrictions),
}

/// The settings of a limit, at least one of them real.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restrictions {
    allowance: Option<Allowance>,
    days: Days,
    windows: Vec<Window>,
    categories: Option<MerchantCategories>,
}

/// How much may be spent in each period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    amount: Kopecks,
    period: Period,
}

impl Limit {
    /// Whether the card is bounded by its balance alone.
    #[must_use]
    pub const fn is_unlimited(&self) -> bool {
        match self {
            Self::Unlimited => true,
            Self::Limited(_) => false,
        }
    }

    /// How much may be spent in each period, if that is bounded.
    #[must_use]
    pub const fn allowance(&self) -> Option<Allowance> {
        match self {
            Self::Unlimited => None,
            Self::Limited(restrictions) => restrictions.allowance,
        }
    }

    /// The weekdays on which the card may pay.
    #[must_use]
    pub const fn days(&self) -> Days {
        match self {
            Self::Unlimited => Days::ANY,
            Self::Limited(restrictions) => restrictions.days,
        }
    }

    /// The windows in which the card may pay, in the order in which they were given; none means any time.
    #[must_use]
    pub fn windows(&self) -> &[Window] {
        match self {
            Self::Unlimited => &[],
            Self::Limited(restrictions) => &restrictions.windows,
        }
    }

    /// The merchants at which the card may pay; `None` means any.
    #[must_use]
    pub const fn merchant_categories(&self) -> Option<&MerchantCategories> {
        match self {
            Self::Unlimited => None,
            Self::Limited(restrictions) => restrictions.categories.as_ref(),
        }
    }

    /// The period whose spending counts for a payment at `at`: from its start, inclusive, to the start of the next,
    /// exclusive. `None` if no amount bounds the card.
    #[must_use]
    pub fn period_around(&self, zone: Zone, at: OffsetDateTime) -> Option<Range<OffsetDateTime>> {
        self.allowance().map(|allowance| allowance.period.bounds(zone, at))
    }
}

impl Allowance {
    /// Kopecks a period, above zero.
    #[must_use]
    pub const fn amount(self) -> Kopecks {
        self.amount
    }

    /// How long the amount lasts.
    #[must_use]
    pub const fn period(self) -> Period {
        self.period
    }

    /// What is left of a period in which `spent` kopecks went already: never below zero, and never above the whole
    /// amount, even if refunds of earlier payments make `spent` negative.
    #[must_use]
    pub fn remaining(self, spent: Kopecks) -> Kopecks {
        // Both are zero or more, so that their difference fits.
        let left = self.amount.minus(spent.max(Kopecks::ZERO)).unwrap_or(Kopecks::ZERO);
        left.max(Kopecks::ZERO)
    }
}
