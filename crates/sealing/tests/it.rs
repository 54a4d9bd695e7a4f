//! The format from outside: vectors open, forgeries and every changed bit do not.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a helper that panics fails its test, as it should")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kopeck_sealing::{
    Clear, EventContext, KeyId, Refusal, RequestContext, ResponseContext, SealingKey, Slot, key_id_of,
    open_event, open_request, open_response, seal_event, seal_request, seal_response,
};
use proptest::prelude::*;
use serde::Deserialize;

const NOW: u64 = 1_767_225_600;
const CARD: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";
const SWITCH: &str = "/v1/employee/7c9e6679-7425-40de-944b-e07fc1f90ae7/card/switch";
const NONCE: &str = "3f2a9c51e7d84b0fa6c2d1e45b907788";

/// The common part of a vector and a forgery: a value and its request.
#[derive(Deserialize)]
struct Case {
    #[serde(alias = "name")]
    why: String,
    secret: String,
    kid: String,
    #[serde(alias = "ts")]
    now: u64,
    direction: String,
    x_nonce: String,
    slot: String,
    method: String,
    path: String,
    status: Option<u16>,
    clear: Vec<(String, String)>,
    text: String,
    plaintext: Option<String>,
}

impl Case {
    fn open(&self, text: &str) -> Result<String, Refusal> {
        let key = SealingKey::new(KeyId::from_bytes(bytes(&self.kid)), bytes(&self.secret));
        let mut clear = Clear::new();
        // Backwards, so that the order of adding is seen not to matter.
        for (slot, value) in self.clear.iter().rev() {
            clear.add(slot_of(slot), value.as_str());
        }
        let (method, path, nonce) = (self.method.as_str(), self.path.as_str(), self.x_nonce.as_str());
        let opened = match self.direction.as_str() {
            "req" => {
                let ctx = RequestContext { method, path, nonce, slot: slot_of(&self.slot), clear: &clear };
                open_request(&key, &ctx, self.now, text)
            }
            "res" => {
                let ctx = ResponseContext { method, path, nonce, status: self.status.unwrap() };
                open_response(&key, &ctx, self.now, text)
            }
            "evt" => open_event(&key, &EventContext { id: nonce }, self.now, text),
            other => panic!("{}: direction {other}", self.why),
        };
        opened.map(|plaintext| plaintext.to_string())
    }
}

fn vectors() -> Vec<Case> {
    serde_json::from_str(include_str!("data/vectors.json")).unwrap()
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

fn bytes<const N: usize>(hex: &str) -> [u8; N] {
    std::array::from_fn(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap())
}

fn key() -> SealingKey {
    SealingKey::new(KeyId::from_bytes([7; 8]), [8; 32])
}

#[test]
fn every_vector_opens() {
    for vector in vectors() {
        assert_eq!(vector.open(&vector.text), Ok(vector.plaintext.clone().unwrap()), "{}", vector.why);
        assert_eq!(key_id_of(&vector.text), Ok(KeyId::from_bytes(bytes(&vector.kid))));
    }
}

#[test]
fn no_forgery_opens() {
    let forgeries: Vec<Case> = serde_json::from_str(include_str!("data/forgeries.json")).unwrap();
    assert_eq!(forgeries.len(), 45);
    for forgery in forgeries {
        if forgery.direction == "evt" && forgery.path != "/" {
            // An `EventContext` has no path to move an event to; `an_event_is_bound_to_the_root` tests the other side.
            assert_eq!(forgery.why, "an event moved to a path");
            continue;
        }
        assert!(forgery.open(&forgery.text).is_err(), "{}", forgery.why);
    }
}

#[test]
fn no_flipped_bit_opens() {
    for vector in vectors() {
        let raw = URL_SAFE_NO_PAD.decode(&vector.text["s1.".len()..]).unwrap();
        for bit in 0..raw.len() * 8 {
            let mut raw = raw.clone();
            raw[bit / 8] ^= 1 << (bit % 8);
            let text = format!("s1.{}", URL_SAFE_NO_PAD.encode(raw));
            assert!(vector.open(&text).is_err(), "{}: bit {bit}", vector.why);
        }
        for bit in 0..vector.text.len() * 8 {
            let mut text = vector.text.clone().into_bytes();
            text[bit / 8] ^= 1 << (bit % 8);
            // With the highest bit set the text is not UTF-8, and cannot be tried.
            let Ok(text) = String::from_utf8(text) else { continue };
            assert!(vector.open(&text).is_err(), "{}: bit {bit} of the text", vector.why);
        }
    }
}

#[test]
fn the_window_ends_after_300_seconds() {
    let ctx = RequestContext {
        method: "GET",
        path: "/v1/card/*",
        nonce: NONCE,
        slot: Slot::Path("idCard"),
        clear: Clear::none(),
    };
    let text = seal_request(&key(), &ctx, NOW, [1; 16], CARD.as_bytes());
    let answer_ctx = ResponseContext { method: "GET", path: "/v1/card/*", nonce: NONCE, status: 200 };
    let answer = seal_response(&key(), &answer_ctx, NOW, [1; 16], b"{}");
    for inside in [NOW - 300, NOW, NOW + 300] {
        assert!(open_request(&key(), &ctx, inside, &text).is_ok());
        assert!(open_response(&key(), &answer_ctx, inside, &answer).is_ok());
    }
    for outside in [0, NOW - 301, NOW + 301, u64::MAX] {
        assert_eq!(open_request(&key(), &ctx, outside, &text).unwrap_err(), Refusal::Time);
        assert_eq!(open_response(&key(), &answer_ctx, outside, &answer).unwrap_err(), Refusal::Time);
    }
}

#[test]
fn a_value_opens_in_its_own_call_only() {
    let mut clear = Clear::new();
    clear.add(Slot::Field("idCard"), CARD);
    let ctx = RequestContext {
        method: "POST",
        path: SWITCH,
        nonce: NONCE,
        slot: Slot::Field("statusCard"),
        clear: &clear,
    };
    let text = seal_request(&key(), &ctx, NOW, [1; 16], b"MAIN");
    assert_eq!(open_request(&key(), &ctx, NOW, &text).unwrap().as_str(), "MAIN");

    let mut swapped = Clear::new();
    swapped.add(Slot::Field("idCard"), "7c9e6679-7425-40de-944b-e07fc1f90ae7");
    let mut added = clear.clone();
    added.add(Slot::Field("x"), "1");
    for other in [
        RequestContext { method: "PUT", ..ctx },
        RequestContext { method: "post", ..ctx },
        RequestContext { path: "/v1/employee/*/card/switch", ..ctx },
        RequestContext { nonce: "3f2a9c51e7d84b0fa6c2d1e45b907789", ..ctx },
        RequestContext { slot: Slot::Body, ..ctx },
        RequestContext { slot: Slot::Field("idCard"), ..ctx },
        RequestContext { clear: Clear::none(), ..ctx },
        RequestContext { clear: &swapped, ..ctx },
        RequestContext { clear: &added, ..ctx },
    ] {
        assert_eq!(open_request(&key(), &other, NOW, &text).unwrap_err(), Refusal::Tag, "{other:?}");
    }
}

#[test]
fn a_response_opens_for_its_own_request_only() {
    let ctx = ResponseContext { method: "GET", path: "/v1/balance", nonce: NONCE, status: 200 };
    let text = seal_response(&key(), &ctx, NOW, [1; 16], b"{}");
    assert_eq!(open_response(&key(), &ctx, NOW, &text).unwrap().as_str(), "{}");
    for other in [
        ResponseContext { method: "POST", ..ctx },
        ResponseContext { path: "/v1/limits", ..ctx },
        ResponseContext { nonce: "3f2a9c51e7d84b0fa6c2d1e45b907789", ..ctx },
        ResponseContext { status: 202, ..ctx },
    ] {
        assert_eq!(open_response(&key(), &other, NOW, &text).unwrap_err(), Refusal::Tag, "{other:?}");
    }
    let request = RequestContext {
        method: "GET",
        path: "/v1/balance",
        nonce: NONCE,
        slot: Slot::Body,
        clear: Clear::none(),
    };
    assert_eq!(open_request(&key(), &request, NOW, &text).unwrap_err(), Refusal::Tag);
}

#[test]
fn an_event_opens_under_its_own_id_only() {
    let ctx = EventContext { id: "018f3c1e-7b2a-7c3d-9e4f-5a6b7c8d9e0f" };
    let text = seal_event(&key(), &ctx, NOW, [1; 16], b"{}");
    assert_eq!(open_event(&key(), &ctx, NOW + 300, &text).unwrap().as_str(), "{}");
    assert_eq!(open_event(&key(), &ctx, NOW + 301, &text).unwrap_err(), Refusal::Time);
    let other = EventContext { id: "018f3c1e-7b2a-7c3d-9e4f-5a6b7c8d9e10" };
    assert_eq!(open_event(&key(), &other, NOW, &text).unwrap_err(), Refusal::Tag);
    let request =
        RequestContext { method: "POST", path: "/", nonce: ctx.id, slot: Slot::Body, clear: Clear::none() };
    assert_eq!(open_request(&key(), &request, NOW, &text).unwrap_err(), Refusal::Tag);
    let sealed_request = seal_request(&key(), &request, NOW, [1; 16], b"{}");
    assert_eq!(open_event(&key(), &ctx, NOW, &sealed_request).unwrap_err(), Refusal::Tag);
}

proptest! {
    #[test]
    fn sealed_values_open(
        plaintext in ".{0,200}",
        secret: [u8; 32],
        id: [u8; 8],
        salt: [u8; 16],
        now in 0_u64..u64::MAX,
        nonce in "[A-Za-z0-9._~+/=-]{16,64}",
        neighbours in prop::collection::btree_map("[a-zA-Z_/~]{1,8}", ".{0,20}", 0..4),
    ) {
        let key = SealingKey::new(KeyId::from_bytes(id), secret);
        let mut clear = Clear::new();
        for (name, value) in &neighbours {
            clear.add(Slot::Field(name), value.as_str());
        }
        let ctx = RequestContext {
            method: "PUT", path: "/v1/employee/*", nonce: &nonce, slot: Slot::Field("sealed"), clear: &clear,
        };
        let text = seal_request(&key, &ctx, now, salt, plaintext.as_bytes());
        prop_assert_eq!(key_id_of(&text), Ok(key.id()));
        let opened = open_request(&key, &ctx, now, &text);
        prop_assert_eq!(opened.as_deref(), Ok(&plaintext));

        let ctx = ResponseContext { method: "PUT", path: "/v1/employee/*", nonce: &nonce, status: 200 };
        let text = seal_response(&key, &ctx, now, salt, plaintext.as_bytes());
        let opened = open_response(&key, &ctx, now, &text);
        prop_assert_eq!(opened.as_deref(), Ok(&plaintext));
    }

    #[test]
    fn no_input_panics(text in "(s1\\.)?[A-Za-z0-9_-]{0,300}", noise in ".*") {
        let ctx = RequestContext {
            method: "POST", path: "/v1/category", nonce: NONCE, slot: Slot::Body, clear: Clear::none(),
        };
        for text in [text, format!("s1.{noise}"), noise] {
            prop_assert!(open_request(&key(), &ctx, NOW, &text).is_err());
            let _ = key_id_of(&text);
            let _ = SealingKey::parse(&text);
        }
    }
}
