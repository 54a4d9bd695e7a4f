//! Closes the report of a month.

use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, UnitOfWork};
use kopeck_service::report::{self, CloseError, Closing};
use sha2::{Digest as _, Sha256};

use crate::bridge::{Deadline, in_store};
use crate::input::field_types::text;
use crate::operations::prelude::*;
use crate::report_file::{csv_line, csv_names};
use crate::state::Shared;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::REPORT_CLOSE, Needs::One(Scope::StatementsWrite), handler!(close))
        .reads(reads!(read))
        .body_optional()
        .responds::<api::ReportClosed>(200)
        .refuses(&[Code::PeriodClosed]);

fn read(r: &mut Reader<'_>) -> Option<CalendarMonth> {
    r.path("month", text(CalendarMonth::parse))
}

async fn close(mut ctx: HandlerContext) -> HandlerResult {
    let month = ctx.values(read);
    let mut mutation = ctx.begin_mutation().await?;
    // The rows are kept before the unit of work that closes the month: a retry must not meet a month that it has closed.
    if let Some(recorded) = mutation.replay().await? {
        return Ok(recorded);
    }
    let month = month?;
    let (sha256, erasures) = keep(&mutation.context().shared, mutation.context().partner(), month).await?;
    mutation.renew_deadline();
    mutation
        .once(month, move |unit, env, partner, month| {
            report::close(unit, env, partner, *month, sha256, erasures)?;
            Ok::<_, CloseError>(api::ReportClosed { month: month.text(), sha256: report::sum_text(&sha256) })
        })
        .await
}

/// Keeps the rows of the month, each piece in a unit of work, and returns the SHA-256 of their file; and how many persons were
/// erased before it was taken.
async fn keep(
    shared: &Shared,
    partner: PartnerId,
    month: CalendarMonth,
) -> Result<([u8; 32], u32), ApiError> {
    let parts = &shared.parts;
    let deadline = || Deadline::within(parts.settings.deadline);
    let erasures = loop {
        let env = std::sync::Arc::clone(&parts.env);
        let step = move |unit: &mut dyn UnitOfWork| {
            report::close_step(unit, &env, partner, month).map_err(ApiError::from)
        };
        match in_store(&*parts.store, Access::Write, deadline(), step).await? {
            Closing::Going => {}
            Closing::Kept { erasures } => break erasures,
        }
    };
    let (mut sum, mut next) = (Sha256::new(), Some(0));
    sum.update(csv_names());
    while let Some(after) = next {
        let read = move |unit: &mut dyn UnitOfWork| {
            report::kept_piece(unit, partner, month, after).map_err(ApiError::from)
        };
        let (rows, further) = in_store(&*parts.store, Access::Read, deadline(), read).await?;
        for row in &rows {
            sum.update(csv_line(row)?);
        }
        next = further;
    }
    Ok((sum.finalize().into(), erasures))
}

impl From<CloseError> for ApiError {
    fn from(error: CloseError) -> Self {
        match error {
            CloseError::NotOver => Self::field("month", "must be over"),
            CloseError::Closed => Code::PeriodClosed.into(),
            CloseError::Store(error) => error.into(),
        }
    }
}
