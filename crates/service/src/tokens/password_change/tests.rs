use std::sync::{Arc, Mutex};

use kopeck_port_security::{MockPasswordHasher, MockTokenCodec};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::session::SessionOverview;
use time::{Duration, OffsetDateTime};

use super::*;
use crate::testing::*;
use crate::tokens::testing::*;
use crate::tokens::throttle::MAX_FAILURES;

const GOOD: &str = "correct horse battery";

/// The hash of a password is `hash of` and the password.
fn passwords() -> MockPasswordHasher {
    let mut passwords = MockPasswordHasher::new();
    passwords
        .expect_verify()
        .returning(|password, stored| stored == Some("the hash") && password.expose_secret() == "pass");
    passwords.expect_hash().returning(|password| Ok(format!("hash of {}", password.expose_secret())));
    passwords
}

fn change(current: &str, new: &str) -> PasswordChange {
    PasswordChange {
        partner: PARTNER,
        credential: None,
        session: SESSION,
        address: Some("10.0.0.1".to_owned()),
        current: current.into(),
        new: new.into(),
    }
}

type Failures = Arc<Mutex<Vec<[u8; 32]>>>;

/// A unit of work over a partner with the password `pass` and its throttle.
fn unit(status: PartnerStatus, before: Vec<OffsetDateTime>) -> (MockUnit, Failures) {
    let (mut unit, failures) = (MockUnit::default(), Failures::default());
    unit.partners.expect_credentials().returning(move |_| Ok(Some(known(status).credentials)));
    unit.throttle.expect_failures().returning(move |_, _, _| Ok(before.clone()));
    let counted = Arc::clone(&failures);
    unit.throttle.expect_record_failure().returning(move |subject, at| {
        assert_eq!(at, START);
        counted.lock().unwrap().push(*subject);
        Ok(())
    });
    (unit, failures)
}

fn check(
    unit: MockUnit,
    change: &PasswordChange,
) -> Result<(TokenService, CheckedChange), PasswordChangeError> {
    let desk = desk(&Bench::new(), passwords(), MockTokenCodec::new());
    let checked = desk.check_password_change(&InPlaceStore::new(unit), change)?;
    Ok((desk, checked))
}

#[test]
fn a_wrong_password_counts_for_address_and_partner() {
    let (unit, failures) = unit(PartnerStatus::Active, vec![]);
    let refused = check(unit, &change("wrong", GOOD)).map(drop);
    let Err(PasswordChangeError::Refused { wrong_current: true, new: None }) = refused else {
        panic!("{refused:?}")
    };
    let both = [subject("address", "10.0.0.1"), subject("partner", &PARTNER.to_string())];
    assert_eq!(*failures.lock().unwrap(), both);
}

#[test]
fn a_weak_new_password_is_no_failed_login_and_both_faults_are_told() {
    for (current, wrong) in [("pass", false), ("wrong", true)] {
        // Too short, common, made of the login.
        for new in ["short", "passwordpassword", "bakery-bakery-bakery"] {
            let (unit, failures) = unit(PartnerStatus::Active, vec![]);
            let refused = check(unit, &change(current, new)).map(drop);
            let Err(PasswordChangeError::Refused { wrong_current, new: Some(_) }) = refused else {
                panic!("{new}: {refused:?}")
            };
            assert_eq!((wrong_current, failures.lock().unwrap().is_empty()), (wrong, !wrong), "{new}");
        }
    }
}

/// With the right password too.
#[test]
fn after_ten_failures_nothing_is_checked() {
    let before = vec![START - Duration::MINUTE; MAX_FAILURES];
    for current in ["pass", "wrong"] {
        let (unit, failures) = unit(PartnerStatus::Active, before.clone());
        let refused = check(unit, &change(current, GOOD)).map(drop);
        let Err(PasswordChangeError::Token(TokenError::TooMany { retry_after })) = refused else {
            panic!("{refused:?}")
        };
        assert_eq!(retry_after, Duration::minutes(14));
        assert!(failures.lock().unwrap().is_empty());
    }
}

#[test]
fn a_suspended_partner_changes_nothing() {
    let (unit, _) = unit(PartnerStatus::Suspended, vec![]);
    let refused = check(unit, &change("pass", GOOD)).map(drop);
    assert!(matches!(refused, Err(PasswordChangeError::Token(TokenError::Unauthorized))), "{refused:?}");
}

/// A session as the list has it.
fn active() -> Vec<SessionOverview> {
    vec![SessionOverview { id: SESSION, created_at: START, last_used_at: None, address: None }]
}

#[test]
fn a_new_password_ends_all_other_sessions() {
    let (desk, checked) = check(unit(PartnerStatus::Active, vec![]).0, &change("pass", GOOD)).unwrap();
    let (mut unit, _) = unit(PartnerStatus::Active, vec![]);
    unit.sessions.expect_list().returning(|_, _, _| Ok(active()));
    unit.partners
        .expect_set_password_hash()
        .withf(|partner, hash| (*partner, hash) == (PARTNER, &format!("hash of {GOOD}")[..]))
        .times(1)
        .returning(|_, _| Ok(()));
    unit.sessions
        .expect_revoke_others()
        .withf(|partner, session| (*partner, *session) == (PARTNER, SESSION))
        .times(1)
        .returning(|_, _| Ok(3));
    assert_eq!(desk.change_password(&mut unit, &checked).unwrap(), 3);
}

/// Another change, an operator who ended the sessions, ten guesses beside this one.
#[test]
fn what_happened_meanwhile_counts() {
    let checked = || check(unit(PartnerStatus::Active, vec![]).0, &change("pass", GOOD)).unwrap();
    let (desk, stale) = checked();
    let stale = CheckedChange { former_hash: "another hash".to_owned(), ..stale };
    let changed = desk.change_password(&mut unit(PartnerStatus::Active, vec![]).0, &stale);
    assert!(matches!(changed, Err(PasswordChangeError::Refused { wrong_current: true, new: None })));

    let (desk, fresh) = checked();
    let (mut ended, _) = unit(PartnerStatus::Active, vec![]);
    ended.sessions.expect_list().returning(|_, _, _| Ok(vec![]));
    let refused = desk.change_password(&mut ended, &fresh);
    assert!(matches!(refused, Err(PasswordChangeError::Token(TokenError::Unauthorized))));

    let throttled = vec![START; MAX_FAILURES];
    let refused = desk.change_password(&mut unit(PartnerStatus::Active, throttled).0, &fresh);
    assert!(matches!(refused, Err(PasswordChangeError::Token(TokenError::TooMany { .. }))));
}
