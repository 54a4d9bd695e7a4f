//! Gives a programme other terms.

use kopeck_domain::access::Authority;
use kopeck_domain::ids::ProgrammeId;
use kopeck_domain::programme::Terms;
use kopeck_service::programmes;

use super::{authority, body, read_id, terms};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_CHANGE, Needs::One(Scope::ProgrammesWrite), handler!(change))
        .reads(reads!(read))
        .responds::<api::Programme>(200)
        .refuses(&[Code::Forbidden, Code::ProgrammeNotFound]);

fn read(r: &mut Reader<'_>) -> Option<(ProgrammeId, Terms)> {
    let id = read_id(r);
    let terms = terms::read(r);
    Some((id?, terms?))
}

async fn change(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by, values) = (ctx.zone(), authority(&ctx), ctx.values(read));
    let values = values.map(|values| (values, by));
    ctx.mutate(values, move |unit, env, partner, values: &((ProgrammeId, Terms), Authority)| {
        let ((id, terms), by) = values;
        let view = programmes::change(unit, env, partner, by, *id, terms)?;
        Ok::<_, ApiError>(body::of_programme(&view, zone))
    })
    .await
}
