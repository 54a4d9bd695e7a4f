//! The login call.

use kopeck_domain::ids::SessionId;
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::session::MAX_SESSIONS;
use kopeck_domain::throttle::{MAX_FAILURES, WINDOW, locked_for};
use kopeck_port_store::{Access, Credentials, Store, StoreError, UnitOfWork, transact};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use time::OffsetDateTime;

use super::{
    IssuedTokens, KnownPartner, LoginAttempt, LoginBody, NONCE_LIFE, TokenDesk, TokenError, api_key_hash,
};

/// What failures are counted by: the client's address and the login, as keyed digests.
type Subjects = Vec<[u8; 32]>;

impl TokenDesk {
    /// Refuses a client address with too many failures; to be asked before a body is opened.
    ///
    /// # Errors
    /// [`TokenError::TooMany`].
    pub fn check_address(&self, unit: &mut dyn UnitOfWork, address: &str) -> Result<(), TokenError> {
        check_throttle(unit, &vec![self.address_subject(address)], self.env.now())
    }

    /// Logs in. Blocks for the tens of milliseconds that a password takes, and for two units of work, whatever the
    /// outcome: a wrong API key, a wrong login, a wrong password and a suspended partner take the same steps.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn login(&self, store: &dyn Store, attempt: LoginAttempt) -> Result<IssuedTokens, TokenError> {
        let LoginAttempt { known, api_key, nonce, address, body } = attempt;
        let (login, password) = match body {
            LoginBody::Given { login, password } => (Some(login), password),
            LoginBody::Unreadable => (None, SecretString::from("")),
        };
        let mut subjects: Subjects = address.iter().map(|address| self.address_subject(address)).collect();
        subjects.extend(login.as_deref().map(|login| self.secrets.fingerprint("login", login.as_bytes())));

        let key_hash = api_key_hash(api_key.expose_secret());
        let now = self.env.now();
        let begin = subjects.clone();
        transact(store, Access::Write, move |unit| {
            check_throttle(unit, &begin, now)?;
            let fresh = unit.throttle().spend_nonce(&key_hash, &nonce, now, now - NONCE_LIFE)?;
            if fresh { Ok(()) } else { Err(TokenError::NonceSpent) }
        })?;

        let stored = known.as_ref().map(|known| known.credentials.password_hash.as_str());
        let password_fits = self.passwords.verify(&password, stored);
        let partner = known.filter(|known| password_fits & may_log_in(known, login.as_deref()));
        self.finish(store, partner, subjects)
    }

    /// Issues tokens to `partner`, or records the failure if there is none.
    ///
    /// The throttle is asked once more, so that many guesses sent at the same moment do not all slip past the first
    /// check; and in both cases, or a 429 among many 400s would tell which guess was right.
    fn finish(
        &self,
        store: &dyn Store,
        partner: Option<KnownPartner>,
        subjects: Subjects,
    ) -> Result<IssuedTokens, TokenError> {
        let now = self.env.now();
        let Some(known) = partner else {
            transact(store, Access::Write, move |unit| -> Result<(), TokenError> {
                check_throttle(unit, &subjects, now)?;
                for subject in &subjects {
                    unit.throttle().record_failure(subject, now)?;
                }
                Ok(())
            })?;
            return Err(TokenError::BadCredentials);
        };
        let partner = known.credentials.partner.id;
        let session = SessionId::new(self.env.ids.next_id());
        let (pair, issued) = self.issue(partner, session, now, now)?;
        transact(store, Access::Write, move |unit| -> Result<(), TokenError> {
            check_throttle(unit, &subjects, now)?;
            if !still_valid(unit, &known.credentials, now)? {
                return Err(TokenError::BadCredentials);
            }
            unit.sessions().insert(partner, session, now)?;
            unit.sessions().insert_pair(partner, session, &pair)?;
            unit.sessions().revoke_all_but(partner, MAX_SESSIONS)?;
            Ok(())
        })?;
        Ok(issued)
    }

    fn address_subject(&self, address: &str) -> [u8; 32] {
        self.secrets.fingerprint("address", address.as_bytes())
    }
}

fn check_throttle(
    unit: &mut dyn UnitOfWork,
    subjects: &Subjects,
    now: OffsetDateTime,
) -> Result<(), TokenError> {
    let limit = u32::try_from(MAX_FAILURES).unwrap_or(u32::MAX);
    for subject in subjects {
        let failures = unit.throttle().failures(subject, now - WINDOW, limit)?;
        if let Some(retry_after) = locked_for(&failures, now) {
            return Err(TokenError::TooMany { retry_after });
        }
    }
    Ok(())
}

/// Whether a login with these credentials may still begin a session. A suspension or a new password ends all sessions;
/// a login whose password was compared before that must not begin one after it.
fn still_valid(
    unit: &mut dyn UnitOfWork,
    checked: &Credentials,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    // Reading the partner first locks it, so neither can happen between this check and the new session.
    unit.partners().get(checked.partner.id)?;
    let current = unit.partners().by_api_key(&checked.api_key_hash, now)?;
    Ok(current.is_some_and(|current| {
        current.partner.status == PartnerStatus::Active && current.password_hash == checked.password_hash
    }))
}

/// Compares in constant time, and both conditions always.
fn may_log_in(known: &KnownPartner, login: Option<&str>) -> bool {
    let partner = &known.credentials.partner;
    let same = partner.login.as_bytes().ct_eq(login.unwrap_or_default().as_bytes());
    bool::from(same) & (partner.status == PartnerStatus::Active)
}

#[cfg(test)]
mod tests;
