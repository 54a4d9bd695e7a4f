//! Logins and token pairs.

use diesel::prelude::*;
use kopeck_domain::ids::{CredentialId, PartnerId, SessionId, TokenPairId};
use kopeck_port_store::session::{SessionHolder, SessionOverview, TokenPair};
use kopeck_port_store::{SessionRepository, StoreError, StoredPair};
use time::OffsetDateTime;

use crate::convert::{AsKey, natural, word};
use crate::error::{Stored, StoredRows};
use crate::schema::{sessions, token_pairs};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, Bind, binds, row};
use crate::transaction::DieselTransaction;

#[derive(Queryable, Selectable)]
#[diesel(table_name = token_pairs)]
struct PairRow {
    partner_id: Id,
    id: Id,
    session_id: Id,
    state: String,
    used: bool,
    successor: Option<Id>,
    reissued: bool,
    refresh_expires_at: UtcTimestamp,
}

row!(PairRow, token_pairs: partner_id, id, session_id, state, used, successor, reissued, refresh_expires_at);

impl PairRow {
    fn new(partner: PartnerId, session: SessionId, pair: &TokenPair) -> Self {
        Self {
            partner_id: partner.key(),
            id: pair.id.key(),
            session_id: session.key(),
            state: pair.state.as_str().to_owned(),
            used: pair.used,
            successor: pair.successor.map(|id| id.key()),
            reissued: pair.reissued,
            refresh_expires_at: UtcTimestamp::of(pair.refresh_expires_at),
        }
    }

    fn stored_pair(
        self,
        session_started_at: UtcTimestamp,
        session_used_at: Option<UtcTimestamp>,
        session_revoked: bool,
        credential: Option<Id>,
    ) -> Result<StoredPair, StoreError> {
        let successor = self.successor.map(Id::to);
        Ok(StoredPair {
            session: self.session_id.to(),
            session_started_at: session_started_at.time("sessions.created_at")?,
            session_used_at: UtcTimestamp::optional(session_used_at, "sessions.last_used_at")?,
            session_revoked,
            credential: credential.map(Id::to),
            pair: TokenPair {
                id: self.id.to(),
                state: word(&self.state, "token_pairs.state")?,
                used: self.used,
                successor,
                reissued: self.reissued,
                refresh_expires_at: self.refresh_expires_at.time("token_pairs.refresh_expires_at")?,
            },
        })
    }
}

impl SessionRepository for DieselTransaction {
    fn insert(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        credential: Option<CredentialId>,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "INSERT INTO sessions (partner_id, id, created_at, expires_at, revoked, credential_id)
            VALUES (?, ?, ?, ?, false, ?)";
        let (at, credential) = (UtcTimestamp::of(at), credential.map(|id| id.key()));
        self.change(partner, text, binds![partner.key(), session.key(), at, at, credential])
    }

    fn revoke(&mut self, partner: PartnerId, session: SessionId) -> Result<(), StoreError> {
        let text = "UPDATE sessions SET revoked = true WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![partner.key(), session.key()])
    }

    fn insert_pair(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        pair: &TokenPair,
    ) -> Result<(), StoreError> {
        let row = PairRow::new(partner, session, pair);
        let end = row.refresh_expires_at;
        let text = "UPDATE sessions SET expires_at = ? WHERE partner_id = ? AND id = ? AND expires_at < ?";
        self.change(partner, text, binds![end, partner.key(), session.key(), end])?;
        statements::insert(self.of(partner)?, &[row]).stored()
    }

    fn pair(&mut self, partner: PartnerId, pair: TokenPairId) -> Result<Option<StoredPair>, StoreError> {
        let joined =
            token_pairs::partner_id.eq(sessions::partner_id).and(token_pairs::session_id.eq(sessions::id));
        token_pairs::table
            .inner_join(sessions::table.on(joined))
            .filter(token_pairs::partner_id.eq(partner.key()))
            .filter(token_pairs::id.eq(pair.key()))
            .select((
                PairRow::as_select(),
                sessions::created_at,
                sessions::last_used_at,
                sessions::revoked,
                sessions::credential_id,
            ))
            .get_result(self.of(partner)?)
            .found(|(row, started_at, used_at, revoked, credential): (PairRow, _, _, _, _)| {
                row.stored_pair(started_at, used_at, revoked, credential)
            })
    }

    fn update_pair(&mut self, partner: PartnerId, pair: &TokenPair) -> Result<(), StoreError> {
        let successor = pair.successor.map(|id| id.key());
        let text = "UPDATE token_pairs SET state = ?, used = ?, successor = ?, reissued = ?
            WHERE partner_id = ? AND id = ?";
        let (key, state) = (partner.key(), pair.state.as_str());
        self.change(partner, text, binds![state, pair.used, successor, pair.reissued, key, pair.id.key()])
    }

    fn revoke_all_but(
        &mut self,
        partner: PartnerId,
        holder: SessionHolder,
        keep: u32,
    ) -> Result<u64, StoreError> {
        let (whose, credential) = match holder {
            SessionHolder::Anyone => ("", None),
            SessionHolder::Login => ("AND credential_id IS NULL", None),
            SessionHolder::Credential(id) => ("AND credential_id = ?", Some(id.key())),
        };
        let text = format!(
            "UPDATE sessions SET revoked = true
            WHERE partner_id = ? AND revoked = false {whose} AND id NOT IN (
                SELECT id FROM sessions WHERE partner_id = ? AND revoked = false {whose}
                ORDER BY created_at DESC, id DESC LIMIT ?
            )"
        );
        let of_holder = || binds![partner.key()].into_iter().chain(credential.map(Bind::from));
        let values = of_holder().chain(of_holder()).chain(binds![i64::from(keep)]).collect();
        let revoked = statements::execute(self.of(partner)?, &text, values).stored()?;
        Ok(revoked as u64)
    }

    fn revoke_others(&mut self, partner: PartnerId, keep: SessionId) -> Result<u64, StoreError> {
        let text = "
            UPDATE sessions SET revoked = true
            WHERE partner_id = ? AND revoked = false AND id <> ? AND credential_id IS NOT DISTINCT FROM (
                SELECT credential_id FROM sessions WHERE partner_id = ? AND id = ?
            )";
        let values = binds![partner.key(), keep.key(), partner.key(), keep.key()];
        Ok(statements::execute(self.of(partner)?, text, values).stored()? as u64)
    }

    fn touch(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        at: OffsetDateTime,
        address: Option<&str>,
    ) -> Result<(), StoreError> {
        let text = "UPDATE sessions SET last_used_at = ?, address = ?
            WHERE partner_id = ? AND id = ? AND (last_used_at IS NULL OR last_used_at < ?)";
        let at = UtcTimestamp::of(at);
        self.change(partner, text, binds![at, address, partner.key(), session.key(), at])
    }

    fn list(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        now: OffsetDateTime,
    ) -> Result<Vec<SessionOverview>, StoreError> {
        let of_login = || sessions::table.filter(sessions::partner_id.eq(partner.key()));
        let login: Option<Option<Id>> = of_login()
            .filter(sessions::id.eq(session.key()))
            .select(sessions::credential_id)
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        let Some(login) = login else { return Ok(Vec::new()) };
        let mut query = of_login()
            .filter(sessions::revoked.eq(false))
            .filter(sessions::expires_at.gt(UtcTimestamp::of(now)))
            .order((sessions::created_at, sessions::id))
            .select((sessions::id, sessions::created_at, sessions::last_used_at, sessions::address))
            .into_boxed();
        query = match login {
            Some(credential) => query.filter(sessions::credential_id.eq(credential)),
            None => query.filter(sessions::credential_id.is_null()),
        };
        query.load(self.of(partner)?).all(|(id, created_at, used_at, address): (Id, UtcTimestamp, _, _)| {
            Ok(SessionOverview {
                id: id.to(),
                created_at: created_at.time("sessions.created_at")?,
                last_used_at: UtcTimestamp::optional(used_at, "sessions.last_used_at")?,
                address,
            })
        })
    }

    fn active(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<u64, StoreError> {
        let active: i64 = sessions::table
            .filter(sessions::partner_id.eq(partner.key()))
            .filter(sessions::revoked.eq(false))
            .filter(sessions::expires_at.gt(UtcTimestamp::of(now)))
            .count()
            .get_result(self.of(partner)?)
            .stored()?;
        natural(active, "sessions")
    }

    fn forget_expired(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let moment = UtcTimestamp::of(moment);
        let key = "partner_id, id";
        let old = "token_pairs WHERE refresh_expires_at < ? ORDER BY refresh_expires_at";
        let pairs = self.sweep("DELETE FROM token_pairs", key, old, moment, limit)?;
        // A session past its end has none but expired pairs, so looking at those past it is enough.
        let old = "sessions s WHERE expires_at < ? AND NOT EXISTS (
                SELECT 1 FROM token_pairs p WHERE p.partner_id = s.partner_id AND p.session_id = s.id
            ) ORDER BY expires_at";
        let sessions = self.sweep("DELETE FROM sessions", key, old, moment, limit - pairs)?;
        Ok(u64::from(pairs + sessions))
    }
}
