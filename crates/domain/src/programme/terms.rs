//! The terms of a programme: whom it pays what, and when.

use time::Date;

use super::OnShortage;
use super::grant::Grant;
use super::period::{Every, Period};
use super::schedule::{Schedule, ScheduleField, Shift};
use crate::calendar::date_text;
use crate::employee::EmployeeStatus;
use crate::ids::{CategoryId, EmployeeId};
use crate::invalid::{Invalid, from_text};
use crate::limit::TimeOfDay;
use crate::request::RequestReference;
use crate::text::partner_name;

/// The greatest number of categories or employees that a programme names.
pub const MAX_NAMED: usize = 10_000;

partner_name! {
    /// What the partner calls a programme.
    ProgrammeName
}

/// Whom a programme pays, as far as their status allows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Audience {
    /// Everybody.
    All,
    /// Those in these categories on the day.
    Categories(Vec<CategoryId>),
    /// These employees.
    Employees(Vec<EmployeeId>),
}

/// What a partner calls the runs of a programme: a text with `{period}` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReferenceTemplate(String);

impl ReferenceTemplate {
    const PLACEHOLDER: &'static str = "{period}";

    /// Reads a template.
    ///
    /// # Errors
    /// [`Invalid`] unless it names the period, and is a [`RequestReference`] with it.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if !text.contains(Self::PLACEHOLDER) {
            return Err(Invalid::new("must contain {period}, so that each run has a reference of its own"));
        }
        // The longest period.
        RequestReference::parse(&text.replace(Self::PLACEHOLDER, "2026-W53"))?;
        Ok(Self(text.to_owned()))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The reference of a period's run. A period has nothing in it that a reference has not.
    #[must_use]
    pub fn of(&self, period: Period) -> Option<RequestReference> {
        RequestReference::parse(&self.0.replace(Self::PLACEHOLDER, &period.to_string())).ok()
    }
}

from_text!(as_str: ReferenceTemplate);

/// The terms as a partner gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermsFields {
    /// What the partner calls the programme.
    pub name: ProgrammeName,
    /// Whom it pays.
    pub audience: Audience,
    /// With which statuses.
    pub statuses: Vec<EmployeeStatus>,
    /// What it does with each MAIN card.
    pub grant: Grant,
    /// How often.
    pub every: Every,
    /// On which day: 1 to 28, or -1 for the last; of a week 1 to 7.
    pub day: i64,
    /// In which month of the year, with years alone.
    pub month: Option<i64>,
    /// At which time.
    pub time: TimeOfDay,
    /// Where a day goes on which nobody works.
    pub shift: Shift,
    /// Whether a person who was added within a period gets a share.
    pub pro_rata: bool,
    /// What happens if the balance is short.
    pub on_shortage: OnShortage,
    /// The first day.
    pub from: Option<Date>,
    /// The last day.
    pub until: Option<Date>,
    /// What the partner calls the runs.
    pub reference: Option<ReferenceTemplate>,
}

/// What is wrong with terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermsFault {
    /// The field, as the API calls it.
    pub field: &'static str,
    /// What is wrong with it, for people.
    pub detail: String,
}

impl TermsFault {
    /// A fault of this field.
    pub fn new(field: &'static str, detail: impl Into<String>) -> Self {
        Self { field, detail: detail.into() }
    }
}

/// Terms that hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terms {
    fields: TermsFields,
    schedule: Schedule,
}

impl Terms {
    /// Checks the terms.
    ///
    /// # Errors
    /// [`TermsFault`], one for each faulty field.
    pub fn new(fields: TermsFields) -> Result<Self, Vec<TermsFault>> {
        let mut faults = Vec::new();
        let TermsFields { every, day, month, time, shift, .. } = fields;
        let schedule = Schedule::new(every, day, month, time, shift);
        if let Err(wrong) = &schedule {
            faults.extend(wrong.iter().map(|fault| {
                let field = match fault.field {
                    ScheduleField::Day => "day",
                    ScheduleField::Month => "month",
                };
                TermsFault::new(field, fault.detail)
            }));
        }
        let named = match &fields.audience {
            Audience::All => 1,
            Audience::Categories(ids) => ids.len(),
            Audience::Employees(ids) => ids.len(),
        };
        if !(1..=MAX_NAMED).contains(&named) {
            faults.push(TermsFault::new("for", format!("must name 1 to {MAX_NAMED}")));
        }
        if fields.statuses.is_empty() {
            faults.push(TermsFault::new("statuses", "must name at least one status"));
        } else if !matches!(fields.grant, Grant::DownTo(_))
            && fields.statuses.contains(&EmployeeStatus::DontWork)
        {
            faults.push(TermsFault::new(
                "statuses",
                "DONT_WORK goes with downTo alone: a leaver is not topped up",
            ));
        }
        if let (Some(from), Some(until)) = (fields.from, fields.until)
            && until < from
        {
            faults.push(TermsFault::new("until", format!("must not be before {}", date_text(from))));
        }
        match schedule {
            Ok(schedule) if faults.is_empty() => Ok(Self { fields, schedule }),
            _ => Err(faults),
        }
    }

    /// The terms as they were given.
    #[must_use]
    pub const fn fields(&self) -> &TermsFields {
        &self.fields
    }

    /// When the programme pays.
    #[must_use]
    pub const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Whether what a card gets depends on what it holds.
    #[must_use]
    pub const fn go_by_balances(&self) -> bool {
        !matches!(self.fields.grant, Grant::Fixed { cap: None, .. })
    }
}
