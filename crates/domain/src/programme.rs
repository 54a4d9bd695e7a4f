//! Programmes: rules that pay employees in each period. Days, amounts and forecasts, as functions of plain values.

mod aggregate;
mod due;
mod forecast;
mod grant;
mod period;
mod plan;
mod schedule;
mod terms;
mod workdays;

use crate::string_enum::serde_enum;

pub use self::aggregate::{
    MAX_PROGRAMMES, NOTICE, Notice, Programme, ProgrammeFields, ProgrammeState, ProgrammeStateError,
    ProgrammeStep, Proposal,
};
pub use self::due::{ProgrammeDue, next_try};
pub use self::forecast::{ForecastCard, ForecastRow, PlannedProgramme, forecast};
pub use self::grant::{Grant, GrantEffect, Share};
pub use self::period::{Every, Period};
pub use self::plan::PeriodPlan;
pub use self::schedule::{
    DuePeriod, MISSED_DAYS, PeriodDay, Schedule, ScheduleFault, ScheduleField, Shift, Validity,
};
pub use self::terms::{
    Audience, MAX_NAMED, ProgrammeName, ReferenceTemplate, Terms, TermsFault, TermsFields,
};
pub use self::workdays::{DayKind, Workdays};

serde_enum! {
    /// What happens if the partner's balance does not cover a period as a whole.
    OnShortage {
        /// Nobody gets anything.
        Nothing = "NOTHING",
        /// As many get theirs as the balance covers, in the order of their `customId`.
        Part = "PART",
    }
}

#[cfg(test)]
mod tests;
