//! Receives the events of a webhook with actix-web, and handles each once.
//!
//! ```sh
//! KOPECK_WEBHOOK_SECRET=whsec_… KOPECK_SEALING_KEY=sk_… PORT=8000 cargo run --example receive_events
//! ```

use std::collections::HashSet;
use std::io::{Error, ErrorKind};
use std::sync::{Mutex, PoisonError};

use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use kopeck_client::{SealingKey, SigningSecret, Uuid, WebhookHeaders, WebhookVerifier};

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

fn verifier() -> Option<WebhookVerifier> {
    let secret = SigningSecret::parse(&std::env::var("KOPECK_WEBHOOK_SECRET").ok()?)?;
    let verifier = WebhookVerifier::new(vec![secret]);
    // With the key it opens sealed events, and refuses all others. Without one it takes those of a webhook with `sealed: false`.
    match std::env::var("KOPECK_SEALING_KEY") {
        Ok(key) => Some(verifier.sealing_key(SealingKey::parse(&key).ok()?)),
        Err(_) => Some(verifier),
    }
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let malformed = "KOPECK_WEBHOOK_SECRET or KOPECK_SEALING_KEY is missing or malformed";
    let verifier = verifier().ok_or_else(|| Error::new(ErrorKind::InvalidInput, malformed))?;
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(8000);
    let receiver = Data::new(Receiver { verifier, seen: Mutex::default() });
    let app = move || App::new().app_data(receiver.clone()).route("/kopeck", web::post().to(receive));
    let server = HttpServer::new(app).workers(1).bind(("127.0.0.1", port))?;
    for address in server.addrs() {
        println!("listening on http://{address}/kopeck");
    }
    server.run().await
}
