//! Login.

use crate::tokens::throttle;
use kopeck_domain::ids::{CredentialId, PartnerId, SessionId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use time::OffsetDateTime;

use super::{
    ApiKeyOwner, IssuedTokens, LoginAttempt, LoginBody, NONCE_LIFE, TokenError, TokenService, api_key_hash,
};

/// How many sessions a login can have at once. A login beyond that revokes the oldest one.
const MAX_SESSIONS: u32 = 1_000;

/// The subjects of the throttle, as keyed digests.
type Subjects = Vec<[u8; 32]>;

impl TokenService {
    /// Refuses a network address with too many failures. Call it first in a token request.
    ///
    /// # Errors
    /// [`TokenError::TooMany`].
    pub fn check_address(&self, unit: &mut dyn UnitOfWork, address: Option<&str>) -> Result<(), TokenError> {
        check_throttle(unit, &self.address_subjects(address), self.env.settled())
    }

    /// Counts a failure for a network address alone.
    ///
    /// # Errors
    /// [`TokenError::TooMany`] if there are too many already: of many concurrent failures ten count.
    pub fn count_failure(&self, unit: &mut dyn UnitOfWork, address: Option<&str>) -> Result<(), TokenError> {
        count_failure(unit, &self.address_subjects(address), self.env.settled())
    }

    /// Logs in. Blocks for the tens of milliseconds that a password takes, and for two units of work, whatever the
    /// outcome: a wrong API key, a wrong login, a wrong password and a suspended partner take the same steps.
    ///
    /// # Errors
    /// [`TokenError`].
    pub fn login(&self, store: &dyn Store, attempt: LoginAttempt) -> Result<IssuedTokens, TokenError> {
        let LoginAttempt { owner, api_key, nonce, address, client, body } = attempt;
        let is_failure = !matches!(body, LoginBody::Faulty);
        // A body with a 422 does not spend its nonce. Under a wrong API key that would tell the two apart.
        let spends_nonce = owner.is_none() || matches!(body, LoginBody::Credentials { .. });
        let (login, password) = match body {
            LoginBody::Credentials { login, password } => (Some(login), password),
            LoginBody::Unreadable | LoginBody::Faulty => (None, SecretString::from("")),
        };
        let key_hash = api_key_hash(api_key.expose_secret());
        let mut subjects = self.address_subjects(address.as_deref());
        subjects.push(self.partner_subject(owner.as_ref(), &key_hash, &nonce));
        let now = self.env.settled();
        let begin = subjects.clone();
        transact(store, Access::Write, move |unit| {
            check_throttle(unit, &begin, now)?;
            let fresh =
                !spends_nonce || unit.throttle().spend_nonce(&key_hash, &nonce, now, now - NONCE_LIFE)?;
            if fresh { Ok(()) } else { Err(TokenError::NonceSpent) }
        })?;

        let stored = owner.as_ref().map(|owner| owner.credentials.password_hash.as_str());
        let password_fits = self.passwords.verify(&password, stored);
        if !is_failure {
            return Err(TokenError::BadCredentials);
        }
        let partner = owner.filter(|owner| password_fits & may_log_in(owner, login.as_deref()));
        self.finish(store, partner, client, subjects)
    }

    /// Issues tokens to `partner`, or records the failure if there is none.
    ///
    /// Checks the throttle again, so that concurrent guesses do not all pass the first check. It does so in both cases,
    /// or a 429 among many 400s would reveal the right guess.
    fn finish(
        &self,
        store: &dyn Store,
        partner: Option<ApiKeyOwner>,
        client: Option<String>,
        subjects: Subjects,
    ) -> Result<IssuedTokens, TokenError> {
        let (now, settled) = (self.env.now(), self.env.settled());
        let Some(owner) = partner else {
            transact(store, Access::Write, move |unit| count_failure(unit, &subjects, settled))?;
            return Err(TokenError::BadCredentials);
        };
        let partner = owner.credentials.partner.id;
        let session = SessionId::new(self.env.ids.next_id());
        let (pair, issued) = self.issue(partner, session, now, now)?;
        transact(store, Access::Write, move |unit| -> Result<(), TokenError> {
            check_throttle(unit, &subjects, settled)?;
            if !still_valid(unit, &owner, now)? {
                return Err(TokenError::BadCredentials);
            }
            let credential = owner.credential_id();
            unit.sessions().insert(partner, session, credential, now)?;
            unit.sessions().insert_pair(partner, session, &pair)?;
            unit.sessions().touch(partner, session, now, client.as_deref())?;
            unit.sessions().revoke_all_but(partner, credential.into(), MAX_SESSIONS)?;
            Ok(())
        })?;
        Ok(issued)
    }

    pub(super) fn address_subjects(&self, address: Option<&str>) -> Subjects {
        address.map(|address| self.secrets.fingerprint("address", address.as_bytes())).into_iter().collect()
    }

    /// The throttle's subject of who logs in: failures of a scoped credential do not lock the partner out.
    pub(super) fn holder_fingerprint(
        &self,
        partner: PartnerId,
        credential: Option<CredentialId>,
    ) -> [u8; 32] {
        match credential {
            Some(id) => self.secrets.fingerprint("credential", id.to_string().as_bytes()),
            None => self.secrets.fingerprint("partner", partner.to_string().as_bytes()),
        }
    }

    /// The throttle's subject: the owner of the API key, or for a wrong key this attempt alone, which takes the same steps
    /// and locks no partner out.
    fn partner_subject(&self, owner: Option<&ApiKeyOwner>, key_hash: &[u8; 32], nonce: &str) -> [u8; 32] {
        match owner {
            Some(owner) => self.holder_fingerprint(owner.credentials.partner.id, owner.credential_id()),
            None => self.secrets.fingerprint("attempt", &[key_hash.as_slice(), nonce.as_bytes()].concat()),
        }
    }
}

pub(super) fn count_failure(
    unit: &mut dyn UnitOfWork,
    subjects: &Subjects,
    now: OffsetDateTime,
) -> Result<(), TokenError> {
    check_throttle(unit, subjects, now)?;
    record_failures(unit, subjects, now)
}

pub(super) fn record_failures(
    unit: &mut dyn UnitOfWork,
    subjects: &Subjects,
    now: OffsetDateTime,
) -> Result<(), TokenError> {
    Ok(throttle::record(unit, subjects, now)?)
}

pub(super) fn check_throttle(
    unit: &mut dyn UnitOfWork,
    subjects: &Subjects,
    now: OffsetDateTime,
) -> Result<(), TokenError> {
    match throttle::locked_subject(unit, subjects, throttle::MAX_FAILURES, now)? {
        Some(retry_after) => Err(TokenError::TooMany { retry_after }),
        None => Ok(()),
    }
}

/// Whether the credentials are still valid. A suspension, a revocation or a new password ends all sessions, and a login whose
/// password was checked before must not begin one afterwards.
fn still_valid(
    unit: &mut dyn UnitOfWork,
    owner: &ApiKeyOwner,
    now: OffsetDateTime,
) -> Result<bool, StoreError> {
    let checked = &owner.credentials;
    // Reading the partner first locks it, so none of these can happen between this check and the new session.
    let partner = unit.partners().get(checked.partner.id)?;
    if let Some(id) = owner.credential_id() {
        let current = unit.credentials().get(checked.partner.id, id)?;
        let is_accepted = current.is_some_and(|current| {
            current.credential.revoked_at.is_none() && current.password_hash == checked.password_hash
        });
        return Ok(is_accepted && partner.is_some_and(|partner| partner.status == PartnerStatus::Active));
    }
    let current = unit.partners().by_api_key(&checked.api_key_hash, now)?;
    Ok(current.is_some_and(|current| {
        current.partner.status == PartnerStatus::Active && current.password_hash == checked.password_hash
    }))
}

/// Compares in constant time, and both conditions always.
fn may_log_in(owner: &ApiKeyOwner, login: Option<&str>) -> bool {
    let partner = &owner.credentials.partner;
    let same = partner.login.as_bytes().ct_eq(login.unwrap_or_default().as_bytes());
    bool::from(same) & (partner.status == PartnerStatus::Active)
}

#[cfg(test)]
mod tests;
