//! Programmes: rules that make a run for each period.

use time::{Date, PrimitiveDateTime};
use uuid::Uuid;

use crate::employee::EmployeeStatus;
use crate::open_enum::open_enum;
use crate::shape::{Flat, OrAbsent, body};
use crate::wire;

open_enum! {
    /// Where a programme stands.
    pub enum ProgrammeState as "ProgrammeState",
        "WAITING_APPROVAL: it, or a change of it, waits for an approval. ACTIVE: it makes a run for each period. PAUSED: it makes none until it is resumed. ENDED: it makes none any more."
    {
        /// It, or a change of it, waits for an approval.
        WaitingApproval = "WAITING_APPROVAL",
        /// It makes a run for each period.
        Active = "ACTIVE",
        /// It makes none until it is resumed.
        Paused = "PAUSED",
        /// It makes none any more.
        Ended = "ENDED",
    }
}

open_enum! {
    /// How often a programme pays.
    pub enum ProgrammePeriod as "ProgrammePeriod", "Periods of the calendar; a week begins on Monday." {
        /// Each week.
        Week = "WEEK",
        /// Each month.
        Month = "MONTH",
        /// Each quarter.
        Quarter = "QUARTER",
        /// Each year.
        Year = "YEAR",
    }
}

open_enum! {
    /// Where a day goes that is a Saturday, a Sunday or a holiday.
    pub enum ProgrammeShift as "ProgrammeShift",
        "NONE: it stays. BEFORE: to the working day before. AFTER: to the working day after."
    {
        /// It stays.
        None = "NONE",
        /// To the working day before.
        Before = "BEFORE",
        /// To the working day after.
        After = "AFTER",
    }
}

open_enum! {
    /// What happens if the balance does not cover a period.
    pub enum OnShortage as "OnShortage",
        "NOTHING: nobody gets anything, and the run is tried again at 12:00 and 18:00 of that day and of the next two. PART: by `customId`, as far as it goes; it is not tried again."
    {
        /// Nobody gets anything.
        Nothing = "NOTHING",
        /// As far as it goes.
        Part = "PART",
    }
}

body! {
    /// Whom a programme pays: exactly one of the fields is given.
    #[derive(Default)]
    pub struct ProgrammeAudience as "ProgrammeFor" {
        /// `true`: everybody.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        all: Option<bool> as OrAbsent<bool>,
        /// Those in these categories on the day.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id_category: Option<Vec<Uuid>> as OrAbsent<Vec<Uuid>>,
        /// These employees.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id_employee: Option<Vec<Uuid>> as OrAbsent<Vec<Uuid>>,
    }
}

body! {
    /// What a programme does with each MAIN card: exactly one of `fixed`, `upTo` and `downTo` is given. Kopecks.
    #[derive(Default)]
    pub struct ProgrammeAmount as "ProgrammeAmount" {
        /// Adds so much.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fixed: Option<i64> as OrAbsent<i64>,
        /// Of `fixed`: no card is filled above it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cap: Option<i64> as OrAbsent<i64>,
        /// Fills the card up to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up_to: Option<i64> as OrAbsent<i64>,
        /// Takes back all above it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        down_to: Option<i64> as OrAbsent<i64>,
    }
}

body! {
    /// The terms of a programme.
    pub struct ProgrammeTerms as "ProgrammeTerms" {
        /// What you call it.
        name: String,
        /// Whom it pays.
        audience: ProgrammeAudience = "for",
        /// With which statuses.
        #[serde(default = "working")]
        statuses: Vec<EmployeeStatus>,
        /// What it does with each MAIN card.
        amount: ProgrammeAmount,
        /// How often.
        every: ProgrammePeriod,
        /// On which day: 1 to 28, or -1 for the last; of WEEK 1 (Monday) to 7. QUARTER counts from its first month on.
        day: i64,
        /// Of YEAR: in which month, 1 to 12.
        #[serde(default)]
        month: Option<i64>,
        /// At which time, `HH:MM`.
        #[serde(default = "nine")]
        time: String,
        /// Where a day goes that is a Saturday, a Sunday or a holiday.
        #[serde(default = "stays")]
        shift: ProgrammeShift,
        /// Whether a person who was added within the period gets the share of its days from then on.
        #[serde(default)]
        pro_rata: bool,
        /// What happens if the balance does not cover a period.
        #[serde(default = "nothing")]
        on_shortage: OnShortage,
        /// The first day; `null` for any.
        #[serde(default, with = "wire::text_or_null")]
        from: Option<Date>,
        /// The last day; `null` for none.
        #[serde(default, with = "wire::text_or_null")]
        until: Option<Date>,
        /// What its runs are called, with `{period}` in it; `null` for nothing.
        #[serde(default)]
        reference: Option<String>,
    }
}

fn working() -> Vec<EmployeeStatus> {
    vec![EmployeeStatus::Work, EmployeeStatus::Vacation, EmployeeStatus::Medical]
}

fn nine() -> String {
    "09:00".to_owned()
}

const fn stays() -> ProgrammeShift {
    ProgrammeShift::None
}

const fn nothing() -> OnShortage {
    OnShortage::Nothing
}

impl ProgrammeTerms {
    /// Terms for everybody who works, is on vacation or on sick leave, at 09:00 of the day whatever it is, of which nobody gets
    /// anything if the balance is short.
    #[must_use]
    pub fn new(name: impl Into<String>, amount: ProgrammeAmount, every: ProgrammePeriod, day: i64) -> Self {
        Self {
            name: name.into(),
            audience: ProgrammeAudience { all: Some(true), ..ProgrammeAudience::default() },
            statuses: working(),
            amount,
            every,
            day,
            month: None,
            time: nine(),
            shift: stays(),
            pro_rata: false,
            on_shortage: nothing(),
            from: None,
            until: None,
            reference: None,
        }
    }
}

body! {
    /// A programme.
    pub struct Programme as "Programme" {
        /// Its identifier.
        id_programme: Uuid,
        /// Its state.
        state: ProgrammeState = "status",
        /// When it was created.
        #[serde(with = "wire::text")]
        created_at: PrimitiveDateTime,
        /// Who created it.
        created_by: String,
        /// When it makes its next run; `null` if it makes none.
        #[serde(with = "wire::text_or_null")]
        next_at: Option<PrimitiveDateTime>,
        /// The terms in force, or, of a programme that has never been in force, those that wait.
        #[serde(flatten)]
        terms: ProgrammeTerms as Flat<ProgrammeTerms>,
        /// The terms that wait for an approval; `null` if none do.
        proposed: Option<ProgrammeTerms>,
        /// Who gave them.
        proposed_by: Option<String>,
    }
}

body! {
    /// What a programme will do in a period, if nothing else changes until then.
    pub struct ProgrammeForecast as "ProgrammeForecast" {
        /// On which day.
        #[serde(with = "wire::text")]
        date: Date,
        /// The programme.
        id_programme: Uuid,
        /// The period: `2026-W49`, `2026-12`, `2026-Q4`, `2026`.
        period: String,
        /// How many cards it changes, or would if the money were there.
        people: u64,
        /// What they get together, kopecks.
        needed: i64,
        /// What you can spend afterwards, kopecks.
        available_after: i64,
        /// What is missing, kopecks; 0 if nothing is.
        short: i64,
    }
}

body! {
    /// A period of a programme that will be paid.
    pub struct ProgrammeDueEvent as "ProgrammeDueEvent" {
        /// The programme.
        id_programme: Uuid,
        /// The period.
        period: String,
        /// When it is paid.
        #[serde(with = "wire::text")]
        at: PrimitiveDateTime,
        /// What the cards are to get together, kopecks.
        needed: i64,
        /// What you can spend, kopecks.
        available: i64,
        /// What is missing, kopecks; 0 if nothing is.
        short: i64,
    }
}
