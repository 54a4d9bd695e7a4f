//! Lists the sessions of one's own login.

use kopeck_service::sessions;

use crate::dto::to_the_second;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SESSION_LIST, Needs::Nothing, handler!(list)).responds::<Vec<api::Session>>(200);

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let nothing = ctx.values(|_| Some(()));
    let sessions = ctx.read(nothing, |unit, env, partner, ()| sessions::list(unit, env, partner)).await?;
    let body = sessions.into_iter().map(|session| api::Session {
        id_session: session.id.uuid(),
        created_at: to_the_second(session.created_at),
        last_used_at: session.last_used_at.map(to_the_second),
        address: session.address,
        current: session.id == ctx.client.session,
    });
    ctx.respond(&body.collect::<Vec<_>>())
}
