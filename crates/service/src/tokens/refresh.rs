//! Token refresh.

use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_security::TokenKind;
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{StoredPair, UnitOfWork};

use super::login::record_failures;
use super::rotation::{RefreshDecision, refresh};
use super::{ApiKeyOwner, IssuedTokens, NONCE_LIFE, RefreshOutcome, TokenError, TokenService, api_key_hash};

impl TokenService {
    /// Exchanges a refresh token for a new pair. A refused token counts as a failure of `address`, not of the partner:
    /// a partner that is locked out of logins may still refresh.
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
        let outcome = self.exchange(unit, known, token)?;
        if !matches!(outcome, RefreshOutcome::Issued(_)) {
            record_failures(unit, &self.address_subjects(address), now)?;
        }
        Ok(outcome)
    }

    fn exchange(
        &self,
        unit: &mut dyn UnitOfWork,
        known: Option<&ApiKeyOwner>,
        token: &str,
    ) -> Result<RefreshOutcome, TokenError> {
        let claims = match self.verify_kind(token, TokenKind::Refresh) {
            Ok(claims) => claims,
            Err(TokenError::Unauthorized) => return Ok(RefreshOutcome::Refused),
            Err(error) => return Err(error),
        };
        let active =
            known.map(|known| &known.credentials.partner).filter(|p| p.status == PartnerStatus::Active);
        let Some(partner) = active.map(|partner| partner.id).filter(|id| *id == claims.partner) else {
            return Ok(RefreshOutcome::Refused);
        };
        let Some(stored) = unit.sessions().pair(partner, claims.pair)? else {
            return Ok(RefreshOutcome::Refused);
        };
        if self.session_is_over(&stored) || stored.session != claims.session {
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
        let StoredPair { session, session_started_at, session_revoked: _, pair } = stored;
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
