//! The rules of programmes for weeks and months without holidays, written apart from the code: day by day, on numbers alone.

use kopeck_domain::programme::{Every, Grant, OnShortage, Shift, TermsFields};
use time::{Date, Duration, OffsetDateTime};

/// A period of a programme, by its name, and when it is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OwnPeriod {
    pub(crate) name: String,
    pub(crate) at: OffsetDateTime,
    first: Date,
    days: i64,
}

fn weekday(day: Date) -> i64 {
    // 1970 began with a Thursday.
    (day - OffsetDateTime::UNIX_EPOCH.date()).whole_days().wrapping_add(3).rem_euclid(7) + 1
}

fn is_nominal(terms: &TermsFields, day: Date) -> bool {
    match terms.every {
        Every::Week => terms.day == weekday(day),
        _ if terms.day == -1 => (day + Duration::DAY).day() == 1,
        _ => terms.day == i64::from(day.day()),
    }
}

fn moved(shift: Shift, mut day: Date) -> Date {
    let step = match shift {
        Shift::None => return day,
        Shift::Before => -Duration::DAY,
        Shift::After => Duration::DAY,
    };
    while weekday(day) > 5 {
        day += step;
    }
    day
}

/// The name of the period with `day` in it, its first day, and how many it has.
fn period(every: Every, day: Date) -> (String, Date, i64) {
    if every == Every::Week {
        let monday = day - Duration::days(weekday(day) - 1);
        let thursday = monday + Duration::days(3);
        let name = format!("{}-W{:02}", thursday.year(), (thursday.ordinal() - 1) / 7 + 1);
        return (name, monday, 7);
    }
    let first = day - Duration::days(i64::from(day.day()) - 1);
    let mut days = 28;
    while (first + Duration::days(days)).day() != 1 {
        days += 1;
    }
    (format!("{}-{:02}", day.year(), u8::from(day.month())), first, days)
}

/// The periods that are due from `since` to `now`, in their order.
pub(crate) fn due(terms: &TermsFields, since: OffsetDateTime, now: OffsetDateTime) -> Vec<OwnPeriod> {
    let (mut due, mut day) = (Vec::new(), since.date() - Duration::days(5));
    while day <= now.date() + Duration::days(5) {
        if is_nominal(terms, day)
            && terms.from.is_none_or(|from| from <= day)
            && terms.until.is_none_or(|until| day <= until)
        {
            let minutes = Duration::minutes(i64::from(terms.time.minutes()));
            let at = moved(terms.shift, day).midnight().assume_utc() + minutes;
            if since <= at && at <= now {
                let (name, first, days) = period(terms.every, day);
                due.push(OwnPeriod { name, at, first, days });
            }
        }
        day += Duration::DAY;
    }
    due
}

/// What a card with `balance` of someone who was added on a day gets; below zero, what is taken from it.
pub(crate) fn change(terms: &TermsFields, period: &OwnPeriod, balance: i64, added: Date) -> i64 {
    let missed = (added - period.first).whole_days().max(0);
    let part = |amount: i64| {
        if terms.pro_rata { amount * (period.days - missed).max(0) / period.days } else { amount }
    };
    match terms.grant {
        Grant::Fixed { amount, cap } => {
            let room = cap.map_or(i64::MAX, |cap| cap.get() - balance);
            part(amount.get()).min(room).max(0)
        }
        Grant::UpTo(amount) => (part(amount.get()) - balance).max(0),
        Grant::DownTo(amount) => (amount.get() - balance).min(0),
    }
}

/// Which of these changes, in their order, the balance covers.
pub(crate) fn covered(terms: &TermsFields, changes: &[i64], available: i64) -> Vec<bool> {
    let needed: i64 = changes.iter().map(|change| change.max(&0)).sum();
    let nobody = terms.on_shortage == OnShortage::Nothing && needed > available;
    let mut left = available;
    let mut cover = |change: &i64| {
        let is_covered = *change < 0 || !nobody && *change <= left;
        if is_covered {
            left -= change.max(&0);
        }
        is_covered
    };
    changes.iter().map(&mut cover).collect()
}

/// Whether a run that was made then, and refused for lack of money at `declined`, was to be tried again by `now`.
pub(crate) fn has_try(made: OffsetDateTime, declined: OffsetDateTime, now: OffsetDateTime) -> bool {
    let tries = (0..3).flat_map(|day| [12, 18].map(|hour| Duration::days(day) + Duration::hours(hour)));
    let midnight = made.date().midnight().assume_utc();
    tries.map(|after| midnight + after).any(|at| declined < at && at <= now)
}
