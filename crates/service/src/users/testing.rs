//! A service over mocks of its ports, which answer from one state that a test can look at.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use kopeck_audit::Entry;
use kopeck_domain::access::Role;
use kopeck_domain::ids::UserId;
use kopeck_domain::partner::{Partner, PartnerStatus};
use kopeck_domain::user::{User, UserLogin, UserStatus};
use kopeck_port_security::{AppSetup, MockOneTimeCodes, MockPasswordHasher, MockSecretBox};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::{SecondFactor, UserRecord, UserSessionRecord};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use super::{PasswordAttempt, PendingLogin, SecondFactorAttempt, UserError, UserService};
use crate::logins::{LoginKind, LoginObserver, LoginOutcome};
use crate::testing::*;

pub(super) const USER: UserId = UserId::new(Uuid::from_u128(0x05E4));
pub(super) const LOGIN: &str = "anna@example.ru";
pub(super) const PASSWORD: &str = "v7Q-rain-xzb";
pub(super) const ADDRESS: &str = "192.0.2.1";

/// What the store holds, and what was noted.
pub(super) struct State {
    pub(super) partner: Partner,
    pub(super) users: Vec<UserRecord>,
    pub(super) sessions: Vec<UserSessionRecord>,
    pub(super) codes: Vec<[u8; 32]>,
    pub(super) failures: HashMap<[u8; 32], Vec<OffsetDateTime>>,
    pub(super) entries: Vec<Entry>,
    pub(super) logins: Vec<(LoginKind, LoginOutcome)>,
    /// How many steps of the app have gone by.
    pub(super) waited: u64,
    /// How many passwords were checked.
    pub(super) verified: usize,
}

impl State {
    /// The only user.
    pub(super) fn user(&mut self) -> &mut UserRecord {
        self.users.first_mut().unwrap()
    }
}

pub(super) struct Desk {
    pub(super) bench: Bench,
    pub(super) service: UserService,
    pub(super) store: InPlaceStore<MockUnit>,
    state: Arc<Mutex<State>>,
}

/// A user whose second factor is not set up, with the password [`PASSWORD`].
pub(super) fn anna() -> UserRecord {
    UserRecord {
        user: User {
            id: USER,
            partner: Some(PARTNER),
            login: UserLogin::parse(LOGIN).unwrap(),
            role: Role::Finance,
            status: UserStatus::Active,
            created_at: BEFORE,
        },
        password_hash: hash(PASSWORD),
        initial_until: None,
        second_factor: None,
        last_login_at: None,
    }
}

/// A second factor whose codes [`Desk`] takes: the code of step `n` is `n` in six digits.
pub(super) fn factor(last_step: u64) -> SecondFactor {
    SecondFactor { secret: [5; 20], last_step }
}

pub(super) fn hash(password: &str) -> String {
    format!("hash of {password}")
}

pub(super) fn secret(text: &str) -> SecretString {
    SecretString::from(text)
}

pub(super) fn entry() -> Entry {
    Entry::new(START, ADDRESS, "user.login")
}

/// The step of 30 seconds at the start.
pub(super) fn step() -> u64 {
    START.unix_timestamp().cast_unsigned() / 30
}

/// The code of a step.
pub(super) fn code(step: u64) -> SecretString {
    SecretString::from(format!("{:06}", step % 1_000_000))
}

struct Logins(Arc<Mutex<State>>);

impl LoginObserver for Logins {
    fn record_login(&self, kind: LoginKind, outcome: LoginOutcome) {
        self.0.try_lock().unwrap().logins.push((kind, outcome));
    }
}

impl Desk {
    pub(super) fn with(record: UserRecord) -> Self {
        let bench = Bench::new();
        let state = Arc::new(Mutex::new(State {
            partner: partner(PartnerStatus::Active),
            users: vec![record],
            sessions: Vec::new(),
            codes: Vec::new(),
            failures: HashMap::new(),
            entries: Vec::new(),
            logins: Vec::new(),
            waited: 0,
            verified: 0,
        }));
        let mut passwords = MockPasswordHasher::new();
        let counted = Arc::clone(&state);
        passwords.expect_verify().returning(move |password, stored| {
            counted.try_lock().unwrap().verified += 1;
            stored.is_some_and(|stored| stored == hash(password.expose_secret()))
        });
        passwords.expect_hash().returning(|password| Ok(hash(password.expose_secret())));
        let mut secrets = MockSecretBox::new();
        secrets
            .expect_fingerprint()
            .returning(|purpose, value| Sha256::digest([purpose.as_bytes(), value].concat()).into());
        let mut codes = MockOneTimeCodes::new();
        let phone = Arc::clone(&state);
        codes.expect_matching_step().returning(move |_, typed, now| {
            // By the fake clock the machine's time stands still: all of its movement is the sandbox's.
            assert_eq!(now, START.unix_timestamp().cast_unsigned());
            let step = step() + phone.try_lock().unwrap().waited;
            let near = (step - 1)..=(step + 1);
            near.into_iter().find(|step| code(*step).expose_secret() == typed)
        });
        codes
            .expect_setup()
            .returning(|_, login| Ok(AppSetup { secret: secret("ABC"), uri: login.to_owned().into() }));
        let service = UserService::new(
            bench.shared(),
            Arc::new(passwords),
            Arc::new(secrets),
            Arc::new(codes),
            Arc::new(Logins(Arc::clone(&state))),
        );
        let store = InPlaceStore::new(unit(&state));
        Self { bench, service, store, state }
    }

    /// With a second factor, and recovery codes that are not of interest.
    pub(super) fn ready() -> Self {
        Self::with(UserRecord { second_factor: Some(factor(0)), ..anna() })
    }

    /// Fails the test, rather than that it waits for itself, if it has the state already.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.try_lock().unwrap()
    }

    /// A unit of work over the same state.
    pub(super) fn unit(&self) -> MockUnit {
        unit(&self.state)
    }

    pub(super) fn begin(&self, login: &str, password: &str) -> Result<PendingLogin, UserError> {
        self.begin_from(Some(ADDRESS), login, password)
    }

    pub(super) fn begin_from(
        &self,
        address: Option<&str>,
        login: &str,
        password: &str,
    ) -> Result<PendingLogin, UserError> {
        let attempt = PasswordAttempt {
            login: login.to_owned(),
            password: secret(password),
            address: address.map(str::to_owned),
        };
        self.service.begin(&self.store, attempt)
    }

    pub(super) fn finish(
        &self,
        pending: &PendingLogin,
        code: SecretString,
    ) -> Result<super::NewSession, UserError> {
        let attempt = SecondFactorAttempt {
            token: pending.token.clone(),
            code,
            address: Some(ADDRESS.to_owned()),
            former: None,
            entry: entry(),
        };
        self.service.finish(&self.store, attempt)
    }

    /// Logs in by the code of the present step.
    pub(super) fn log_in(&self) -> super::NewSession {
        let pending = self.begin(LOGIN, PASSWORD).unwrap();
        let now = step() + self.state().waited;
        self.finish(&pending, code(now)).unwrap()
    }

    pub(super) fn look_up(&self, token: &SecretString) -> Option<super::UserSession> {
        self.service.look_up(&mut self.unit(), token).unwrap()
    }

    /// Another step of the app, and everything that takes time with it.
    pub(super) fn wait(&self, by: Duration) {
        self.bench.clock.advance(by);
        self.state().waited += by.whole_seconds().cast_unsigned() / 30;
    }
}

/// A unit of work whose mocks answer from the state.
fn unit(state: &Arc<Mutex<State>>) -> MockUnit {
    let mut unit = MockUnit::default();
    let with = |state: &Arc<Mutex<State>>| Arc::clone(state);
    let it = with(state);
    unit.partners
        .expect_get()
        .returning(move |id| Ok(Some(it.try_lock().unwrap().partner.clone()).filter(|found| found.id == id)));
    let it = with(state);
    unit.throttle.expect_failures().returning(move |subject, since, limit| {
        let state = it.try_lock().unwrap();
        let recent = state.failures.get(subject).into_iter().flatten().rev().filter(|at| **at > since);
        Ok(recent.take(limit as usize).copied().collect())
    });
    let it = with(state);
    unit.throttle.expect_record_failure().returning(move |subject, at| {
        it.try_lock().unwrap().failures.entry(*subject).or_default().push(at);
        Ok(())
    });
    let it = with(state);
    unit.audit.expect_append().returning(move |entry| {
        it.try_lock().unwrap().entries.push(entry.clone());
        Ok(())
    });
    users(&mut unit, state);
    sessions(&mut unit, state);
    unit
}

fn users(unit: &mut MockUnit, state: &Arc<Mutex<State>>) {
    let it = Arc::clone(state);
    unit.users.expect_by_login().returning(move |login| {
        Ok(it.try_lock().unwrap().users.iter().find(|record| record.user.login == *login).cloned())
    });
    let it = Arc::clone(state);
    unit.users.expect_get().returning(move |partner, id| {
        let is_meant = |record: &&UserRecord| (record.user.partner, record.user.id) == (partner, id);
        Ok(it.try_lock().unwrap().users.iter().find(is_meant).cloned())
    });
    let it = Arc::clone(state);
    unit.users.expect_list().returning(move |partner| {
        let all = it.try_lock().unwrap().users.clone();
        Ok(all.into_iter().filter(|record| record.user.partner == partner).collect())
    });
    let it = Arc::clone(state);
    unit.users.expect_insert().returning(move |record| {
        it.try_lock().unwrap().users.push(record.clone());
        Ok(())
    });
    let it = Arc::clone(state);
    unit.users.expect_update().returning(move |record| {
        *it.try_lock().unwrap().user() = record.clone();
        Ok(())
    });
    let it = Arc::clone(state);
    unit.users.expect_delete().returning(move |_, id| {
        it.try_lock().unwrap().users.retain(|record| record.user.id != id);
        Ok(())
    });
    let it = Arc::clone(state);
    unit.users.expect_set_recovery_codes().returning(move |_, _, digests| {
        it.try_lock().unwrap().codes = digests.to_vec();
        Ok(())
    });
    let it = Arc::clone(state);
    unit.users.expect_spend_recovery_code().returning(move |_, _, digest| {
        let codes = &mut it.try_lock().unwrap().codes;
        let before = codes.len();
        codes.retain(|code| code != digest);
        Ok(codes.len() < before)
    });
    let it = Arc::clone(state);
    unit.users.expect_recovery_codes().returning(move |_, _| Ok(it.try_lock().unwrap().codes.len() as u64));
}

fn sessions(unit: &mut MockUnit, state: &Arc<Mutex<State>>) {
    let it = Arc::clone(state);
    unit.users.expect_insert_session().returning(move |session| {
        it.try_lock().unwrap().sessions.push(session.clone());
        Ok(())
    });
    let it = Arc::clone(state);
    unit.users.expect_session().returning(move |digest| {
        let sessions = &it.try_lock().unwrap().sessions;
        Ok(sessions.iter().find(|session| session.token_digest == *digest).cloned())
    });
    let it = Arc::clone(state);
    unit.users.expect_sessions().returning(move |_, id| {
        let all = it.try_lock().unwrap().sessions.clone();
        Ok(all.into_iter().filter(|session| session.user == id).collect())
    });
    let it = Arc::clone(state);
    unit.users.expect_touch_session().returning(move |touched, at| {
        let sessions = &mut it.try_lock().unwrap().sessions;
        let session = sessions.iter_mut().find(|session| session.id == touched.id);
        session.into_iter().for_each(|session| session.last_used_at = at);
        Ok(())
    });
    let it = Arc::clone(state);
    unit.users.expect_end_session().returning(move |_, _, id| {
        let sessions = &mut it.try_lock().unwrap().sessions;
        let before = sessions.len();
        sessions.retain(|session| session.id != id);
        Ok(sessions.len() < before)
    });
    let it = Arc::clone(state);
    unit.users.expect_end_sessions().returning(move |_, _, kept| {
        let sessions = &mut it.try_lock().unwrap().sessions;
        let before = sessions.len();
        sessions.retain(|session| Some(session.id) == kept);
        Ok((before - sessions.len()) as u64)
    });
}
