//! Logins and token pairs.

use diesel::prelude::*;
use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_port_store::session::TokenPair;
use kopeck_port_store::{SessionRepository, StoreError, StoredPair};
use time::OffsetDateTime;

use crate::convert::{AsKey, word};
use crate::error::Stored;
use crate::schema::{sessions, token_pairs};
use crate::sql_types::{Id, UtcTimestamp};
use crate::transaction::DieselTransaction;
use crate::update::update;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = token_pairs, treat_none_as_default_value = false)]
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
        diesel::insert_into(sessions::table)
            .values((
                sessions::partner_id.eq(partner.key()),
                sessions::id.eq(session.key()),
                sessions::created_at.eq(UtcTimestamp::of(at)),
                sessions::expires_at.eq(UtcTimestamp::of(at)),
                sessions::revoked.eq(false),
            ))
            .execute(self.of(partner)?)
            .done()
    }

    fn revoke(&mut self, partner: PartnerId, session: SessionId) -> Result<(), StoreError> {
        update(sessions::table.find((partner.key(), session.key())))
            .set(sessions::revoked.eq(true))
            .execute(self.of(partner)?)
            .done()
    }

    fn insert_pair(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        pair: &TokenPair,
    ) -> Result<(), StoreError> {
        let row = PairRow::new(partner, session, pair);
        let earlier = sessions::table
            .find((partner.key(), session.key()))
            .filter(sessions::expires_at.lt(row.refresh_expires_at));
        update(earlier)
            .set(sessions::expires_at.eq(row.refresh_expires_at))
            .execute(self.of(partner)?)
            .stored()?;
        diesel::insert_into(token_pairs::table).values(row).execute(self.of(partner)?).done()
    }

    fn pair(&mut self, partner: PartnerId, pair: TokenPairId) -> Result<Option<StoredPair>, StoreError> {
        let joined =
            token_pairs::partner_id.eq(sessions::partner_id).and(token_pairs::session_id.eq(sessions::id));
        let found: Option<(PairRow, UtcTimestamp, bool)> = token_pairs::table
            .inner_join(sessions::table.on(joined))
            .filter(token_pairs::partner_id.eq(partner.key()))
            .filter(token_pairs::id.eq(pair.key()))
            .select((PairRow::as_select(), sessions::created_at, sessions::revoked))
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        found.map(|(row, started_at, revoked)| row.stored_pair(started_at, revoked)).transpose()
    }

    fn update_pair(&mut self, partner: PartnerId, pair: &TokenPair) -> Result<(), StoreError> {
        update(token_pairs::table.find((partner.key(), pair.id.key())))
            .set((
                token_pairs::state.eq(pair.state.as_str()),
                token_pairs::used.eq(pair.used),
                token_pairs::successor.eq(pair.successor.map(|id| id.key())),
                token_pairs::reissued.eq(pair.reissued),
            ))
            .execute(self.of(partner)?)
            .done()
    }

    fn revoke_all_but(&mut self, partner: PartnerId, keep: u32) -> Result<u64, StoreError> {
        let active = || {
            sessions::table.filter(sessions::partner_id.eq(partner.key())).filter(sessions::revoked.eq(false))
        };
        let newest: Option<(UtcTimestamp, Id)> = active()
            .order((sessions::created_at.desc(), sessions::id.desc()))
            .select((sessions::created_at, sessions::id))
            .limit(1)
            .offset(i64::from(keep))
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        let Some((started_at, id)) = newest else { return Ok(0) };
        let of_same_moment = sessions::created_at.eq(started_at).and(sessions::id.le(id));
        update(active().filter(sessions::created_at.lt(started_at).or(of_same_moment)))
            .set(sessions::revoked.eq(true))
            .execute(self.of(partner)?)
            .stored()
            .map(|rows| rows as u64)
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
