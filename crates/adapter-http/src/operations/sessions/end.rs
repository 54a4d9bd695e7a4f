//! Ends a session of one's own login.

use kopeck_domain::ids::SessionId;
use kopeck_service::sessions::{self, EndSessionError};

use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SESSION_END, Needs::Nothing, handler!(end))
        .reads(reads!(read))
        .responds::<api::SessionEnded>(200)
        .refuses(&[Code::SessionNotFound]);

fn read(r: &mut Reader<'_>) -> Option<SessionId> {
    r.id("idSession")
}

async fn end(mut ctx: HandlerContext) -> HandlerResult {
    let (id, current) = (ctx.values(read), ctx.client.session);
    let (shared, session) = (std::sync::Arc::clone(&ctx.shared), id.as_ref().ok().copied());
    let ended = ctx
        .mutate(id, move |unit, env, partner, id| {
            sessions::end(unit, env, partner, current, *id)
                .map(|()| api::SessionEnded { id_session: id.uuid() })
        })
        .await?;
    if let Some(session) = session {
        shared.callers.forget(session);
    }
    Ok(ended)
}

impl From<EndSessionError> for ApiError {
    fn from(error: EndSessionError) -> Self {
        match error {
            EndSessionError::NotFound => Code::SessionNotFound.into(),
            EndSessionError::Store(error) => error.into(),
        }
    }
}
