use kopeck_domain::access::{Role, Scope};
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::user::UserStatus;
use kopeck_port_store::UserRecord;

use super::*;
use crate::testing::*;
use crate::users::testing::*;
use crate::users::{NewSession, SESSION_LIFE};

const NEW: &str = "quiet-Harbour-19x";

fn confirmation(password: &str) -> Confirmation {
    Confirmation { password: secret(password), address: Some(ADDRESS.to_owned()), entry: entry() }
}

fn open(desk: &Desk, session: &NewSession) -> UserSession {
    desk.look_up(&session.token).unwrap()
}

#[test]
fn a_session_has_what_the_role_may_do() {
    let desk = Desk::ready();
    let session = open(&desk, &desk.log_in());
    let authority = session.authority();
    assert_eq!((authority.actor, authority.scopes), (Actor::User(USER), Role::Finance.scopes()));
    assert_eq!(session.ends_at(), START + IDLE_LIFE);
}

#[test]
fn who_has_a_password_of_another_person_may_do_nothing_but_replace_it() {
    let until = Some(START + Duration::DAY);
    let desk = Desk::with(UserRecord { initial_until: until, second_factor: Some(factor(0)), ..anna() });
    let token = desk.log_in().token;
    let session = desk.look_up(&token).unwrap();
    assert!(session.must_change_password && session.authority().require(Scope::EmployeesRead).is_err());
    let changed = desk.service.change_password(&desk.store, &session, &secret(NEW), confirmation(PASSWORD));
    let session = desk.look_up(&changed.unwrap().token).unwrap();
    assert!(!session.must_change_password && session.authority().require(Scope::EmployeesRead).is_ok());
}

#[test]
fn an_idle_session_ends_after_fifteen_minutes() {
    let desk = Desk::ready();
    let session = desk.log_in();
    desk.wait(IDLE_LIFE - Duration::SECOND);
    assert!(desk.look_up(&session.token).is_some());
    desk.wait(Duration::SECOND);
    assert!(desk.look_up(&session.token).is_none());
}

#[test]
fn a_session_in_use_ends_after_twelve_hours() {
    let desk = Desk::ready();
    let token = desk.log_in().token;
    let steps = 12 * 60 / 10;
    for _ in 1..steps {
        desk.wait(Duration::minutes(10));
        let session = desk.look_up(&token).unwrap();
        desk.service.touch(&mut desk.unit(), &session).unwrap();
    }
    assert_eq!(desk.look_up(&token).unwrap().ends_at(), START + SESSION_LIFE);
    desk.wait(Duration::minutes(10));
    assert!(desk.look_up(&token).is_none());
}

#[test]
fn the_use_of_a_session_is_stored_once_a_minute() {
    let desk = Desk::ready();
    let token = desk.log_in().token;
    let touch = || {
        let session = desk.look_up(&token).unwrap();
        desk.service.touch(&mut desk.unit(), &session).unwrap();
        desk.state().sessions.last().unwrap().last_used_at
    };
    desk.wait(Duration::seconds(59));
    assert_eq!(touch(), START);
    desk.wait(Duration::SECOND);
    assert_eq!(touch(), START + Duration::MINUTE);
}

#[test]
fn no_session_lives_longer_because_a_clock_was_set_back() {
    let desk = Desk::ready();
    let session = desk.log_in();
    desk.bench.clock.step(-CLOCK_SKEW);
    assert!(desk.look_up(&session.token).is_some());
    desk.bench.clock.step(-Duration::SECOND);
    assert!(desk.look_up(&session.token).is_none());
}

#[test]
fn whatever_ends_a_session_is_seen_by_the_next_look_up() {
    let changes: [fn(&mut State); 4] = [
        |state| state.user().user.status = UserStatus::Disabled,
        |state| state.partner.status = PartnerStatus::Suspended,
        |state| state.sessions.clear(),
        |state| state.users.clear(),
    ];
    for change in changes {
        let desk = Desk::ready();
        let session = desk.log_in();
        assert!(desk.look_up(&session.token).is_some());
        change(&mut desk.state());
        assert!(desk.look_up(&session.token).is_none());
    }
    assert!(Desk::ready().look_up(&secret("unknown")).is_none());
}

#[test]
fn sessions_are_listed_without_those_that_have_ended() {
    let desk = Desk::ready();
    desk.log_in();
    desk.wait(IDLE_LIFE - Duration::MINUTE);
    let second = open(&desk, &desk.log_in());
    desk.wait(Duration::MINUTE);
    let third = open(&desk, &desk.log_in());
    desk.begin(LOGIN, PASSWORD).unwrap();
    let listed = desk.service.sessions(&mut desk.unit(), &third).unwrap();
    let shown: Vec<_> = listed.iter().map(|session| (session.id, session.is_current)).collect();
    assert_eq!(shown, [(second.id(), false), (third.id(), true)]);
    assert_eq!(listed[0].address.as_deref(), Some(ADDRESS));
}

#[test]
fn a_log_out_ends_its_session_alone() {
    let desk = Desk::ready();
    let kept = desk.log_in();
    desk.wait(Duration::MINUTE);
    let ended = desk.log_in();
    let session = open(&desk, &ended);
    for _ in 0..2 {
        desk.service.log_out(&mut desk.unit(), &session, &entry()).unwrap();
    }
    assert!(desk.look_up(&ended.token).is_none() && desk.look_up(&kept.token).is_some());
    assert_eq!(desk.state().entries.len(), 3, "two logins and a log-out");
}

#[test]
fn other_sessions_end_once_the_password_is_given() {
    let desk = Desk::ready();
    let begun: Vec<_> = (0..4)
        .map(|_| {
            desk.wait(Duration::MINUTE);
            desk.log_in()
        })
        .collect();
    let mut token = begun[3].token.clone();
    let mut end = |which, password| {
        let own = desk.look_up(&token).unwrap();
        let renewed = desk.service.end_sessions(&desk.store, &own, which, confirmation(password))?;
        assert!(desk.look_up(&token).is_none(), "each confirmation makes a new token");
        token = renewed.token;
        Ok(renewed.ended)
    };
    let first = open(&desk, &begun[0]).id();
    assert!(matches!(end(EndedSessions::Others, "wrong"), Err(UserError::BadCredentials)));
    assert!(begun.iter().all(|session| desk.look_up(&session.token).is_some()));
    assert_eq!(end(EndedSessions::One(first), PASSWORD).unwrap(), 1);
    assert!(desk.look_up(&begun[0].token).is_none());
    assert_eq!(end(EndedSessions::One(first), PASSWORD).unwrap(), 0);
    assert_eq!(end(EndedSessions::Others, PASSWORD).unwrap(), 2);
    assert!(desk.look_up(&token).is_some());
    let outcomes: Vec<_> = desk.state().entries[4..].iter().map(|entry| entry.outcome).collect();
    assert_eq!(outcomes, [Outcome::Refused, Outcome::Done, Outcome::Done, Outcome::Done]);
}

#[test]
fn a_user_replaces_its_password_and_other_sessions_end() {
    let desk = Desk::ready();
    let other = desk.log_in();
    desk.wait(Duration::MINUTE);
    let own = desk.log_in();
    let session = open(&desk, &own);
    let ended = desk.service.change_password(&desk.store, &session, &secret(NEW), confirmation(PASSWORD));
    let renewed = ended.unwrap();
    assert_eq!((renewed.ended, desk.look_up(&renewed.token).unwrap().id()), (1, session.id()));
    assert!(desk.look_up(&own.token).is_none() && desk.look_up(&other.token).is_none());
    assert_eq!(desk.state().user().password_hash, hash(NEW));
    assert!(matches!(desk.begin(LOGIN, PASSWORD), Err(UserError::BadCredentials)));
    assert!(desk.begin(LOGIN, NEW).is_ok());
}

#[test]
fn a_new_password_is_held_to_the_policy_and_is_another() {
    let desk = Desk::ready();
    let session = open(&desk, &desk.log_in());
    for new in ["short", "passwordpassword", "anna@example.ru", "Bakery-anna-9", PASSWORD] {
        let refused =
            desk.service.change_password(&desk.store, &session, &secret(new), confirmation(PASSWORD));
        assert!(matches!(refused, Err(UserError::Password(_))), "{new}");
    }
    assert_eq!(desk.state().user().password_hash, hash(PASSWORD));
    assert!(desk.state().failures.is_empty());
}

#[test]
fn ten_wrong_confirmations_lock_the_user_and_the_address() {
    let desk = Desk::ready();
    let session = open(&desk, &desk.log_in());
    let change =
        |password| desk.service.change_password(&desk.store, &session, &secret(NEW), confirmation(password));
    for _ in 0..10 {
        assert!(matches!(change("wrong"), Err(UserError::BadCredentials)));
    }
    assert!(matches!(change(PASSWORD), Err(UserError::TooMany { .. })));
    assert!(matches!(desk.begin(LOGIN, PASSWORD), Err(UserError::TooMany { .. })));
    let refused = desk.state().entries.iter().filter(|entry| entry.outcome == Outcome::Refused).count();
    assert_eq!((refused, desk.state().user().password_hash.clone()), (10, hash(PASSWORD)));
}

/// Between the check of the password and the change.
#[test]
fn an_ended_session_changes_nothing() {
    let desk = Desk::ready();
    let session = open(&desk, &desk.log_in());
    desk.state().sessions.clear();
    let refused = desk.service.change_password(&desk.store, &session, &secret(NEW), confirmation(PASSWORD));
    assert!(matches!(refused, Err(UserError::BadCredentials)));
    assert_eq!(desk.state().user().password_hash, hash(PASSWORD));
}

/// The entry of a wrong password names what it was to confirm.
#[test]
fn a_confirmation_gives_the_session_a_new_token() {
    let desk = Desk::ready();
    let own = desk.log_in();
    let session = open(&desk, &own);
    let confirm = |session: &UserSession, password| {
        let entry = Entry { subject: "user:other".to_owned(), ..entry() };
        let confirmation = Confirmation { entry, ..confirmation(password) };
        desk.service.reauthenticate(&desk.store, session, confirmation)
    };
    assert!(matches!(confirm(&session, "wrong"), Err(UserError::BadCredentials)));
    assert_eq!(desk.state().entries.last().unwrap().subject, "user:other");
    assert!(desk.look_up(&own.token).is_some());
    let token = confirm(&session, PASSWORD).unwrap();
    assert!(desk.look_up(&own.token).is_none());
    let renewed = desk.look_up(&token).unwrap();
    assert_eq!((renewed.id(), renewed.ends_at()), (session.id(), session.ends_at()));
    assert!(matches!(confirm(&session, PASSWORD), Err(UserError::BadCredentials)), "it is another's now");
    assert_eq!(desk.state().entries.len(), 2, "a login and a refusal");
}
