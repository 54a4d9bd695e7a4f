//! The HTTP server of the operations port.

use std::io;
use std::net::TcpListener;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::guard::{self, Guard as _};
use actix_web::http::header;
use actix_web::web::{self, Data};
use actix_web::{App, FromRequest, Handler, HttpResponse, Resource, Responder};
use kopeck_adapter_http::{ConnectionSettings, serve_app};
use rustls::ServerConfig;
use serde_json::json;

use super::Operations;

/// Prometheus's content type.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// One thread for few clients.
const SETTINGS: ConnectionSettings = ConnectionSettings {
    workers: 1,
    max_connections: 64,
    keep_alive: Duration::from_secs(5),
    head_deadline: Duration::from_secs(5),
    disconnect_deadline: Duration::from_secs(1),
    stop_seconds: 1,
};

/// Serves on `listener`.
///
/// # Errors
/// If the listener cannot be used.
pub(super) fn serve(
    listener: TcpListener,
    operations: Operations,
    tls: Option<ServerConfig>,
) -> io::Result<Server> {
    serve_app(listener, SETTINGS, tls, move || {
        App::new()
            .app_data(Data::new(operations.clone()))
            .service(page("/health/live", live))
            .service(page("/health/ready", ready))
            .service(page("/metrics", metrics))
    })
}

/// A page for `GET` and `HEAD`.
fn page<F, Arguments>(path: &str, handler: F) -> Resource
where
    F: Handler<Arguments, Output: Responder + 'static>,
    Arguments: FromRequest + 'static,
{
    let reads = guard::fn_guard(|context| guard::Get().check(context) || guard::Head().check(context));
    let others =
        || async { HttpResponse::MethodNotAllowed().insert_header((header::ALLOW, "GET, HEAD")).finish() };
    web::resource(path).route(web::route().guard(reads).to(handler)).default_service(web::to(others))
}

/// Any response means that the process is alive.
async fn live() -> HttpResponse {
    HttpResponse::Ok().insert_header((header::CACHE_CONTROL, "no-store")).json(json!({"status": "live"}))
}

async fn ready(operations: Data<Operations>) -> HttpResponse {
    let readiness = operations.health.readiness().await;
    let mut answer =
        if readiness.is_ready() { HttpResponse::Ok() } else { HttpResponse::ServiceUnavailable() };
    answer.insert_header((header::CACHE_CONTROL, "no-store")).json(readiness.to_json())
}

async fn metrics(operations: Data<Operations>) -> HttpResponse {
    match operations.metrics.text(&operations.health).await {
        Ok(text) => HttpResponse::Ok().insert_header((header::CONTENT_TYPE, TEXT)).body(text),
        Err(error) => {
            log::error!(error:% = error; "the metrics cannot be encoded");
            HttpResponse::InternalServerError().finish()
        }
    }
}
