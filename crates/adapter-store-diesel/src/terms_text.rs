//! The terms of a programme in their column: JSON, with the fields as the domain names them.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::{date_text, parse_date};
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{CategoryId, EmployeeId};
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::programme::{
    Audience, Every, Grant, OnShortage, ProgrammeName, ReferenceTemplate, Shift, Terms, TermsFields,
};
use kopeck_port_store::StoreError;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::convert::corrupt;

#[derive(Serialize, Deserialize)]
struct StoredTerms {
    name: String,
    audience: StoredAudience,
    statuses: Vec<String>,
    grant: StoredGrant,
    every: String,
    day: i64,
    month: Option<i64>,
    time: String,
    shift: String,
    pro_rata: bool,
    on_shortage: String,
    from: Option<String>,
    until: Option<String>,
    reference: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredAudience {
    All,
    Categories(Vec<Uuid>),
    Employees(Vec<Uuid>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredGrant {
    Fixed { amount: i64, cap: Option<i64> },
    UpTo(i64),
    DownTo(i64),
}

/// The text of `terms`.
pub(crate) fn text(terms: &Terms) -> Result<String, StoreError> {
    let TermsFields { name, audience, statuses, grant, every, day, month, time, shift, .. } = terms.fields();
    let TermsFields { pro_rata, on_shortage, from, until, reference, .. } = terms.fields();
    let stored = StoredTerms {
        name: name.as_str().to_owned(),
        audience: match audience {
            Audience::All => StoredAudience::All,
            Audience::Categories(ids) => StoredAudience::Categories(ids.iter().map(|id| id.uuid()).collect()),
            Audience::Employees(ids) => StoredAudience::Employees(ids.iter().map(|id| id.uuid()).collect()),
        },
        statuses: statuses.iter().map(ToString::to_string).collect(),
        grant: match grant {
            Grant::Fixed { amount, cap } => {
                StoredGrant::Fixed { amount: amount.get(), cap: cap.map(Kopecks::get) }
            }
            Grant::UpTo(amount) => StoredGrant::UpTo(amount.get()),
            Grant::DownTo(amount) => StoredGrant::DownTo(amount.get()),
        },
        every: every.to_string(),
        day: *day,
        month: *month,
        time: time.to_string(),
        shift: shift.to_string(),
        pro_rata: *pro_rata,
        on_shortage: on_shortage.to_string(),
        from: from.map(date_text),
        until: until.map(date_text),
        reference: reference.as_ref().map(|template| template.as_str().to_owned()),
    };
    serde_json::to_string(&stored).map_err(|error| StoreError::Failed(error.to_string()))
}

/// The terms with this text.
pub(crate) fn parse(stored: &str, column: &'static str) -> Result<Terms, StoreError> {
    let stored: StoredTerms = serde_json::from_str(stored).map_err(|_| corrupt(column))?;
    read(stored).ok_or_else(|| corrupt(column))
}

fn read(stored: StoredTerms) -> Option<Terms> {
    let date = |text: Option<String>| text.map(|text| parse_date(&text)).transpose().ok();
    let statuses: Result<Vec<EmployeeStatus>, _> =
        stored.statuses.iter().map(|status| status.parse()).collect();
    let (every, shift): (Every, Shift) = (stored.every.parse().ok()?, stored.shift.parse().ok()?);
    let on_shortage: OnShortage = stored.on_shortage.parse().ok()?;
    let reference = stored.reference.map(|template| ReferenceTemplate::parse(&template)).transpose().ok()?;
    let fields = TermsFields {
        name: ProgrammeName::from_stored(stored.name),
        audience: match stored.audience {
            StoredAudience::All => Audience::All,
            StoredAudience::Categories(ids) => {
                Audience::Categories(ids.into_iter().map(CategoryId::new).collect())
            }
            StoredAudience::Employees(ids) => {
                Audience::Employees(ids.into_iter().map(EmployeeId::new).collect())
            }
        },
        statuses: statuses.ok()?,
        grant: match stored.grant {
            StoredGrant::Fixed { amount, cap } => {
                Grant::Fixed { amount: Kopecks::new(amount), cap: cap.map(Kopecks::new) }
            }
            StoredGrant::UpTo(amount) => Grant::UpTo(Kopecks::new(amount)),
            StoredGrant::DownTo(amount) => Grant::DownTo(Kopecks::new(amount)),
        },
        every,
        day: stored.day,
        month: stored.month,
        time: TimeOfDay::parse(&stored.time).ok()?,
        shift,
        pro_rata: stored.pro_rata,
        on_shortage,
        from: date(stored.from)?,
        until: date(stored.until)?,
        reference,
    };
    Terms::new(fields).ok()
}
