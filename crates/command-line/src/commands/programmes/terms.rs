//! The terms of a programme: options, or a file of JSON.

use std::path::{Path, PathBuf};

use clap::Args;
use kopeck_client::{
    Date, EmployeeStatus, OnShortage, ProgrammeAmount, ProgrammeAudience, ProgrammePeriod, ProgrammeShift,
    ProgrammeTerms, Uuid,
};

use crate::failure::Failure;
use crate::money::Amount;
use crate::times;

/// The terms of a programme.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Terms")]
pub(crate) struct TermsArgs {
    /// A file of JSON with all terms, as the API has them; amounts in it are kopecks.
    #[arg(conflicts_with_all = ["name", "every", "day"])]
    file: Option<PathBuf>,
    /// What you call it.
    #[arg(long, required_unless_present = "file")]
    name: Option<String>,
    /// How often: `WEEK`, `MONTH`, `QUARTER` or `YEAR`.
    #[arg(long, required_unless_present = "file")]
    every: Option<String>,
    /// On which day: 1 to 28, -1 for the last; of WEEK 1 (Monday) to 7.
    #[arg(long, required_unless_present = "file", allow_negative_numbers = true)]
    day: Option<i64>,
    /// Of YEAR: in which month, 1 to 12.
    #[arg(long)]
    month: Option<i64>,
    /// At which time, `HH:MM`; 09:00 by default.
    #[arg(long)]
    time: Option<String>,
    /// Add so much to each card, roubles.
    #[arg(long, conflicts_with_all = ["up_to", "down_to"])]
    fixed: Option<Amount>,
    /// Of `--fixed`: fill no card above this.
    #[arg(long, requires = "fixed")]
    cap: Option<Amount>,
    /// Fill each card up to this, roubles.
    #[arg(long, conflicts_with = "down_to")]
    up_to: Option<Amount>,
    /// Take back all above this, roubles.
    #[arg(long)]
    down_to: Option<Amount>,
    /// Only people in this category; may stand several times. Everybody, if absent.
    #[arg(long = "category", conflicts_with = "employees")]
    categories: Vec<Uuid>,
    /// Only this employee; may stand several times.
    #[arg(long = "employee")]
    employees: Vec<Uuid>,
    /// Only people with this status; may stand several times. `WORK`, `VACATION` and `MEDICAL`, if absent.
    #[arg(long = "status")]
    statuses: Vec<String>,
    /// Where the day goes if nobody works on it: `NONE`, `BEFORE` or `AFTER`.
    #[arg(long)]
    shift: Option<String>,
    /// Give people who were added within a period the share of its days.
    #[arg(long)]
    pro_rata: bool,
    /// What happens if the balance is short: `NOTHING` or `PART`.
    #[arg(long)]
    on_shortage: Option<String>,
    /// Nothing before this day.
    #[arg(long, value_parser = times::date)]
    from: Option<Date>,
    /// Nothing after this day.
    #[arg(long, value_parser = times::date)]
    until: Option<Date>,
    /// What its runs are called, such as `meal-{period}`.
    #[arg(long)]
    reference: Option<String>,
}

impl TermsArgs {
    /// The terms; the service says what is wrong with them.
    pub(super) fn read(&self) -> Result<ProgrammeTerms, Failure> {
        if let Some(file) = &self.file {
            return of_file(file);
        }
        let (Some(name), Some(every), Some(day)) = (&self.name, &self.every, self.day) else {
            return Err(Failure::usage("give a file, or --name, --every and --day"));
        };
        let kopecks = |amount: Option<Amount>| amount.map(|amount| amount.0);
        let amount = ProgrammeAmount {
            fixed: kopecks(self.fixed),
            cap: kopecks(self.cap),
            up_to: kopecks(self.up_to),
            down_to: kopecks(self.down_to),
        };
        let mut terms = ProgrammeTerms::new(name, amount, ProgrammePeriod::from(every.as_str()), day);
        if !self.categories.is_empty() {
            let id_category = Some(self.categories.clone());
            terms.audience = ProgrammeAudience { id_category, ..ProgrammeAudience::default() };
        } else if !self.employees.is_empty() {
            let id_employee = Some(self.employees.clone());
            terms.audience = ProgrammeAudience { id_employee, ..ProgrammeAudience::default() };
        }
        if !self.statuses.is_empty() {
            terms.statuses =
                self.statuses.iter().map(|status| EmployeeStatus::from(status.as_str())).collect();
        }
        terms.month = self.month;
        if let Some(time) = &self.time {
            terms.time.clone_from(time);
        }
        if let Some(shift) = &self.shift {
            terms.shift = ProgrammeShift::from(shift.as_str());
        }
        terms.pro_rata = self.pro_rata;
        if let Some(on_shortage) = &self.on_shortage {
            terms.on_shortage = OnShortage::from(on_shortage.as_str());
        }
        (terms.from, terms.until) = (self.from, self.until);
        terms.reference.clone_from(&self.reference);
        Ok(terms)
    }
}

fn of_file(path: &Path) -> Result<ProgrammeTerms, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::local(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error))?;
    serde_json::from_str(&text).map_err(|error| failed(&error))
}
