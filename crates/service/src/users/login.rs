//! Login of a user, in two steps.

use kopeck_audit::{Entry, Outcome};
use kopeck_domain::ids::SessionId;
use kopeck_domain::text;
use kopeck_domain::user::{User, UserLogin};
use kopeck_port_security::AppSetup;
use kopeck_port_store::{
    Access, SecondFactor, SessionStage, Store, StoreError, TotpSecret, UnitOfWork, UserRecord,
    UserSessionRecord, transact,
};
use secrecy::{ExposeSecret, SecretString};
use time::{Duration, OffsetDateTime};

use super::sessions::is_live;
use super::{
    MAX_FAILURES_OF_LOGIN, MAX_SESSIONS, PENDING_LIFE, SESSION_LIFE, Subject, UserError, UserService,
    entry_of, kind_of, may_log_in, partner_is_active, recovery, token_digest,
};
use crate::logins::{LoginKind, LoginOutcome};
use crate::tokens::throttle::{MAX_FAILURES, locked_subject, record as record_failures};

/// The first step of a login.
#[derive(Debug)]
pub struct PasswordAttempt {
    /// The e-mail address, as it was typed.
    pub login: String,
    /// The password.
    pub password: SecretString,
    /// The network address for the throttle, if any.
    pub address: Option<String>,
}

/// A login that waits for its second factor.
#[derive(Debug)]
pub struct PendingLogin {
    /// The token to go on with, for [`PENDING_LIFE`].
    pub token: SecretString,
    /// What to set an authenticator app up by, if the user has none yet: a code of it completes the set-up.
    pub setup: Option<AppSetup>,
}

/// The second step of a login.
#[derive(Debug)]
pub struct SecondFactorAttempt {
    /// The token of the [`PendingLogin`].
    pub token: SecretString,
    /// A code of the authenticator app, or a recovery code.
    pub code: SecretString,
    /// The network address for the throttle, if any.
    pub address: Option<String>,
    /// The token of the session that the client has had until now, of this user or another: the new one takes its place.
    pub former: Option<SecretString>,
    /// The audit entry of the request; actor, partner, subject and outcome are filled in.
    pub entry: Entry,
}

/// A session that has begun.
#[derive(Debug)]
pub struct NewSession {
    /// The token of the session. It is stored nowhere.
    pub token: SecretString,
    /// The user.
    pub user: User,
    /// New recovery codes, which are shown only once, if the login has set up the second factor.
    pub recovery_codes: Option<Vec<SecretString>>,
    /// Whether the user has to replace its password before it may do anything else.
    pub must_change_password: bool,
}

/// What the second step came to. A wrong code is no error of the unit of work, because its count has to be committed.
enum Verdict {
    Accepted { record: Box<UserRecord>, has_set_up: bool },
    Wrong(User),
    Locked(User, Duration),
}

/// What a session is made of, drawn before the unit of work, which may run several times.
#[derive(Clone)]
struct SessionParts {
    id: SessionId,
    token_digest: [u8; 32],
    address: Option<String>,
    /// The digest of the token of the session that ends.
    former: Option<[u8; 32]>,
    recovery_digests: Vec<[u8; 32]>,
}

impl UserService {
    /// Takes the password. Blocks for the tens of milliseconds that a password takes, and for two units of work, whatever the
    /// outcome: an unknown login, a wrong password, a disabled user and one of a suspended partner take the same steps. The
    /// caller puts it into the queue of logins, and writes the audit entry of a refusal within the budget of its address.
    ///
    /// # Errors
    /// [`UserError::BadCredentials`], [`UserError::TooMany`], or the failure of a port.
    pub fn begin(&self, store: &dyn Store, attempt: PasswordAttempt) -> Result<PendingLogin, UserError> {
        let mut kind = LoginKind::User;
        let begun = self.take_password(store, attempt, &mut kind);
        let outcome = match &begun {
            Err(UserError::BadCredentials) => Some(LoginOutcome::Refused),
            Err(UserError::TooMany { .. }) => Some(LoginOutcome::Throttled),
            Ok(_) | Err(_) => None,
        };
        outcome.into_iter().for_each(|outcome| self.observer.record_login(kind, outcome));
        begun
    }

    fn take_password(
        &self,
        store: &dyn Store,
        attempt: PasswordAttempt,
        kind: &mut LoginKind,
    ) -> Result<PendingLogin, UserError> {
        let PasswordAttempt { login, password, address } = attempt;
        let addresses = self.address_subjects(address.as_deref());
        let account = self.secrets.fingerprint("user", text::folded(&login).as_bytes());
        let (settled, login) = (self.env.settled(), UserLogin::parse(&login).ok());
        let first = addresses.clone();
        let found = transact(store, Access::Read, move |unit| -> Result<_, UserError> {
            check_subjects(unit, &first, &account, settled)?;
            Ok(login.as_ref().map(|login| unit.users().by_login(login)).transpose()?.flatten())
        })?;
        *kind = found.as_ref().map_or(LoginKind::User, |record| kind_of(record.user.role));
        let stored = found.as_ref().map(|record| record.password_hash.as_str());
        let fits = self.passwords.verify(&password, stored);
        let now = self.env.now();
        match found.filter(|record| fits & may_log_in(record, now)) {
            Some(record) => self.wait_for_second_factor(store, record, address, (addresses, account)),
            None => {
                transact(store, Access::Write, move |unit| -> Result<(), UserError> {
                    check_subjects(unit, &addresses, &account, settled)?;
                    record_failures(unit, &addresses, settled)?;
                    Ok(record_failures(unit, &[account], settled)?)
                })?;
                Err(UserError::BadCredentials)
            }
        }
    }

    /// Checks everything again, so that concurrent guesses do not all pass the first check, and no login goes on whose user was
    /// disabled or reset meanwhile.
    fn wait_for_second_factor(
        &self,
        store: &dyn Store,
        checked: UserRecord,
        address: Option<String>,
        (addresses, account): (Vec<Subject>, Subject),
    ) -> Result<PendingLogin, UserError> {
        let (now, settled) = (self.env.now(), self.env.settled());
        let (token, digest) = self.new_token();
        let mut secret = TotpSecret::default();
        self.env.entropy.fill(&mut secret);
        let setup = self.codes.setup(&secret, checked.user.login.as_str())?;
        let id = SessionId::new(self.env.ids.next_id());
        let needs_setup = transact(store, Access::Write, move |unit| -> Result<bool, UserError> {
            check_subjects(unit, &addresses, &account, settled)?;
            let (partner, user) = (checked.user.partner, checked.user.id);
            let record = unit.users().get(partner, user)?.ok_or(UserError::BadCredentials)?;
            let is_valid = record.password_hash == checked.password_hash && may_log_in(&record, now);
            if !is_valid || !partner_is_active(unit, &record.user)? {
                return Err(UserError::BadCredentials);
            }
            let needs_setup = record.second_factor.is_none();
            make_room(unit, &record.user, SessionStage::Pending)?;
            unit.users().insert_session(&UserSessionRecord {
                id,
                partner,
                user,
                token_digest: digest,
                stage: SessionStage::Pending,
                setup: Some(secret).filter(|_| needs_setup),
                address: address.clone(),
                created_at: now,
                last_used_at: now,
                expires_at: now + PENDING_LIFE,
            })?;
            Ok(needs_setup)
        })?;
        Ok(PendingLogin { token, setup: Some(setup).filter(|_| needs_setup) })
    }

    /// Takes the second factor, and begins the session in the same unit of work. A code of the app works for its own step of
    /// 30 seconds, the one before and the one after, and once; a recovery code works once.
    ///
    /// # Errors
    /// [`UserError::WrongCode`], [`UserError::Expired`], [`UserError::TooMany`], or the failure of a port.
    pub fn finish(&self, store: &dyn Store, attempt: SecondFactorAttempt) -> Result<NewSession, UserError> {
        let SecondFactorAttempt { token: pending, code, address, former, entry } = attempt;
        let former = former.as_ref().map(token_digest);
        let (token, token_digest) = self.new_token();
        let codes = recovery::generate(&*self.env.entropy);
        let parts = SessionParts {
            id: SessionId::new(self.env.ids.next_id()),
            token_digest,
            address,
            former,
            recovery_digests: codes.iter().map(|code| recovery::digest(code.expose_secret())).collect(),
        };
        let service = self.clone();
        let verdict = transact(store, Access::Write, move |unit| {
            service.take_second_factor(unit, &pending, &code, &parts, &entry)
        });
        match verdict? {
            Verdict::Accepted { record, has_set_up } => {
                self.observer.record_login(kind_of(record.user.role), LoginOutcome::Granted);
                Ok(NewSession {
                    token,
                    must_change_password: record.initial_until.is_some(),
                    user: record.user,
                    recovery_codes: Some(codes).filter(|_| has_set_up),
                })
            }
            Verdict::Wrong(user) => {
                self.observer.record_login(kind_of(user.role), LoginOutcome::WrongCode);
                Err(UserError::WrongCode)
            }
            Verdict::Locked(user, retry_after) => {
                self.observer.record_login(kind_of(user.role), LoginOutcome::CodeThrottled);
                Err(UserError::TooMany { retry_after })
            }
        }
    }

    fn take_second_factor(
        &self,
        unit: &mut dyn UnitOfWork,
        pending: &SecretString,
        code: &SecretString,
        parts: &SessionParts,
        entry: &Entry,
    ) -> Result<Verdict, UserError> {
        let (now, settled) = (self.env.now(), self.env.settled());
        let (session, mut record) = pending_login(unit, pending, now)?;
        let user = record.user.clone();
        let mut subjects = self.address_subjects(parts.address.as_deref());
        subjects.push(self.user_subject("second-factor", &user));
        if let Some(retry_after) = locked_subject(unit, &subjects, MAX_FAILURES, settled)? {
            return Ok(Verdict::Locked(user, retry_after));
        }
        if !self.accepts(unit, &session, &mut record, code)? {
            record_failures(unit, &subjects, settled)?;
            unit.audit().append(&entry_of(&user, entry, Outcome::Refused))?;
            return Ok(Verdict::Wrong(user));
        }
        let has_set_up = session.setup.is_some();
        if has_set_up {
            unit.users().set_recovery_codes(user.partner, user.id, &parts.recovery_digests)?;
        }
        record.last_login_at = Some(now);
        unit.users().update(&record)?;
        unit.users().end_session(user.partner, user.id, session.id)?;
        if let Some(former) = parts.former {
            end_former(unit, &former)?;
        }
        make_room(unit, &user, SessionStage::Open)?;
        unit.users().insert_session(&UserSessionRecord {
            id: parts.id,
            token_digest: parts.token_digest,
            stage: SessionStage::Open,
            setup: None,
            address: parts.address.clone(),
            created_at: now,
            last_used_at: now,
            expires_at: now + SESSION_LIFE,
            ..session
        })?;
        unit.audit().append(&entry_of(&user, entry, Outcome::Done))?;
        Ok(Verdict::Accepted { record: Box::new(record), has_set_up })
    }

    /// Whether the code is right. Spends it: in `record`, which the caller stores, or among the recovery codes.
    fn accepts(
        &self,
        unit: &mut dyn UnitOfWork,
        session: &UserSessionRecord,
        record: &mut UserRecord,
        code: &SecretString,
    ) -> Result<bool, StoreError> {
        let typed: String = code.expose_secret().chars().filter(|typed| !typed.is_whitespace()).collect();
        let (secret, after) = match (&session.setup, &record.second_factor) {
            (Some(secret), _) => (*secret, None),
            (None, Some(factor)) => (factor.secret, Some(factor.last_step)),
            (None, None) => return Ok(false),
        };
        let step = self.codes.matching_step(&secret, &typed, self.machine_seconds());
        if let Some(last_step) = step.filter(|step| after.is_none_or(|after| *step > after)) {
            record.second_factor = Some(SecondFactor { secret, last_step });
            return Ok(true);
        }
        if session.setup.is_some() {
            return Ok(false);
        }
        unit.users().spend_recovery_code(record.user.partner, record.user.id, &recovery::digest(&typed))
    }
}

/// Refuses an address or a login with too many failures.
fn check_subjects(
    unit: &mut dyn UnitOfWork,
    addresses: &[Subject],
    account: &Subject,
    now: OffsetDateTime,
) -> Result<(), UserError> {
    let locked = match locked_subject(unit, addresses, MAX_FAILURES, now)? {
        Some(retry_after) => Some(retry_after),
        None => locked_subject(unit, &[*account], MAX_FAILURES_OF_LOGIN, now)?,
    };
    locked.map_or(Ok(()), |retry_after| Err(UserError::TooMany { retry_after }))
}

/// The login that waits under this token, and its user. Both stay as read until the end of the unit of work.
fn pending_login(
    unit: &mut dyn UnitOfWork,
    token: &SecretString,
    now: OffsetDateTime,
) -> Result<(UserSessionRecord, UserRecord), UserError> {
    let digest = token_digest(token);
    let named = unit.users().session(&digest)?.ok_or(UserError::Expired)?;
    let user = unit.users().get(named.partner, named.user)?.ok_or(UserError::Expired)?;
    // Only now nobody else can end it, or complete it.
    let session = unit.users().session(&digest)?.ok_or(UserError::Expired)?;
    let is_waiting = session.stage == SessionStage::Pending && is_live(&session, now);
    let is_first = session.setup.is_none() || user.second_factor.is_none();
    if is_waiting && is_first && may_log_in(&user, now) && partner_is_active(unit, &user.user)? {
        Ok((session, user))
    } else {
        Err(UserError::Expired)
    }
}

/// Ends the open session under this digest.
fn end_former(unit: &mut dyn UnitOfWork, digest: &[u8; 32]) -> Result<(), StoreError> {
    let found = unit.users().session(digest)?;
    if let Some(session) = found.filter(|session| session.stage == SessionStage::Open) {
        unit.users().end_session(session.partner, session.user, session.id)?;
    }
    Ok(())
}

/// Ends the oldest sessions of a user in this stage that leave no room for one more. Who has the password alone ends no open
/// session by that.
fn make_room(unit: &mut dyn UnitOfWork, user: &User, stage: SessionStage) -> Result<(), StoreError> {
    let mut sessions = unit.users().sessions(user.partner, user.id)?;
    sessions.retain(|session| session.stage == stage);
    let too_many = (sessions.len() + 1).saturating_sub(MAX_SESSIONS);
    for session in sessions.iter().take(too_many) {
        unit.users().end_session(user.partner, user.id, session.id)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
