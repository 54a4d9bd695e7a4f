use proptest::prelude::*;
use time::{Date, Duration, OffsetDateTime};

use super::*;
use crate::calendar::{Zone, date_text, parse_date};
use crate::limit::TimeOfDay;
use crate::money::Kopecks;

mod oracle;
mod steps;

fn day(text: &str) -> Date {
    parse_date(text).unwrap()
}

fn moscow() -> Zone {
    Zone::parse("+03:00").unwrap()
}

fn moment(text: &str) -> OffsetDateTime {
    moscow().parse_moment(text).unwrap()
}

fn kopecks(amount: i64) -> Kopecks {
    Kopecks::new(amount)
}

/// Holidays of 2026 and of the first days of 2027, and one Saturday on which people work.
fn calendar() -> Workdays {
    let free = |text: &str| (day(text), DayKind::Holiday);
    let new_year = (1..=9).map(|n| free(&format!("{n:02}.01.2026")));
    let next_year = (1..=8).map(|n| free(&format!("{n:02}.01.2027")));
    let others =
        ["23.02.2026", "09.03.2026", "01.05.2026", "11.05.2026", "12.06.2026", "04.11.2026", "31.12.2026"];
    let working = (day("31.10.2026"), DayKind::Working);
    new_year.chain(next_year).chain(others.map(free)).chain([working]).collect()
}

fn schedule(every: Every, day: i64, month: Option<i64>, time: &str, shift: Shift) -> Schedule {
    Schedule::new(every, day, month, TimeOfDay::parse(time).unwrap(), shift).unwrap()
}

/// Made by hand, with a calendar on the wall.
#[test]
fn the_day_of_a_period() {
    use Every::{Month, Quarter, Week, Year};
    use Shift::{After, Before, None as Stay};
    let dates = [
        (Month, 1, None, Stay, "2026-11", "01.11.2026"),
        // A Sunday behind a Saturday on which people work.
        (Month, 1, None, Before, "2026-11", "31.10.2026"),
        (Month, 1, None, After, "2026-11", "02.11.2026"),
        (Month, 4, None, Stay, "2026-11", "04.11.2026"),
        (Month, 4, None, Before, "2026-11", "03.11.2026"),
        (Month, 4, None, After, "2026-11", "05.11.2026"),
        (Month, -1, None, Stay, "2026-02", "28.02.2026"),
        (Month, -1, None, Before, "2026-02", "27.02.2026"),
        (Month, -1, None, After, "2026-02", "02.03.2026"),
        (Month, -1, None, Stay, "2028-02", "29.02.2028"),
        (Month, -1, None, Before, "2028-02", "29.02.2028"),
        (Month, -1, None, Stay, "2027-02", "28.02.2027"),
        (Month, -1, None, Stay, "2026-04", "30.04.2026"),
        (Month, -1, None, Stay, "2026-01", "31.01.2026"),
        (Month, -1, None, Before, "2026-01", "30.01.2026"),
        (Month, -1, None, Before, "2026-10", "31.10.2026"),
        // Behind a holiday, all holidays of the new year, and a weekend.
        (Month, -1, None, After, "2026-12", "11.01.2027"),
        (Month, -1, None, Before, "2026-12", "30.12.2026"),
        // A holiday on the first day of the month, and of the year.
        (Month, 1, None, Before, "2026-01", "31.12.2025"),
        (Month, 1, None, After, "2026-01", "12.01.2026"),
        (Month, 28, None, Stay, "2026-02", "28.02.2026"),
        (Month, 28, None, After, "2026-03", "30.03.2026"),
        (Month, 1, None, Before, "2026-05", "30.04.2026"),
        (Month, 1, None, After, "2026-05", "04.05.2026"),
        (Month, 25, None, Before, "2026-07", "24.07.2026"),
        (Week, 1, None, Stay, "2026-W49", "30.11.2026"),
        (Week, 5, None, Stay, "2026-W01", "02.01.2026"),
        (Week, 5, None, After, "2026-W01", "12.01.2026"),
        (Week, 7, None, Before, "2026-W49", "04.12.2026"),
        (Week, 6, None, Before, "2026-W44", "31.10.2026"),
        (Week, 7, None, After, "2026-W44", "02.11.2026"),
        (Week, 1, None, Stay, "2026-W53", "28.12.2026"),
        (Week, 1, None, Stay, "2020-W53", "28.12.2020"),
        (Week, 1, None, Stay, "2021-W01", "04.01.2021"),
        (Quarter, 1, None, Stay, "2026-Q4", "01.10.2026"),
        (Quarter, -1, None, Stay, "2026-Q1", "31.03.2026"),
        (Quarter, -1, None, After, "2026-Q4", "11.01.2027"),
        (Quarter, 15, None, Before, "2026-Q1", "15.01.2026"),
        (Quarter, -1, None, Before, "2026-Q2", "30.06.2026"),
        (Year, -1, Some(2), Stay, "2028", "29.02.2028"),
        (Year, -1, Some(2), Stay, "2026", "28.02.2026"),
        (Year, -1, Some(12), Before, "2026", "30.12.2026"),
        (Year, 1, Some(1), Before, "2027", "30.12.2026"),
        (Year, 12, Some(6), After, "2026", "15.06.2026"),
    ];
    for (every, nth, month, shift, text, expected) in dates {
        let period: Period = text.parse().unwrap();
        assert_eq!((period.every(), period.to_string().as_str()), (every, text));
        let due = schedule(every, nth, month, "09:00", shift).due_day(period, &calendar());
        assert_eq!(date_text(due), expected, "{every} {nth} {month:?} {shift} of {text}");
    }
}

/// A day begins at midnight of the service's zone, when it is the day before in Greenwich.
#[test]
fn a_period_is_due_by_the_zone() {
    let at = |time| {
        let schedule = schedule(Every::Month, 1, None, time, Shift::None);
        schedule.due_at("2026-12".parse().unwrap(), &calendar(), moscow()).unix_timestamp()
    };
    // 30.11.2026 21:00 UTC
    assert_eq!((at("00:00"), at("00:01"), at("23:59")), (1_796_072_400, 1_796_072_460, 1_796_158_740));
}

#[test]
fn what_is_no_schedule_is_refused_field_by_field() {
    use ScheduleField::{Day, Month};
    for (every, nth, month, fields) in [
        (Every::Week, 0, None, &[Day][..]),
        (Every::Week, 8, None, &[Day]),
        (Every::Week, -1, None, &[Day]),
        (Every::Month, 29, None, &[Day]),
        (Every::Month, -2, None, &[Day]),
        (Every::Month, 257, None, &[Day]),
        (Every::Month, 1, Some(1), &[Month]),
        (Every::Year, 1, None, &[Month]),
        (Every::Year, 1, Some(13), &[Month]),
        (Every::Year, 0, Some(0), &[Day, Month]),
    ] {
        let time = TimeOfDay::parse("09:00").unwrap();
        let faults = Schedule::new(every, nth, month, time, Shift::None).unwrap_err();
        assert_eq!(
            faults.iter().map(|fault| fault.field).collect::<Vec<_>>(),
            fields,
            "{every} {nth} {month:?}"
        );
    }
}

#[test]
fn what_is_no_period_is_refused() {
    for text in [
        "",
        "26",
        "2026-",
        "2026-13",
        "2026-W54",
        "2025-W53",
        "2026-W00",
        "2026-W1",
        "2026-Q0",
        "2026-Q5",
        "2026-q1",
        "1969",
        "3000-01",
        "2026-12-01",
        "+026",
        "2026-Q12",
    ] {
        assert!(text.parse::<Period>().is_err(), "{text}");
    }
}

const NO_END: (Option<Date>, Option<Date>) = (None, None);

fn validity(since: &str, (from, until): (Option<Date>, Option<Date>)) -> Validity {
    Validity { since: moment(since), from, until }
}

/// The periods due, and which of them have expired.
fn due(schedule: &Schedule, validity: Validity, last: Option<&str>, now: &str) -> Vec<(String, bool)> {
    let last = last.map(|last| last.parse().unwrap());
    let due = schedule.due(validity, last, &calendar(), moscow(), moment(now));
    due.iter().map(|due| (due.period.to_string(), due.has_expired(moment(now)))).collect()
}

#[test]
fn missed_periods_are_made_up_for_within_seven_days() {
    let weekly = schedule(Every::Week, 1, None, "09:00", Shift::None);
    let validity = validity("31.10.2026 12:00", NO_END);
    let of = |weeks: &[(u8, bool)]| -> Vec<(String, bool)> {
        weeks.iter().map(|(week, late)| (format!("2026-W{week}"), *late)).collect()
    };
    assert_eq!(due(&weekly, validity, None, "02.11.2026 08:59"), of(&[]));
    assert_eq!(due(&weekly, validity, None, "02.11.2026 09:00"), of(&[(45, false)]));
    assert_eq!(due(&weekly, validity, Some("2026-W45"), "02.11.2026 09:00"), of(&[]));
    // Off for three weeks: to the minute.
    let missed = due(&weekly, validity, Some("2026-W45"), "23.11.2026 09:00");
    assert_eq!(missed, of(&[(46, true), (47, false), (48, false)]));
    let missed = due(&weekly, validity, Some("2026-W45"), "23.11.2026 09:01");
    assert_eq!(missed, of(&[(46, true), (47, true), (48, false)]));
}

/// Nor what lies outside of its first and last day, by the days before they are moved.
#[test]
fn what_was_due_before_is_not_missed() {
    let monthly = schedule(Every::Month, 1, None, "09:00", Shift::Before);
    let due_of = |validity, now| {
        due(&monthly, validity, None, now).into_iter().map(|(period, _)| period).collect::<Vec<_>>()
    };
    // November is due on 31.10., the Saturday.
    assert_eq!(due_of(validity("31.10.2026 09:00", NO_END), "30.11.2026 12:00"), ["2026-11"]);
    assert_eq!(due_of(validity("31.10.2026 09:01", NO_END), "30.11.2026 12:00"), [""; 0]);
    let bounds = (Some(day("01.11.2026")), Some(day("01.12.2026")));
    assert_eq!(due_of(validity("01.01.2026 00:00", bounds), "01.02.2027 12:00"), ["2026-11", "2026-12"]);
    let bounds = (Some(day("02.11.2026")), Some(day("30.11.2026")));
    assert_eq!(due_of(validity("01.01.2026 00:00", bounds), "01.02.2027 12:00"), [""; 0]);
    assert_eq!(monthly.next(validity("01.01.2026 00:00", bounds), None, &calendar(), moscow()), None);
    let next = monthly.next(validity("02.11.2026 00:00", NO_END), None, &calendar(), moscow()).unwrap();
    assert_eq!((next.period.to_string().as_str(), next.at), ("2026-12", moment("01.12.2026 09:00")));
}

#[test]
fn what_a_card_gets() {
    use GrantEffect::{None as Nothing, TakeBack, TopUp};
    let fixed = |amount, cap: Option<i64>| Grant::Fixed { amount: kopecks(amount), cap: cap.map(kopecks) };
    let half = Share::since("2026-11".parse().unwrap(), day("16.11.2026"));
    for (grant, balance, share, expected) in [
        (fixed(500, None), 10_000, Share::WHOLE, TopUp(kopecks(500))),
        (fixed(500, Some(600)), 100, Share::WHOLE, TopUp(kopecks(500))),
        (fixed(500, Some(600)), 101, Share::WHOLE, TopUp(kopecks(499))),
        (fixed(500, Some(600)), 600, Share::WHOLE, Nothing),
        (fixed(500, Some(600)), 700, Share::WHOLE, Nothing),
        // The share is taken before the cap.
        (fixed(500, Some(600)), 400, half, TopUp(kopecks(200))),
        (fixed(501, None), 0, half, TopUp(kopecks(250))),
        (fixed(1, None), 0, half, Nothing),
        (Grant::UpTo(kopecks(500)), 100, Share::WHOLE, TopUp(kopecks(400))),
        (Grant::UpTo(kopecks(500)), -50, Share::WHOLE, TopUp(kopecks(550))),
        (Grant::UpTo(kopecks(500)), 500, Share::WHOLE, Nothing),
        (Grant::UpTo(kopecks(500)), 100, half, TopUp(kopecks(150))),
        (Grant::UpTo(kopecks(500)), 250, half, Nothing),
        (Grant::DownTo(kopecks(0)), 300, half, TakeBack(kopecks(300))),
        (Grant::DownTo(kopecks(100)), 300, Share::WHOLE, TakeBack(kopecks(200))),
        (Grant::DownTo(kopecks(300)), 300, Share::WHOLE, Nothing),
    ] {
        assert_eq!(grant.effect(kopecks(balance), share), Ok(expected), "{grant:?} {balance} {share:?}");
    }
    assert!(Grant::UpTo(kopecks(i64::MAX)).effect(kopecks(-1), Share::WHOLE).is_err());
}

#[test]
fn a_share_counts_the_days_from_the_first_one_on() {
    for (period, added, expected) in [
        ("2026-11", "31.10.2026", 3_000),
        ("2026-11", "01.11.2026", 3_000),
        ("2026-11", "02.11.2026", 2_900),
        ("2026-11", "30.11.2026", 100),
        ("2026-11", "01.12.2026", 0),
        ("2026-11", "01.12.2030", 0),
        ("2028-02", "29.02.2028", 103),
        ("2026-W45", "08.11.2026", 428),
        ("2026", "31.12.2026", 8),
        ("2028", "31.12.2028", 8),
    ] {
        let share = Share::since(period.parse().unwrap(), day(added));
        assert_eq!(share.of(kopecks(3_000)), kopecks(expected), "{period} {added}");
    }
    let almost = Share::since("2026-11".parse().unwrap(), day("02.11.2026"));
    assert_eq!(almost.of(kopecks(i64::MAX)).get(), 8_915_926_302_292_949_946);
}

fn every() -> impl Strategy<Value = Every> {
    prop::sample::select(Every::ALL)
}

/// Days from 1971 to 2998.
fn days() -> impl Strategy<Value = Date> {
    (2_440_953..2_816_423_i32).prop_map(|julian| Date::from_julian_day(julian).unwrap())
}

fn schedules() -> impl Strategy<Value = Schedule> {
    let time = (0..24_u8, 0..60_u8).prop_map(|(hour, minute)| format!("{hour:02}:{minute:02}"));
    (every(), 1..=28_i64, 1..=12_i64, any::<bool>(), time, prop::sample::select(Shift::ALL)).prop_map(
        |(every, nth, month, is_last, time, shift)| {
            let nth = match every {
                Every::Week => (nth - 1) % 7 + 1,
                Every::Month | Every::Quarter | Every::Year => {
                    if is_last {
                        -1
                    } else {
                        nth
                    }
                }
            };
            schedule(every, nth, (every == Every::Year).then_some(month), &time, shift)
        },
    )
}

/// A calendar around a day.
fn calendars(around: Date) -> impl Strategy<Value = Workdays> {
    prop::collection::btree_map(-40..800_i64, prop::sample::select(DayKind::ALL), 0..60).prop_map(
        move |days| days.into_iter().map(|(offset, kind)| (around + Duration::days(offset), kind)).collect(),
    )
}

proptest! {
    /// Each day is in one period, and the periods follow each other without a gap.
    #[test]
    fn periods_cover_every_day_once(every in every(), day in days()) {
        let period = Period::containing(every, day);
        prop_assert!(period.first_day() <= day && day <= period.last_day());
        prop_assert_eq!(Period::containing(every, period.last_day()), period);
        prop_assert_eq!(period.next().first_day(), period.last_day() + Duration::DAY);
        prop_assert_eq!(period.to_string().parse(), Ok(period));
        prop_assert_eq!(period.to_string(), oracle::name(every, day));
    }

    #[test]
    fn the_day_is_that_of_the_oracle(
        (schedule, day, workdays) in (schedules(), days()).prop_flat_map(|(schedule, day)| {
            (Just(schedule), Just(day), calendars(day))
        }),
    ) {
        let period = Period::containing(schedule.every(), day);
        let expected = oracle::due_day(&schedule, period, &workdays);
        prop_assert_eq!(schedule.due_day(period, &workdays), expected);
    }

    /// However the clock jumps: each period that is due has one run, in their order, and none that is not.
    #[test]
    fn each_period_is_due_once(
        (schedule, start, workdays) in (schedules(), days()).prop_flat_map(|(schedule, day)| {
            (Just(schedule), Just(day), calendars(day))
        }),
        steps in prop::collection::vec(1..60_000_i64, 1..12),
        bounds in (prop::option::of(0..400_i64), prop::option::of(0..400_i64)),
    ) {
        let bound = |days: Option<i64>| days.map(|days| start + Duration::days(days));
        let since = moscow().start_of(start);
        let validity = Validity { since, from: bound(bounds.0), until: bound(bounds.1) };
        let (mut now, mut last, mut paid) = (since, None, Vec::new());
        for minutes in steps {
            now += Duration::minutes(minutes);
            for due in schedule.due(validity, last, &workdays, moscow(), now) {
                prop_assert!(due.at <= now);
                paid.push(due.period);
                last = Some(due.period);
            }
            let next = schedule.next(validity, last, &workdays, moscow());
            prop_assert!(next.is_none_or(|next| next.at > now));
        }
        prop_assert_eq!(paid, oracle::due(&schedule, validity, &workdays, moscow(), now));
    }

    #[test]
    fn a_grant_never_gives_more_than_its_rule(
        amount in 1..1_000_000_i64, cap in prop::option::of(1..2_000_000_i64), balance in -1_000_000..2_000_000_i64,
        passed in 0..40_i64,
    ) {
        let period: Period = "2026-11".parse().unwrap();
        let share = Share::since(period, period.first_day() + Duration::days(passed));
        let after = |grant: Grant| match grant.effect(kopecks(balance), share).unwrap() {
            GrantEffect::None => balance,
            GrantEffect::TopUp(by) => balance + by.get(),
            GrantEffect::TakeBack(by) => balance - by.get(),
        };
        let part = amount * (30 - passed).clamp(0, 30) / 30;
        let fixed = after(Grant::Fixed { amount: kopecks(amount), cap: cap.map(kopecks) });
        prop_assert_eq!(fixed, cap.map_or(balance + part, |cap| (balance + part).min(cap.max(balance))));
        prop_assert_eq!(after(Grant::UpTo(kopecks(amount))), balance.max(part));
        prop_assert_eq!(after(Grant::DownTo(kopecks(amount))), balance.min(amount));
    }

    #[test]
    fn the_forecast_is_that_of_the_oracle(
        schedules in prop::collection::vec(schedules(), 1..4),
        grants in prop::collection::vec((0..3_u8, 1..1_000_i64, any::<bool>(), any::<bool>()), 4),
        cards in prop::collection::vec((0..1_500_i64, 0..120_i64), 1..6),
        available in 0..9_000_i64,
    ) {
        let start = day("01.11.2026");
        let validity = Validity { since: moscow().start_of(start), from: None, until: None };
        let programmes: Vec<PlannedProgramme> = schedules.iter().zip(&grants).map(|(schedule, grant)| {
            let (kind, amount, pro_rata, is_part) = *grant;
            let grant = match kind {
                0 => Grant::Fixed { amount: kopecks(amount), cap: is_part.then(|| kopecks(2 * amount)) },
                1 => Grant::UpTo(kopecks(amount)),
                _ => Grant::DownTo(kopecks(amount)),
            };
            let on_shortage = if is_part { OnShortage::Part } else { OnShortage::Nothing };
            let cards = (0..cards.len()).collect();
            PlannedProgramme { schedule: *schedule, validity, last: None, grant, pro_rata, on_shortage, cards }
        }).collect();
        let cards: Vec<ForecastCard> = cards.iter().map(|(balance, added)| ForecastCard {
            balance: kopecks(*balance), added_on: start + Duration::days(*added),
        }).collect();
        let until = day("31.12.2027");
        let times = (validity.since, until);
        let rows =
            forecast(&programmes, cards.clone(), kopecks(available), times, &calendar(), moscow()).unwrap();
        prop_assert_eq!(rows, oracle::forecast(&programmes, cards, available, times, &calendar()));
    }
}
