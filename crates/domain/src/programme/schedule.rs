//! When a programme pays: the day of each period, moved off holidays, and which periods are due.

use time::{Date, Duration, Month, OffsetDateTime};

use super::period::{Every, Period, end_of_month};
use super::workdays::Workdays;
use crate::calendar::Zone;
use crate::limit::TimeOfDay;
use crate::string_enum::serde_enum;

/// A period that was missed is made up for within so many days; an older one has expired.
pub const MISSED_DAYS: i64 = 7;

/// A moved day moves so many days at most: a calendar in which nobody works for longer is none.
const FARTHEST_SHIFT: u16 = 366;

serde_enum! {
    /// Where a day goes on which nobody works.
    Shift {
        /// It stays.
        None = "NONE",
        /// To the working day before.
        Before = "BEFORE",
        /// To the working day after.
        After = "AFTER",
    }
}

/// The day of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeriodDay {
    /// Counted from 1: of a week from Monday, of a quarter in its first month.
    Nth(u8),
    /// The last.
    Last,
}

/// When a programme pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    every: Every,
    day: PeriodDay,
    /// The month of the year, if it pays each year.
    month: Option<Month>,
    time: TimeOfDay,
    shift: Shift,
}

/// A field of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScheduleField {
    /// The day.
    Day,
    /// The month.
    Month,
}

/// What is wrong with a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScheduleFault {
    /// The field.
    pub field: ScheduleField,
    /// What is wrong with it, for people.
    pub detail: &'static str,
}

impl Schedule {
    /// A schedule. `day` is from 1 to 28 or -1, the last; of a week from 1 to 7. `month` is from 1 to 12, with years alone.
    ///
    /// # Errors
    /// [`ScheduleFault`], one for each faulty field.
    pub fn new(
        every: Every,
        day: i64,
        month: Option<i64>,
        time: TimeOfDay,
        shift: Shift,
    ) -> Result<Self, Vec<ScheduleFault>> {
        let most = if every == Every::Week { 7 } else { 28 };
        let nth = u8::try_from(day).ok().filter(|day| (1..=most).contains(day)).map(PeriodDay::Nth);
        let last = (day == -1 && every != Every::Week).then_some(PeriodDay::Last);
        let day = nth.or(last).ok_or(ScheduleFault {
            field: ScheduleField::Day,
            detail: if every == Every::Week { "must be from 1 to 7" } else { "must be from 1 to 28, or -1" },
        });
        let fault = |detail| Err(ScheduleFault { field: ScheduleField::Month, detail });
        let parsed =
            month.map(|month| u8::try_from(month).ok().and_then(|month| Month::try_from(month).ok()));
        let month = match (every, parsed) {
            (Every::Year, Some(Some(month))) => Ok(Some(month)),
            (Every::Year, None) => fault("is required with YEAR"),
            (Every::Year, Some(None)) => fault("must be from 1 to 12"),
            (_, None) => Ok(None),
            (_, Some(_)) => fault("goes with YEAR alone"),
        };
        match (day, month) {
            (Ok(day), Ok(month)) => Ok(Self { every, day, month, time, shift }),
            (day, month) => Err(day.err().into_iter().chain(month.err()).collect()),
        }
    }

    /// How often.
    #[must_use]
    pub const fn every(&self) -> Every {
        self.every
    }

    /// On which day.
    #[must_use]
    pub const fn day(&self) -> PeriodDay {
        self.day
    }

    /// In which month of the year.
    #[must_use]
    pub const fn month(&self) -> Option<Month> {
        self.month
    }

    /// At which time.
    #[must_use]
    pub const fn time(&self) -> TimeOfDay {
        self.time
    }

    /// Where a day goes on which nobody works.
    #[must_use]
    pub const fn shift(&self) -> Shift {
        self.shift
    }

    /// The day of a period by the calendar alone.
    #[must_use]
    pub fn nominal_day(&self, period: Period) -> Date {
        let first = match self.month {
            Some(month) => period.first_day().replace_month(month).unwrap_or(period.first_day()),
            None => period.first_day(),
        };
        match self.day {
            PeriodDay::Nth(day) => first.saturating_add(Duration::days(i64::from(day) - 1)),
            PeriodDay::Last if self.month.is_some() => end_of_month(first, first.month()),
            PeriodDay::Last => period.last_day(),
        }
    }

    /// The day on which a period is paid; it may lie outside of the period.
    #[must_use]
    pub fn due_day(&self, period: Period, workdays: &Workdays) -> Date {
        let nominal = self.nominal_day(period);
        let step = match self.shift {
            Shift::None => return nominal,
            Shift::Before => -Duration::DAY,
            Shift::After => Duration::DAY,
        };
        let mut day = nominal;
        for _ in 0..FARTHEST_SHIFT {
            if workdays.is_working(day) {
                return day;
            }
            day = day.saturating_add(step);
        }
        nominal
    }

    /// When a period is paid.
    #[must_use]
    pub fn due_at(&self, period: Period, workdays: &Workdays, zone: Zone) -> OffsetDateTime {
        zone.start_of(self.due_day(period, workdays)) + Duration::minutes(i64::from(self.time.minutes()))
    }
}

/// For which periods a programme pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// When it was made, or resumed: what was due before is not missed.
    pub since: OffsetDateTime,
    /// Periods whose day, before it is moved, is this one or later.
    pub from: Option<Date>,
    /// Periods whose day, before it is moved, is this one or earlier.
    pub until: Option<Date>,
}

/// A period that a programme pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DuePeriod {
    /// The period.
    pub period: Period,
    /// When it is due.
    pub at: OffsetDateTime,
}

impl DuePeriod {
    /// Whether it is too late to make up for it.
    #[must_use]
    pub fn has_expired(&self, now: OffsetDateTime) -> bool {
        self.at + Duration::days(MISSED_DAYS) < now
    }
}

impl Schedule {
    /// The periods that are paid, in their order, from the one behind `last` on, the last that has a run; without end, unless
    /// the programme has one. Where `last` is of another length, they begin with the period of the day behind it.
    pub fn periods<'a>(
        &'a self,
        validity: Validity,
        last: Option<Period>,
        workdays: &'a Workdays,
        zone: Zone,
    ) -> impl Iterator<Item = DuePeriod> + 'a {
        // A day moves by less than a year, so that nothing of an earlier period is due since then.
        let earliest = zone.day(validity.since).saturating_sub(Duration::days(i64::from(FARTHEST_SHIFT)));
        let earliest =
            Period::containing(self.every, validity.from.map_or(earliest, |from| earliest.max(from)));
        let behind = last.map(|last| Period::containing(self.every, last.next().first_day()));
        let first = behind.filter(|next| *next > earliest).unwrap_or(earliest);
        let mut next = Some(first);
        std::iter::from_fn(move || {
            let period = next?;
            // At the end of the calendar there is no next one.
            next = Some(period.next()).filter(|following| *following > period);
            Some(period)
        })
        .skip_while(move |period| validity.from.is_some_and(|from| self.nominal_day(*period) < from))
        .take_while(move |period| validity.until.is_none_or(|until| self.nominal_day(*period) <= until))
        .map(move |period| DuePeriod { period, at: self.due_at(period, workdays, zone) })
        .skip_while(move |due| due.at < validity.since)
    }

    /// The periods that are due by `now` and have no run; those that [have expired](DuePeriod::has_expired) too.
    #[must_use]
    pub fn due(
        &self,
        validity: Validity,
        last: Option<Period>,
        workdays: &Workdays,
        zone: Zone,
        now: OffsetDateTime,
    ) -> Vec<DuePeriod> {
        self.periods(validity, last, workdays, zone).take_while(|due| due.at <= now).collect()
    }

    /// The next period that is paid behind `last`; `None` if the programme has ended.
    #[must_use]
    pub fn next(
        &self,
        validity: Validity,
        last: Option<Period>,
        workdays: &Workdays,
        zone: Zone,
    ) -> Option<DuePeriod> {
        self.periods(validity, last, workdays, zone).next()
    }
}
