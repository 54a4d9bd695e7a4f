//! Token refresh.

use kopeck_domain::ids::{PartnerId, SessionId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_security::{TokenClaims, TokenKind};
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{StoredPair, UnitOfWork};

use super::login::record_failures;
use super::rotation::{RefreshDecision, refresh};
use super::throttle::WINDOW;
use super::{ApiKeyOwner, IssuedTokens, NONCE_LIFE, RefreshOutcome, TokenError, TokenService, api_key_hash};

/// The most refusals of a session's tokens within the window that count as one. Further ones count singly, so that a
/// stolen token cannot make the service work without end.
const BURST: u32 = 100;

impl TokenService {
    /// Exchanges a refresh token for a new pair. A refused token counts as a failure of `address`, not of the partner:
    /// a partner that is locked out of logins may still refresh. The tokens of one session count as one failure.
    ///
    /// # Errors
    /// [`TokenError::TooMany`], [`TokenError::NonceSpent`], or the failure of a port. A token that is not accepted is
    /// no error but [`RefreshOutcome::Refused`], because the revocation that may come with it has to be committed.
    pub fn refresh(
        &self,
        unit: &mut dyn UnitOfWork,
        known: Option<&ApiKeyOwner>,
        api_key: &str,
        nonce: &str,
        token: &str,
        address: Option<&str>,
    ) -> Result<RefreshOutcome, TokenError> {
        let now = self.env.settled();
        self.check_address(unit, address)?;
        if !unit.throttle().spend_nonce(&api_key_hash(api_key), nonce, now, now - NONCE_LIFE)? {
            return Err(TokenError::NonceSpent);
        }
        let claims = match self.verify_kind(token, TokenKind::Refresh) {
            Ok(claims) => Some(claims),
            Err(TokenError::Unauthorized) => None,
            Err(error) => return Err(error),
        };
        let outcome = match &claims {
            Some(claims) => self.exchange(unit, known, claims)?,
            None => RefreshOutcome::Refused,
        };
        if !matches!(outcome, RefreshOutcome::Issued(_)) {
            let is_owner = |claims: &TokenClaims| {
                known.is_some_and(|known| known.credentials.partner.id == claims.partner)
            };
            let session = claims.filter(is_owner).map(|claims| claims.session);
            self.count_refusal(unit, session, address)?;
        }
        Ok(outcome)
    }

    /// Counts a refused token for the address. `session` is that of a token which the service signed for the owner of the
    /// API key: such a token is no guess. A client whose threads refresh with one token at once presents it many times, so
    /// the refusals of a session count as one within the window, up to [`BURST`].
    fn count_refusal(
        &self,
        unit: &mut dyn UnitOfWork,
        session: Option<SessionId>,
        address: Option<&str>,
    ) -> Result<(), TokenError> {
        let (subjects, now) = (self.address_subjects(address), self.env.settled());
        if let (Some(session), Some(_)) = (session, address) {
            let session = self.secrets.fingerprint("session", session.to_string().as_bytes());
            let before = unit.throttle().failures(&session, now - WINDOW, BURST)?.len();
            unit.throttle().record_failure(&session, now)?;
            if (1..BURST as usize).contains(&before) {
                return Ok(());
            }
        }
        record_failures(unit, &subjects, now)
    }

    fn exchange(
        &self,
        unit: &mut dyn UnitOfWork,
        known: Option<&ApiKeyOwner>,
        claims: &TokenClaims,
    ) -> Result<RefreshOutcome, TokenError> {
        let active =
            known.map(|known| &known.credentials.partner).filter(|p| p.status == PartnerStatus::Active);
        let Some(partner) = active.map(|partner| partner.id).filter(|id| *id == claims.partner) else {
            return Ok(RefreshOutcome::Refused);
        };
        let Some(stored) = unit.sessions().pair(partner, claims.pair)? else {
            return Ok(RefreshOutcome::Refused);
        };
        let is_own = stored.credential == known.and_then(ApiKeyOwner::credential_id);
        if self.session_is_over(&stored) || stored.session != claims.session || !is_own {
            return Ok(RefreshOutcome::Refused);
        }
        let successor = match stored.pair.successor {
            Some(id) => unit.sessions().pair(partner, id)?.map(|stored| stored.pair),
            None => None,
        };
        match refresh(&stored.pair, successor.as_ref(), self.env.now()) {
            RefreshDecision::Refuse => Ok(RefreshOutcome::Refused),
            RefreshDecision::RevokeSession => {
                unit.sessions().revoke(partner, stored.session)?;
                log::warn!(partner:% = partner; "a spent refresh token was reused: its session is revoked");
                Ok(RefreshOutcome::Revoked(stored.session))
            }
            RefreshDecision::Rotate => self.rotate(unit, partner, stored, false).map(RefreshOutcome::Issued),
            RefreshDecision::Reissue => {
                if let Some(lost) = successor {
                    unit.sessions().update_pair(partner, &TokenPair { state: PairState::Revoked, ..lost })?;
                }
                self.rotate(unit, partner, stored, true).map(RefreshOutcome::Issued)
            }
        }
    }

    /// Spends the pair and issues its successor.
    fn rotate(
        &self,
        unit: &mut dyn UnitOfWork,
        partner: PartnerId,
        stored: StoredPair,
        reissued: bool,
    ) -> Result<IssuedTokens, TokenError> {
        let StoredPair { session, session_started_at, pair, .. } = stored;
        let (next, issued) = self.issue(partner, session, session_started_at, self.env.now())?;
        unit.sessions().insert_pair(partner, session, &next)?;
        let spent =
            TokenPair { state: PairState::Spent, used: true, successor: Some(next.id), reissued, ..pair };
        unit.sessions().update_pair(partner, &spent)?;
        Ok(issued)
    }
}

#[cfg(test)]
mod tests;
