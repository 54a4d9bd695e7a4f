//! A desk over mocks of its ports, and the tokens that its tests present.

use std::sync::{Arc, Mutex};

use kopeck_domain::ids::{SessionId, TokenPairId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_security::{
    MockPasswordHasher, MockSecretBox, MockTokenCodec, SecurityError, TokenClaims, TokenKind,
};
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{Credentials, SealingKeyRecord, StoredPair};
use secrecy::SecretSlice;
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{ApiKeyOwner, TokenService, api_key_hash};
use crate::testing::*;

pub(super) const SESSION: SessionId = SessionId::new(Uuid::from_u128(0x5E));
pub(super) const API_KEY: &str = "ak_right";
pub(super) const TOKEN: &str = "the token";

pub(super) fn pair_id(n: u128) -> TokenPairId {
    TokenPairId::new(Uuid::from_u128(n))
}

/// What the throttle counts a subject by.
pub(super) fn subject(purpose: &str, value: &str) -> [u8; 32] {
    Sha256::digest(format!("{purpose}/{value}")).into()
}

/// A desk whose box opens what [`sealing_key`] holds.
pub(super) fn desk(bench: &Bench, passwords: MockPasswordHasher, tokens: MockTokenCodec) -> TokenService {
    let mut secrets = MockSecretBox::new();
    secrets
        .expect_fingerprint()
        .returning(|purpose, value| subject(purpose, &String::from_utf8_lossy(value)));
    secrets.expect_decrypt().returning(|place, stored| {
        assert_eq!((place.table, place.column), ("sealing_keys", "encrypted_secret"));
        if place.row == stored && place.partner == PARTNER {
            Ok(SecretSlice::from(stored.to_vec()))
        } else {
            Err(SecurityError::NotAuthentic)
        }
    });
    TokenService::new(bench.shared(), Arc::new(passwords), Arc::new(tokens), Arc::new(secrets))
}

pub(super) fn sealing_key(n: u8, accepted_until: Option<OffsetDateTime>) -> SealingKeyRecord {
    SealingKeyRecord {
        key_id: [n; 8],
        encrypted_secret: vec![n; 8],
        created_at: BEFORE,
        accepted_until,
        first_used_at: None,
    }
}

pub(super) fn known(status: PartnerStatus) -> ApiKeyOwner {
    let credentials = Credentials {
        partner: partner(status),
        api_key_hash: api_key_hash(API_KEY),
        password_hash: "the hash".to_owned(),
    };
    ApiKeyOwner { credentials, keys: vec![], credential: None }
}

/// The claims of a token of pair 1 that was issued at the start.
pub(super) fn claims(kind: TokenKind) -> TokenClaims {
    let life = match kind {
        TokenKind::Access => Duration::minutes(15),
        TokenKind::Refresh => Duration::days(30),
    };
    TokenClaims {
        kind,
        partner: PARTNER,
        session: SESSION,
        pair: pair_id(1),
        issued_at: START.unix_timestamp(),
        not_before: START.unix_timestamp(),
        expires_at: (START + life).unix_timestamp(),
        issued_up: None,
    }
}

/// A codec that takes [`TOKEN`] for a token of these claims, and for nothing else.
pub(super) fn codec(claims: TokenClaims) -> MockTokenCodec {
    let mut tokens = MockTokenCodec::new();
    tokens.expect_verify().returning(move |text, kind| {
        if text == TOKEN && kind == claims.kind {
            Ok(claims.clone())
        } else {
            Err(SecurityError::NotAuthentic)
        }
    });
    tokens
}

/// Lets the codec sign; answers what it signs.
pub(super) fn signing(tokens: &mut MockTokenCodec) -> Arc<Mutex<Vec<TokenClaims>>> {
    let signed = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&signed);
    tokens.expect_sign().times(2).returning(move |claims| {
        seen.lock().unwrap().push(claims.clone());
        Ok(format!("{:?} {}", claims.kind, claims.pair))
    });
    signed
}

/// A pair of the session whose refresh token lives 30 days from the start.
pub(super) fn pair(n: u128, state: PairState) -> TokenPair {
    TokenPair {
        id: pair_id(n),
        state,
        used: false,
        successor: None,
        reissued: false,
        refresh_expires_at: START + Duration::days(30),
    }
}

pub(super) fn stored(pair: TokenPair) -> StoredPair {
    StoredPair {
        session: SESSION,
        session_started_at: START,
        session_used_at: Some(START),
        session_revoked: false,
        pair,
        credential: None,
    }
}
