//! Approves a programme, or the change of it that waits.

use kopeck_domain::access::Authority;
use kopeck_domain::ids::ProgrammeId;
use kopeck_service::programmes;

use super::{NOT_APPROVED, authority, body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_APPROVE, Needs::One(Scope::ApprovalsWrite), handler!(approve))
        .reads(reads!(read_id))
        .responds::<api::Programme>(200)
        .refuses(NOT_APPROVED)
        .body_optional();

async fn approve(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by, id) = (ctx.zone(), authority(&ctx), ctx.values(read_id));
    ctx.mutate(id.map(|id| (id, by)), move |unit, env, partner, (id, by): &(ProgrammeId, Authority)| {
        let view = programmes::approve(unit, env, partner, by, *id)?;
        Ok::<_, ApiError>(body::of_programme(&view, zone))
    })
    .await
}
