//! From a request to its handler and back.

use std::sync::Arc;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kopeck_bank_protocol::ErrorCode;

use super::Shared;
use super::request::{BankRequest, ErrorResponse, JsonResponse};
use super::routes::BankOperation;

/// The most bytes of a body; a batch of 1,000 instructions stays well below it.
const BODY_LIMIT: usize = 4 << 20;
/// The time for a body to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(10);

pub(super) async fn serve(
    operation: &'static BankOperation,
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
    outcome.map_or_else(ErrorResponse::response, JsonResponse::response)
}

async fn carry_out(
    operation: &'static BankOperation,
    shared: Arc<Shared>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<JsonResponse, ErrorResponse> {
    if !shared.secret.is_shown_by(request.headers()) {
        return Err(ErrorResponse::unauthorized());
    }
    let call = BankRequest {
        number: request.match_info().get("number").map(str::to_owned),
        query: request.query_string().to_owned(),
        body: body(payload).await?,
    };
    let permit = Arc::clone(&shared.permits).acquire_owned().await;
    let permit = permit.map_err(|_| ErrorResponse::internal("the server has stopped"))?;
    // The permit goes with the work: a client that disconnects does not free it.
    let work = tokio::task::spawn_blocking(move || {
        let answer = (operation.handler)(&shared.context, &call);
        drop(permit);
        answer
    });
    work.await.unwrap_or_else(|_| Err(ErrorResponse::internal("the request was aborted")))
}

async fn body(payload: Payload) -> Result<Bytes, ErrorResponse> {
    match tokio::time::timeout(BODY_DEADLINE, payload.to_bytes_limited(BODY_LIMIT)).await {
        Ok(Ok(Ok(body))) => Ok(body),
        Ok(Ok(Err(_))) => {
            Err(ErrorResponse::new(StatusCode::BAD_REQUEST, ErrorCode::Malformed, "the body breaks off"))
        }
        Ok(Err(_)) => {
            let message = format!("a body has {BODY_LIMIT} bytes at most");
            Err(ErrorResponse::new(StatusCode::PAYLOAD_TOO_LARGE, ErrorCode::TooLarge, message))
        }
        Err(_) => {
            let message = "the body did not arrive in time";
            Err(ErrorResponse::new(StatusCode::REQUEST_TIMEOUT, ErrorCode::Timeout, message))
        }
    }
}
