//! Logins and token pairs.

use std::cmp::Reverse;

use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_port_store::session::TokenPair;
use kopeck_port_store::{Rule, SessionRepository, StoreError, StoredPair};
use time::OffsetDateTime;

use super::{Unit, amount};

#[derive(Clone)]
pub(super) struct SessionRow {
    partner: PartnerId,
    id: SessionId,
    created_at: OffsetDateTime,
    /// When its last refresh token ends.
    expires_at: OffsetDateTime,
    revoked: bool,
}

#[derive(Clone)]
pub(super) struct PairRow {
    partner: PartnerId,
    session: SessionId,
    pair: TokenPair,
}

impl SessionRepository for Unit {
    fn insert(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        state.sessions.push(SessionRow {
            partner,
            id: session,
            created_at: at,
            expires_at: at,
            revoked: false,
        });
        Ok(())
    }

    fn revoke(&mut self, partner: PartnerId, session: SessionId) -> Result<(), StoreError> {
        let sessions = self.writing()?.sessions.iter_mut();
        for row in sessions.filter(|row| row.partner == partner && row.id == session) {
            row.revoked = true;
        }
        Ok(())
    }

    fn insert_pair(
        &mut self,
        partner: PartnerId,
        session: SessionId,
        pair: &TokenPair,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        let mut sessions = state.sessions.iter_mut();
        let of_pair = sessions.find(|row| row.partner == partner && row.id == session);
        let row = of_pair.ok_or(StoreError::Conflict(Rule::Reference))?;
        row.expires_at = row.expires_at.max(pair.refresh_expires_at);
        state.token_pairs.push(PairRow { partner, session, pair: pair.clone() });
        Ok(())
    }

    fn pair(&mut self, partner: PartnerId, pair: TokenPairId) -> Result<Option<StoredPair>, StoreError> {
        let mut pairs = self.state.token_pairs.iter();
        let Some(row) = pairs.find(|row| row.partner == partner && row.pair.id == pair) else {
            return Ok(None);
        };
        let mut sessions = self.state.sessions.iter();
        let session = sessions.find(|session| session.partner == partner && session.id == row.session);
        Ok(session.map(|session| StoredPair {
            session: session.id,
            session_started_at: session.created_at,
            session_revoked: session.revoked,
            pair: row.pair.clone(),
        }))
    }

    fn update_pair(&mut self, partner: PartnerId, pair: &TokenPair) -> Result<(), StoreError> {
        let pairs = self.writing()?.token_pairs.iter_mut();
        for row in pairs.filter(|row| row.partner == partner && row.pair.id == pair.id) {
            row.pair = TokenPair { refresh_expires_at: row.pair.refresh_expires_at, ..pair.clone() };
        }
        Ok(())
    }

    fn revoke_all_but(&mut self, partner: PartnerId, keep: u32) -> Result<u64, StoreError> {
        let sessions = self.writing()?.sessions.iter_mut();
        let mut active: Vec<_> = sessions.filter(|row| row.partner == partner && !row.revoked).collect();
        active.sort_by_key(|row| Reverse((row.created_at, row.id)));
        let old = active.into_iter().skip(amount(keep));
        Ok(old.map(|row| row.revoked = true).count() as u64)
    }

    fn active(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<u64, StoreError> {
        let own = self.state.sessions.iter().filter(|row| row.partner == partner);
        Ok(own.filter(|row| !row.revoked && row.expires_at > now).count() as u64)
    }

    fn forget_expired(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let state = self.writing()?;
        let mut room = amount(limit);
        let before = room;
        state.token_pairs.retain(|row| keep(row.pair.refresh_expires_at >= moment, &mut room));
        let (sessions, pairs) = (&mut state.sessions, &state.token_pairs);
        sessions.retain(|row| {
            let of_session = |pair: &PairRow| pair.partner == row.partner && pair.session == row.id;
            keep(row.expires_at >= moment || pairs.iter().any(of_session), &mut room)
        });
        Ok((before - room) as u64)
    }
}

/// Whether a row stays: because it must, or because there is no more room among those that go.
pub(super) fn keep(must_stay: bool, room: &mut usize) -> bool {
    if must_stay || *room == 0 {
        return true;
    }
    *room -= 1;
    false
}
