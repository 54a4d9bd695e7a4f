//! An API over mocked repositories.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use kopeck_adapter_http::{HttpParts, HttpSettings, HttpState, NoopMetrics};
use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_port_bank::MockBankGateway;
use kopeck_port_security::{
    MockPasswordHasher, MockSecretBox, MockTokenCodec, SecurityError, TokenClaims, TokenKind,
};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{
    Credentials, RecordedResponse, Rule, SealingKeyRecord, SpentNonce, Store, StoreError, StoredPair,
};
use kopeck_port_system::fake::{FakeClock, SeededEntropy, SeededIds};
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::audit::{AuditQueue, NoopAuditObserver};
use kopeck_service::request_log::{NoopRequestLogObserver, RequestLogQueue};
use kopeck_service::tokens::{TokenService, api_key_hash};
use kopeck_service::{Env, Settings};
use secrecy::{ExposeSecret, SecretSlice};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

pub(crate) const NOW: OffsetDateTime = datetime!(2026-01-31 22:30 UTC);
pub(crate) const TOKEN: &str = "good-access-token";
pub(crate) const API_KEY: &str = "ak_good";
pub(crate) const NONCE: &str = "3f2a9c51e7d84b0fa6c2d1e45b907788";
const PARTNER: PartnerId = PartnerId::new(Uuid::from_u128(1));
const SESSION: SessionId = SessionId::new(Uuid::from_u128(2));
const PAIR: TokenPairId = TokenPairId::new(Uuid::from_u128(3));
const KEY: u8 = 5;

/// The partner's sealing key.
pub(crate) fn key() -> SealingKey {
    SealingKey::new(KeyId::from_bytes([KEY; 8]), [KEY; 32])
}

pub(crate) fn now_unix() -> u64 {
    u64::try_from(NOW.unix_timestamp()).unwrap()
}

fn partner(sealing: SealingPolicy) -> Partner {
    Partner {
        id: PARTNER,
        name: "Partner".to_owned(),
        login: "partner-1".to_owned(),
        status: PartnerStatus::Active,
        sealing,
        created_at: NOW,
    }
}

/// A unit of work with an authenticated partner and idempotency records.
pub(crate) fn unit(sealing: SealingPolicy) -> MockUnit {
    let mut unit = MockUnit::default();
    let key = SealingKeyRecord {
        key_id: [KEY; 8],
        encrypted_secret: vec![KEY; 32],
        created_at: NOW,
        accepted_until: None,
        first_used_at: Some(NOW),
    };
    unit.partners.expect_get().returning(move |id| Ok((id == PARTNER).then(|| partner(sealing))));
    unit.partners.expect_sealing_keys().returning(move |_| Ok(vec![key.clone()]));
    unit.partners.expect_by_api_key().returning(move |hash, _| {
        Ok((*hash == api_key_hash(API_KEY)).then(|| Credentials {
            partner: partner(sealing),
            api_key_hash: *hash,
            password_hash: "hash".to_owned(),
        }))
    });
    unit.credentials.expect_by_api_key().returning(|_| Ok(None));
    let pair = TokenPair {
        id: PAIR,
        state: PairState::Fresh,
        used: true,
        successor: None,
        reissued: false,
        refresh_expires_at: NOW + Duration::days(1),
    };
    unit.sessions.expect_pair().returning(move |_, id| {
        Ok((id == PAIR).then(|| StoredPair {
            session: SESSION,
            session_started_at: NOW,
            session_used_at: Some(NOW),
            session_revoked: false,
            credential: None,
            pair: pair.clone(),
        }))
    });
    unit.sessions.expect_touch().returning(|_, _, _, _| Ok(()));
    unit.sessions.expect_insert().returning(|_, _, _, _| Ok(()));
    unit.sessions.expect_revoke_all_but().returning(|_, _, _| Ok(0));
    unit.sessions.expect_insert_pair().returning(|_, _, _| Ok(()));
    unit.sessions.expect_update_pair().returning(|_, _| Ok(()));
    unit.throttle.expect_failures().returning(|_, _, _| Ok(Vec::new()));
    unit.throttle.expect_spend_nonce().returning(|_, _, _, _| Ok(true));
    unit.throttle.expect_record_failure().returning(|_, _| Ok(()));
    remember_answers(&mut unit);
    remember_nonces(&mut unit);
    unit.audit.expect_append().returning(|_| Ok(()));
    unit
}

fn remember_answers(unit: &mut MockUnit) {
    let answers: Arc<Mutex<HashMap<String, RecordedResponse>>> = Arc::default();
    let recorded = Arc::clone(&answers);
    unit.idempotency.expect_find().returning(move |_, key| Ok(recorded.lock().unwrap().get(key).cloned()));
    unit.idempotency.expect_record().returning(move |_, key, answer, _| {
        match answers.lock().unwrap().insert(key.to_owned(), answer.clone()) {
            None => Ok(()),
            Some(_) => Err(StoreError::Conflict(Rule::IdempotencyKey)),
        }
    });
}

fn remember_nonces(unit: &mut MockUnit) {
    let nonces: Arc<Mutex<HashMap<String, SpentNonce>>> = Arc::default();
    let spent = Arc::clone(&nonces);
    unit.sealed_nonces.expect_find().returning(move |_, nonce| Ok(spent.lock().unwrap().get(nonce).cloned()));
    unit.sealed_nonces.expect_spend().returning(move |_, nonce, spent, _| {
        match nonces.lock().unwrap().insert(nonce.to_owned(), spent.clone()) {
            None => Ok(()),
            Some(_) => Err(StoreError::Conflict(Rule::SealedNonce)),
        }
    });
}

fn claims(kind: TokenKind) -> TokenClaims {
    let at = NOW.unix_timestamp();
    TokenClaims {
        kind,
        partner: PARTNER,
        session: SESSION,
        pair: PAIR,
        issued_at: at,
        not_before: at,
        expires_at: at + 900,
        issued_up: None,
    }
}

/// Tokens over these passwords.
pub(crate) fn token_service(env: &Arc<Env>, passwords: MockPasswordHasher) -> TokenService {
    let mut tokens = MockTokenCodec::new();
    tokens.expect_verify().returning(|text, kind| match (text, kind) {
        (TOKEN, TokenKind::Access) | ("good-refresh-token", TokenKind::Refresh) => Ok(claims(kind)),
        _ => Err(SecurityError::NotAuthentic),
    });
    tokens.expect_sign().returning(|claims| Ok(format!("{:?}-token", claims.kind)));
    let mut secrets = MockSecretBox::new();
    secrets.expect_decrypt().returning(|_, stored| Ok(SecretSlice::from(stored.to_vec())));
    secrets.expect_fingerprint().returning(|_, _| [0; 32]);
    TokenService::new(Arc::clone(env), Arc::new(passwords), Arc::new(tokens), Arc::new(secrets))
}

fn passwords() -> MockPasswordHasher {
    let mut passwords = MockPasswordHasher::new();
    passwords
        .expect_verify()
        .returning(|password, stored| stored.is_some() && password.expose_secret() == "right");
    passwords
}

/// The parts of an API over `store`, with an unavailable bank and no sandbox.
pub(crate) fn parts(store: Arc<dyn Store>) -> HttpParts {
    let env = Arc::new(Env {
        clock: Arc::new(FakeClock::starting_at(NOW)),
        ids: Arc::new(SeededIds::new(7)),
        entropy: Arc::new(SeededEntropy::new(7)),
        settings: Settings::DEFAULT,
    });
    HttpParts {
        tokens: Arc::new(token_service(&env, passwords())),
        wall: Arc::clone(&env.clock),
        audit: AuditQueue::new(Arc::clone(&store), Arc::clone(&env.clock), Arc::new(NoopAuditObserver)),
        requests: RequestLogQueue::new(
            Arc::clone(&store),
            Arc::clone(&env.clock),
            Arc::new(NoopRequestLogObserver),
        ),
        env,
        store,
        bank: Arc::new(MockBankGateway::new()),
        sandbox: None,
        metrics: Arc::new(NoopMetrics),
        feed_waiters: Arc::default(),
        webhooks: Arc::new(kopeck_port_webhook::fake::FakeSender),
        settings: HttpSettings { body_limit: 1_000, ..HttpSettings::default() },
    }
}

/// The API over `unit`.
pub(crate) fn api_over(unit: MockUnit) -> HttpState {
    HttpState::new(parts(Arc::new(InPlaceStore::new(unit))))
}
