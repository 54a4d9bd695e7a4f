//! Receives the events of a webhook with actix-web, and handles each once.
//!
//! ```sh
//! KOPECK_WEBHOOK_SECRET=whsec_… PORT=8000 cargo run --example receive_events
//! ```

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::sync::{Mutex, PoisonError};

use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use kopeck_client::{SigningSecret, Uuid, WebhookHeaders, WebhookVerifier};

struct Receiver {
    verifier: WebhookVerifier,
    /// In a real receiver a table with a unique index, written in the transaction of what an event brings about.
    seen: Mutex<HashSet<Uuid>>,
}

async fn receive(receiver: Data<Receiver>, request: HttpRequest, body: Bytes) -> HttpResponse {
    let headers = WebhookHeaders::find(|name| request.headers().get(name)?.to_str().ok());
    // The body as it came: JSON that was read and written again has another signature.
    match headers.and_then(|headers| receiver.verifier.verify(headers, &body)) {
        Ok(event) => {
            let mut seen = receiver.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if !seen.contains(&event.id) {
                println!("{} {:?}", event.data.event_type(), event.data);
                // Last: an event that could not be handled has to come again.
                seen.insert(event.id);
            }
            HttpResponse::NoContent().finish()
        }
        Err(error) => HttpResponse::BadRequest().body(error.to_string()),
    }
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let secret = std::env::var("KOPECK_WEBHOOK_SECRET").ok().and_then(|text| SigningSecret::parse(&text));
    let secret =
        secret.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "KOPECK_WEBHOOK_SECRET has no secret"))?;
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(8000);
    let receiver =
        Data::new(Receiver { verifier: WebhookVerifier::new(vec![secret]), seen: Mutex::default() });
    let app = move || App::new().app_data(receiver.clone()).route("/kopeck", web::post().to(receive));
    let server = HttpServer::new(app).workers(1).bind(("127.0.0.1", port))?;
    for address in server.addrs() {
        println!("listening on http://{address}/kopeck");
    }
    server.run().await
}
