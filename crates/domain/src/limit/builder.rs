//! Limits made from values.

use super::{
    Allowance, CategoryList, CategoryRange, Days, Limit, MAX_WINDOWS, MerchantCategories, Period,
    Restrictions, Window,
};
use crate::Kopecks;
use crate::invalid::Invalid;

impl Limit {
    /// Any time and anywhere, bounded only by the balance of the card.
    #[must_use]
    pub const fn unlimited() -> Self {
        Self::Unlimited
    }

    /// At most `amount` in each `period`.
    pub fn per(period: Period, amount: Kopecks) -> LimitBuilder {
        LimitBuilder::default().per(period, amount)
    }

    /// On these weekdays only; none at all is any day.
    pub fn on(days: impl Into<Days>) -> LimitBuilder {
        LimitBuilder::default().on(days)
    }

    /// Within these windows only, `"09:00-18:00"` or a [`Window`] each; none at all is any time.
    pub fn within<W: TryInto<Window, Error: Into<Invalid>>>(
        windows: impl IntoIterator<Item = W>,
    ) -> LimitBuilder {
        LimitBuilder::default().within(windows)
    }

    /// Only at merchants of these categories, `"5812"`, `"5411-5499"` or a [`CategoryRange`] each.
    pub fn only_at<R: TryInto<CategoryRange, Error: Into<Invalid>>>(
        categories: impl IntoIterator<Item = R>,
    ) -> LimitBuilder {
        LimitBuilder::default().only_at(categories)
    }

    /// At all merchants but those of these categories, `"5812"`, `"5411-5499"` or a [`CategoryRange`] each.
    pub fn except_at<R: TryInto<CategoryRange, Error: Into<Invalid>>>(
        categories: impl IntoIterator<Item = R>,
    ) -> LimitBuilder {
        LimitBuilder::default().except_at(categories)
    }
}

/// The settings of a limit, each of which replaces an earlier one of its kind.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct LimitBuilder {
    allowance: Option<Allowance>,
    days: Days,
    windows: Vec<Result<Window, Invalid>>,
    categories: Option<Result<MerchantCategories, Invalid>>,
}

impl LimitBuilder {
    /// At most `amount` in each `period`.
    pub fn per(self, period: Period, amount: Kopecks) -> Self {
        Self { allowance: Some(Allowance { amount, period }), ..self }
    }

    /// On these weekdays only; none at all is any day.
    pub fn on(self, days: impl Into<Days>) -> Self {
        Self { days: days.into(), ..self }
    }

    /// Within these windows only, `"09:00-18:00"` or a [`Window`] each; none at all is any time.
    pub fn within<W: TryInto<Window, Error: Into<Invalid>>>(
        self,
        windows: impl IntoIterator<Item = W>,
    ) -> Self {
        let windows = windows.into_iter().map(|window| window.try_into().map_err(Into::into));
        Self { windows: windows.collect(), ..self }
    }

    /// Only at merchants of these categories, `"5812"`, `"5411-5499"` or a [`CategoryRange`] each.
    pub fn only_at<R: TryInto<CategoryRange, Error: Into<Invalid>>>(
        self,
        categories: impl IntoIterator<Item = R>,
    ) -> Self {
        Self { categories: Some(CategoryList::new(categories).map(MerchantCategories::Only)), ..self }
    }

    /// At all merchants but those of these categories, `"5812"`, `"5411-5499"` or a [`CategoryRange`] each.
    pub fn except_at<R: TryInto<CategoryRange, Error: Into<Invalid>>>(
        self,
        categories: impl IntoIterator<Item = R>,
    ) -> Self {
        Self { categories: Some(CategoryList::new(categories).map(MerchantCategories::Except)), ..self }
    }

    /// At the merchants that `categories` allow.
    pub fn at_merchants(self, categories: MerchantCategories) -> Self {
        Self { categories: Some(Ok(categories)), ..self }
    }

    /// The limit.
    ///
    /// # Errors
    /// [`Invalid`] if the amount is not above zero, a window is faulty or overlaps another, there are more than
    /// [`MAX_WINDOWS`] of them, the merchant categories are empty or faulty, or nothing is set.
    pub fn build(self) -> Result<Limit, Invalid> {
        let Self { allowance, days, windows, categories } = self;
        if allowance.is_some_and(|allowance| !allowance.amount.is_positive()) {
            return Err(Invalid::new("the amount of a limit must be 1 kopeck or more"));
        }
        if windows.len() > MAX_WINDOWS {
            return Err(Invalid::new(format!("a limit has at most {MAX_WINDOWS} windows")));
        }
        let windows: Vec<Window> = windows.into_iter().collect::<Result<_, _>>()?;
        let mut rest = windows.as_slice();
        while let Some((window, others)) = rest.split_first() {
            if others.iter().any(|other| other.overlaps(*window)) {
                return Err(Invalid::new(format!("the window {window} overlaps another")));
            }
            rest = others;
        }
        let categories = categories.transpose()?;
        if allowance.is_none() && days.is_any() && windows.is_empty() && categories.is_none() {
            return Err(Invalid::new("a limit must have an amount, days, windows or merchant categories"));
        }
        Ok(Limit::Limited(Restrictions { allowance, days, windows, categories }))
    }
}

/// The settings of `limit` again, none of an unlimited one.
impl From<&Limit> for LimitBuilder {
    fn from(limit: &Limit) -> Self {
        Self {
            allowance: limit.allowance(),
            days: limit.days(),
            windows: limit.windows().iter().copied().map(Ok).collect(),
            categories: limit.merchant_categories().cloned().map(Ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::Weekday;

    use super::*;
    use crate::limit::samples::any_limits;

    #[test]
    fn a_limit_is_made_from_values() {
        let limit = Limit::per(Period::Quarter, Kopecks::new(500_000))
            .on([Weekday::Friday, Weekday::Monday])
            .within(["22:00-06:00", "09:00-18:00"])
            .only_at(["5812", "5411-5499"])
            .build()
            .unwrap();
        let allowance = limit.allowance().unwrap();
        assert_eq!((allowance.amount(), allowance.period()), (Kopecks::new(500_000), Period::Quarter));
        assert_eq!(limit.days().weekdays().collect::<Vec<_>>(), [Weekday::Monday, Weekday::Friday]);
        let windows: Vec<String> = limit.windows().iter().map(Window::to_string).collect();
        assert_eq!(windows, ["22:00-06:00", "09:00-18:00"]);
        let only = MerchantCategories::Only(CategoryList::new(["5812", "5411-5499"]).unwrap());
        assert_eq!(limit.merchant_categories(), Some(&only));
        assert!(Limit::unlimited().is_unlimited() && !limit.is_unlimited());
        assert_eq!(Limit::unlimited().merchant_categories(), None);
    }

    #[test]
    fn one_setting_is_enough_and_none_is_too_few() {
        let no_windows: [Window; 0] = [];
        assert!(Limit::per(Period::Day, Kopecks::new(1)).build().is_ok());
        assert!(Limit::on([Weekday::Sunday]).build().is_ok());
        assert!(Limit::within(["00:00-24:00"]).build().is_ok());
        assert!(Limit::only_at(["5812"]).build().is_ok());
        assert!(Limit::except_at(["5812"]).build().is_ok());
        assert!(Limit::on([]).within(no_windows).build().is_err());
    }

    #[test]
    fn invalid_limits_say_why() {
        let hours: Vec<String> = (0..11).map(|hour| format!("{hour:02}:00-{hour:02}:30")).collect();
        let within =
            |windows: &[&str]| Limit::within(windows.iter().copied()).build().unwrap_err().to_string();
        assert!(Limit::within(hours.iter().take(10).map(String::as_str)).build().is_ok());
        let hours: Vec<&str> = hours.iter().map(String::as_str).collect();
        assert_eq!(within(&hours), "a limit has at most 10 windows");
        assert_eq!(
            within(&["09:00-12:00", "13:00-14:00", "11:00-13:30"]),
            "the window 09:00-12:00 overlaps another"
        );
        assert_eq!(within(&["09:00"]), "must be a window of the form HH:MM-HH:MM");
        for amount in [0, -1, i64::MIN] {
            let error = Limit::per(Period::Day, Kopecks::new(amount)).build().unwrap_err();
            assert_eq!(error.detail(), "the amount of a limit must be 1 kopeck or more");
        }
        let no_categories: [CategoryRange; 0] = [];
        assert!(Limit::except_at(no_categories).build().is_err());
        assert!(Limit::only_at(["5499-5411"]).build().is_err());
    }

    proptest! {
        #[test]
        fn a_limit_survives_the_round_trip(limit in any_limits()) {
            if !limit.is_unlimited() {
                prop_assert_eq!(LimitBuilder::from(&limit).build(), Ok(limit));
            }
        }
    }
}
