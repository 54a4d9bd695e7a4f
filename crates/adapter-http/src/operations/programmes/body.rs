//! The bodies of programmes and their forecast.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::Zone;
use kopeck_domain::programme::{Audience, Grant, ReferenceTemplate, Terms};
use kopeck_service::programmes::{ProgrammeForecast, ProgrammeView};

use crate::dto::local;
use crate::operations::prelude::*;

/// The body of a programme.
pub(super) fn of_programme(view: &ProgrammeView, zone: Zone) -> api::Programme {
    let programme = &view.programme;
    // Terms that were never in force are shown once.
    let is_change = |terms: &&Terms| *terms != programme.terms();
    let proposal = programme.proposal();
    api::Programme {
        id_programme: programme.id().uuid(),
        state: programme.status().as_str().into(),
        created_at: local(programme.created_at(), zone),
        created_by: programme.created_by().to_string(),
        next_at: view.next_at.map(|at| local(at, zone)),
        terms: of_terms(programme.terms()),
        proposed: proposal.map(|proposal| &proposal.terms).filter(is_change).map(of_terms),
        proposed_by: proposal.map(|proposal| proposal.by.to_string()),
    }
}

fn of_terms(terms: &Terms) -> api::ProgrammeTerms {
    let fields = terms.fields();
    let none = api::ProgrammeAmount::default;
    api::ProgrammeTerms {
        name: fields.name.as_str().to_owned(),
        audience: of_audience(&fields.audience),
        statuses: fields.statuses.iter().map(|status| status.as_str().into()).collect(),
        amount: match fields.grant {
            Grant::Fixed { amount, cap } => {
                api::ProgrammeAmount { fixed: Some(amount.get()), cap: cap.map(Kopecks::get), ..none() }
            }
            Grant::UpTo(amount) => api::ProgrammeAmount { up_to: Some(amount.get()), ..none() },
            Grant::DownTo(amount) => api::ProgrammeAmount { down_to: Some(amount.get()), ..none() },
        },
        every: fields.every.as_str().into(),
        day: fields.day,
        month: fields.month,
        time: fields.time.to_string(),
        shift: fields.shift.as_str().into(),
        pro_rata: fields.pro_rata,
        on_shortage: fields.on_shortage.as_str().into(),
        from: fields.from,
        until: fields.until,
        reference: fields.reference.as_ref().map(ReferenceTemplate::as_str).map(str::to_owned),
    }
}

fn of_audience(audience: &Audience) -> api::ProgrammeAudience {
    let none = api::ProgrammeAudience::default;
    match audience {
        Audience::All => api::ProgrammeAudience { all: Some(true), ..none() },
        Audience::Categories(ids) => {
            api::ProgrammeAudience { id_category: Some(ids.iter().map(|id| id.uuid()).collect()), ..none() }
        }
        Audience::Employees(ids) => {
            api::ProgrammeAudience { id_employee: Some(ids.iter().map(|id| id.uuid()).collect()), ..none() }
        }
    }
}

/// The body of a row of the forecast.
pub(super) fn of_forecast(forecast: &ProgrammeForecast, zone: Zone) -> api::ProgrammeForecast {
    let row = &forecast.row;
    api::ProgrammeForecast {
        date: zone.day(row.at),
        id_programme: forecast.programme.uuid(),
        period: row.period.to_string(),
        people: u64::try_from(row.people).unwrap_or(u64::MAX),
        needed: row.needed.get(),
        available_after: row.available_after.get(),
        short: row.short.get(),
    }
}
