//! From a request to its handler and back.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kopeck_bank_protocol::ErrorCode;

use super::Shared;
use super::call::{Answer, Call, Refusal};
use super::routes::Operation;

/// The most bytes of a body; a batch of 1,000 instructions stays well below it.
const BODY_LIMIT: usize = 4 << 20;
/// How long a body may take to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

pub(super) async fn serve(
    operation: &'static Operation,
    shared: Arc<Shared>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let outcome = carry_out(operation, shared, &request, payload).await;
    let status = outcome.as_ref().map_or_else(|refusal| refusal.status, |_| StatusCode::OK).as_u16();
    let (method, path) = (operation.method, operation.path);
    if status < 500 {
        log::debug!(method = method, route = path, status = status; "bank call");
    } else {
        log::warn!(method = method, route = path, status = status; "bank call");
    }
    outcome.map_or_else(Refusal::response, Answer::response)
}

async fn carry_out(
    operation: &'static Operation,
    shared: Arc<Shared>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<Answer, Refusal> {
    if !shared.lock.opens_to(request.headers()) {
        return Err(Refusal::unauthorized());
    }
    let call = Call {
        number: request.match_info().get("number").map(str::to_owned),
        query: request.query_string().to_owned(),
        body: body(payload).await?,
    };
    let turn = Arc::clone(&shared.turns).acquire_owned().await;
    let turn = turn.map_err(|_| Refusal::internal("the server has stopped"))?;
    // The turn goes with the work: a caller that goes away does not make room for another.
    let work = tokio::task::spawn_blocking(move || {
        let answer = (operation.handler)(&shared.desk, &call);
        drop(turn);
        answer
    });
    work.await.unwrap_or_else(|_| Err(Refusal::internal("the call broke off")))
}

async fn body(payload: Payload) -> Result<Bytes, Refusal> {
    match tokio::time::timeout(BODY_DEADLINE, payload.to_bytes_limited(BODY_LIMIT)).await {
        Ok(Ok(Ok(body))) => Ok(body),
        Ok(Ok(Err(_))) => {
            Err(Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::Malformed, "the body breaks off"))
        }
        Ok(Err(_)) => {
            let message = format!("a body has {BODY_LIMIT} bytes at most");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, message))
        }
        Err(_) => {
            let message = "the body did not arrive in time";
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message))
        }
    }
}
