//! Users, their second factors and their sessions.
#![expect(
    clippy::missing_errors_doc,
    reason = "every method fails with the store; rules are named where they can break"
)]

use kopeck_domain::ids::{PartnerId, SessionId, UploadId, UserId};
use kopeck_domain::string_enum;
use kopeck_domain::user::{User, UserLogin};
use time::OffsetDateTime;

use crate::StoreError;

/// The secret of an authenticator app: 160 bits, as RFC 4226 advises.
pub type TotpSecret = [u8; 20];

/// A user as it is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// The user. The store encrypts its login.
    pub user: User,
    /// The hash of its password.
    pub password_hash: String,
    /// Until when a password that another person has set may be used to log in; `None` once the user has set one.
    pub initial_until: Option<OffsetDateTime>,
    /// Its second factor, once that is set up.
    pub second_factor: Option<SecondFactor>,
    /// The time of its last login.
    pub last_login_at: Option<OffsetDateTime>,
}

/// Secrets stay out of logs.
impl std::fmt::Debug for UserRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserRecord").field("user", &self.user.id).finish_non_exhaustive()
    }
}

/// A second factor: an authenticator app.
#[derive(Clone, PartialEq, Eq)]
pub struct SecondFactor {
    /// The secret that the app has too. The store encrypts it.
    pub secret: TotpSecret,
    /// The last step of 30 seconds whose code was accepted. No code of it or of an earlier one is accepted any more.
    pub last_step: u64,
}

string_enum! {
    /// How far a login has come.
    SessionStage {
        /// The password was right; the second factor is still to come.
        Pending = "PENDING",
        /// The user is logged in.
        Open = "OPEN",
    }
}

/// A session of a user, or a login that waits for its second factor.
#[derive(Clone, PartialEq, Eq)]
pub struct UserSessionRecord {
    /// Its identifier.
    pub id: SessionId,
    /// The user's partner; `None` for an operator.
    pub partner: Option<PartnerId>,
    /// The user.
    pub user: UserId,
    /// The SHA-256 digest of its token.
    pub token_digest: [u8; 32],
    /// How far the login has come.
    pub stage: SessionStage,
    /// The secret that the user's app is being set up with. The store encrypts it.
    pub setup: Option<TotpSecret>,
    /// The network address of the login.
    pub address: Option<String>,
    /// Its beginning.
    pub created_at: OffsetDateTime,
    /// Its last use, to the minute.
    pub last_used_at: OffsetDateTime,
    /// Its end at the latest.
    pub expires_at: OffsetDateTime,
}

/// Secrets stay out of logs.
impl std::fmt::Debug for UserSessionRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserSessionRecord")
            .field("id", &self.id)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

/// A file that a user has sent and not used yet.
#[derive(Clone, PartialEq, Eq)]
pub struct UserUpload {
    /// Its identifier.
    pub id: UploadId,
    /// The user's partner; `None` for an operator.
    pub partner: Option<PartnerId>,
    /// The user.
    pub user: UserId,
    /// The file. The store encrypts it.
    pub content: Vec<u8>,
    /// When it was sent.
    pub created_at: OffsetDateTime,
    /// Until when it is kept.
    pub expires_at: OffsetDateTime,
}

/// Personal data stays out of logs.
impl std::fmt::Debug for UserUpload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserUpload").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Users. Those of a partner belong to it like everything else; operators belong to no partner (`None`).
#[cfg_attr(feature = "mock", mockall::automock)]
pub trait UserRepository {
    /// Adds a user. `Rule::UserLogin` if a user, of whatever partner, has the login.
    fn insert(&mut self, record: &UserRecord) -> Result<(), StoreError>;
    /// The user with this login, of whatever partner. It does not stay as read: [`Self::get`] does.
    fn by_login(&mut self, login: &UserLogin) -> Result<Option<UserRecord>, StoreError>;
    /// The user with this identifier. Within a writing unit of work it stays as read until the end.
    fn get(&mut self, partner: Option<PartnerId>, id: UserId) -> Result<Option<UserRecord>, StoreError>;
    /// The users of a partner, or the operators, oldest first.
    fn list(&mut self, partner: Option<PartnerId>) -> Result<Vec<UserRecord>, StoreError>;
    /// Stores a changed user; login and partner never change.
    fn update(&mut self, record: &UserRecord) -> Result<(), StoreError>;
    /// Removes a user with its recovery codes, sessions and uploads.
    fn delete(&mut self, partner: Option<PartnerId>, id: UserId) -> Result<(), StoreError>;
    /// Replaces all recovery codes of a user by those with these digests.
    fn set_recovery_codes(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        digests: &[[u8; 32]],
    ) -> Result<(), StoreError>;
    /// Removes a recovery code: `false` if the user has none with this digest.
    fn spend_recovery_code(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        digest: &[u8; 32],
    ) -> Result<bool, StoreError>;
    /// How many recovery codes a user has left.
    fn recovery_codes(&mut self, partner: Option<PartnerId>, id: UserId) -> Result<u64, StoreError>;
    /// Adds a session.
    fn insert_session(&mut self, session: &UserSessionRecord) -> Result<(), StoreError>;
    /// The session whose token has this digest. It does not stay as read: lock its user by [`Self::get`], then read it again.
    fn session(&mut self, token_digest: &[u8; 32]) -> Result<Option<UserSessionRecord>, StoreError>;
    /// The sessions of a user, oldest first.
    fn sessions(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
    ) -> Result<Vec<UserSessionRecord>, StoreError>;
    /// Stores the last use of a session.
    fn touch_session(&mut self, session: &UserSessionRecord, at: OffsetDateTime) -> Result<(), StoreError>;
    /// Ends a session of the user: `false` if there is no such session.
    fn end_session(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        session: SessionId,
    ) -> Result<bool, StoreError>;
    /// Ends all sessions of a user but `kept`. Returns their number.
    fn end_sessions(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        kept: Option<SessionId>,
    ) -> Result<u64, StoreError>;
    /// Ends the sessions of all users of a partner. Returns their number.
    fn end_sessions_of(&mut self, partner: PartnerId) -> Result<u64, StoreError>;
    /// Adds an upload, and removes all of its user but the newest `kept`, itself among them.
    fn add_upload(&mut self, upload: &UserUpload, kept: u32) -> Result<(), StoreError>;
    /// An upload of the user.
    fn upload(
        &mut self,
        partner: Option<PartnerId>,
        user: UserId,
        id: UploadId,
    ) -> Result<Option<UserUpload>, StoreError>;
    /// Removes sessions and uploads that ended before `moment`, `limit` of each at most.
    fn forget_expired(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError>;
}
