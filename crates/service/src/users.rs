//! Users: people who work with a partner's programme, and operators. For operator commands and for a web front end.
//!
//! A login has two steps: [`UserService::begin`] takes the password, [`UserService::finish`] the second factor, which the
//! first login sets up. The second step checks the code and begins the session in one unit of work, so that neither is stored
//! without the other. Nothing about users is remembered in a process: a session is looked up in the store each time, so
//! whatever ends it ends it everywhere at once.

mod admin;
mod login;
mod recovery;
mod sessions;
#[cfg(test)]
mod testing;
mod uploads;

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kopeck_audit::{Actor, Entry, Outcome};
use kopeck_domain::Invalid;
use kopeck_domain::access::Role;
use kopeck_domain::partner::{Partner, PartnerStatus};
use kopeck_domain::user::{User, UserStatus};
use kopeck_port_security::{OneTimeCodes, PasswordHasher, SecretBox, SecurityError};
use kopeck_port_store::{Rule, StoreError, UnitOfWork, UserRecord};
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime};

use crate::Env;
use crate::logins::{LoginKind, LoginObserver};
use crate::password::check_password;

pub use admin::{
    NewPassword, NewUser, Reset, UserDraft, UserOverview, delete, find, list, reset, set_role, set_status,
};
pub use login::{NewSession, PasswordAttempt, PendingLogin, SecondFactorAttempt};
pub use sessions::{Confirmation, EndedSessions, RenewedSession, SessionView, UserSession};
pub use uploads::{MAX_UPLOADS, UPLOAD_LIFE, keep_upload, upload};

/// How long a password that another person has set is accepted.
pub const INITIAL_PASSWORD_LIFE: Duration = Duration::days(7);
/// How long a login waits for its second factor.
pub const PENDING_LIFE: Duration = Duration::minutes(10);
/// After so long without a request a session ends.
pub const IDLE_LIFE: Duration = Duration::minutes(15);
/// The longest that a session lasts.
pub const SESSION_LIFE: Duration = Duration::hours(12);
/// How many sessions a user has at most. A further login ends the oldest.
pub const MAX_SESSIONS: usize = 10;
/// Wrong passwords for one login, from whatever addresses, within the window of the throttle after which it is locked: the
/// bound of NIST SP 800-63B. Ten addresses have to work together to lock a person out.
pub const MAX_FAILURES_OF_LOGIN: usize = 100;

/// Why something about users was not done.
#[derive(Debug, thiserror::Error)]
pub enum UserError {
    /// There is no such user.
    #[error("there is no such user")]
    NotFound,
    /// There is no such partner.
    #[error("there is no such partner")]
    NoPartner,
    /// Another user has the login.
    #[error("the login is taken")]
    LoginTaken,
    /// The role does not go with the partner, or with none.
    #[error("the role is not possible: {0}")]
    Role(Invalid),
    /// The policy refuses the password.
    #[error("the password {0}")]
    Password(Invalid),
    /// The password is wrong, or the session over.
    #[error("wrong credentials")]
    BadCredentials,
    /// The second factor is wrong, or its code was used before.
    #[error("wrong code")]
    WrongCode,
    /// The login took too long, or was taken up elsewhere: begin again.
    #[error("the login has expired")]
    Expired,
    /// Too many failures.
    #[error("too many failed logins")]
    TooMany {
        /// When to try again.
        retry_after: Duration,
    },
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Cryptography failed.
    #[error(transparent)]
    Security(#[from] SecurityError),
}

impl From<StoreError> for UserError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::UserLogin) { Self::LoginTaken } else { Self::Store(error) }
    }
}

/// Creates users, logs them in, and keeps their sessions.
#[derive(Clone)]
pub struct UserService {
    env: Arc<Env>,
    passwords: Arc<dyn PasswordHasher>,
    secrets: Arc<dyn SecretBox>,
    codes: Arc<dyn OneTimeCodes>,
    observer: Arc<dyn LoginObserver>,
}

/// A subject of the throttle, as a keyed digest.
type Subject = [u8; 32];

impl UserService {
    /// A service over these ports.
    #[must_use]
    pub fn new(
        env: Arc<Env>,
        passwords: Arc<dyn PasswordHasher>,
        secrets: Arc<dyn SecretBox>,
        codes: Arc<dyn OneTimeCodes>,
        observer: Arc<dyn LoginObserver>,
    ) -> Self {
        Self { env, passwords, secrets, codes, observer }
    }

    /// A token of 256 random bits, and its digest, under which it is stored.
    fn new_token(&self) -> (SecretString, [u8; 32]) {
        let token = SecretString::from(self.random_text(32));
        let digest = token_digest(&token);
        (token, digest)
    }

    fn random_text(&self, bytes: usize) -> String {
        let mut random = vec![0_u8; bytes];
        self.env.entropy.fill(&mut random);
        URL_SAFE_NO_PAD.encode(random)
    }

    /// The present time by the machine's clock, which authenticator apps go by: the sandbox moves only the service's.
    fn machine_seconds(&self) -> u64 {
        let clock = &self.env.clock;
        u64::try_from((clock.now() - clock.ahead()).unix_timestamp()).unwrap_or_default()
    }

    /// The subjects for the network address of a request, if it counts for any: those of every login.
    fn address_subjects(&self, address: Option<&str>) -> Vec<Subject> {
        address.map(|address| self.secrets.fingerprint("address", address.as_bytes())).into_iter().collect()
    }

    fn user_subject(&self, purpose: &'static str, user: &User) -> Subject {
        self.secrets.fingerprint(purpose, user.id.uuid().as_bytes())
    }
}

/// A token has 256 random bits, so one round of SHA-256 is enough.
fn token_digest(token: &SecretString) -> [u8; 32] {
    Sha256::digest(token.expose_secret().as_bytes()).into()
}

/// Who logs in, for metrics.
const fn kind_of(role: Role) -> LoginKind {
    match role {
        Role::Operator => LoginKind::Operator,
        _ => LoginKind::User,
    }
}

/// Whether the user may log in at present, as far as its own row says.
fn may_log_in(record: &UserRecord, now: OffsetDateTime) -> bool {
    record.user.status == UserStatus::Active && record.initial_until.is_none_or(|until| now < until)
}

/// Whether the user's partner is active; operators have none.
fn partner_is_active(unit: &mut dyn UnitOfWork, user: &User) -> Result<bool, StoreError> {
    let Some(partner) = user.partner else { return Ok(true) };
    Ok(unit.partners().get(partner)?.is_some_and(|partner| partner.status == PartnerStatus::Active))
}

/// Checks a new password of a user. Login, partner and their words do not count.
fn check_user_password(
    password: &SecretString,
    user: &User,
    partner: Option<&Partner>,
) -> Result<(), UserError> {
    let mut owner = vec![user.login.as_str()];
    owner.extend(partner.map(|partner| partner.name.as_str()));
    check_password(password.expose_secret(), &owner).map_err(UserError::Password)
}

/// The audit entry of something that `user` did, to its own account if the entry names no other subject.
fn entry_of(user: &User, entry: &Entry, outcome: Outcome) -> Entry {
    let entry = entry.clone().by(Actor::User(user.id), user.partner);
    let subject = if entry.subject.is_empty() { format!("user:{}", user.id) } else { entry.subject };
    Entry { subject, outcome, ..entry }
}
