//! Creates a programme.

use kopeck_domain::access::Authority;
use kopeck_domain::programme::Terms;
use kopeck_service::programmes;

use super::{authority, body, terms};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::PROGRAMME_CREATE, Needs::One(Scope::ProgrammesWrite), handler!(create))
        .reads(reads!(terms::read))
        .responds::<api::Programme>(201)
        .refuses(&[Code::Forbidden, Code::TooManyProgrammes]);

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let (zone, by, terms) = (ctx.zone(), authority(&ctx), ctx.values(terms::read));
    let values = terms.map(|terms| (terms, by));
    ctx.mutate(values, move |unit, env, partner, (terms, by): &(Terms, Authority)| {
        let view = programmes::create(unit, env, partner, by, terms)?;
        Ok::<_, ApiError>(body::of_programme(&view, zone))
    })
    .await
}
