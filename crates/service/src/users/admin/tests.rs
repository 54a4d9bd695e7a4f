use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::Rule;
use kopeck_port_store::mock::MockUnit;
use secrecy::ExposeSecret as _;

use super::*;
use crate::testing::*;
use crate::users::testing::*;

fn new_user(role: Role, login: &str, password: Option<&str>) -> NewUser {
    let partner = Some(partner(PartnerStatus::Active)).filter(|_| role != Role::Operator);
    NewUser { partner, role, login: UserLogin::parse(login).unwrap(), password: password.map(secret) }
}

#[test]
fn a_new_user_has_a_first_password_for_a_week() {
    let desk = Desk::ready();
    for (role, password) in
        [(Role::Hr, None), (Role::Operator, None), (Role::Owner, Some("quiet-Harbour-19x"))]
    {
        let draft = desk.service.prepare(new_user(role, "boris@example.ru", password)).unwrap();
        let (user, shown) = desk.service.create(&mut desk.unit(), &draft).unwrap();
        let stored = desk.state().users.pop().unwrap();
        assert_eq!((stored.user.clone(), user.role), (user.clone(), role));
        assert_eq!(user.partner, Some(PARTNER).filter(|_| role != Role::Operator));
        assert_eq!(stored.password_hash, hash(shown.expose_secret()));
        assert_eq!(password.unwrap_or(shown.expose_secret()), shown.expose_secret());
        assert!(shown.expose_secret().len() >= 16);
        assert_eq!(stored.initial_until, Some(START + INITIAL_PASSWORD_LIFE));
        assert!(stored.second_factor.is_none() && stored.last_login_at.is_none());
    }
}

#[test]
fn a_first_password_of_a_user_is_held_to_the_policy() {
    let desk = Desk::ready();
    for password in ["short", "passwordpassword", "boris@example.ru", "Bakery-boris-9"] {
        let refused = desk.service.prepare(new_user(Role::Hr, "boris@example.ru", Some(password)));
        assert!(matches!(refused, Err(UserError::Password(_))), "{password}");
    }
}

#[test]
fn operators_alone_are_created_without_a_partner() {
    let desk = Desk::ready();
    let mut wrong = new_user(Role::Hr, "boris@example.ru", None);
    wrong.partner = None;
    assert!(matches!(desk.service.prepare(wrong), Err(UserError::Role(_))));
    let mut wrong = new_user(Role::Operator, "boris@example.ru", None);
    wrong.partner = Some(partner(PartnerStatus::Active));
    assert!(matches!(desk.service.prepare(wrong), Err(UserError::Role(_))));
}

#[test]
fn a_taken_login_and_an_unknown_partner_are_told() {
    let desk = Desk::ready();
    let draft = desk.service.prepare(new_user(Role::Hr, LOGIN, None)).unwrap();
    let mut unit = MockUnit::default();
    unit.partners.expect_get().returning(|_| Ok(Some(partner(PartnerStatus::Active))));
    unit.users.expect_insert().returning(|_| Err(StoreError::Conflict(Rule::UserLogin)));
    assert!(matches!(desk.service.create(&mut unit, &draft), Err(UserError::LoginTaken)));
    let mut unit = MockUnit::default();
    unit.partners.expect_get().returning(|_| Ok(None));
    assert!(matches!(desk.service.create(&mut unit, &draft), Err(UserError::NoPartner)));
}

fn with_sessions() -> Desk {
    let desk = Desk::with(anna());
    desk.log_in();
    desk.begin(LOGIN, PASSWORD).unwrap();
    let sessions = desk.state().sessions.len();
    assert_eq!((sessions, desk.state().codes.len()), (2, 10));
    desk
}

fn ended(desk: &Desk, change: impl Fn(&mut MockUnit, &User) -> Result<u64, UserError>) -> UserRecord {
    assert_eq!(change(&mut desk.unit(), &anna().user).unwrap(), 2);
    assert!(desk.state().sessions.is_empty());
    desk.state().user().clone()
}

#[test]
fn a_reset_takes_away_what_it_says_and_ends_sessions() {
    for (password, second_factor) in [(true, true), (true, false), (false, true)] {
        let desk = with_sessions();
        let user = anna().user;
        let new = password.then(|| desk.service.new_password(&user, None, None).unwrap());
        let reset = Reset { password: new, second_factor };
        let record = ended(&desk, |unit, user| super::reset(unit, user, &reset));
        assert_eq!(record.second_factor.is_none(), second_factor);
        assert_eq!(desk.state().codes.len(), if second_factor { 0 } else { 10 });
        let shown = reset.password.map(|new| new.password.expose_secret().to_owned());
        assert_eq!(record.password_hash, hash(shown.as_deref().unwrap_or(PASSWORD)));
        assert_eq!(record.initial_until, password.then_some(START + INITIAL_PASSWORD_LIFE));
        let again = desk.begin(LOGIN, shown.as_deref().unwrap_or(PASSWORD)).unwrap();
        assert_eq!(again.setup.is_some(), second_factor);
    }
}

#[test]
fn disabling_and_another_role_end_sessions() {
    let desk = with_sessions();
    let record = ended(&desk, |unit, user| set_status(unit, user, UserStatus::Disabled));
    assert_eq!(record.user.status, UserStatus::Disabled);
    assert_eq!(set_status(&mut desk.unit(), &record.user, UserStatus::Active).unwrap(), 0);
    assert!(desk.begin(LOGIN, PASSWORD).is_ok());
    let desk = with_sessions();
    let record = ended(&desk, |unit, user| set_role(unit, user, Role::Auditor));
    assert_eq!(record.user.role, Role::Auditor);
    assert!(matches!(set_role(&mut desk.unit(), &record.user, Role::Operator), Err(UserError::Role(_))));
}

#[test]
fn who_is_not_there_is_told() {
    let (desk, stranger) = (Desk::ready(), User { id: UserId::new(fresh_id(9)), ..anna().user });
    let mut unit = desk.unit();
    let nothing = Reset { password: None, second_factor: true };
    assert!(matches!(reset(&mut unit, &stranger, &nothing), Err(UserError::NotFound)));
    assert!(matches!(set_status(&mut unit, &stranger, UserStatus::Active), Err(UserError::NotFound)));
    assert!(matches!(set_role(&mut unit, &stranger, Role::Hr), Err(UserError::NotFound)));
    assert!(matches!(delete(&mut unit, &stranger), Err(UserError::NotFound)));
    let login = UserLogin::parse("boris@example.ru").unwrap();
    assert!(matches!(find(&mut unit, &login), Err(UserError::NotFound)));
    // Of another partner.
    let elsewhere = User { partner: None, ..anna().user };
    assert!(matches!(set_status(&mut unit, &elsewhere, UserStatus::Active), Err(UserError::NotFound)));
    delete(&mut unit, &anna().user).unwrap();
    assert!(desk.state().users.is_empty());
}

#[test]
fn users_are_listed_with_what_they_have_open() {
    let desk = with_sessions();
    let listed = list(&mut desk.unit(), &desk.bench, Some(PARTNER)).unwrap();
    let [found] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((found.has_second_factor, found.recovery_codes, found.sessions), (true, 10, 1));
    assert_eq!((found.last_login_at, found.initial_until), (Some(START), None));
    assert_eq!(list(&mut desk.unit(), &desk.bench, None).unwrap(), []);
    desk.wait(crate::users::IDLE_LIFE);
    assert_eq!(list(&mut desk.unit(), &desk.bench, Some(PARTNER)).unwrap()[0].sessions, 0);
}
