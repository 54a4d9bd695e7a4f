//! Requests sealed in one of their parts, and copies of them as made between client and service.

use kopeck_adapter_system::SystemClock;
use kopeck_port_system::Clock as _;
use kopeck_sealing::{Clear, RequestContext, SealingKey, Slot, bound_path, seal_request};
use serde_json::{Map, Value, json};

use crate::process::PartnerSecrets;
use crate::raw_http::{RawRequest, SEALED_JSON, fresh_salt, get, login_call};

/// The sealed part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The whole body; an empty object, if the operation has none.
    Body,
    /// One field of the body: the first, or one that the operation does not know.
    Field,
    /// A query parameter that the operation does not know.
    Query,
    /// The first identifier in the path.
    Path,
}

/// Seals with a partner's key, at a moment in Unix seconds.
#[derive(Clone, Copy)]
pub struct Sealer<'a> {
    pub key: &'a SealingKey,
    pub now: u64,
}

/// A name that no operation knows.
const UNKNOWN: &str = "unknownName";

impl Sealer<'_> {
    /// The request of the operation with this path, with one part of it sealed under the nonce that it has. `None` if
    /// it has no such part.
    pub fn seal(&self, operation_path: &str, call: &RawRequest, part: Part) -> Option<RawRequest> {
        match part {
            Part::Body => Some(self.body(call)),
            Part::Field => Some(self.field(call)),
            Part::Query => Some(self.query(call)),
            Part::Path => self.path(operation_path, call),
        }
    }

    pub fn body(&self, call: &RawRequest) -> RawRequest {
        let plain = if call.body.is_empty() { "{}" } else { std::str::from_utf8(&call.body).unwrap() };
        let sealed = self.value(call, &bound_path(&call.target), Slot::Body, Clear::none(), plain);
        call.clone().bytes(SEALED_JSON, json!({"sealed": sealed}).to_string())
    }

    fn field(&self, call: &RawRequest) -> RawRequest {
        let mut fields = fields_of(call);
        let name = fields.keys().next().cloned().unwrap_or_else(|| UNKNOWN.to_owned());
        let plain = fields.remove(&name).unwrap_or_else(|| json!("x"));
        let clear = neighbours(&fields);
        let place = Slot::Field(&name);
        let sealed = self.value(call, &bound_path(&call.target), place, &clear, &text_of(&plain));
        fields.insert(name.clone(), json!(sealed));
        call.clone().json(&Value::Object(fields))
    }

    fn query(&self, call: &RawRequest) -> RawRequest {
        let clear = neighbours(&fields_of(call));
        let place = Slot::QueryParameter(UNKNOWN);
        let sealed = self.value(call, &bound_path(&call.target), place, &clear, "x");
        RawRequest { target: format!("{}?{UNKNOWN}={sealed}", call.target), ..call.clone() }
    }

    fn path(&self, operation_path: &str, call: &RawRequest) -> Option<RawRequest> {
        let mut segments: Vec<String> = call.target.split('/').map(str::to_owned).collect();
        let names = operation_path.split('/').map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
        let (at, name) = names.enumerate().find_map(|(at, name)| Some((at, name?)))?;
        let plain = std::mem::replace(&mut segments[at], "*".to_owned());
        let path = segments.join("/");
        segments[at] = self.value(call, &bound_path(&path), Slot::Path(name), Clear::none(), &plain);
        Some(RawRequest { target: segments.join("/"), ..call.clone() })
    }

    fn value(&self, call: &RawRequest, path: &str, slot: Slot<'_>, clear: &Clear<'_>, plain: &str) -> String {
        let context = RequestContext { method: &call.method, path, nonce: call.its_nonce(), slot, clear };
        seal_request(self.key, &context, self.now, fresh_salt(), plain.as_bytes())
    }
}

/// The same bytes under other idempotency keys: without one if the request has one, and under one that it does not have.
/// Its nonce as the key names the same thing to the service, and is another key nevertheless.
pub fn copies(call: &RawRequest) -> Vec<RawRequest> {
    let under = |key: &str| call.clone().key(key);
    let evil = format!("evil-{}", call.its_nonce());
    if call.headers.iter().any(|(name, _)| name == "idempotency-key") {
        vec![call.clone().without("idempotency-key"), under(&evil), under(call.its_nonce())]
    } else {
        vec![under(&evil), under(call.its_nonce())]
    }
}

fn fields_of(call: &RawRequest) -> Map<String, Value> {
    if call.body.is_empty() { Map::new() } else { serde_json::from_slice(&call.body).unwrap() }
}

/// Fields that stand clear beside something sealed.
fn neighbours(fields: &Map<String, Value>) -> Clear<'static> {
    let mut clear = Clear::new();
    for (name, value) in fields {
        clear.add(Slot::Field(name), text_of(value));
    }
    clear
}

/// The text of a value as it is sealed and bound: strings without quotes.
fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A partner of a real process, with a token. Whatever it sends is sealed whole.
pub struct Remote {
    key: SealingKey,
    token: String,
}

impl Remote {
    pub fn login(base_url: &str, secrets: &PartnerSecrets) -> Self {
        let key = SealingKey::parse(&secrets.sealing_key).unwrap();
        let call = login_call(&secrets.api_key, &secrets.login, &secrets.password);
        let got = Sealer { key: &key, now: real_now() }.body(&call).send_to(base_url);
        Self { token: got.text_of("accessToken"), key }
    }

    pub fn seal(&self, call: RawRequest) -> RawRequest {
        Sealer { key: &self.key, now: real_now() }.body(&call.token(&self.token))
    }

    pub fn read(&self, base_url: &str, target: &str) -> Value {
        get(target).token(&self.token).send_to(base_url).ok(200)
    }
}

fn real_now() -> u64 {
    u64::try_from(SystemClock::default().now().unix_timestamp()).unwrap()
}
