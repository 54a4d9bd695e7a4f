//! `kopeck call webhooks listen`: a webhook without a public address, for development.

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use kopeck_client::{Client, Event, EventQuery, EventType, SealingKey, SigningSecret};
use kopeck_sealing::{EventContext, seal_event};
use serde_json::json;

use crate::failure::Failure;
use crate::output::{Output, json_of, print_line};
use crate::system;

/// Which events are forwarded, and where to.
#[derive(Debug, Clone, Args)]
pub(crate) struct ListenArgs {
    /// The URL to which events are posted: an address on this machine, such as `http://127.0.0.1:8000/kopeck`.
    #[arg(long, value_parser = local_address)]
    forward_to: String,
    /// Only these types, with commas between them, such as `order.status,card.issued`.
    #[arg(long, value_delimiter = ',')]
    types: Vec<String>,
    /// The number after which to begin, 0 for the oldest event that is kept. Without it only what happens from now on.
    #[arg(long, value_parser = clap::value_parser!(i64).range(0..))]
    after: Option<i64>,
    /// The secret that signs; a new one if it is absent.
    #[arg(long, env = "KOPECK_WEBHOOK_SECRET", hide_env_values = true, value_parser = secret)]
    secret: Option<String>,
    /// The sealing key under which the data of events are encrypted, as those of a webhook with `sealed` are; plaintext if it
    /// is absent. Better given as the environment variable: others on this machine may read arguments.
    #[arg(long, env = "KOPECK_SEALING_KEY", hide_env_values = true, value_parser = sealing_key)]
    sealing_key: Option<SealingKey>,
    /// End after this many events.
    #[arg(long)]
    count: Option<u64>,
}

/// Attempts of an event.
const ATTEMPTS: u32 = 5;
/// The pause before the second attempt; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How long the receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);

fn local_address(text: &str) -> Result<String, String> {
    let url: reqwest::Url = text.parse().map_err(|_| "it is no URL".to_owned())?;
    let is_local = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
    if url.scheme() == "http" && is_local {
        Ok(text.to_owned())
    } else {
        Err("it is no http:// address of this machine".to_owned())
    }
}

fn secret(text: &str) -> Result<String, String> {
    SigningSecret::parse(text)
        .map(|_| text.to_owned())
        .ok_or_else(|| "it is no secret of a webhook".to_owned())
}

fn sealing_key(text: &str) -> Result<SealingKey, String> {
    SealingKey::parse(text).map_err(|error| error.to_string())
}

/// Follows the feed, and posts each event until interrupted.
pub(super) async fn run(client: &Client, args: ListenArgs, json: bool) -> Result<Output, Failure> {
    let secret = match args.secret.as_deref().and_then(SigningSecret::parse) {
        Some(secret) => secret,
        None => SigningSecret::new(system::random()?),
    };
    let http = plain_http()?;
    let types: Vec<EventType> = args.types.iter().map(|name| EventType::from(name.as_str())).collect();
    let after = match args.after {
        Some(after) => after,
        // Asked for at once: the line with the secret says that events from here on are posted.
        None => client.events().list(&EventQuery { from_now: true, ..EventQuery::default() }).await?.next,
    };
    let text = secret.to_text();
    let secret_line = format!("the secret of your receiver is {text}");
    print_line(&if json { json!({"secret": text}).to_string() } else { secret_line })?;
    let mut events = client.events().follow(after, &types);
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 {
        let event = events.next().await?;
        let outcome = forward(&http, &args, &secret, &event).await?;
        let event_type = event.data.event_type();
        print_line(&if json {
            json!({"seq": event.seq, "type": event_type, "eventId": event.id, "outcome": outcome}).to_string()
        } else {
            format!("{:>6}  {:<20}  {}  {outcome}", event.seq, event_type.to_string(), event.id)
        })?;
        left -= 1;
    }
    Ok(Output::nothing())
}

/// Posts an event, again if need be; returns what came of the last attempt.
async fn forward(
    http: &reqwest::Client,
    args: &ListenArgs,
    secret: &SigningSecret,
    event: &Event,
) -> Result<String, Failure> {
    let (id, body) = (event.id.to_string(), body(event, args.sealing_key.as_ref())?);
    let (mut attempt, mut pause) = (1, FIRST_PAUSE);
    loop {
        let at = i64::try_from(system::unix_now()).unwrap_or(i64::MAX);
        let sent = http
            .post(&args.forward_to)
            .header("content-type", "application/json")
            .header("webhook-id", &id)
            .header("webhook-timestamp", at)
            .header("webhook-signature", secret.sign(&id, at, body.as_bytes()))
            .body(body.clone())
            .send()
            .await;
        let (is_received, outcome) = match sent {
            Ok(response) => (response.status().is_success(), response.status().as_u16().to_string()),
            Err(error) if error.is_timeout() => (false, "no answer".to_owned()),
            Err(_) => (false, "no connection".to_owned()),
        };
        if is_received || attempt == ATTEMPTS {
            return Ok(outcome);
        }
        tokio::time::sleep(pause).await;
        (attempt, pause) = (attempt + 1, pause * 2);
    }
}

/// The event as the service delivers it, encrypted if there is a key.
fn body(event: &Event, key: Option<&SealingKey>) -> Result<String, Failure> {
    let mut body = json_of(event)?;
    if let (Some(key), Some(fields)) = (key, body.as_object_mut())
        && let Some(data) = fields.remove("data")
    {
        let (id, now, salt) = (event.id.to_string(), system::unix_now(), system::random()?);
        let sealed = seal_event(key, &EventContext { id: &id }, now, salt, data.to_string().as_bytes());
        fields.insert("sealed".to_owned(), sealed.into());
    }
    Ok(body.to_string())
}

/// A client without TLS.
fn plain_http() -> Result<reqwest::Client, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::local(format!("no HTTP client: {error}"));
    // Nothing here speaks TLS, but reqwest requires a provider.
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    let builder = reqwest::Client::builder().no_proxy().tls_backend_preconfigured(tls).timeout(TIMEOUT);
    let builder = builder.pool_max_idle_per_host(0);
    builder.redirect(reqwest::redirect::Policy::none()).build().map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_go_to_this_machine_alone() {
        for good in ["http://127.0.0.1:8000/kopeck", "http://localhost/", "http://[::1]:1/"] {
            assert_eq!(local_address(good).as_deref(), Ok(good));
        }
        for bad in ["https://127.0.0.1/", "http://example.com/", "http://127.0.0.1.example.com/", "kopeck"] {
            assert!(local_address(bad).is_err(), "{bad}");
        }
    }
}
