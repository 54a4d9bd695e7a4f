//! The HTTP server of the operations port.

use std::io;
use std::net::TcpListener;

use actix_web::dev::Server;
use actix_web::http::header;
use actix_web::web::{self, Data};
use actix_web::{App, HttpResponse, HttpServer};
use rustls::ServerConfig;
use serde_json::json;

use super::Operations;

/// Prometheus's content type.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves on `listener`.
///
/// # Errors
/// If the listener cannot be used.
pub(super) fn serve(
    listener: TcpListener,
    operations: Operations,
    tls: Option<ServerConfig>,
) -> io::Result<Server> {
    let server = HttpServer::new(move || {
        App::new()
            .app_data(Data::new(operations.clone()))
            .service(web::resource("/health/live").get(live))
            .service(web::resource("/health/ready").get(ready))
            .service(web::resource("/metrics").get(metrics))
    });
    let server = server.workers(1).disable_signals();
    let server = match tls {
        Some(tls) => server.listen_rustls_0_23(listener, tls)?,
        None => server.listen(listener)?,
    };
    Ok(server.run())
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
