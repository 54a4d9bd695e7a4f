//! Lists the sessions of one's own login.

use kopeck_port_store::UnitOfWork;
use kopeck_service::{Env, sessions};

use crate::dto::to_the_second;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SESSION_LIST, Needs::Nothing, handler!(list))
        .responds::<Vec<api::Session>>(200);

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let current = ctx.client.session;
    let nothing = ctx.values(|_| Some(()));
    let list = move |unit: &mut dyn UnitOfWork, env: &Env, partner, (): &()| {
        sessions::list(unit, env, partner, current)
    };
    let sessions = ctx.read(nothing, list).await?;
    let body = sessions.into_iter().map(|session| api::Session {
        id_session: session.id.uuid(),
        created_at: to_the_second(session.created_at),
        last_used_at: session.last_used_at.map(to_the_second),
        address: session.address,
        current: session.id == current,
    });
    ctx.respond(&body.collect::<Vec<_>>())
}
