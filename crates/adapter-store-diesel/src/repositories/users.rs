//! Users, their second factors and their sessions.

pub(crate) mod rows;

use std::sync::Arc;

use diesel::prelude::*;
use kopeck_domain::ids::{PartnerId, SessionId, UploadId, UserId};
use kopeck_domain::user::UserLogin;
use kopeck_port_store::{StoreError, UserRecord, UserRepository, UserSessionRecord, UserUpload};
use time::OffsetDateTime;
use uuid::Uuid;

use self::rows::{RecoveryCodeRow, SessionRow, UploadRow, UserRow};
use crate::convert::{AsKey, natural};
use crate::dialect;
use crate::error::{Stored, StoredRows};
use crate::schema::{user_recovery_codes, user_sessions, user_uploads, users};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds};
use crate::transaction::DieselTransaction;

/// The identifier that stands for no partner in the keys of operators. No partner has it.
fn owner(partner: Option<PartnerId>) -> PartnerId {
    partner.unwrap_or(PartnerId::new(Uuid::nil()))
}

impl UserRepository for DieselTransaction {
    fn insert(&mut self, record: &UserRecord) -> Result<(), StoreError> {
        let row = UserRow::new(record, &*self.cipher)?;
        let connection = self.of(owner(record.user.partner))?;
        dialect::guarded(connection, |connection| statements::insert(connection, &[row])).stored()
    }

    fn by_login(&mut self, login: &UserLogin) -> Result<Option<UserRecord>, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        for digest in cipher.digests(rows::LOGIN, login.as_str().as_bytes()) {
            let found = users::table
                .filter(users::login_digest.eq(digest))
                .select(UserRow::as_select())
                .get_result(self.unlocked()?)
                .found(|row: UserRow| row.record(&*cipher))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn get(&mut self, partner: Option<PartnerId>, id: UserId) -> Result<Option<UserRecord>, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        users::table
            .find((owner(partner).key(), id.key()))
            .select(UserRow::as_select())
            .get_result(self.of(owner(partner))?)
            .found(|row: UserRow| row.record(&*cipher))
    }

    fn list(&mut self, partner: Option<PartnerId>) -> Result<Vec<UserRecord>, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        users::table
            .filter(users::partner_id.eq(owner(partner).key()))
            .order((users::created_at, users::id))
            .select(UserRow::as_select())
            .load(self.of(owner(partner))?)
            .all(|row: UserRow| row.record(&*cipher))
    }

    fn update(&mut self, record: &UserRecord) -> Result<(), StoreError> {
        let row = UserRow::new(record, &*self.cipher)?;
        let text =
            "UPDATE users SET role = ?, status = ?, password_hash = ?, initial_until = ?, totp_secret = ?,
            totp_step = ?, last_login_at = ? WHERE partner_id = ? AND id = ?";
        self.change(owner(record.user.partner), text, row.changes())
    }

    fn delete(&mut self, partner: Option<PartnerId>, id: UserId) -> Result<(), StoreError> {
        let owner = owner(partner);
        self.end_sessions(partner, id, None)?;
        for text in [
            "DELETE FROM user_recovery_codes WHERE partner_id = ? AND user_id = ?",
            "DELETE FROM user_uploads WHERE partner_id = ? AND user_id = ?",
            "DELETE FROM users WHERE partner_id = ? AND id = ?",
        ] {
            self.change(owner, text, binds![owner.key(), id.key()])?;
        }
        Ok(())
    }

    fn set_recovery_codes(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        digests: &[[u8; 32]],
    ) -> Result<(), StoreError> {
        let owner = owner(partner);
        let text = "DELETE FROM user_recovery_codes WHERE partner_id = ? AND user_id = ?";
        self.change(owner, text, binds![owner.key(), id.key()])?;
        let rows: Vec<_> = digests.iter().map(|digest| RecoveryCodeRow::new(owner, id, digest)).collect();
        statements::insert(self.of(owner)?, &rows).stored()
    }

    fn spend_recovery_code(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        digest: &[u8; 32],
    ) -> Result<bool, StoreError> {
        let owner = owner(partner);
        let text = "DELETE FROM user_recovery_codes WHERE partner_id = ? AND user_id = ? AND digest = ?";
        let values = binds![owner.key(), id.key(), &digest[..]];
        Ok(statements::execute(self.of(owner)?, text, values).stored()? > 0)
    }

    fn recovery_codes(&mut self, partner: Option<PartnerId>, id: UserId) -> Result<u64, StoreError> {
        let owner = owner(partner);
        let left: i64 = user_recovery_codes::table
            .filter(user_recovery_codes::partner_id.eq(owner.key()))
            .filter(user_recovery_codes::user_id.eq(id.key()))
            .count()
            .get_result(self.of(owner)?)
            .stored()?;
        natural(left, "user_recovery_codes")
    }

    fn insert_session(&mut self, session: &UserSessionRecord) -> Result<(), StoreError> {
        let row = SessionRow::new(session, &*self.cipher)?;
        statements::insert(self.of(owner(session.partner))?, &[row]).stored()
    }

    fn session(&mut self, token_digest: &[u8; 32]) -> Result<Option<UserSessionRecord>, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        user_sessions::table
            .filter(user_sessions::token_digest.eq(token_digest))
            .select(SessionRow::as_select())
            .get_result(self.unlocked()?)
            .found(|row: SessionRow| row.record(&*cipher))
    }

    fn sessions(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
    ) -> Result<Vec<UserSessionRecord>, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        user_sessions::table
            .filter(user_sessions::partner_id.eq(owner(partner).key()))
            .filter(user_sessions::user_id.eq(id.key()))
            .order((user_sessions::created_at, user_sessions::id))
            .select(SessionRow::as_select())
            .load(self.of(owner(partner))?)
            .all(|row: SessionRow| row.record(&*cipher))
    }

    fn touch_session(&mut self, session: &UserSessionRecord, at: OffsetDateTime) -> Result<(), StoreError> {
        let owner = owner(session.partner);
        let text = "UPDATE user_sessions SET last_used_at = ? WHERE partner_id = ? AND id = ?";
        self.change(owner, text, binds![UtcTimestamp::of(at), owner.key(), session.id.key()])
    }

    fn end_session(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        session: SessionId,
    ) -> Result<bool, StoreError> {
        let owner = owner(partner);
        let text = "DELETE FROM user_sessions WHERE partner_id = ? AND user_id = ? AND id = ?";
        let values = binds![owner.key(), id.key(), session.key()];
        Ok(statements::execute(self.of(owner)?, text, values).stored()? > 0)
    }

    fn end_sessions(
        &mut self,
        partner: Option<PartnerId>,
        id: UserId,
        kept: Option<SessionId>,
    ) -> Result<u64, StoreError> {
        let owner = owner(partner);
        let text = "DELETE FROM user_sessions WHERE partner_id = ? AND user_id = ? AND id <> ?";
        let kept = kept.map_or(Id(Uuid::nil()), |session| session.key());
        let values = binds![owner.key(), id.key(), kept];
        Ok(statements::execute(self.of(owner)?, text, values).stored()? as u64)
    }

    fn end_sessions_of(&mut self, partner: PartnerId) -> Result<u64, StoreError> {
        let text = "DELETE FROM user_sessions WHERE partner_id = ?";
        Ok(statements::execute(self.of(partner)?, text, binds![partner.key()]).stored()? as u64)
    }

    fn add_upload(&mut self, upload: &UserUpload, kept: u32) -> Result<(), StoreError> {
        let (owner, user) = (owner(upload.partner), upload.user.key());
        let row = UploadRow::new(upload, &*self.cipher)?;
        statements::insert(self.of(owner)?, &[row]).stored()?;
        let text = "DELETE FROM user_uploads WHERE partner_id = ? AND user_id = ? AND id NOT IN (
            SELECT id FROM user_uploads WHERE partner_id = ? AND user_id = ? ORDER BY created_at DESC, id DESC LIMIT ?)";
        self.change(owner, text, binds![owner.key(), user, owner.key(), user, i64::from(kept)])
    }

    fn upload(
        &mut self,
        partner: Option<PartnerId>,
        user: UserId,
        id: UploadId,
    ) -> Result<Option<UserUpload>, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        user_uploads::table
            .find((owner(partner).key(), id.key()))
            .filter(user_uploads::user_id.eq(user.key()))
            .select(UploadRow::as_select())
            .get_result(self.of(owner(partner))?)
            .found(|row: UploadRow| row.upload(&*cipher))
    }

    fn forget_expired(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let moment = UtcTimestamp::of(moment);
        let mut forgotten = 0;
        for table in ["user_sessions", "user_uploads"] {
            let old = format!("{table} WHERE expires_at < ? ORDER BY expires_at");
            let change = format!("DELETE FROM {table}");
            forgotten += u64::from(self.sweep(&change, "partner_id, id", &old, moment, limit)?);
        }
        Ok(forgotten)
    }
}
