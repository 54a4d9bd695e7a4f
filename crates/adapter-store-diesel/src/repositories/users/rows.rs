//! The rows of users and their sessions, and their way to and from the domain.

use diesel::prelude::*;
use kopeck_domain::ids::{PartnerId, UserId};
use kopeck_domain::user::{User, UserLogin};
use kopeck_port_store::{
    ColumnCipher, SecondFactor, StoreError, TotpSecret, UserRecord, UserSessionRecord, UserUpload,
};

use super::owner;
use crate::convert::{AsKey, corrupt, fixed, natural, word};
use crate::encryption::RowCipher;
use crate::schema::{user_recovery_codes, user_sessions, user_uploads, users};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{Bind, binds, row};

/// The column of logins, which the digests for look-ups are of.
pub(crate) const LOGIN: &str = "users.login";

#[derive(Queryable, Selectable)]
#[diesel(table_name = users)]
pub(super) struct UserRow {
    partner_id: Id,
    id: Id,
    login: Vec<u8>,
    login_digest: Vec<u8>,
    role: String,
    status: String,
    password_hash: String,
    initial_until: Option<UtcTimestamp>,
    totp_secret: Option<Vec<u8>>,
    totp_step: Option<i64>,
    created_at: UtcTimestamp,
    last_login_at: Option<UtcTimestamp>,
}

row!(
    UserRow,
    users: partner_id, id, login, login_digest, role, status, password_hash, initial_until, totp_secret, totp_step,
    created_at, last_login_at
);

fn row_cipher<'a>(
    cipher: &'a dyn ColumnCipher,
    table: &'static str,
    partner: PartnerId,
    row: &'a Id,
) -> RowCipher<'a> {
    RowCipher { cipher, table, partner, row: row.bytes() }
}

/// The partner behind the owner's key.
fn partner_of(key: Id) -> Option<PartnerId> {
    Some(key.to()).filter(|id| *id != owner(None))
}

impl UserRow {
    pub(super) fn new(record: &UserRecord, cipher: &dyn ColumnCipher) -> Result<Self, StoreError> {
        let user = &record.user;
        let (owner, id) = (owner(user.partner), user.id.key());
        let login = user.login.as_str().as_bytes();
        let digest = cipher.digests(LOGIN, login).first().copied();
        let row = row_cipher(cipher, "users", owner, &id);
        let factor = record.second_factor.as_ref();
        let step = factor.map(|factor| i64::try_from(factor.last_step)).transpose();
        Ok(Self {
            partner_id: owner.key(),
            login: row.encrypt("login", login)?,
            login_digest: digest.ok_or_else(|| StoreError::Failed("no master key".to_owned()))?.to_vec(),
            role: user.role.as_str().to_owned(),
            status: user.status.as_str().to_owned(),
            password_hash: record.password_hash.clone(),
            initial_until: record.initial_until.map(UtcTimestamp::of),
            totp_secret: factor.map(|factor| row.encrypt("totp_secret", &factor.secret)).transpose()?,
            totp_step: step.map_err(|_| corrupt("users.totp_step"))?,
            created_at: UtcTimestamp::of(user.created_at),
            last_login_at: record.last_login_at.map(UtcTimestamp::of),
            id,
        })
    }

    /// The values of the columns that change, then those of the key.
    pub(super) fn changes(&self) -> Vec<Bind<'_>> {
        binds![
            &self.role,
            &self.status,
            &self.password_hash,
            self.initial_until,
            &self.totp_secret,
            self.totp_step,
            self.last_login_at,
            self.partner_id,
            self.id
        ]
    }

    pub(super) fn record(self, cipher: &dyn ColumnCipher) -> Result<UserRecord, StoreError> {
        let row = row_cipher(cipher, "users", self.partner_id.to(), &self.id);
        let secret = |stored: &[u8]| -> Result<TotpSecret, StoreError> {
            fixed(row.decrypt("totp_secret", stored)?, "users.totp_secret")
        };
        let secret = self.totp_secret.as_deref().map(secret).transpose()?;
        let step = self.totp_step.map(|step| natural(step, "users.totp_step")).transpose()?;
        let login = UserLogin::parse(&row.text("login", &self.login)?).map_err(|_| corrupt(LOGIN))?;
        Ok(UserRecord {
            user: User {
                id: self.id.to(),
                partner: partner_of(self.partner_id),
                login,
                role: word(&self.role, "users.role")?,
                status: word(&self.status, "users.status")?,
                created_at: self.created_at.time("users.created_at")?,
            },
            password_hash: self.password_hash,
            initial_until: UtcTimestamp::optional(self.initial_until, "users.initial_until")?,
            second_factor: secret.zip(step).map(|(secret, last_step)| SecondFactor { secret, last_step }),
            last_login_at: UtcTimestamp::optional(self.last_login_at, "users.last_login_at")?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = user_recovery_codes)]
pub(super) struct RecoveryCodeRow {
    partner_id: Id,
    user_id: Id,
    digest: Vec<u8>,
}

row!(RecoveryCodeRow, user_recovery_codes: partner_id, user_id, digest);

impl RecoveryCodeRow {
    pub(super) fn new(owner: PartnerId, user: UserId, digest: &[u8; 32]) -> Self {
        Self { partner_id: owner.key(), user_id: user.key(), digest: digest.to_vec() }
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = user_sessions)]
pub(super) struct SessionRow {
    partner_id: Id,
    id: Id,
    user_id: Id,
    token_digest: Vec<u8>,
    stage: String,
    setup: Option<Vec<u8>>,
    address: Option<String>,
    created_at: UtcTimestamp,
    last_used_at: UtcTimestamp,
    expires_at: UtcTimestamp,
}

row!(
    SessionRow,
    user_sessions: partner_id, id, user_id, token_digest, stage, setup, address, created_at, last_used_at, expires_at
);

impl SessionRow {
    pub(super) fn new(session: &UserSessionRecord, cipher: &dyn ColumnCipher) -> Result<Self, StoreError> {
        let (owner, id) = (owner(session.partner), session.id.key());
        let row = row_cipher(cipher, "user_sessions", owner, &id);
        Ok(Self {
            partner_id: owner.key(),
            user_id: session.user.key(),
            token_digest: session.token_digest.to_vec(),
            stage: session.stage.as_str().to_owned(),
            setup: session.setup.as_ref().map(|secret| row.encrypt("setup", secret)).transpose()?,
            address: session.address.clone(),
            created_at: UtcTimestamp::of(session.created_at),
            last_used_at: UtcTimestamp::of(session.last_used_at),
            expires_at: UtcTimestamp::of(session.expires_at),
            id,
        })
    }

    pub(super) fn record(self, cipher: &dyn ColumnCipher) -> Result<UserSessionRecord, StoreError> {
        let row = row_cipher(cipher, "user_sessions", self.partner_id.to(), &self.id);
        let secret = |stored: &[u8]| -> Result<TotpSecret, StoreError> {
            fixed(row.decrypt("setup", stored)?, "user_sessions.setup")
        };
        Ok(UserSessionRecord {
            id: self.id.to(),
            partner: partner_of(self.partner_id),
            user: self.user_id.to(),
            token_digest: fixed(self.token_digest, "user_sessions.token_digest")?,
            stage: word(&self.stage, "user_sessions.stage")?,
            setup: self.setup.as_deref().map(secret).transpose()?,
            address: self.address,
            created_at: self.created_at.time("user_sessions.created_at")?,
            last_used_at: self.last_used_at.time("user_sessions.last_used_at")?,
            expires_at: self.expires_at.time("user_sessions.expires_at")?,
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = user_uploads)]
pub(super) struct UploadRow {
    partner_id: Id,
    id: Id,
    user_id: Id,
    content: Vec<u8>,
    created_at: UtcTimestamp,
    expires_at: UtcTimestamp,
}

row!(UploadRow, user_uploads: partner_id, id, user_id, content, created_at, expires_at);

impl UploadRow {
    pub(super) fn new(upload: &UserUpload, cipher: &dyn ColumnCipher) -> Result<Self, StoreError> {
        let (owner, id) = (owner(upload.partner), upload.id.key());
        let content = row_cipher(cipher, "user_uploads", owner, &id).encrypt("content", &upload.content)?;
        Ok(Self {
            partner_id: owner.key(),
            user_id: upload.user.key(),
            content,
            created_at: UtcTimestamp::of(upload.created_at),
            expires_at: UtcTimestamp::of(upload.expires_at),
            id,
        })
    }

    pub(super) fn upload(self, cipher: &dyn ColumnCipher) -> Result<UserUpload, StoreError> {
        let row = row_cipher(cipher, "user_uploads", self.partner_id.to(), &self.id);
        Ok(UserUpload {
            id: self.id.to(),
            partner: partner_of(self.partner_id),
            user: self.user_id.to(),
            content: row.decrypt("content", &self.content)?,
            created_at: self.created_at.time("user_uploads.created_at")?,
            expires_at: self.expires_at.time("user_uploads.expires_at")?,
        })
    }
}
