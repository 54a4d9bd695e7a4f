//! Programmes and their runs.

use kopeck_domain::access::Actor;
use kopeck_domain::approval::Digest;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{ProgrammeId, RunId};
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::programme::{
    Audience, Every, Grant, OnShortage, Programme, ProgrammeName, ReferenceTemplate, Shift, Terms,
    TermsFields,
};
use kopeck_domain::run::{NewRun, Run, RunKind, RunProgramme, RunTotals};

use super::{START, fresh_id, kopecks};

/// 500 for everybody on the first of each month, all or nothing.
pub(crate) fn terms() -> Terms {
    let fields = TermsFields {
        name: ProgrammeName::parse("Meals").unwrap(),
        audience: Audience::All,
        statuses: vec![EmployeeStatus::Work],
        grant: Grant::Fixed { amount: kopecks(500), cap: None },
        every: Every::Month,
        day: 1,
        month: None,
        time: TimeOfDay::parse("09:00").unwrap(),
        shift: Shift::None,
        pro_rata: false,
        on_shortage: OnShortage::Nothing,
        from: None,
        until: None,
        reference: Some(ReferenceTemplate::parse("meal-{period}").unwrap()),
    };
    Terms::new(fields).unwrap()
}

pub(crate) fn programme() -> Programme {
    Programme::new(ProgrammeId::new(fresh_id(700)), terms(), Actor::Login, false, START)
}

/// A run of that programme in process, with one item.
pub(crate) fn run_of_programme() -> Run {
    let new = NewRun {
        id: RunId::new(fresh_id(701)),
        kind: RunKind::TopUp,
        reference: None,
        at: Some(START),
        creates_categories: false,
        totals: RunTotals { number: 1, amount: kopecks(500), ..RunTotals::default() },
        digest: Digest::from_bytes([3; 32]),
    };
    let period = "2026-03".parse().unwrap();
    let origin = RunProgramme { id: programme().id(), period, terms: terms(), retry_at: None };
    Run::of_programme(new, origin, START)
}
