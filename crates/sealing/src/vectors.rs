//! Every intermediate figure of the published vectors; that they open is tested from outside.

use serde::Deserialize;

use crate::context::{Clear, Context, EventContext, RequestContext, ResponseContext, Slot};
use crate::key::{KeyId, SealingKey};
use crate::padding;
use crate::seal::{DerivedKey, Header, seal_event, seal_request, seal_response};

#[derive(Deserialize)]
struct Vector {
    name: String,
    secret: String,
    kid: String,
    ts: u64,
    salt: String,
    direction: String,
    x_nonce: String,
    slot: String,
    method: String,
    path: String,
    status: Option<u16>,
    clear: Vec<(String, String)>,
    plaintext: String,
    header: String,
    info: String,
    key: String,
    iv: String,
    aad: String,
    padded: String,
    ciphertext_and_tag: String,
    text: String,
}

#[test]
fn every_value_of_every_vector() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("../tests/data/vectors.json")).unwrap();
    assert_eq!(vectors.len(), 18);
    for vector in &vectors {
        check(vector);
    }
}

fn check(vector: &Vector) {
    let name = &vector.name;
    let key = SealingKey::new(KeyId::from_bytes(bytes(&vector.kid)), bytes(&vector.secret));
    let salt = bytes(&vector.salt);
    let mut clear = Clear::new();
    for (slot, value) in &vector.clear {
        clear.add(slot_of(slot), value.as_str());
    }
    let request = RequestContext {
        method: &vector.method,
        path: &vector.path,
        nonce: &vector.x_nonce,
        slot: slot_of(&vector.slot),
        clear: &clear,
    };
    let response = ResponseContext {
        method: &vector.method,
        path: &vector.path,
        nonce: &vector.x_nonce,
        status: vector.status.unwrap_or_default(),
    };
    let event = EventContext { id: &vector.x_nonce };
    let plaintext = vector.plaintext.as_bytes();
    let (context, text) = match vector.direction.as_str() {
        "req" => (Context::Request(&request), seal_request(&key, &request, vector.ts, salt, plaintext)),
        "res" => (Context::Response(&response), seal_response(&key, &response, vector.ts, salt, plaintext)),
        "evt" => (Context::Event(&event), seal_event(&key, &event, vector.ts, salt, plaintext)),
        other => panic!("{name}: direction {other}"),
    };

    let header = Header { key_id: key.id(), unix: vector.ts, salt }.to_bytes();
    assert_eq!(hex(&header), vector.header, "{name}: header");
    assert_eq!(hex(&context.info()), vector.info, "{name}: info");
    let derived = DerivedKey::new(&key, &salt, &context.info());
    let (okm_key, okm_iv) = derived.parts();
    assert_eq!(hex(okm_key), vector.key, "{name}: key");
    assert_eq!(hex(okm_iv), vector.iv, "{name}: iv");
    assert_eq!(hex(&context.associated_data(&header)), vector.aad, "{name}: aad");
    let mut padded = plaintext.to_vec();
    padding::pad(&mut padded, 0);
    assert_eq!(hex(&padded), vector.padded, "{name}: padded");
    let raw = [&header[..], &hex_decode(&vector.ciphertext_and_tag)].concat();
    assert_eq!(text, vector.text, "{name}: text");
    assert_eq!(decode(&text), raw, "{name}: ciphertext and tag");
}

fn slot_of(text: &str) -> Slot<'_> {
    match text.split_once(':') {
        None if text == "body" => Slot::Body,
        None if text == "query" => Slot::Query,
        Some(("path", name)) => Slot::Path(name),
        Some(("query", name)) => Slot::QueryParameter(name),
        Some(("field", name)) => Slot::Field(name.strip_prefix('/').unwrap()),
        _ => panic!("slot {text}"),
    }
}

fn decode(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(&text[3..]).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn hex_decode(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn bytes<const N: usize>(text: &str) -> [u8; N] {
    hex_decode(text).try_into().unwrap()
}
