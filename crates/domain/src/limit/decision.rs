//! The rule of a limit: may this card pay this amount, now and here?

use time::OffsetDateTime;

use super::{Limit, MerchantCategory, Restrictions, TimeOfDay};
use crate::Kopecks;
use crate::calendar::Zone;
use crate::string_enum::serde_enum;

serde_enum! {
    /// Why a limit forbids a payment.
    LimitRefusal {
        /// The card may not pay at merchants of this category.
        MerchantCategory = "MERCHANT_CATEGORY",
        /// The card may not pay on this weekday.
        DayNotAllowed = "DAY_NOT_ALLOWED",
        /// The card may not pay at this time of the day.
        TimeNotAllowed = "TIME_NOT_ALLOWED",
        /// The payment is over what is left of the amount of the period.
        OverAmount = "OVER_AMOUNT",
    }
}

impl LimitRefusal {
    /// The refusal in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::MerchantCategory => "the limit of the card allows no payment at this kind of merchant",
            Self::DayNotAllowed => "the limit of the card allows no payment on this day",
            Self::TimeNotAllowed => "the limit of the card allows no payment at this time",
            Self::OverAmount => "over the amount that the limit of the card leaves in this period",
        }
    }
}

/// A payment to decide on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PaymentAttempt {
    /// When it is made.
    pub at: OffsetDateTime,
    /// How much.
    pub amount: Kopecks,
    /// The category of the merchant; `None` if it has none, or one that is no code of four digits.
    pub category: Option<MerchantCategory>,
}

impl PaymentAttempt {
    /// A payment at a merchant without a category.
    #[must_use]
    pub const fn new(at: OffsetDateTime, amount: Kopecks) -> Self {
        Self { at, amount, category: None }
    }

    /// The same at a merchant of the category `mcc`, as the bank names it.
    #[must_use]
    pub fn at_merchant(self, mcc: Option<&str>) -> Self {
        Self { category: mcc.and_then(|mcc| MerchantCategory::parse(mcc).ok()), ..self }
    }
}

/// What a limit says of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Why the payment is forbidden; `None` if it may be made.
    pub refusal: Option<LimitRefusal>,
    /// What is left in the period, the payment at hand not taken off: zero or more. `None` if no amount is set.
    pub remaining: Option<Kopecks>,
    /// The start of the next period, at which the whole amount is there again. `None` if no amount is set.
    pub resets_at: Option<OffsetDateTime>,
}

impl Decision {
    /// Whether the payment may be made.
    #[must_use]
    pub const fn is_allowed(&self) -> bool {
        self.refusal.is_none()
    }
}

/// Decides on a payment. `spent` is what went already in the period around it: payments less refunds within
/// [`Limit::period_around`]; it does not matter where no amount is set.
///
/// Of several refusals the first is returned, in the order: merchant category, day, time, amount. A payment inside a
/// window over midnight counts for the day on which the window started; outside of all windows, or where none are set,
/// the calendar day of `zone` counts. The amount always counts for the calendar period.
#[must_use]
pub fn decide(limit: &Limit, zone: Zone, attempt: &PaymentAttempt, spent: Kopecks) -> Decision {
    let PaymentAttempt { at, amount, category } = *attempt;
    match limit {
        Limit::Unlimited => Decision { refusal: None, remaining: None, resets_at: None },
        Limit::Limited(restrictions) => {
            let remaining = restrictions.allowance.map(|allowance| allowance.remaining(spent));
            let is_over = remaining.is_some_and(|remaining| amount > remaining);
            Decision {
                refusal: restrictions
                    .misplaced(category)
                    .or_else(|| restrictions.untimely(zone, at))
                    .or(is_over.then_some(LimitRefusal::OverAmount)),
                remaining,
                resets_at: limit.period_around(zone, at).map(|period| period.end),
            }
        }
    }
}

impl Restrictions {
    /// Why no payment may be made at a merchant of this category.
    fn misplaced(&self, category: Option<MerchantCategory>) -> Option<LimitRefusal> {
        let is_allowed = self.categories.as_ref().is_none_or(|categories| categories.allow(category));
        (!is_allowed).then_some(LimitRefusal::MerchantCategory)
    }

    /// Why no payment may be made at `at`, whatever its amount.
    fn untimely(&self, zone: Zone, at: OffsetDateTime) -> Option<LimitRefusal> {
        let today = zone.day(at).weekday();
        let time = TimeOfDay::of(zone, at);
        // Windows do not overlap, so that at most one is open.
        let counts_for = self.windows.iter().find_map(|window| window.weekday_of(time, today));
        let is_closed = counts_for.is_none() && !self.windows.is_empty();
        if !self.days.allow(counts_for.unwrap_or(today)) {
            Some(LimitRefusal::DayNotAllowed)
        } else if is_closed {
            Some(LimitRefusal::TimeNotAllowed)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::LimitBuilder;
    use crate::limit::Period;
    use crate::limit::samples::{categories, limit, limits, minute_table, moments, zones};
    use proptest::prelude::*;
    use time::Duration;
    use time::macros::datetime;

    fn moscow() -> Zone {
        Zone::parse("+03:00").unwrap()
    }

    fn attempt(at: OffsetDateTime, amount: i64) -> PaymentAttempt {
        PaymentAttempt::new(at, Kopecks::new(amount))
    }

    fn refusal(limit: &Limit, at: OffsetDateTime) -> Option<LimitRefusal> {
        decide(limit, moscow(), &attempt(at, 1), Kopecks::ZERO).refusal
    }

    const DAY: Option<LimitRefusal> = Some(LimitRefusal::DayNotAllowed);
    const TIME: Option<LimitRefusal> = Some(LimitRefusal::TimeNotAllowed);

    #[test]
    fn an_unlimited_card_pays_whatever_whenever() {
        let decision = decide(
            &Limit::default(),
            moscow(),
            &attempt(datetime!(2026-03-16 03:00 +3), i64::MAX),
            Kopecks::new(i64::MAX),
        );
        assert_eq!(decision, Decision { refusal: None, remaining: None, resets_at: None });
        assert!(decision.is_allowed());
    }

    #[test]
    fn the_amount_of_a_period_is_used_up_and_comes_back() {
        let limit = limit(Some((10_000, "CMONTH")), &[], &[]);
        let at = datetime!(2028-02-29 23:59:59 +3);
        for (spent, amount, allowed, remaining) in [
            (0, 10_000, true, 10_000),
            (0, 10_001, false, 10_000),
            (9_999, 1, true, 1),
            (9_999, 2, false, 1),
            (10_000, 1, false, 0),
            // More spent than allowed, as after the limit was lowered, leaves nothing rather than a debt.
            (10_500, 1, false, 0),
            (i64::MAX, 1, false, 0),
            // More refunded than spent does not raise the limit.
            (-500, 10_001, false, 10_000),
            (i64::MIN, 10_000, true, 10_000),
        ] {
            let decision = decide(&limit, moscow(), &attempt(at, amount), Kopecks::new(spent));
            let refusal = (!allowed).then_some(LimitRefusal::OverAmount);
            assert_eq!(decision.refusal, refusal, "{spent} spent, {amount} asked");
            assert_eq!(decision.remaining, Some(Kopecks::new(remaining)));
            assert_eq!(decision.resets_at, Some(datetime!(2028-03-01 00:00 +3)));
        }
    }

    #[test]
    fn weekdays_are_those_of_the_zone() {
        let monday = limit(None, &[1], &[]);
        // Monday 16 March 2026 in Moscow lasts from Sunday 21:00 to Monday 21:00 in UTC.
        assert_eq!(refusal(&monday, datetime!(2026-03-15 20:59:59 UTC)), DAY);
        assert_eq!(refusal(&monday, datetime!(2026-03-15 21:00 UTC)), None);
        assert_eq!(refusal(&monday, datetime!(2026-03-16 20:59:59 UTC)), None);
        assert_eq!(refusal(&monday, datetime!(2026-03-16 21:00 UTC)), DAY);
    }

    #[test]
    fn days_and_windows_over_midnight() {
        let night = limit(None, &[1], &["22:00-06:00"]);
        for (at, expected) in [
            // Monday before six is Sunday's window, and Sunday is not allowed.
            (datetime!(2026-03-16 00:00 +3), DAY),
            (datetime!(2026-03-16 05:59:59 +3), DAY),
            (datetime!(2026-03-16 06:00 +3), TIME),
            (datetime!(2026-03-16 21:59:59 +3), TIME),
            (datetime!(2026-03-16 22:00 +3), None),
            (datetime!(2026-03-16 23:59:59 +3), None),
            // Tuesday before six is Monday's window.
            (datetime!(2026-03-17 00:00 +3), None),
            (datetime!(2026-03-17 01:00 +3), None),
            (datetime!(2026-03-17 05:59:59 +3), None),
            // Outside of the window the calendar day counts, and Tuesday is not allowed.
            (datetime!(2026-03-17 06:00 +3), DAY),
            (datetime!(2026-03-17 22:00 +3), DAY),
            (datetime!(2026-03-22 23:00 +3), DAY),
        ] {
            assert_eq!(refusal(&night, at), expected, "{at}");
        }
        // Sunday's window runs into Monday, over the end of the week and of the year.
        let sunday = limit(None, &[7], &["22:00-06:00", "12:00-13:00"]);
        assert_eq!(refusal(&sunday, datetime!(2024-01-01 05:59 +3)), None);
        assert_eq!(refusal(&sunday, datetime!(2024-01-01 12:30 +3)), DAY);
        assert_eq!(refusal(&sunday, datetime!(2023-12-31 12:30 +3)), None);
        assert_eq!(refusal(&sunday, datetime!(2023-12-31 05:59 +3)), DAY);
    }

    #[test]
    fn windows_alone_hold_every_day() {
        let limit = limit(None, &[], &["09:00-18:00", "22:00-24:00"]);
        for (at, expected) in [
            (datetime!(2026-03-16 08:59:59.999 +3), TIME),
            (datetime!(2026-03-16 09:00 +3), None),
            (datetime!(2026-03-16 17:59:59.999 +3), None),
            (datetime!(2026-03-16 18:00 +3), TIME),
            (datetime!(2026-03-16 23:59:59.999 +3), None),
            (datetime!(2026-03-17 00:00 +3), TIME),
        ] {
            assert_eq!(refusal(&limit, at), expected, "{at}");
        }
    }

    #[test]
    fn of_several_refusals_the_first_is_returned() {
        let limit = limit(Some((100, "CDAY")), &[1], &["09:00-18:00"]);
        let limit = LimitBuilder::from(&limit).only_at(["5812"]).build().unwrap();
        let pays =
            |at, mcc| decide(&limit, moscow(), &attempt(at, 101).at_merchant(mcc), Kopecks::ZERO).refusal;
        assert_eq!(pays(datetime!(2026-03-17 08:00 +3), Some("5813")), Some(LimitRefusal::MerchantCategory));
        let refusal = |at| pays(at, Some("5812"));
        assert_eq!(refusal(datetime!(2026-03-17 08:00 +3)), DAY);
        assert_eq!(refusal(datetime!(2026-03-16 08:00 +3)), TIME);
        assert_eq!(refusal(datetime!(2026-03-16 09:00 +3)), Some(LimitRefusal::OverAmount));
    }

    #[test]
    fn a_code_that_is_none_is_outside_of_every_list() {
        let [only, except] = [Limit::only_at(["0000-9999"]), Limit::except_at(["0000-9999"])];
        let at = datetime!(2026-03-16 12:00 +3);
        for (mcc, is_code) in [
            (Some("5812"), true),
            (None, false),
            (Some("581"), false),
            (Some("581x"), false),
            (Some("05812"), false),
        ] {
            let pays = |limit: LimitBuilder| {
                let limit = limit.build().unwrap();
                decide(&limit, moscow(), &attempt(at, 1).at_merchant(mcc), Kopecks::ZERO).is_allowed()
            };
            assert_eq!((pays(only.clone()), pays(except.clone())), (is_code, !is_code), "{mcc:?}");
        }
    }

    /// Which of the 10,080 minutes of a week, from Monday 00:00, are open: marked window by window on each day.
    fn week_table(limit: &Limit) -> Vec<bool> {
        let mut table = vec![false; 7 * 1440];
        for day in (0..7_usize).filter(|day| {
            let numbers: Vec<u8> = limit.days().numbers().collect();
            numbers.is_empty() || numbers.iter().any(|number| usize::from(*number) == day + 1)
        }) {
            if limit.windows().is_empty() {
                table[day * 1440..(day + 1) * 1440].fill(true);
            }
            for window in limit.windows() {
                let start = usize::from(window.from().minutes());
                let length = minute_table(*window).iter().filter(|covered| **covered).count();
                for minute in start..start + length {
                    table[(day * 1440 + minute) % (7 * 1440)] = true;
                }
            }
        }
        table
    }

    proptest! {
        // Each case walks the 10,080 minutes of a week.
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_week_is_open_where_its_minute_table_is(limit in limits(), zone in zones(), second in 0_i64..60) {
            let monday = time::macros::date!(2025 - 12 - 29);
            for (minute, open) in (0_i64..).zip(week_table(&limit)) {
                let at = zone.start_of(monday) + Duration::minutes(minute) + Duration::seconds(second);
                let at = at.to_offset(time::UtcOffset::UTC);
                let decision = decide(&limit, zone, &attempt(at, 1), Kopecks::ZERO);
                prop_assert_eq!(decision.is_allowed(), open, "minute {}", minute);
            }
        }
    }

    proptest! {
        #[test]
        fn a_greater_amount_is_never_allowed_where_a_smaller_is_not(
            limit in limits(), zone in zones(), at in moments(),
            one in 1_i64.., other in 1_i64.., spent in any::<i64>(),
        ) {
            let ask = |amount: i64| decide(&limit, zone, &attempt(at, amount), Kopecks::new(spent));
            let (less, more) = (ask(one.min(other)), ask(one.max(other)));
            prop_assert!(less.is_allowed() || !more.is_allowed());
            prop_assert_eq!((less.remaining, less.resets_at), (more.remaining, more.resets_at));
        }

        /// Merchant categories forbid what they say, and nothing else of the limit changes by them.
        #[test]
        fn merchant_categories_only_add_refusals(
            limit in limits(), merchants in categories(), zone in zones(), at in moments(),
            amount in 1_i64..10_000, spent in 0_i64..10_000, code in prop::option::of("[0-9]{4}"),
        ) {
            let with = LimitBuilder::from(&limit).at_merchants(merchants.clone()).build().unwrap();
            let attempt = attempt(at, amount).at_merchant(code.as_deref());
            let ask = |limit| decide(limit, zone, &attempt, Kopecks::new(spent));
            let (before, after) = (ask(&limit), ask(&with));
            let refusal =
                if merchants.allow(attempt.category) { before.refusal } else { Some(LimitRefusal::MerchantCategory) };
            prop_assert_eq!(after, Decision { refusal, ..before });
        }

        #[test]
        fn the_remaining_amount_is_allowed_and_one_kopeck_more_is_not(
            amount in 1_i64..i64::MAX, spent in any::<i64>(), zone in zones(), at in moments(),
        ) {
            let limit = limit(Some((amount, "CWEEK")), &[], &[]);
            let ask = |asked: Kopecks| decide(&limit, zone, &PaymentAttempt::new(at, asked), Kopecks::new(spent));
            let remaining = ask(Kopecks::new(1)).remaining.unwrap();
            prop_assert!(!remaining.is_negative() && remaining.get() <= amount);
            prop_assert!(ask(remaining).is_allowed());
            let over = ask(remaining.plus(Kopecks::new(1)).unwrap());
            prop_assert_eq!(over.refusal, Some(LimitRefusal::OverAmount));
        }

        #[test]
        fn spending_adds_up_to_the_amount(amount in 1_i64..10_000, payments in prop::collection::vec(1_i64..3_000, 0..20)) {
            let limit = limit(Some((amount, "CDAY")), &[], &[]);
            let at = datetime!(2026-03-16 12:00 +3);
            let spent = payments.into_iter().fold(0, |spent, payment| {
                let decision = decide(&limit, moscow(), &attempt(at, payment), Kopecks::new(spent));
                assert_eq!(decision.remaining, Some(Kopecks::new(amount - spent)));
                if decision.is_allowed() { spent + payment } else { spent }
            });
            prop_assert!(spent <= amount);
        }

        #[test]
        fn a_period_rolls_over_exactly_when_it_says(zone in zones(), at in moments(), index in 0_usize..4) {
            let limit = limit(Some((100, Period::ALL[index].as_str())), &[], &[]);
            // All of it was spent in the period around `at`.
            let period = limit.period_around(zone, at).unwrap();
            let ask = |moment: OffsetDateTime| {
                let spent = if period.contains(&moment) { 100 } else { 0 };
                decide(&limit, zone, &attempt(moment, 1), Kopecks::new(spent))
            };
            let resets_at = ask(at).resets_at.unwrap();
            prop_assert_eq!(ask(resets_at - Duration::NANOSECOND).refusal, Some(LimitRefusal::OverAmount));
            prop_assert_eq!(ask(resets_at).remaining, Some(Kopecks::new(100)));
            prop_assert!(ask(resets_at).is_allowed());
            prop_assert!(ask(resets_at).resets_at.unwrap() > resets_at);
        }
    }
}
