use kopeck_domain::access::Role;
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::user::UserStatus;
use kopeck_port_store::UserRecord;
use secrecy::ExposeSecret as _;
use time::Duration;

use super::*;
use crate::testing::*;
use crate::users::INITIAL_PASSWORD_LIFE;
use crate::users::testing::*;

fn is_refused(desk: &Desk, login: &str, password: &str) {
    let before = desk.state().verified;
    assert!(matches!(desk.begin(login, password), Err(UserError::BadCredentials)), "{login}");
    let state = desk.state();
    assert_eq!(state.verified, before + 1, "the same work for each of them");
    assert!(state.sessions.is_empty());
    assert_eq!(state.logins.last(), Some(&(LoginKind::User, LoginOutcome::Refused)));
}

#[test]
fn the_first_login_sets_up_the_second_factor() {
    let desk = Desk::with(anna());
    let pending = desk.begin("Anna@Example.RU", PASSWORD).unwrap();
    let setup = pending.setup.as_ref().unwrap();
    assert_eq!(setup.uri.expose_secret(), LOGIN);
    assert!(desk.look_up(&pending.token).is_none(), "no session yet");
    let session = desk.finish(&pending, code(step())).unwrap();
    let codes = session.recovery_codes.unwrap();
    assert_eq!((codes.len(), desk.state().codes.len()), (10, 10));
    assert_eq!(desk.look_up(&session.token).unwrap().user.id, USER);
    let stored = desk.state().user().clone();
    assert_eq!(stored.second_factor.map(|factor| factor.last_step), Some(step()));
    assert_eq!(stored.last_login_at, Some(START));
    assert_eq!(desk.state().logins, [(LoginKind::User, LoginOutcome::Granted)]);
}

#[test]
fn a_later_login_sets_nothing_up() {
    let desk = Desk::ready();
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    assert!(pending.setup.is_none());
    let session = desk.finish(&pending, code(step())).unwrap();
    assert!(session.recovery_codes.is_none() && !session.must_change_password);
    let entries = &desk.state().entries;
    let [entry] = entries.as_slice() else { panic!("{entries:?}") };
    assert_eq!(
        (entry.outcome, entry.partner, entry.subject.clone()),
        (Outcome::Done, Some(PARTNER), format!("user:{USER}"))
    );
}

#[test]
fn what_cannot_log_in_is_refused_alike() {
    is_refused(&Desk::ready(), "boris@example.ru", PASSWORD);
    is_refused(&Desk::ready(), "no address", PASSWORD);
    is_refused(&Desk::ready(), LOGIN, "v7Q-rain-xzB");
    let changed = |change: fn(&mut UserRecord)| {
        let desk = Desk::ready();
        change(desk.state().user());
        is_refused(&desk, LOGIN, PASSWORD);
    };
    changed(|record| record.user.status = UserStatus::Disabled);
    changed(|record| record.initial_until = Some(START));
    let desk = Desk::ready();
    desk.state().partner.status = PartnerStatus::Suspended;
    assert!(matches!(desk.begin(LOGIN, PASSWORD), Err(UserError::BadCredentials)));
    assert!(desk.state().sessions.is_empty());
}

/// It has no partner that could be suspended.
#[test]
fn an_operator_logs_in_by_itself() {
    let mut record = UserRecord { second_factor: Some(factor(0)), ..anna() };
    (record.user.partner, record.user.role) = (None, Role::Operator);
    let desk = Desk::with(record);
    desk.state().partner.status = PartnerStatus::Suspended;
    let session = desk.log_in();
    assert!(desk.look_up(&session.token).is_some());
    assert_eq!(desk.state().logins, [(LoginKind::Operator, LoginOutcome::Granted)]);
}

#[test]
fn a_password_that_another_person_has_set_is_accepted_for_a_week() {
    let until = START + INITIAL_PASSWORD_LIFE;
    let desk = Desk::with(UserRecord { initial_until: Some(until), ..anna() });
    desk.wait(INITIAL_PASSWORD_LIFE - Duration::MINUTE);
    let session = desk.log_in();
    assert!(session.must_change_password);
    desk.wait(Duration::MINUTE);
    assert!(matches!(desk.begin(LOGIN, PASSWORD), Err(UserError::BadCredentials)));
}

#[test]
fn ten_wrong_passwords_lock_the_address() {
    let desk = Desk::ready();
    for _ in 0..10 {
        is_refused(&desk, LOGIN, "wrong");
    }
    let refused = desk.begin("boris@example.ru", PASSWORD);
    assert!(matches!(refused, Err(UserError::TooMany { .. })), "whoever logs in from it");
    assert_eq!(desk.state().verified, 10, "no password is checked");
    assert_eq!(desk.state().logins.last(), Some(&(LoginKind::User, LoginOutcome::Throttled)));
    assert!(desk.begin_from(Some("192.0.2.2"), LOGIN, PASSWORD).is_ok(), "the person is not locked out");
    desk.wait(Duration::minutes(15));
    assert!(desk.begin(LOGIN, PASSWORD).is_ok());
}

/// In any letter case, and one that nobody has too.
#[test]
fn a_hundred_wrong_passwords_lock_the_login_from_everywhere() {
    for login in [LOGIN, "boris@example.ru"] {
        let desk = Desk::ready();
        for n in 0..100 {
            let address = format!("192.0.2.{n}");
            let refused = desk.begin_from(Some(&address), &login.to_uppercase(), "wrong");
            assert!(matches!(refused, Err(UserError::BadCredentials)), "{n}");
        }
        let refused = desk.begin_from(Some("198.51.100.1"), login, PASSWORD);
        assert!(matches!(refused, Err(UserError::TooMany { .. })), "{login}");
    }
}

#[test]
fn a_code_works_once() {
    let desk = Desk::ready();
    desk.log_in();
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    for used in [step(), step() - 1] {
        assert!(matches!(desk.finish(&pending, code(used)), Err(UserError::WrongCode)), "{used}");
    }
    desk.finish(&pending, code(step() + 1)).unwrap();
    assert_eq!(desk.state().user().second_factor.as_ref().unwrap().last_step, step() + 1);
}

#[test]
fn codes_go_by_the_machines_clock() {
    let desk = Desk::ready();
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    desk.bench.clock.step(Duration::minutes(5));
    assert!(desk.finish(&pending, code(step())).is_ok());
}

#[test]
fn a_code_may_be_typed_with_blanks() {
    let desk = Desk::ready();
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    let right = code(step());
    let (first, second) = right.expose_secret().split_at(3);
    assert!(desk.finish(&pending, secret(&format!(" {first} {second}"))).is_ok());
}

#[test]
fn a_recovery_code_works_once() {
    let desk = Desk::with(anna());
    let codes = desk.log_in().recovery_codes.unwrap();
    desk.wait(Duration::MINUTE);
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    let session = desk.finish(&pending, codes[3].clone()).unwrap();
    assert!(desk.look_up(&session.token).is_some());
    assert_eq!(desk.state().codes.len(), 9);
    let again = desk.begin(LOGIN, PASSWORD).unwrap();
    assert!(matches!(desk.finish(&again, codes[3].clone()), Err(UserError::WrongCode)));
    desk.finish(&again, codes[4].clone()).unwrap();
}

/// A code that the person has not from the app that is being set up says nothing of the app.
#[test]
fn no_recovery_code_completes_a_set_up() {
    let desk = Desk::with(anna());
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    desk.state().codes = vec![recovery::digest("0")];
    assert!(matches!(desk.finish(&pending, secret("0")), Err(UserError::WrongCode)));
    assert!(desk.state().user().second_factor.is_none());
}

/// Of two first logins at once the first that has its code sets the app up.
#[test]
fn a_second_factor_is_set_up_once() {
    let desk = Desk::with(anna());
    let (one, two) = (desk.begin(LOGIN, PASSWORD).unwrap(), desk.begin(LOGIN, PASSWORD).unwrap());
    desk.finish(&one, code(step())).unwrap();
    assert!(matches!(desk.finish(&two, code(step() + 1)), Err(UserError::Expired)));
    assert_eq!(desk.state().user().second_factor.as_ref().unwrap().last_step, step());
}

#[test]
fn a_login_waits_ten_minutes_for_its_second_factor() {
    let desk = Desk::ready();
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    desk.wait(PENDING_LIFE);
    assert!(matches!(desk.finish(&pending, code(step() + 20)), Err(UserError::Expired)));
    let unknown = PendingLogin { token: secret("unknown"), setup: None };
    assert!(matches!(desk.finish(&unknown, code(step())), Err(UserError::Expired)));
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    let session = desk.finish(&pending, code(step() + 20)).unwrap();
    assert!(matches!(desk.finish(&pending, code(step() + 21)), Err(UserError::Expired)), "it was completed");
    let as_pending = PendingLogin { token: session.token, setup: None };
    assert!(matches!(desk.finish(&as_pending, code(step() + 21)), Err(UserError::Expired)));
}

#[test]
fn who_is_disabled_between_the_steps_gets_no_session() {
    let changes: [fn(&mut State); 3] = [
        |state| state.user().user.status = UserStatus::Disabled,
        |state| state.partner.status = PartnerStatus::Suspended,
        |state| state.sessions.clear(),
    ];
    for change in changes {
        let desk = Desk::ready();
        let pending = desk.begin(LOGIN, PASSWORD).unwrap();
        change(&mut desk.state());
        assert!(matches!(desk.finish(&pending, code(step())), Err(UserError::Expired)));
        assert_eq!(desk.state().user().second_factor.as_ref().unwrap().last_step, 0);
    }
}

/// From whatever addresses, and for one user; the right code is not accepted any more.
#[test]
fn ten_wrong_codes_lock_the_second_factor() {
    let desk = Desk::ready();
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    let attempt = |n: usize, code| {
        let address = Some(format!("192.0.2.{n}"));
        let attempt =
            SecondFactorAttempt { token: pending.token.clone(), code, address, former: None, entry: entry() };
        desk.service.finish(&desk.store, attempt)
    };
    for n in 0..10 {
        assert!(matches!(attempt(n, code(step() + 7)), Err(UserError::WrongCode)), "{n}");
    }
    assert!(matches!(attempt(10, code(step())), Err(UserError::TooMany { .. })));
    let state = desk.state();
    assert_eq!(state.entries.len(), 10);
    assert!(state.entries.iter().all(|entry| entry.outcome == Outcome::Refused));
    let wrong = state.logins.iter().filter(|login| login.1 == LoginOutcome::WrongCode).count();
    assert_eq!((wrong, state.logins.last()), (10, Some(&(LoginKind::User, LoginOutcome::CodeThrottled))));
}

/// Who has the password alone ends no open session by logins that wait.
#[test]
fn a_user_has_ten_sessions_at_most() {
    let desk = Desk::ready();
    let mut sessions = Vec::new();
    for _ in 0..11 {
        sessions.push(desk.log_in());
        desk.wait(Duration::MINUTE);
    }
    assert!(desk.look_up(&sessions[0].token).is_none());
    assert!(sessions[1..].iter().all(|session| desk.look_up(&session.token).is_some()));
    let pending: Vec<_> = (0..11).map(|_| desk.begin(LOGIN, PASSWORD).unwrap()).collect();
    assert_eq!(desk.state().sessions.len(), 20);
    assert!(sessions[1..].iter().all(|session| desk.look_up(&session.token).is_some()));
    let now = step() + 22;
    assert!(matches!(desk.finish(&pending[0], code(now)), Err(UserError::Expired)));
    assert!(desk.finish(&pending[1], code(now)).is_ok());
}

/// Also that of another user. A wrong code ends nothing.
#[test]
fn a_login_ends_the_session_that_the_browser_had() {
    let desk = Desk::ready();
    let (former, kept) = (desk.log_in(), {
        desk.wait(Duration::MINUTE);
        desk.log_in()
    });
    desk.wait(Duration::MINUTE);
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    let attempt = |code, former: &SecretString| {
        let (token, former) = (pending.token.clone(), Some(former.clone()));
        let attempt = SecondFactorAttempt { token, code, address: None, former, entry: entry() };
        desk.service.finish(&desk.store, attempt)
    };
    assert!(attempt(code(step()), &former.token).is_err());
    assert!(desk.look_up(&former.token).is_some());
    let session = attempt(code(step() + 4), &former.token).unwrap();
    assert!(desk.look_up(&former.token).is_none() && desk.look_up(&kept.token).is_some());
    assert!(desk.look_up(&session.token).is_some());
}

#[test]
fn debug_shows_no_secret() {
    let desk = Desk::with(anna());
    let pending = desk.begin(LOGIN, PASSWORD).unwrap();
    let session = desk.finish(&pending, code(step())).unwrap();
    let mut state = desk.state();
    let user = state.user().clone();
    let shown = format!("{pending:?} {session:?} {user:?} {:?}", state.sessions);
    for text in [LOGIN, PASSWORD, pending.token.expose_secret(), session.token.expose_secret(), "ABC"] {
        assert!(!shown.contains(text), "{shown}");
    }
}
