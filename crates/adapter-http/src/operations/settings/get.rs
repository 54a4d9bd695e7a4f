//! Shows the settings.

use kopeck_service::leavers;

use super::body;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SETTINGS_GET, Needs::One(Scope::ProgrammesRead), handler!(get))
        .responds::<api::PartnerSettings>(200);

async fn get(ctx: HandlerContext) -> HandlerResult {
    let rules = ctx.read(Ok(()), |unit, _env, partner, ()| leavers::rules(unit, partner)).await?;
    ctx.respond(&body(rules))
}
