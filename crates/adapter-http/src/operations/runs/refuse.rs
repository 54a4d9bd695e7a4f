//! Refuses to approve a run that another person has submitted.

use kopeck_domain::access::Authority;
use kopeck_domain::ids::RunId;
use kopeck_domain::ledger;
use kopeck_service::runs;

use super::{NOT_APPROVED, authority, body, read_id};
use crate::input::field_types::text;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_REFUSE, Needs::One(Scope::ApprovalsWrite), handler!(refuse))
        .reads(reads!(read))
        .responds::<api::Run>(200)
        .refuses(NOT_APPROVED)
        .body_optional();

fn read(r: &mut Reader<'_>) -> Option<(RunId, Option<String>)> {
    let id = read_id(r);
    let reason =
        r.body().optional("reason", text(ledger::parse_reason).about("Why, for whoever submitted it."));
    Some((id?, reason))
}

async fn refuse(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by, values) = (ctx.zone(), authority(&ctx), ctx.values(read));
    let values = values.map(|values| (values, by));
    ctx.mutate(values, move |unit, env, partner, values: &((RunId, Option<String>), Authority)| {
        let ((id, reason), by) = values;
        let view = runs::refuse(unit, env, partner, by, *id, reason.clone())?;
        Ok::<_, ApiError>(body::of_run(&view, zone))
    })
    .await
}
