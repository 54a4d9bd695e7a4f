//! Logins and token pairs.

use diesel::prelude::*;
use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_port_store::session::TokenPair;
use kopeck_port_store::{SessionRepository, StoreError, StoredPair};
use time::OffsetDateTime;

use crate::convert::{AsKey, natural, word};
use crate::error::Stored;
use crate::schema::{sessions, token_pairs};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
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
        session_revoked: bool,
    ) -> Result<StoredPair, StoreError> {
        let successor = self.successor.map(Id::to);
        Ok(StoredPair {
            session: self.session_id.to(),
            session_started_at: session_started_at.time("sessions.created_at")?,
            session_revoked,
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
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "INSERT INTO sessions (partner_id, id, created_at, expires_at, revoked) VALUES (?, ?, ?, ?, false)";
        let at = UtcTimestamp::of(at);
        self.change(partner, text, binds![partner.key(), session.key(), at, at])
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
            .select((PairRow::as_select(), sessions::created_at, sessions::revoked))
            .get_result(self.of(partner)?)
            .found(|(row, started_at, revoked): (PairRow, _, _)| row.stored_pair(started_at, revoked))
    }

    fn update_pair(&mut self, partner: PartnerId, pair: &TokenPair) -> Result<(), StoreError> {
        let successor = pair.successor.map(|id| id.key());
        let text = "UPDATE token_pairs SET state = ?, used = ?, successor = ?, reissued = ?
            WHERE partner_id = ? AND id = ?";
        let (key, state) = (partner.key(), pair.state.as_str());
        self.change(partner, text, binds![state, pair.used, successor, pair.reissued, key, pair.id.key()])
    }

    fn revoke_all_but(&mut self, partner: PartnerId, keep: u32) -> Result<u64, StoreError> {
        let text = "
            UPDATE sessions SET revoked = true
            WHERE partner_id = ? AND revoked = false AND id NOT IN (
                SELECT id FROM sessions WHERE partner_id = ? AND revoked = false
                ORDER BY created_at DESC, id DESC LIMIT ?
            )";
        let values = binds![partner.key(), partner.key(), i64::from(keep)];
        let revoked = statements::execute(self.of(partner)?, text, values).stored()?;
        Ok(revoked as u64)
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
