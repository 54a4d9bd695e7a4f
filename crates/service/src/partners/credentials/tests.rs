use kopeck_domain::access::{Actor, Forbidden, Role, Scope, Scopes};
use kopeck_domain::ids::UserId;
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::mock::MockUnit;
use uuid::Uuid;

use super::*;
use crate::partners::tests::{credential_id, desk, known, record};
use crate::testing::{Bench, PARTNER, START};

fn new(scopes: &[Scope]) -> NewCredential {
    NewCredential { name: None, scopes: Scopes::of(scopes), addresses: Some("10.0.0.0/8".parse().unwrap()) }
}

/// A user with this role.
fn user(role: Role) -> Authority {
    Authority { actor: Actor::User(UserId::new(Uuid::from_u128(9))), scopes: role.scopes() }
}

#[test]
fn a_credential_has_secrets_of_its_own() {
    let bench = Bench::new();
    let desk = desk(&bench);
    let [one, two] = [1, 2].map(|_| desk.prepare_credential(PARTNER, new(&[Scope::OrdersWrite])).unwrap());
    for draft in [&one, &two] {
        let CredentialDraft { record, secrets } = draft;
        assert_eq!(record.api_key_hash, api_key_hash(secrets.api_key.expose_secret()));
        assert_eq!(record.password_hash, format!("argon2:{}", secrets.password.expose_secret()));
        assert_eq!(record.key_id, secrets.sealing_key.id);
        assert_eq!((record.credential.name.as_str(), record.credential.revoked_at), (&*record.login, None));
        assert_eq!(record.credential.created_at, START);
    }
    assert_ne!(one.record.credential.id, two.record.credential.id);
    assert_ne!(one.record.login, two.record.login);
    assert_ne!(one.record.key_id, two.record.key_id);
    assert_ne!(one.secrets.password.expose_secret(), two.secrets.password.expose_secret());
}

/// They are for people, and for the login that may do everything.
#[test]
fn users_and_the_sandbox_are_not_for_credentials() {
    let bench = Bench::new();
    for scope in [Scope::UsersRead, Scope::UsersWrite, Scope::SandboxWrite] {
        let refused = desk(&bench).prepare_credential(PARTNER, new(&[Scope::OrdersRead, scope]));
        assert!(matches!(refused, Err(PartnerError::NotForCredentials(of)) if of == scope));
    }
}

#[test]
fn twenty_credentials_are_active_at_most() {
    let (active, draft) = (|count: u8| (0..count).map(|n| record(n, b"")), record(99, b""));
    for (stored, is_full) in [(19, false), (20, true)] {
        let mut unit = MockUnit::default();
        known(&mut unit, PartnerStatus::Active);
        let mut revoked = record(50, b"");
        revoked.credential.revoked_at = Some(START);
        unit.credentials
            .expect_list()
            .returning(move |_| Ok(active(stored).chain([revoked.clone()]).collect()));
        if !is_full {
            let expected = draft.clone();
            unit.credentials
                .expect_insert()
                .withf(move |id, record| *id == PARTNER && *record == expected)
                .times(1)
                .returning(|_, _| Ok(()));
        }
        let created = create_credential(&mut unit, &user(Role::Owner), PARTNER, &draft);
        assert_eq!(matches!(created, Err(PartnerError::TooManyCredentials)), is_full, "{created:?}");
        assert_eq!(created.is_ok(), !is_full);
    }
}

#[test]
fn a_revocation_ends_the_sessions_of_that_credential() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let id = credential_id(7);
    known(&mut unit, PartnerStatus::Suspended);
    unit.credentials.expect_get().returning(|_, _| Ok(Some(record(7, b""))));
    unit.credentials
        .expect_revoke()
        .withf(move |partner, of, at| (*partner, *of, *at) == (PARTNER, id, START))
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.sessions
        .expect_revoke_all_but()
        .withf(move |partner, holder, keep| {
            (*partner, *holder, *keep) == (PARTNER, SessionHolder::Credential(id), 0)
        })
        .times(1)
        .returning(|_, _, _| Ok(3));
    let (owner, env) = (user(Role::Owner), bench.shared());
    assert_eq!(revoke_credential(&mut unit, &env, &owner, PARTNER, id).unwrap(), 3);

    let mut without = MockUnit::default();
    known(&mut without, PartnerStatus::Active);
    without.credentials.expect_get().returning(|_, _| Ok(None));
    let refused = revoke_credential(&mut without, &env, &owner, PARTNER, id);
    assert!(matches!(refused, Err(PartnerError::NoCredential)));
}

/// Nothing is looked up for them.
#[test]
fn who_may_not_make_credentials_neither_creates_nor_revokes_any() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    for role in [Role::Hr, Role::Finance, Role::Auditor, Role::Operator] {
        let authority = user(role);
        let created = create_credential(&mut unit, &authority, PARTNER, &record(1, b""));
        let revoked = revoke_credential(&mut unit, &bench.shared(), &authority, PARTNER, credential_id(1));
        for refused in [created, revoked.map(drop)] {
            assert!(matches!(refused, Err(PartnerError::Forbidden(Forbidden(Scope::UsersWrite)))), "{role}");
        }
    }
}
