//! Requests within this process, of a front end whose user is authenticated: the same checks, behind authentication.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use actix_web::web::Bytes;
use futures_util::FutureExt as _;
use kopeck_domain::ids::SessionId;

use super::head::Head;
use super::{Pipeline, PipelineState, audit_log};
use crate::caller_cache::Identity;
use crate::client_address::ClientAddress;
use crate::error::ApiError;
use crate::operation::{Effect, Operation};
use crate::request_id::RequestId;
use crate::response::HandlerResult;
use crate::state::Shared;

/// Who sends a request within this process.
pub(crate) struct LocalClient<'a> {
    pub(crate) identity: Arc<Identity>,
    pub(crate) session: SessionId,
    pub(crate) address: ClientAddress,
    pub(crate) request_id: &'a RequestId,
}

/// Serves a request of an operation. The audit log has it as any other; the partner's request log, which is about the
/// requests of programs, does not.
pub(crate) async fn serve(
    shared: &Arc<Shared>,
    operation: &'static Operation,
    head: Head,
    body: Bytes,
    client: LocalClient<'_>,
) -> HandlerResult {
    let (method, address, request_id) = (head.method.clone(), client.address, client.request_id);
    let announced = body.len();
    let mut pipeline = Pipeline { operation, shared, announced, address, state: PipelineState::default() };
    let outcome = AssertUnwindSafe(pipeline.run_local(head, body, client)).catch_unwind().await;
    let outcome = outcome.unwrap_or_else(|_| Err(ApiError::internal("a handler panicked")));
    audit_log::record(shared, (&method, operation), outcome, || pipeline.audit_entry(request_id)).await
}

impl Pipeline<'_> {
    async fn run_local(&mut self, head: Head, body: Bytes, client: LocalClient<'_>) -> HandlerResult {
        let LocalClient { identity, session, request_id, .. } = client;
        let key = self.admit(&head, &identity)?;
        let context = self.context(head, key, body, (identity, session), request_id).await?;
        match self.operation.effect {
            Effect::Read(handler) | Effect::Mutate(handler) => handler(context).await,
            Effect::Login | Effect::Refresh => Err(ApiError::internal("tokens are for programs")),
        }
    }
}
