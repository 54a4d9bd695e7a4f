//! The bodies of runs and their items.

use kopeck_domain::Kopecks;
use kopeck_domain::access::Actor;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_domain::run::RunItem;
use kopeck_port_store::RunRequest;
use kopeck_service::runs::RunView;

use crate::dto::local;
use crate::operations::prelude::*;
use crate::operations::requests::shown;

/// The body of a run.
pub(in crate::operations) fn of_run(view: &RunView, zone: Zone) -> api::Run {
    let RunView { run, requests } = view;
    let totals = run.totals();
    api::Run {
        id_run: run.id().uuid(),
        kind: run.kind().as_str().into(),
        state: run.state().as_str().into(),
        reference: shown(run.reference()),
        at: run.at().map(|at| local(at, zone)),
        number: totals.number.into(),
        amount: totals.amount.get(),
        faulty: totals.faulty.into(),
        digest: run.digest().to_string(),
        available: totals.available.get(),
        available_after: totals.available_after.get(),
        created_at: local(run.created_at(), zone),
        created_by: run.created_by().to_string(),
        submitted_by: run.submitted().map(|submitted| submitted.by.to_string()),
        approved_by: run.approved_by().map(Actor::to_string),
        reason: run.refusal().cloned(),
        id_programme: run.programme().map(|programme| programme.id.uuid()),
        period: run.programme().map(|programme| programme.period.to_string()),
        requests: requests.iter().copied().map(of_request).collect(),
    }
}

fn of_request(request: RunRequest) -> api::RunRequest {
    let (kind, id) = match request {
        RunRequest::Order(id) => ("order", id.uuid()),
        RunRequest::Replenishment(id) => ("replenishment", id.uuid()),
        RunRequest::LimitChange(id) => ("limits", id.uuid()),
        RunRequest::Withdrawal(id) => ("withdrawal", id.uuid()),
    };
    api::RunRequest { kind: kind.into(), id }
}

/// The body of an item.
pub(super) fn of_item(item: &RunItem) -> api::RunItem {
    api::RunItem {
        line: item.line.into(),
        custom_id: item.custom_id.as_ref().map(|custom_id| custom_id.as_str().to_owned()),
        id_employee: item.employee.map(EmployeeId::uuid),
        id_card: item.card.map(CardId::uuid),
        amount: item.amount.map(Kopecks::get),
        balance_seen: item.balance_seen.map(Kopecks::get),
        fault: item.fault.as_ref().map(|fault| api::RunFault {
            field: fault.field.clone(),
            code: fault.code.as_str().to_owned(),
            detail: fault.detail.clone(),
        }),
        outcome: item.outcome.map(|outcome| outcome.as_str().into()),
        reason: item.reason.clone(),
    }
}
