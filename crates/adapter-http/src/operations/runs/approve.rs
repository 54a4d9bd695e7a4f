//! Approves a run that another person has submitted.

use kopeck_domain::access::Authority;
use kopeck_domain::approval::Digest;
use kopeck_domain::ids::RunId;
use kopeck_service::runs;

use super::{NOT_APPROVED, authority, body, read_digest, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_APPROVE, Needs::One(Scope::ApprovalsWrite), handler!(approve))
        .reads(reads!(read))
        .responds::<api::Run>(200)
        .refuses(NOT_APPROVED);

fn read(r: &mut Reader<'_>) -> Option<(RunId, Digest)> {
    let id = read_id(r);
    let digest = read_digest(&mut r.body());
    Some((id?, digest?))
}

async fn approve(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by, values) = (ctx.zone(), authority(&ctx), ctx.values(read));
    let values = values.map(|values| (values, by));
    ctx.mutate(values, move |unit, env, partner, values: &((RunId, Digest), Authority)| {
        let ((id, digest), by) = values;
        let view = runs::approve(unit, env, partner, by, *id, *digest)?;
        Ok::<_, ApiError>(body::of_run(&view, zone))
    })
    .await
}
