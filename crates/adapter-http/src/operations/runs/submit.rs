//! Submits a run.

use kopeck_domain::access::Authority;
use kopeck_domain::approval::Digest;
use kopeck_domain::ids::RunId;
use kopeck_service::runs;

use super::{authority, body, read_digest, read_id};
use crate::input::field_types::boolean;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::RUN_SUBMIT, Needs::One(Scope::RunsWrite), handler!(submit))
        .reads(reads!(read))
        .responds::<api::Run>(200)
        .refuses(&[Code::Forbidden, Code::RunNotFound, Code::RunChanged, Code::RunFaulty]);

fn read(r: &mut Reader<'_>) -> Option<(RunId, Digest, bool)> {
    let id = read_id(r);
    let mut fields = r.body();
    let digest = read_digest(&mut fields);
    let about = "Whether items with a fault are passed over; `false` if absent.";
    let skip = fields.optional("skipFaulty", boolean().about(about)).unwrap_or(false);
    Some((id?, digest?, skip))
}

async fn submit(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by, values) = (ctx.zone(), authority(&ctx), ctx.values(read));
    let values = values.map(|values| (values, by));
    ctx.mutate(values, move |unit, env, partner, values: &((RunId, Digest, bool), Authority)| {
        let ((id, digest, skip), by) = values;
        let view = runs::submit(unit, env, partner, by, *id, *digest, *skip)?;
        Ok::<_, ApiError>(body::of_run(&view, zone))
    })
    .await
}
