//! Valid tokens, and every way in which one is refused.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Sha256, Sha512};

use super::*;
use crate::master_key::{MasterKey, Purpose};
use crate::ring::testing::ring;

fn master() -> MasterKey {
    MasterKey::from_bytes([1; 32])
}

fn tokens() -> JwtTokens {
    tokens_over(&KeyRing::of(&master()))
}

fn tokens_over(ring: &Arc<KeyRing>) -> JwtTokens {
    JwtTokens::new(Arc::clone(ring))
}

const UP: Uptime = Uptime { epoch: 0xff, seconds: 77 };

fn claims(kind: TokenKind) -> TokenClaims {
    TokenClaims {
        kind,
        partner: PartnerId::new(Uuid::from_u128(1)),
        session: SessionId::new(Uuid::from_u128(2)),
        pair: TokenPairId::new(Uuid::from_u128(3)),
        issued_at: 1_000,
        not_before: 1_000,
        expires_at: 1_900,
        issued_up: Some(UP),
    }
}

fn good_header() -> Value {
    json!({"alg": "HS256", "typ": "at+jwt", "kid": master().token_key_id()})
}

fn good_payload() -> Value {
    json!({
        "iss": "kopeck", "aud": "kopeck-api", "sub": Uuid::from_u128(1), "sid": Uuid::from_u128(2),
        "jti": format!("{}.a", Uuid::from_u128(3)), "iat": 1_000, "nbf": 1_000, "exp": 1_900,
        "up": "00000000000000ff.77",
    })
}

fn encoded(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

/// A token signed by the right key, whatever its header and payload say.
fn forged(header: &Value, payload: &Value) -> String {
    signed_by(&master(), header, payload)
}

fn signed_by(master: &MasterKey, header: &Value, payload: &Value) -> String {
    let message = format!("{}.{}", encoded(header), encoded(payload));
    let key = master.derive(Purpose::Tokens);
    let signature =
        Hmac::<Sha256>::new_from_slice(&key[..]).unwrap().chain_update(&message).finalize().into_bytes();
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn refused(text: &str) -> bool {
    matches!(tokens().verify(text, TokenKind::Access), Err(SecurityError::NotAuthentic))
}

fn with(mut object: Value, key: &str, value: Value) -> Value {
    object.as_object_mut().unwrap().insert(key.to_owned(), value);
    object
}

#[test]
fn a_signed_token_is_read_back() {
    for kind in [TokenKind::Access, TokenKind::Refresh] {
        let text = tokens().sign(&claims(kind)).unwrap();
        assert_eq!(tokens().verify(&text, kind).unwrap(), claims(kind));
    }
}

#[test]
fn the_wire_form_is_the_documented_one() {
    let text = tokens().sign(&claims(TokenKind::Access)).unwrap();
    let mut parts = text
        .split('.')
        .take(2)
        .map(|part| serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap());
    assert_eq!(parts.next().unwrap(), good_header());
    assert_eq!(parts.next().unwrap(), good_payload());
    // So the forgeries below fail for their faults alone.
    assert!(!refused(&forged(&good_header(), &good_payload())));
}

#[test]
fn neither_kind_passes_for_the_other() {
    for (made, asked) in [(TokenKind::Access, TokenKind::Refresh), (TokenKind::Refresh, TokenKind::Access)] {
        let text = tokens().sign(&claims(made)).unwrap();
        assert!(matches!(tokens().verify(&text, asked), Err(SecurityError::NotAuthentic)));
    }
    // Not even when one of the two marks of a kind is changed.
    assert!(refused(&forged(&with(good_header(), "typ", json!("rt+jwt")), &good_payload())));
    let jti = format!("{}.r", Uuid::from_u128(3));
    assert!(refused(&forged(&good_header(), &with(good_payload(), "jti", json!(jti)))));
}

#[test]
fn other_headers_are_refused_under_a_good_signature() {
    for algorithm in ["none", "None", "HS384", "HS512", "RS256", "ES256", "EdDSA", "hs256", ""] {
        assert!(
            refused(&forged(&with(good_header(), "alg", json!(algorithm)), &good_payload())),
            "{algorithm}"
        );
    }
    for typ in [json!("JWT"), json!("AT+JWT"), json!(""), json!(null), json!(7)] {
        assert!(refused(&forged(&with(good_header(), "typ", typ.clone()), &good_payload())), "{typ}");
    }
    for key_id in [json!("0123456789abcdef"), json!(""), json!(null)] {
        assert!(refused(&forged(&with(good_header(), "kid", key_id.clone()), &good_payload())), "{key_id}");
    }
}

#[test]
fn an_unsigned_token_is_refused() {
    let header = encoded(&with(good_header(), "alg", json!("none")));
    assert!(refused(&format!("{header}.{}.", encoded(&good_payload()))));
    assert!(refused(&format!("{}.{}.", encoded(&good_header()), encoded(&good_payload()))));
}

#[test]
fn a_true_hs512_signature_is_refused() {
    let message =
        format!("{}.{}", encoded(&with(good_header(), "alg", json!("HS512"))), encoded(&good_payload()));
    let key = master().derive(Purpose::Tokens);
    let signature =
        Hmac::<Sha512>::new_from_slice(&key[..]).unwrap().chain_update(&message).finalize().into_bytes();
    assert!(refused(&format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))));
}

#[test]
fn every_claim_is_required_and_has_its_form() {
    for claim in ["iss", "aud", "sub", "sid", "jti", "iat", "nbf", "exp"] {
        let mut payload = good_payload();
        payload.as_object_mut().unwrap().remove(claim);
        assert!(refused(&forged(&good_header(), &payload)), "without {claim}");
        for value in [json!(null), json!("x"), json!([]), json!(true)] {
            let payload = with(good_payload(), claim, value.clone());
            assert!(refused(&forged(&good_header(), &payload)), "{claim} = {value}");
        }
    }
    assert!(refused(&forged(&good_header(), &with(good_payload(), "aud", json!(["kopeck-api", "other"])))));
    let bare = json!(Uuid::from_u128(3).to_string());
    assert!(refused(&forged(&good_header(), &with(good_payload(), "jti", bare))));
}

#[test]
fn another_master_key_neither_reads_nor_forges() {
    let other = MasterKey::from_bytes([2; 32]);
    assert!(refused(&tokens_over(&KeyRing::of(&other)).sign(&claims(TokenKind::Access)).unwrap()));
    assert!(refused(&signed_by(&other, &good_header(), &good_payload())));
    let named_as_its_own = with(good_header(), "kid", json!(other.token_key_id()));
    let both = tokens_over(&KeyRing::with_accepted(&master(), std::slice::from_ref(&other)));
    let verify = |text: &str| both.verify(text, TokenKind::Access).is_ok();
    assert!(verify(&signed_by(&other, &named_as_its_own, &good_payload())), "an accepted key signs too");
    assert!(!verify(&signed_by(&other, &good_header(), &good_payload())), "but under its own name");
    assert!(!verify(&signed_by(&master(), &named_as_its_own, &good_payload())));
}

#[test]
fn a_token_is_good_as_long_as_its_key_is_accepted() {
    let (ring, source) = ring(&[1]);
    let tokens = tokens_over(&ring);
    let verify = |text: &str| tokens.verify(text, TokenKind::Access).is_ok();
    let old = tokens.sign(&claims(TokenKind::Access)).unwrap();
    // Another process signs with the new key already; this one looks for it when it meets it.
    let new = tokens_over(&self::ring(&[2, 1]).0).sign(&claims(TokenKind::Access)).unwrap();
    source.put(&[2, 1]);
    assert!(verify(&new) && verify(&old));
    assert_eq!(tokens.sign(&claims(TokenKind::Access)).unwrap(), new);
    source.put(&[2]);
    assert!(ring.refresh());
    assert!(verify(&new) && !verify(&old));
}

#[test]
fn every_changed_character_is_noticed() {
    let text = tokens().sign(&claims(TokenKind::Access)).unwrap();
    for index in 0..text.len() {
        let mut changed = text.clone().into_bytes();
        let character = changed.get_mut(index).unwrap();
        *character = if *character == b'A' { b'B' } else { b'A' };
        assert!(refused(std::str::from_utf8(&changed).unwrap()), "character {index}");
        assert!(refused(&text[..index]), "cut to {index}");
    }
    assert!(refused(&format!("{text}A")));
    assert!(refused(&format!("{text}.")));
    assert!(refused(&format!("{text}=")));
    assert!(refused(&format!(" {text}")));
}

#[test]
fn the_time_is_left_to_the_caller() {
    let long_ago = TokenClaims { expires_at: 1, ..claims(TokenKind::Access) };
    let far_off = TokenClaims { not_before: 99_999_999_999, ..claims(TokenKind::Access) };
    for claims in [long_ago, far_off] {
        let text = tokens().sign(&claims).unwrap();
        assert_eq!(tokens().verify(&text, TokenKind::Access).unwrap(), claims);
    }
}

proptest! {
    #[test]
    fn reading_never_panics(text in "([A-Za-z0-9_-]{0,40}\\.?){0,4}|.*") {
        prop_assert!(refused(&text));
    }
}
