//! The same rules, written apart from the code: slow, day by day, on numbers alone.

use time::{Date, Duration, OffsetDateTime};

use super::*;

/// Year, month, day, and the weekday from 1, by counting from a Thursday.
fn parts(day: Date) -> (i32, u8, u8, i64) {
    let (year, month, nth) = day.to_calendar_date();
    let since_thursday =
        (day - Date::from_calendar_date(1970, time::Month::January, 1).unwrap()).whole_days();
    (year, u8::from(month), nth, (since_thursday + 3).rem_euclid(7) + 1)
}

/// What the period with `day` in it is called.
pub(super) fn name(every: Every, day: Date) -> String {
    let (year, month, _, weekday) = parts(day);
    match every {
        Every::Month => format!("{year}-{month:02}"),
        Every::Quarter => format!("{year}-Q{}", (month - 1) / 3 + 1),
        Every::Year => year.to_string(),
        Every::Week => {
            // The week belongs to the year in which its Thursday lies, and is as many as that year has had Thursdays.
            let thursday = day + Duration::days(4 - weekday);
            let (year, ..) = parts(thursday);
            let mut week = 1;
            let mut before = thursday - Duration::days(7);
            while parts(before).0 == year {
                (week, before) = (week + 1, before - Duration::days(7));
            }
            format!("{year}-W{week:02}")
        }
    }
}

fn is_last_of_month(day: Date) -> bool {
    parts(day).1 != parts(day + Duration::DAY).1
}

/// Whether a programme pays on this day, if nobody has a holiday.
fn is_nominal(schedule: &Schedule, day: Date) -> bool {
    let (_, month, nth, weekday) = parts(day);
    let is_month = match schedule.every() {
        Every::Week => return schedule.day() == PeriodDay::Nth(u8::try_from(weekday).unwrap()),
        Every::Month => true,
        Every::Quarter if schedule.day() == PeriodDay::Last => month % 3 == 0,
        Every::Quarter => month % 3 == 1,
        Every::Year => schedule.month().map(u8::from) == Some(month),
    };
    is_month
        && match schedule.day() {
            PeriodDay::Nth(day) => day == nth,
            PeriodDay::Last => is_last_of_month(day),
        }
}

fn moved(schedule: &Schedule, nominal: Date, workdays: &Workdays) -> Date {
    let is_free = |day: Date| match workdays.iter().find(|(known, _)| *known == day) {
        Some((_, kind)) => kind == DayKind::Holiday,
        None => parts(day).3 > 5,
    };
    let step = match schedule.shift() {
        Shift::None => return nominal,
        Shift::Before => -1,
        Shift::After => 1,
    };
    (0..1_000).map(|days| nominal + Duration::days(days * step)).find(|day| !is_free(*day)).unwrap()
}

pub(super) fn due_day(schedule: &Schedule, period: Period, workdays: &Workdays) -> Date {
    let mut day = period.first_day();
    while !is_nominal(schedule, day) {
        day += Duration::DAY;
    }
    moved(schedule, day, workdays)
}

/// The periods due by `now`, found by looking at each day.
pub(super) fn due(
    schedule: &Schedule,
    validity: Validity,
    workdays: &Workdays,
    zone: Zone,
    now: OffsetDateTime,
) -> Vec<Period> {
    let mut due = Vec::new();
    let mut day = zone.day(validity.since) - Duration::days(400);
    while day <= zone.day(now) + Duration::days(400) {
        if is_nominal(schedule, day)
            && validity.from.is_none_or(|from| from <= day)
            && validity.until.is_none_or(|until| day <= until)
        {
            let minutes = Duration::minutes(i64::from(schedule.time().minutes()));
            let at = moved(schedule, day, workdays).midnight().assume_offset(zone.offset()) + minutes;
            if validity.since <= at && at <= now {
                due.push(Period::containing(schedule.every(), day));
            }
        }
        day += Duration::DAY;
    }
    due
}

/// Minute after minute would take too long: day after day, and the programmes of a day by their time.
pub(super) fn forecast(
    programmes: &[PlannedProgramme],
    cards: Vec<ForecastCard>,
    mut available: i64,
    (now, until): (OffsetDateTime, Date),
    workdays: &Workdays,
) -> Vec<ForecastRow> {
    let mut balances: Vec<i64> = cards.iter().map(|card| card.balance.get()).collect();
    let mut rows = Vec::new();
    let mut today = moscow().day(now);
    while today <= until {
        let mut turns: Vec<(u16, usize, Date)> = Vec::new();
        for (place, programme) in programmes.iter().enumerate() {
            for offset in -15..=15 {
                let nominal = today + Duration::days(offset);
                if is_nominal(&programme.schedule, nominal)
                    && moved(&programme.schedule, nominal, workdays) == today
                {
                    turns.push((programme.schedule.time().minutes(), place, nominal));
                }
            }
        }
        turns.sort_unstable();
        for (minutes, place, nominal) in turns {
            let programme = &programmes[place];
            let period = Period::containing(programme.schedule.every(), nominal);
            let length = (period.last_day() - period.first_day()).whole_days() + 1;
            let mut wanted = Vec::new();
            for (card, balance) in balances.iter().enumerate() {
                let missed = (cards[card].added_on - period.first_day()).whole_days().max(0);
                let part = |amount: Kopecks| {
                    if programme.pro_rata {
                        amount.get() * (length - missed).max(0) / length
                    } else {
                        amount.get()
                    }
                };
                let change = match programme.grant {
                    Grant::Fixed { amount, cap } => {
                        let most = cap.map_or(i64::MAX, |cap| cap.get() - balance);
                        part(amount).min(most).max(0)
                    }
                    Grant::UpTo(amount) => (part(amount) - balance).max(0),
                    Grant::DownTo(amount) => (amount.get() - balance).min(0),
                };
                if change != 0 {
                    wanted.push((card, change));
                }
            }
            let needed: i64 = wanted.iter().map(|(_, change)| change.max(&0)).sum();
            let short = (needed - available).max(0);
            let (before, mut left) = (available, available);
            for (card, change) in &wanted {
                let is_covered = *change < 0
                    || *change <= left && (short == 0 || programme.on_shortage == OnShortage::Part);
                if is_covered {
                    balances[*card] += change;
                    left -= change.max(&0);
                    available -= change;
                }
            }
            rows.push(ForecastRow {
                at: moscow().start_of(today) + Duration::minutes(i64::from(minutes)),
                programme: place,
                period,
                people: wanted.len(),
                needed: Kopecks::new(needed),
                available: Kopecks::new(before),
                available_after: Kopecks::new(available),
                short: Kopecks::new(short),
            });
        }
        today += Duration::DAY;
    }
    rows
}
