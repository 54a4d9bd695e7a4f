use std::sync::{Arc, Mutex};

use super::*;
use crate::testing::*;
use crate::tokens::testing::*;
use kopeck_domain::ids::TokenPairId;
use kopeck_port_security::{MockPasswordHasher, MockTokenCodec, TokenClaims, TokenKind, Uptime};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::session::{PairState, SessionHolder, TokenPair};
use kopeck_port_store::{Credentials, StoreError};
use time::Duration;

/// The steps of a login in the order in which they were made.
type Trace = Arc<Mutex<Vec<&'static str>>>;

fn name(asked: &[u8; 32], [address, partner, attempt]: [&'static str; 3]) -> &'static str {
    if *asked == subject("address", "10.0.0.1") {
        address
    } else if *asked == subject("partner", &PARTNER.to_string()) {
        partner
    } else {
        attempt
    }
}

/// A throttle that returns the lists of `failures` in turn, and accepts nonces.
fn throttle(unit: &mut MockUnit, trace: &Trace, looks: Vec<Vec<OffsetDateTime>>) {
    let steps = Arc::clone(trace);
    let mut looks = looks.into_iter();
    unit.throttle.expect_failures().returning(move |subject, since, limit| {
        assert_eq!((since, limit), (START - Duration::minutes(15), 10));
        steps.lock().unwrap().push(name(subject, ["look at address", "look at partner", "look at attempt"]));
        Ok(looks.next().unwrap_or_default())
    });
    let steps = Arc::clone(trace);
    unit.throttle.expect_spend_nonce().returning(move |_, nonce, at, since| {
        assert_eq!((nonce, at, since), ("n-1", START, START - Duration::minutes(10)));
        steps.lock().unwrap().push("spend nonce");
        Ok(true)
    });
    let steps = Arc::clone(trace);
    unit.throttle.expect_record_failure().returning(move |subject, at| {
        assert_eq!(at, START);
        let names = ["failure of address", "failure of partner", "failure of attempt"];
        steps.lock().unwrap().push(name(subject, names));
        Ok(())
    });
}

/// Takes `pass` for the password behind the stored hash, and nothing without one.
fn passwords(trace: &Trace) -> MockPasswordHasher {
    let mut passwords = MockPasswordHasher::new();
    let steps = Arc::clone(trace);
    passwords.expect_verify().returning(move |password, stored| {
        steps.lock().unwrap().push("verify password");
        stored == Some("the hash") && password.expose_secret() == "pass"
    });
    passwords
}

fn attempt(known: Option<ApiKeyOwner>, api_key: &str, login: &str, password: &str) -> LoginAttempt {
    LoginAttempt {
        owner: known,
        api_key: SecretString::from(api_key),
        nonce: "n-1".to_owned(),
        address: Some("10.0.0.1".to_owned()),
        client: Some("10.0.0.1".to_owned()),
        body: LoginBody::Credentials { login: login.to_owned(), password: SecretString::from(password) },
    }
}

fn right() -> LoginAttempt {
    attempt(Some(known(PartnerStatus::Active)), API_KEY, "bakery", "pass")
}

/// Runs an attempt that must not issue anything, and answers the steps it took.
fn refused(attempt: LoginAttempt, looks: Vec<Vec<OffsetDateTime>>) -> (TokenError, Vec<&'static str>) {
    let (bench, mut unit, trace) = (Bench::new(), MockUnit::default(), Trace::default());
    throttle(&mut unit, &trace, looks);
    let mut tokens = MockTokenCodec::new();
    // A token may be signed, but it is never handed out: no session is stored for it.
    tokens.expect_sign().returning(|_| Ok(String::new()));
    let desk = desk(&bench, passwords(&trace), tokens);
    let error = desk.login(&InPlaceStore::new(unit), attempt).unwrap_err();
    let steps = trace.lock().unwrap().clone();
    (error, steps)
}

/// The steps of a failed login; `counted` is what it counts for beside the address.
fn steps_of_a_failure(counted: &str) -> Vec<String> {
    let look = ["look at address".to_owned(), format!("look at {counted}")];
    let work = ["spend nonce".to_owned(), "verify password".to_owned()];
    let record = ["failure of address".to_owned(), format!("failure of {counted}")];
    [look.clone(), work, look, record].concat()
}

#[test]
fn all_wrong_logins_look_the_same() {
    let (active, suspended) = (known(PartnerStatus::Active), known(PartnerStatus::Suspended));
    let unreadable = LoginAttempt { body: LoginBody::Unreadable, ..attempt(None, "ak_wrong", "", "") };
    let attempts = [
        (attempt(None, "ak_wrong", "bakery", "pass"), "attempt"),
        (unreadable, "attempt"),
        (attempt(Some(active.clone()), API_KEY, "other", "pass"), "partner"),
        (attempt(Some(active.clone()), API_KEY, "baker", "pass"), "partner"),
        (attempt(Some(active.clone()), API_KEY, "", "pass"), "partner"),
        (attempt(Some(active.clone()), API_KEY, "bakery", "wrong"), "partner"),
        (attempt(Some(suspended), API_KEY, "bakery", "pass"), "partner"),
    ];
    for (attempt, counted) in attempts {
        let shown = format!("{attempt:?}");
        let (error, steps) = refused(attempt, vec![]);
        assert!(matches!(error, TokenError::BadCredentials), "{shown}: {error}");
        assert_eq!(steps, steps_of_a_failure(counted), "{shown}");
    }
}

/// Ten failures under a wrong API key are of ten attempts: no key, and so no partner, is locked by them.
#[test]
fn failures_under_a_wrong_api_key_count_for_no_partner_and_no_key() {
    let desk = desk(&Bench::new(), MockPasswordHasher::new(), MockTokenCodec::new());
    let hash = api_key_hash("ak_wrong");
    let first = desk.partner_subject(None, &hash, "n-1");
    assert_ne!(first, desk.partner_subject(None, &hash, "n-2"));
    assert_ne!(first, desk.partner_subject(None, &api_key_hash("ak_other"), "n-1"));
}

/// Its nonce is not spent, because the 422 tells that the API key is right.
#[test]
fn an_unreadable_body_under_a_right_api_key_takes_as_long_as_a_wrong_password_and_counts() {
    let unreadable = LoginAttempt {
        body: LoginBody::Unreadable,
        ..attempt(Some(known(PartnerStatus::Active)), API_KEY, "", "")
    };
    let (error, steps) = refused(unreadable, vec![]);
    assert!(matches!(error, TokenError::BadCredentials), "{error}");
    let mut expected = steps_of_a_failure("partner");
    expected.retain(|step| step != "spend nonce");
    assert_eq!(steps, expected);
}

#[test]
fn faulty_values_take_as_long_as_a_failure_and_are_none() {
    let faulty = LoginAttempt {
        body: LoginBody::Faulty,
        ..attempt(Some(known(PartnerStatus::Active)), API_KEY, "", "")
    };
    let (error, steps) = refused(faulty, vec![]);
    assert!(matches!(error, TokenError::BadCredentials), "{error}");
    assert_eq!(steps, ["look at address", "look at partner", "verify password"]);
}

#[test]
fn without_an_address_a_failure_counts_for_the_partner_alone() {
    let wrong = LoginAttempt {
        address: None,
        ..attempt(Some(known(PartnerStatus::Active)), API_KEY, "bakery", "wrong")
    };
    let (error, steps) = refused(wrong, vec![]);
    assert!(matches!(error, TokenError::BadCredentials), "{error}");
    let expected =
        ["look at partner", "spend nonce", "verify password", "look at partner", "failure of partner"];
    assert_eq!(steps, expected);
}

fn failures(count: i64) -> Vec<OffsetDateTime> {
    (1..=count).map(|minutes| START - Duration::minutes(minutes)).collect()
}

/// Ten failures of either subject, within ten minutes: the first of them is forgotten in five.
#[test]
fn the_eleventh_try_is_refused_also_with_the_right_password() {
    let too_many = |error: &TokenError| matches!(error, TokenError::TooMany { retry_after } if *retry_after == Duration::minutes(5));
    let (error, steps) = refused(right(), vec![failures(10)]);
    assert!(too_many(&error), "{error}");
    assert_eq!(steps, ["look at address"], "neither a nonce is spent nor a password tried");

    let (error, steps) = refused(right(), vec![failures(9), failures(10)]);
    assert!(too_many(&error), "{error}");
    assert_eq!(steps, ["look at address", "look at partner"]);
}

/// Many simultaneous guesses all pass the first check. The right one must look like the others.
#[test]
fn the_throttle_is_checked_after_the_password_too_right_or_wrong() {
    let wrong = attempt(Some(known(PartnerStatus::Active)), API_KEY, "bakery", "wrong");
    let [(right_error, right_steps), (wrong_error, wrong_steps)] = [right(), wrong]
        .map(|attempt| refused(attempt, vec![failures(9), failures(9), failures(9), failures(10)]));
    assert!(matches!(right_error, TokenError::TooMany { .. }), "{right_error}");
    assert!(matches!(wrong_error, TokenError::TooMany { .. }), "{wrong_error}");
    assert_eq!(right_steps, wrong_steps);
    let expected = [
        "look at address",
        "look at partner",
        "spend nonce",
        "verify password",
        "look at address",
        "look at partner",
    ];
    assert_eq!(right_steps, expected, "nothing is issued and no failure recorded");
}

#[test]
fn nine_failures_are_borne() {
    let (error, _) = refused(attempt(None, "ak_wrong", "bakery", "pass"), vec![failures(9); 4]);
    assert!(matches!(error, TokenError::BadCredentials), "{error}");
}

#[test]
fn a_spent_nonce_is_refused_before_the_password() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.throttle.expect_failures().returning(|_, _, _| Ok(vec![]));
    unit.throttle
        .expect_spend_nonce()
        .withf(|api_key, nonce, _, _| *api_key == api_key_hash(API_KEY) && nonce == "n-1")
        .times(1)
        .returning(|_, _, _, _| Ok(false));
    let desk = desk(&bench, MockPasswordHasher::new(), MockTokenCodec::new());
    let error = desk.login(&InPlaceStore::new(unit), right()).unwrap_err();
    assert!(matches!(error, TokenError::NonceSpent), "{error}");
}

/// What the store has of the partner by the time that the password has been compared.
fn partner_is_now(unit: &mut MockUnit, credentials: Credentials) {
    let partner = credentials.partner.clone();
    unit.partners.expect_get().withf(|id| *id == PARTNER).returning(move |_| Ok(Some(partner.clone())));
    unit.partners
        .expect_by_api_key()
        .withf(|hash, now| *hash == api_key_hash(API_KEY) && *now == START)
        .returning(move |_, _| Ok(Some(credentials.clone())));
}

/// The operator suspends the partner or sets another password while the old one is being compared. Both end all
/// sessions, so no session may begin after that.
#[test]
fn a_login_that_a_suspension_or_a_new_password_overtakes_is_refused() {
    let suspended = known(PartnerStatus::Suspended).credentials;
    let changed =
        Credentials { password_hash: "another hash".to_owned(), ..known(PartnerStatus::Active).credentials };
    for overtaken_by in [suspended, changed] {
        let (bench, mut unit, trace) = (Bench::new(), MockUnit::default(), Trace::default());
        throttle(&mut unit, &trace, vec![]);
        partner_is_now(&mut unit, overtaken_by);
        let mut tokens = MockTokenCodec::new();
        tokens.expect_sign().returning(|_| Ok(String::new()));
        let desk = desk(&bench, passwords(&trace), tokens);
        let error = desk.login(&InPlaceStore::new(unit), right()).unwrap_err();
        assert!(matches!(error, TokenError::BadCredentials), "{error}");
    }
}

#[test]
fn a_right_login_starts_a_session_and_issues_its_first_pair() {
    let (bench, mut unit, trace) = (Bench::new(), MockUnit::default(), Trace::default());
    throttle(&mut unit, &trace, vec![]);
    let (session, id) = (SessionId::new(fresh_id(1)), TokenPairId::new(fresh_id(2)));
    partner_is_now(&mut unit, known(PartnerStatus::Active).credentials);
    unit.sessions
        .expect_insert()
        .withf(move |partner, stored, credential, at| {
            (*partner, *stored, *credential, *at) == (PARTNER, session, None, START)
        })
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    unit.sessions
        .expect_touch()
        .withf(move |partner, stored, at, address| {
            (*partner, *stored, *at, *address) == (PARTNER, session, START, Some("10.0.0.1"))
        })
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    unit.sessions
        .expect_revoke_all_but()
        .withf(|partner, holder, keep| (*partner, *holder, *keep) == (PARTNER, SessionHolder::Login, 1_000))
        .times(1)
        .returning(|_, _, _| Ok(0));
    let expected = TokenPair { id, ..pair(1, PairState::Fresh) };
    unit.sessions
        .expect_insert_pair()
        .withf(move |partner, owner, stored| (*partner, *owner) == (PARTNER, session) && *stored == expected)
        .times(1)
        .returning(|_, _, _| Ok(()));
    let mut tokens = MockTokenCodec::new();
    let signed = signing(&mut tokens);
    let desk = desk(&bench, passwords(&trace), tokens);
    let issued = desk.login(&InPlaceStore::new(unit), right()).unwrap();

    let expected = [TokenKind::Access, TokenKind::Refresh].map(|kind| TokenClaims {
        session,
        pair: id,
        issued_up: Some(Uptime { epoch: 0, seconds: 0 }),
        ..claims(kind)
    });
    assert_eq!(*signed.lock().unwrap(), expected);
    assert_eq!(issued.access_token, format!("Access {id}"));
    assert_eq!(issued.refresh_token, format!("Refresh {id}"));
    assert_eq!(issued.access_expires_at, START.unix_timestamp() + 15 * 60);
    assert_eq!(issued.refresh_expires_at, START.unix_timestamp() + 30 * 24 * 3_600);
    assert!(!format!("{issued:?}").contains("Access "), "tokens stay out of logs");
    assert_eq!(trace.lock().unwrap().iter().filter(|step| **step == "verify password").count(), 1);
}

#[test]
fn a_locked_address_is_refused_before_its_body_is_opened() {
    for (count, locked) in [(9, false), (10, true)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.throttle
            .expect_failures()
            .withf(|asked, _, _| *asked == subject("address", "10.0.0.1"))
            .times(1)
            .returning(move |_, _, _| Ok(failures(count)));
        let desk = desk(&bench, MockPasswordHasher::new(), MockTokenCodec::new());
        let checked = desk.check_address(&mut unit, Some("10.0.0.1"));
        assert_eq!(matches!(checked, Err(TokenError::TooMany { .. })), locked);
        assert_eq!(checked.is_ok(), !locked);
    }
}

/// A failure that cannot be recorded is no 400: else the throttle could be switched off by filling the disk.
#[test]
fn a_failure_that_cannot_be_recorded_is_one_of_the_store() {
    let (bench, mut unit, trace) = (Bench::new(), MockUnit::default(), Trace::default());
    unit.throttle.expect_failures().returning(|_, _, _| Ok(vec![]));
    unit.throttle.expect_spend_nonce().returning(|_, _, _, _| Ok(true));
    unit.throttle.expect_record_failure().returning(|_, _| Err(StoreError::Busy));
    let desk = desk(&bench, passwords(&trace), MockTokenCodec::new());
    let attempt = attempt(None, "ak_wrong", "bakery", "pass");
    let error = desk.login(&InPlaceStore::new(unit), attempt).unwrap_err();
    assert!(matches!(error, TokenError::Store(StoreError::Busy)), "{error}");
}
