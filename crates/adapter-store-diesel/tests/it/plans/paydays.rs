//! What runs, programmes and leavers ask the database.

use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::programme::Audience;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::{Outcome, RunKind, RunState};
use kopeck_port_store::{RunDecision, RunFilter, RunItemFilter, RunRequest, StoreError, UnitOfWork};
use time::Duration;
use uuid::Uuid;

use super::page;
use crate::support::{NOW, PARTNER};

pub(super) fn paydays(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let none = Uuid::nil();
    unit.programmes().due(NOW, NOW - Duration::DAY, 10)?;
    unit.programmes().due_of(PARTNER, NOW)?;
    unit.programmes().list(PARTNER, page())?;
    unit.programmes().get(PARTNER, none.into())?;
    let audiences = [
        Audience::All,
        Audience::Categories(vec![none.into(), Uuid::from_u128(1).into()]),
        Audience::Employees(vec![none.into(), Uuid::from_u128(1).into()]),
    ];
    for audience in audiences {
        unit.programmes().members(PARTNER, &audience, &[EmployeeStatus::Work, EmployeeStatus::Medical])?;
    }
    unit.leavers().due(NOW, 10)?;
    unit.leavers().wake(PARTNER, none.into(), NOW)?;
    runs(unit)
}

fn runs(unit: &mut dyn UnitOfWork) -> Result<(), StoreError> {
    let (run, reference) = (Uuid::nil().into(), RequestReference::from_stored("PO-7".to_owned()));
    unit.runs().due(NOW, 10)?;
    unit.runs().retries(PARTNER, NOW)?;
    unit.runs().is_programme_open(PARTNER, NOW - Duration::DAY)?;
    unit.runs().get(PARTNER, run)?;
    unit.runs().by_reference(PARTNER, RunKind::TopUp, &reference)?;
    unit.runs().of_replenishment(PARTNER, Uuid::nil().into())?;
    let all = RunFilter::default();
    for filter in [
        all.clone(),
        RunFilter { kind: Some(RunKind::TopUp), ..all.clone() },
        RunFilter { state: Some(RunState::Draft), ..all.clone() },
        RunFilter { reference: Some(reference), ..all.clone() },
        RunFilter { programme: Some(Uuid::nil().into()), ..all.clone() },
        RunFilter { from: Some(NOW), before: Some(NOW), ..all },
    ] {
        unit.runs().list(PARTNER, &filter, page())?;
    }
    for filter in [
        RunItemFilter::default(),
        RunItemFilter { faulty: Some(true), outcome: Some(Outcome::Done) },
        RunItemFilter { faulty: Some(false), outcome: None },
    ] {
        unit.runs().list_items(PARTNER, run, filter, page())?;
    }
    unit.runs().items(PARTNER, run, 1_000, 1_000)?;
    unit.runs().open_items(PARTNER, run, 1_000)?;
    let decision = RunDecision { ordinal: 7, outcome: Outcome::Done, reason: None, employee: None };
    unit.runs().decide(PARTNER, run, &[decision])?;
    unit.runs().outcomes(PARTNER, run)?;
    unit.runs().requests(PARTNER, run)?;
    unit.runs().add_requests(PARTNER, run, &[] as &[RunRequest])
}
