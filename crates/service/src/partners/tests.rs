use super::*;
use crate::testing::*;
use kopeck_domain::access::Scopes;
use kopeck_domain::credential::Credential;
use kopeck_domain::ids::CredentialId;
use kopeck_port_security::{MockPasswordHasher, MockSecretBox};
use kopeck_port_store::CredentialRecord;
use kopeck_port_store::mock::MockUnit;
use time::{Duration, OffsetDateTime};

/// A desk whose box "encrypts" by turning the secret round, and checks that it is bound to its place.
pub(super) fn desk(bench: &Bench) -> PartnerService {
    let mut passwords = MockPasswordHasher::new();
    passwords.expect_hash().returning(|password| Ok(format!("argon2:{}", password.expose_secret())));
    let mut secrets = MockSecretBox::new();
    secrets.expect_encrypt().returning(|place, secret| {
        assert!(["sealing_keys", "credentials"].contains(&place.table) && place.column == "encrypted_secret");
        assert_eq!(place.row.len(), 8);
        Ok(secret.expose_secret().iter().rev().copied().collect())
    });
    PartnerService::new(bench.shared(), Arc::new(passwords), Arc::new(secrets))
}

/// A credential whose identifiers and secrets are made of `n`.
pub(super) fn record(n: u8, encrypted_secret: &[u8]) -> CredentialRecord {
    CredentialRecord {
        credential: Credential {
            id: credential_id(n),
            name: format!("credential {n}"),
            scopes: Scopes::of(&[Scope::OrdersRead]),
            addresses: None,
            created_at: START,
            revoked_at: None,
        },
        login: format!("credential-{n}"),
        api_key_hash: [n; 32],
        password_hash: "hash".to_owned(),
        key_id: [n; 8],
        encrypted_secret: encrypted_secret.to_vec(),
    }
}

pub(super) fn credential_id(n: u8) -> CredentialId {
    CredentialId::new(uuid::Uuid::from_u128(n.into()))
}

const PASSWORD: &str = "correct horse battery";

fn new_partner(login: Option<&str>, password: Option<&str>) -> NewPartner {
    NewPartner {
        name: "Bakery".to_owned(),
        login: login.map(str::to_owned),
        password: password.map(SecretString::from),
        sealing: SealingPolicy::Required,
    }
}

#[test]
fn a_shown_key_is_the_stored_one() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let desk = desk(&bench);
    let prepared = desk.prepare(new_partner(Some("bakery"), Some(PASSWORD))).unwrap();
    let (api_key, sealing_key) = (prepared.secrets.api_key.clone(), prepared.secrets.sealing_key.clone());
    let id = PartnerId::new(fresh_id(1));
    unit.partners
        .expect_insert()
        .withf(move |credentials| {
            credentials.partner == Partner { id, created_at: START, ..partner(PartnerStatus::Active) }
                && credentials.api_key_hash == api_key_hash(api_key.expose_secret())
                && credentials.password_hash == format!("argon2:{PASSWORD}")
        })
        .times(1)
        .returning(|_| Ok(()));
    unit.partners
        .expect_add_sealing_key()
        .withf(move |owner, key| {
            let secret: Vec<u8> = key.encrypted_secret.iter().rev().copied().collect();
            *owner == id
                && key.key_id == sealing_key.id
                && secret == sealing_key.secret.expose_secret()
                && key.accepted_until.is_none()
        })
        .times(1)
        .returning(|_, _| Ok(()));
    let (created, secrets) = desk.create(&mut unit, &prepared).unwrap();
    assert_eq!((created.id, created.status), (id, PartnerStatus::Active));
    assert_eq!(secrets.password.expose_secret(), PASSWORD);
    assert_eq!(secrets.sealing_key.secret.expose_secret().len(), 32);
}

#[test]
fn login_and_secrets_are_made_up_and_never_alike() {
    let bench = Bench::new();
    let desk = desk(&bench);
    let [one, two] = [1, 2].map(|_| desk.prepare(new_partner(None, None)).unwrap());
    for prepared in [&one, &two] {
        let login = &prepared.credentials.partner.login;
        assert!(parse_login(login).is_ok(), "{login}");
        let password = prepared.secrets.password.expose_secret();
        assert_eq!(
            (password.len(), &*prepared.credentials.password_hash),
            (24, &*format!("argon2:{password}"))
        );
        assert_eq!(prepared.secrets.api_key.expose_secret().len(), 3 + 43);
    }
    assert_ne!(one.credentials.partner.id, two.credentials.partner.id);
    assert_ne!(one.credentials.partner.login, two.credentials.partner.login);
    assert_ne!(one.secrets.api_key.expose_secret(), two.secrets.api_key.expose_secret());
    assert_ne!(one.secrets.password.expose_secret(), two.secrets.password.expose_secret());
    assert_ne!(
        one.secrets.sealing_key.secret.expose_secret(),
        two.secrets.sealing_key.secret.expose_secret()
    );
}

/// Whether it is set at the creation or later.
#[test]
fn a_password_that_is_easy_to_guess_is_refused() {
    let bench = Bench::new();
    let desk = desk(&bench);
    for bad in ["short", "qwertyuiop123", "bakerybakery-1"] {
        let created = desk.prepare(new_partner(Some("bakery"), Some(bad))).err();
        let changed = desk.hash_password(&partner(PartnerStatus::Active), &SecretString::from(bad)).err();
        for refusal in [created, changed] {
            assert!(matches!(refusal, Some(PartnerError::Password(_))), "{bad}: {refusal:?}");
        }
    }
}

#[test]
fn a_new_password_ends_all_sessions() {
    for status in PartnerStatus::ALL {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let partner = partner(*status);
        let hash = desk(&bench).hash_password(&partner, &SecretString::from(PASSWORD)).unwrap();
        known(&mut unit, *status);
        unit.partners
            .expect_set_password_hash()
            .withf(|id, hash| *id == PARTNER && hash == format!("argon2:{PASSWORD}"))
            .times(1)
            .returning(|_, _| Ok(()));
        expect_end_of_sessions(&mut unit);
        assert_eq!(set_password(&mut unit, PARTNER, &hash).unwrap(), 3);

        let mut no_partner = MockUnit::default();
        no_partner.partners.expect_get().returning(|_| Ok(None));
        assert!(matches!(set_password(&mut no_partner, PARTNER, &hash), Err(PartnerError::NotFound)));
    }
}

#[test]
fn a_login_belongs_to_one_partner() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let desk = desk(&bench);
    let prepared = desk.prepare(new_partner(Some("bakery"), None)).unwrap();
    unit.partners.expect_insert().returning(|_| Err(StoreError::Conflict(Rule::PartnerLogin)));
    assert!(matches!(desk.create(&mut unit, &prepared), Err(PartnerError::LoginTaken)));
}

pub(super) fn known(unit: &mut MockUnit, status: PartnerStatus) {
    unit.partners
        .expect_get()
        .withf(|id| *id == PARTNER)
        .times(1)
        .returning(move |_| Ok(Some(partner(status))));
}

fn key(n: u8, accepted_until: Option<OffsetDateTime>) -> SealingKeyRecord {
    SealingKeyRecord {
        key_id: [n; 8],
        encrypted_secret: vec![n],
        created_at: BEFORE,
        accepted_until,
        first_used_at: None,
    }
}

fn expect_end(unit: &mut MockUnit, n: u8, until: OffsetDateTime) {
    unit.partners
        .expect_end_sealing_key()
        .withf(move |id, key_id, at| (*id, *key_id, *at) == (PARTNER, [n; 8], until))
        .times(1)
        .returning(|_, _, _| Ok(()));
}

/// The third key: the second is accepted for the overlap, the first ends at once, older ones stay as they are.
#[test]
fn a_third_key_ends_the_first_at_once() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, PartnerStatus::Active);
    unit.partners.expect_sealing_keys().returning(|_| {
        Ok(vec![
            key(3, None),
            key(2, Some(START + Duration::HOUR)),
            key(1, Some(START)),
            key(0, Some(BEFORE)),
        ])
    });
    expect_end(&mut unit, 3, START + Duration::DAY);
    expect_end(&mut unit, 2, START);
    unit.partners
        .expect_add_sealing_key()
        .withf(|id, key| *id == PARTNER && key.accepted_until.is_none() && key.created_at == START)
        .times(1)
        .returning(|_, _| Ok(()));
    let new = desk(&bench).rotate_keys(&mut unit, PARTNER, FormerKey::Overlaps).unwrap();
    assert_eq!(new.key.secret.expose_secret().len(), 32);
    assert!((0..=3).all(|n| new.key.id != [n; 8]));
    assert_eq!(new.former_until, Some(START + Duration::DAY));
}

/// By the clock of a process that lags behind too.
#[test]
fn a_rotation_at_once_ends_every_former_key() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, PartnerStatus::Suspended);
    let keys = || vec![key(3, None), key(2, Some(START + Duration::HOUR)), key(1, Some(START))];
    unit.partners.expect_sealing_keys().returning(move |_| Ok(keys()));
    expect_end(&mut unit, 3, OffsetDateTime::UNIX_EPOCH);
    expect_end(&mut unit, 2, OffsetDateTime::UNIX_EPOCH);
    unit.partners.expect_add_sealing_key().times(1).returning(|_, _| Ok(()));
    let new = desk(&bench).rotate_keys(&mut unit, PARTNER, FormerKey::EndsAtOnce).unwrap();
    assert_eq!(new.former_until, None);
}

#[test]
fn an_unknown_partner_is_not_found() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.partners.expect_get().times(3).returning(|_| Ok(None));
    let rotated = desk(&bench).rotate_keys(&mut unit, PARTNER, FormerKey::Overlaps);
    assert!(matches!(rotated, Err(PartnerError::NotFound)));
    assert!(matches!(end_sessions(&mut unit, PARTNER), Err(PartnerError::NotFound)));
    assert!(matches!(set_status(&mut unit, PARTNER, PartnerStatus::Suspended), Err(PartnerError::NotFound)));
}

fn expect_end_of_sessions(unit: &mut MockUnit) {
    unit.sessions
        .expect_revoke_all_but()
        .withf(|partner, holder, keep| (*partner, *holder, *keep) == (PARTNER, SessionHolder::Anyone, 0))
        .times(1)
        .returning(|_, _, _| Ok(3));
}

fn expect_end_of_users_sessions(unit: &mut MockUnit) {
    unit.users.expect_end_sessions_of().withf(|partner| *partner == PARTNER).times(1).returning(|_| Ok(2));
}

#[test]
fn a_partner_is_suspended_and_resumed() {
    for status in PartnerStatus::ALL {
        let mut unit = MockUnit::default();
        known(&mut unit, PartnerStatus::Active);
        if *status == PartnerStatus::Suspended {
            expect_end_of_sessions(&mut unit);
            expect_end_of_users_sessions(&mut unit);
        }
        unit.partners
            .expect_set_status()
            .withf(move |id, stored| *id == PARTNER && stored == status)
            .times(1)
            .returning(|_, _| Ok(()));
        assert!(set_status(&mut unit, PARTNER, *status).is_ok());
    }
}

#[test]
fn a_policy_is_set() {
    for policy in SealingPolicy::ALL {
        let mut unit = MockUnit::default();
        known(&mut unit, PartnerStatus::Suspended);
        unit.partners
            .expect_set_sealing()
            .withf(move |id, stored| *id == PARTNER && stored == policy)
            .times(1)
            .returning(|_, _| Ok(()));
        assert!(set_sealing(&mut unit, PARTNER, *policy).is_ok());
    }
}

/// Keys that have ended are left out.
#[test]
fn an_overview_shows_keys_that_are_accepted_now() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let later = START + Duration::HOUR;
    known(&mut unit, PartnerStatus::Active);
    unit.partners
        .expect_sealing_keys()
        .returning(move |_| Ok(vec![key(3, None), key(2, Some(later)), key(1, Some(START))]));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(5, 2))));
    unit.sessions.expect_active().withf(|_, now| *now == START).returning(|_, _| Ok(4));
    unit.jobs.expect_count_of().returning(|_| Ok(6));
    unit.users.expect_list().withf(|partner| *partner == Some(PARTNER)).returning(|_| Ok(Vec::new()));
    let mut revoked = record(2, b"");
    revoked.credential.revoked_at = Some(START);
    unit.credentials.expect_list().returning(move |_| Ok(vec![record(1, b""), revoked.clone()]));
    for (stored, shown) in [(None, None), (Some(START), None), (Some(later), Some(later))] {
        unit.partners.expect_former_api_key_until().times(1).returning(move |_| Ok(stored));
        if stored.is_some() {
            known(&mut unit, PartnerStatus::Active);
        }
        let found = overview(&mut unit, &bench.shared(), PARTNER).unwrap();
        assert_eq!(found.former_api_key_until, shown);
        let keys = found.sealing_keys.iter().map(|key| (key.id[0], key.accepted_until));
        assert!(keys.eq([(3, None), (2, Some(later))]));
        assert_eq!(found.credentials, [record(1, b"").credential]);
        assert_eq!((found.sheet, found.sessions, found.open_requests), (sheet(5, 2), 4, 6));
    }
}

#[test]
fn the_sessions_of_a_suspended_partner_are_ended_too() {
    let mut unit = MockUnit::default();
    known(&mut unit, PartnerStatus::Suspended);
    expect_end_of_sessions(&mut unit);
    expect_end_of_users_sessions(&mut unit);
    assert_eq!(end_sessions(&mut unit, PARTNER).unwrap(), 5);
}

#[test]
fn a_new_api_key_leaves_the_old_one_for_the_overlap_or_ends_it() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let id = partner(PartnerStatus::Active).id;
    unit.partners.expect_get().returning(|_| Ok(Some(partner(PartnerStatus::Active))));
    let stored = Arc::new(std::sync::Mutex::new(None));
    let kept = Arc::clone(&stored);
    unit.partners.expect_replace_api_key().returning(move |owner, hash, until| {
        *kept.lock().unwrap() = Some((owner, *hash, until));
        Ok(())
    });
    let overlap = START + bench.shared().settings.key_overlap;
    let cases = [
        (FormerKey::Overlaps, Some(overlap), overlap),
        (FormerKey::EndsAtOnce, None, OffsetDateTime::UNIX_EPOCH),
    ];
    for (former, said, until) in cases {
        let new = desk(&bench).rotate_api_key(&mut unit, id, former).unwrap();
        let expected = (id, api_key_hash(new.key.expose_secret()), until);
        assert_eq!((*stored.lock().unwrap(), new.former_until), (Some(expected), said));
    }

    let mut no_partner = MockUnit::default();
    no_partner.partners.expect_get().returning(|_| Ok(None));
    assert!(matches!(
        desk(&bench).rotate_api_key(&mut no_partner, id, FormerKey::Overlaps),
        Err(PartnerError::NotFound)
    ));
}

#[test]
fn only_what_lies_under_another_key_is_encrypted_anew() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let id = partner(PartnerStatus::Active).id;
    let mut secrets = MockSecretBox::new();
    secrets.expect_is_current().returning(|stored| stored == b"new");
    secrets
        .expect_decrypt()
        .withf(|place, stored| place.row == [1; 8] && stored == b"old")
        .returning(|_, _| Ok(SecretSlice::from(b"secret".to_vec())));
    secrets
        .expect_encrypt()
        .withf(|place, secret| place.row == [1; 8] && secret.expose_secret() == b"secret")
        .returning(|_, _| Ok(b"new".to_vec()));
    let desk = PartnerService::new(bench.shared(), Arc::new(MockPasswordHasher::new()), Arc::new(secrets));
    let key = |number: u8, stored: &[u8]| SealingKeyRecord {
        key_id: [number; 8],
        encrypted_secret: stored.to_vec(),
        created_at: START,
        accepted_until: None,
        first_used_at: None,
    };
    unit.partners.expect_sealing_keys().returning(move |_| Ok(vec![key(2, b"new"), key(1, b"old")]));
    unit.credentials.expect_list().returning(|_| Ok(vec![record(3, b"new"), record(1, b"old")]));
    unit.credentials
        .expect_reencrypt()
        .withf(move |owner, credential, stored| {
            (*owner, *credential, stored) == (id, credential_id(1), b"new")
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.partners
        .expect_reencrypt_sealing_key()
        .withf(move |owner, key, stored| (*owner, *key, stored) == (id, [1; 8], b"new"))
        .times(1)
        .returning(|_, _, _| Ok(()));
    assert_eq!(desk.reencrypt(&mut unit, id).unwrap(), 2);
}

#[test]
fn a_login_has_1_to_64_visible_ascii_characters() {
    let longest = "l".repeat(64);
    for text in ["d", "demo@kopeck", &longest] {
        assert_eq!(parse_login(text).unwrap(), text);
    }
    for text in ["", " ", "a b", "a\n", "é", &"l".repeat(65)] {
        assert!(parse_login(text).is_err(), "{text:?}");
    }
}
