//! Programmes: rules that pay employees in each period. Days, amounts and forecasts, as functions of plain values.

mod forecast;
mod grant;
mod period;
mod schedule;
mod workdays;

use crate::string_enum::serde_enum;

pub use self::forecast::{ForecastCard, ForecastRow, PlannedProgramme, forecast};
pub use self::grant::{Grant, GrantEffect, Share};
pub use self::period::{Every, Period};
pub use self::schedule::{
    DuePeriod, MISSED_DAYS, PeriodDay, Schedule, ScheduleFault, ScheduleField, Shift, Validity,
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
