//! Checks what a webhook delivers, by the Standard Webhooks specification.

use kopeck_api::Event;
use kopeck_sealing::{EventContext, KeyId, SealingKey, SigningSecret, key_id_of, open_event};
use serde_json::Value;

use crate::system::unix_now;

/// By how many seconds the timestamp of a delivery may differ from the receiver's clock.
const WINDOW: u64 = 300;

/// Why a delivery is refused: it did not come from the service, or not now. Respond with 400.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookError {
    /// A header is missing, or is not of its form.
    #[error("the header {0} is missing or malformed")]
    Header(&'static str),
    /// The delivery is old, or the receiver's clock is wrong.
    #[error("the timestamp is more than five minutes away")]
    Timestamp,
    /// No signature is that of a secret.
    #[error("no signature matches")]
    Signature,
    /// The event is sealed, and the verifier has no key.
    #[error("the event is sealed, and this verifier has no sealing key")]
    NoSealingKey,
    /// The event is sealed under a key that the verifier does not have.
    #[error("sealed under key {0}, which this verifier does not have: was the sealing key rotated?")]
    UnknownKey(KeyId),
    /// The event is not sealed, though the verifier has a sealing key: an attacker with the secret may have made it.
    #[error("the event is not sealed, and this verifier has a sealing key: it takes sealed events only")]
    NotSealed,
    /// The event does not open.
    #[error("the event cannot be opened")]
    Sealed,
    /// The body is not an event.
    #[error("the body is not an event")]
    Body,
}

/// The headers of a delivery.
#[derive(Debug, Clone, Copy)]
pub struct WebhookHeaders<'a> {
    /// `webhook-id`
    pub id: &'a str,
    /// `webhook-timestamp`
    pub timestamp: &'a str,
    /// `webhook-signature`
    pub signature: &'a str,
}

impl<'a> WebhookHeaders<'a> {
    /// The headers that `get` finds by their names.
    ///
    /// # Errors
    ///
    /// [`WebhookError::Header`] if one is missing.
    pub fn find(get: impl Fn(&str) -> Option<&'a str>) -> Result<Self, WebhookError> {
        let find = |name: &'static str| get(name).ok_or(WebhookError::Header(name));
        Ok(Self {
            id: find("webhook-id")?,
            timestamp: find("webhook-timestamp")?,
            signature: find("webhook-signature")?,
        })
    }
}

/// Checks deliveries under the webhook's secrets; during a rotation there are two.
///
/// ```
/// use kopeck_client::{Event, WebhookError, WebhookHeaders, SigningSecret, WebhookVerifier};
///
/// fn receive(verifier: &WebhookVerifier, headers: WebhookHeaders<'_>, body: &[u8]) -> Result<Event, WebhookError> {
///     verifier.verify(headers, body)
/// }
///
/// let secret = SigningSecret::parse("whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=");
/// let verifier = WebhookVerifier::new(secret.into_iter().collect());
/// let forged = WebhookHeaders { id: "a", timestamp: "1", signature: "v1,AAAA" };
/// assert_eq!(receive(&verifier, forged, b"{}"), Err(WebhookError::Timestamp));
/// ```
#[derive(Debug, Clone)]
pub struct WebhookVerifier {
    secrets: Vec<SigningSecret>,
    sealing_keys: Vec<SealingKey>,
    requires_sealed: bool,
}

impl WebhookVerifier {
    /// A verifier for these secrets.
    #[must_use]
    pub const fn new(secrets: Vec<SigningSecret>) -> Self {
        Self { secrets, sealing_keys: Vec::new(), requires_sealed: true }
    }

    /// Opens the data of sealed events. From now on an event in plaintext is refused: under the policy `required` events are
    /// sealed, and the secret alone is not enough to forge one.
    #[must_use]
    pub fn sealing_key(mut self, key: SealingKey) -> Self {
        self.sealing_keys.push(key);
        self
    }

    /// Another key that opens events, while keys are rotated.
    #[must_use]
    pub fn also_open_with(self, key: SealingKey) -> Self {
        self.sealing_key(key)
    }

    /// Whether an event in plaintext is refused. Default: yes with a sealing key.
    #[must_use]
    pub fn require_sealed(self, requires_sealed: bool) -> Self {
        Self { requires_sealed, ..self }
    }

    /// Verifies a delivery by its unparsed body, and returns the event. It may come more than once, with the same
    /// identifier.
    ///
    /// # Errors
    ///
    /// [`WebhookError`].
    pub fn verify(&self, headers: WebhookHeaders<'_>, body: &[u8]) -> Result<Event, WebhookError> {
        self.verify_at(headers, body, unix_now())
    }

    /// The same at a given time, Unix seconds.
    ///
    /// # Errors
    ///
    /// [`WebhookError`].
    pub fn verify_at(
        &self,
        headers: WebhookHeaders<'_>,
        body: &[u8],
        now: u64,
    ) -> Result<Event, WebhookError> {
        let WebhookHeaders { id, timestamp, signature } = headers;
        for (name, value) in [("webhook-id", id), ("webhook-signature", signature)] {
            if !value.is_ascii() {
                return Err(WebhookError::Header(name));
            }
        }
        let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
        let sent: u64 =
            timestamp.parse().ok().filter(|_| is_number).ok_or(WebhookError::Header("webhook-timestamp"))?;
        if now.abs_diff(sent) > WINDOW {
            return Err(WebhookError::Timestamp);
        }
        if !self.secrets.iter().any(|secret| secret.verify(id, timestamp, body, signature)) {
            return Err(WebhookError::Signature);
        }
        let mut fields: Value = serde_json::from_slice(body).map_err(|_| WebhookError::Body)?;
        if let Some(fields) = fields.as_object_mut() {
            if let Some(sealed) = fields.remove("sealed") {
                fields.insert("data".to_owned(), self.open(id, &sealed, now)?);
            } else if self.requires_sealed && !self.sealing_keys.is_empty() {
                return Err(WebhookError::NotSealed);
            }
        }
        serde_json::from_value(fields).map_err(|_| WebhookError::Body)
    }

    fn open(&self, id: &str, sealed: &Value, now: u64) -> Result<Value, WebhookError> {
        if self.sealing_keys.is_empty() {
            return Err(WebhookError::NoSealingKey);
        }
        let text = sealed.as_str().ok_or(WebhookError::Sealed)?;
        let key_id = key_id_of(text).map_err(|_| WebhookError::Sealed)?;
        let key = self.sealing_keys.iter().find(|key| key.id() == key_id);
        let key = key.ok_or(WebhookError::UnknownKey(key_id))?;
        let data = open_event(key, &EventContext { id }, now, text).map_err(|_| WebhookError::Sealed)?;
        serde_json::from_str(&data).map_err(|_| WebhookError::Sealed)
    }
}

#[cfg(test)]
mod tests {
    use kopeck_sealing::{KeyId, seal_event};
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Vectors {
        deliveries: Vec<Vector>,
    }

    #[derive(Deserialize)]
    struct Vector {
        about: String,
        fault: Option<String>,
        secrets: Vec<String>,
        headers: std::collections::HashMap<String, String>,
        body: String,
        now: u64,
        id: String,
    }

    /// Their signatures were made by another implementation of the specification.
    #[test]
    fn deliveries_are_taken_and_forgeries_refused() {
        let vectors: Vectors = serde_json::from_str(include_str!("../webhooks.json")).unwrap();
        for vector in vectors.deliveries {
            let secrets = vector.secrets.iter().map(|text| SigningSecret::parse(text).unwrap()).collect();
            let headers = WebhookHeaders::find(|name| vector.headers.get(name).map(String::as_str));
            let event = headers.and_then(|headers| {
                WebhookVerifier::new(secrets).verify_at(headers, vector.body.as_bytes(), vector.now)
            });
            let fault = event.as_ref().err().map(|error| match error {
                WebhookError::Header(_) => "header",
                WebhookError::Timestamp => "timestamp",
                WebhookError::Signature => "signature",
                WebhookError::Sealed
                | WebhookError::NotSealed
                | WebhookError::NoSealingKey
                | WebhookError::UnknownKey(_) => "sealed",
                WebhookError::Body => "body",
            });
            assert_eq!(fault, vector.fault.as_deref(), "{}: {event:?}", vector.about);
            assert!(event.is_err() || event.unwrap().id.to_string() == vector.id);
        }
    }

    #[test]
    fn another_implementation_of_the_specification_agrees() {
        let text = "whsec_AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        let (secret, other) =
            (SigningSecret::parse(text).unwrap(), standardwebhooks::Webhook::new(text).unwrap());
        let (id, now) = ("0f8fad5b-d9cb-469f-a165-70867728950e", unix_now());
        let (timestamp, at) = (now.to_string(), i64::try_from(now).unwrap());
        let body = br#"{"id":"0f8fad5b-d9cb-469f-a165-70867728950e","seq":4,"type":"ping","createdAt":"2026-02-07T09:05:00Z","data":{}}"#;
        let signature = other.sign(id, at, body).unwrap();
        assert_eq!(signature, secret.sign(id, at, body));
        let headers = WebhookHeaders { id, timestamp: &timestamp, signature: &signature };
        assert!(WebhookVerifier::new(vec![secret]).verify(headers, body).is_ok());
        let mut map = reqwest::header::HeaderMap::new();
        for (name, value) in
            [("webhook-id", id), ("webhook-timestamp", &timestamp), ("webhook-signature", &signature)]
        {
            map.insert(name, value.parse().unwrap());
        }
        assert!(other.verify(body, &map).is_ok());
        assert!(other.verify(b"{}", &map).is_err());
    }

    #[test]
    fn a_sealed_event_is_opened() {
        let key = SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32]);
        let secret = SigningSecret::new([3; 32]);
        let (id, at) = ("0f8fad5b-d9cb-469f-a165-70867728950e", 1_770_455_100);
        let sealed = seal_event(&key, &EventContext { id }, at, [4; 16], br#"{"amount":5,"reference":null}"#);
        let body = serde_json::json!({
            "id": id, "seq": 4, "type": "balance.deposited", "createdAt": "2026-02-07T09:05:00Z", "sealed": sealed,
        });
        let body = body.to_string();
        let signature = secret.sign(id, at.try_into().unwrap(), body.as_bytes());
        let headers = WebhookHeaders { id, timestamp: &at.to_string(), signature: &signature };
        let verifier = WebhookVerifier::new(vec![secret]);
        let verify = |verifier: &WebhookVerifier| verifier.verify_at(headers, body.as_bytes(), at);
        assert_eq!(verify(&verifier), Err(WebhookError::NoSealingKey));
        let newer = SealingKey::new(KeyId::from_bytes([5; 8]), [6; 32]);
        let changed = verifier.clone().sealing_key(newer);
        let unknown = verify(&changed).unwrap_err();
        assert_eq!(
            unknown.to_string(),
            "sealed under key 0101010101010101, which this verifier does not have: was the sealing key rotated?"
        );
        for verifier in [changed.also_open_with(key.clone()), verifier.clone().sealing_key(key)] {
            let event = verify(&verifier).unwrap();
            assert!(
                matches!(event.data, kopeck_api::EventData::BalanceDeposited(deposit) if deposit.amount == 5)
            );
        }
        let other = SealingKey::new(KeyId::from_bytes([1; 8]), [7; 32]);
        assert_eq!(verify(&verifier.sealing_key(other)), Err(WebhookError::Sealed));
    }

    /// The secret travels once, the sealing key never: who has the former alone forges no event.
    #[test]
    fn with_a_sealing_key_an_event_in_plaintext_is_refused() {
        let secret = SigningSecret::new([3; 32]);
        let (id, at) = ("0f8fad5b-d9cb-469f-a165-70867728950e", 1_770_455_100);
        let key = SealingKey::new(KeyId::from_bytes([1; 8]), [2; 32]);
        let verifier = WebhookVerifier::new(vec![secret.clone()]).sealing_key(key);
        for (sealed, fault) in [
            (None, WebhookError::NotSealed),
            (Some(Value::Null), WebhookError::Sealed),
            (Some(Value::Bool(false)), WebhookError::Sealed),
            (Some("s1.x".into()), WebhookError::Sealed),
        ] {
            let mut body = serde_json::json!({
                "id": id, "seq": 4, "type": "ping", "createdAt": "2026-02-07T09:05:00Z", "data": {},
            });
            if let Some(sealed) = &sealed {
                body["sealed"] = sealed.clone();
            }
            let body = body.to_string();
            let signature = secret.sign(id, at.try_into().unwrap(), body.as_bytes());
            let headers = WebhookHeaders { id, timestamp: &at.to_string(), signature: &signature };
            let verify = |verifier: &WebhookVerifier| verifier.verify_at(headers, body.as_bytes(), at);
            assert_eq!(verify(&verifier), Err(fault), "{sealed:?}");
            let told_otherwise = verify(&verifier.clone().require_sealed(false));
            assert_eq!(told_otherwise.is_ok(), sealed.is_none(), "{told_otherwise:?}");
        }
    }
}
