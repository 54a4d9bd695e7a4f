//! Authentication by access token.

use kopeck_domain::partner::PartnerStatus;
use kopeck_port_security::{TokenClaims, TokenKind};
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{StoreError, StoredPair, UnitOfWork};
use time::Duration;

use super::{Caller, TokenError, TokenService};

/// How exactly the last use of a session is recorded: not every request costs a write.
const USE_ACCURACY: Duration = Duration::MINUTE;

impl TokenService {
    /// The claims of a valid access token. [`Self::session`] checks whether it was revoked.
    ///
    /// # Errors
    /// [`TokenError::Unauthorized`].
    pub fn verify(&self, access_token: &str) -> Result<TokenClaims, TokenError> {
        self.verify_kind(access_token, TokenKind::Access)
    }

    /// The partner behind `claims`, unless it is suspended or the token, or the scoped credential, was revoked.
    ///
    /// # Errors
    /// [`TokenError::Unauthorized`].
    pub fn session(&self, unit: &mut dyn UnitOfWork, claims: &TokenClaims) -> Result<Caller, TokenError> {
        let partner = unit
            .partners()
            .get(claims.partner)?
            .filter(|partner| partner.status == PartnerStatus::Active)
            .ok_or(TokenError::Unauthorized)?;
        let stored = self.live_pair(unit, claims)?;
        let (keys, credential) = match stored.credential {
            None => (self.accepted_keys(unit, partner.id)?, None),
            Some(id) => {
                let record = unit.credentials().get(partner.id, id)?;
                let record = record.filter(|record| record.credential.revoked_at.is_none());
                let record = record.ok_or(TokenError::Unauthorized)?;
                (vec![self.credential_key(partner.id, &record)?], Some(record.credential))
            }
        };
        let last = stored.session_used_at;
        Ok(Caller {
            partner: partner.id,
            sealing: partner.sealing,
            keys,
            credential,
            pair_used: stored.pair.used,
            is_use_due: last.is_none_or(|at| self.env.now() - at >= USE_ACCURACY),
        })
    }

    /// Records a use of the session of `claims` from this address, for the list of sessions.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn touch(
        &self,
        unit: &mut dyn UnitOfWork,
        claims: &TokenClaims,
        address: Option<&str>,
    ) -> Result<(), StoreError> {
        unit.sessions().touch(claims.partner, claims.session, self.env.now(), address)
    }

    /// Records the first use of a token of the pair: from now on the refresh token before it is no longer accepted.
    ///
    /// # Errors
    /// [`TokenError::Unauthorized`] if the token was revoked since.
    pub fn mark_used(&self, unit: &mut dyn UnitOfWork, claims: &TokenClaims) -> Result<(), TokenError> {
        let stored = self.live_pair(unit, claims)?;
        if !stored.pair.used {
            unit.sessions().update_pair(claims.partner, &TokenPair { used: true, ..stored.pair })?;
        }
        Ok(())
    }

    fn live_pair(&self, unit: &mut dyn UnitOfWork, claims: &TokenClaims) -> Result<StoredPair, TokenError> {
        unit.sessions()
            .pair(claims.partner, claims.pair)?
            .filter(|stored| {
                stored.session == claims.session
                    && !self.session_is_over(stored)
                    && stored.pair.state != PairState::Revoked
            })
            .ok_or(TokenError::Unauthorized)
    }
}

#[cfg(test)]
mod tests;
