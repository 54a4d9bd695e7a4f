//! Change of one's own password.

use kopeck_domain::Invalid;
use kopeck_domain::ids::{CredentialId, PartnerId, SessionId};
use kopeck_domain::partner::PartnerStatus;
use kopeck_port_security::SecurityError;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use secrecy::{ExposeSecret, SecretString};

use super::login::{check_throttle, count_failure};
use super::{TokenError, TokenService};
use crate::password::check_password;

/// A wish for another password.
#[derive(Debug)]
pub struct PasswordChange {
    /// The partner.
    pub partner: PartnerId,
    /// The scoped credential that asks; `None` for the technical login.
    pub credential: Option<CredentialId>,
    /// The session that asks, which goes on.
    pub session: SessionId,
    /// The network address for the throttle, if any.
    pub address: Option<String>,
    /// The present password.
    pub current: SecretString,
    /// The new one.
    pub new: SecretString,
}

/// A password change that was checked and is not stored yet.
pub struct CheckedChange {
    partner: PartnerId,
    credential: Option<CredentialId>,
    session: SessionId,
    /// The throttle's subjects.
    subjects: Vec<[u8; 32]>,
    former_hash: String,
    hash: String,
}

/// Why a password is not changed.
#[derive(Debug, thiserror::Error)]
pub enum PasswordChangeError {
    /// The present password is another one, or the policy refuses the new one, or both.
    #[error("the passwords are not accepted")]
    Refused {
        /// Whether the present password is another one.
        wrong_current: bool,
        /// Why the policy refuses the new one.
        new: Option<Invalid>,
    },
    /// As for a login.
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl From<StoreError> for PasswordChangeError {
    fn from(error: StoreError) -> Self {
        Self::Token(error.into())
    }
}

impl From<SecurityError> for PasswordChangeError {
    fn from(error: SecurityError) -> Self {
        Self::Token(error.into())
    }
}

impl TokenService {
    /// Checks a password change. Blocks for the tens of milliseconds that each of two passwords takes. A wrong present
    /// password counts as a failed login, for the address and for who logs in.
    ///
    /// # Errors
    /// [`PasswordChangeError`].
    pub fn check_password_change(
        &self,
        store: &dyn Store,
        change: &PasswordChange,
    ) -> Result<CheckedChange, PasswordChangeError> {
        let PasswordChange { partner, credential, session, address, current, new } = change;
        let mut subjects = self.address_subjects(address.as_deref());
        subjects.push(self.holder_fingerprint(*partner, *credential));
        let (id, begin, now) = ((*partner, *credential), subjects.clone(), self.env.settled());
        let holder = transact(store, Access::Write, move |unit| {
            check_throttle(unit, &begin, now)?;
            active_holder(unit, id.0, id.1)
        })?;
        let wrong_current = !self.passwords.verify(current, Some(&holder.password_hash));
        if wrong_current {
            let failed = subjects.clone();
            transact(store, Access::Write, move |unit| count_failure(unit, &failed, now))?;
        }
        let policy = check_password(new.expose_secret(), &[&holder.login, &holder.name]);
        if wrong_current || policy.is_err() {
            return Err(PasswordChangeError::Refused { wrong_current, new: policy.err() });
        }
        let hash = self.passwords.hash(new)?;
        Ok(CheckedChange {
            partner: *partner,
            credential: *credential,
            session: *session,
            subjects,
            former_hash: holder.password_hash,
            hash,
        })
    }

    /// Stores a checked change, and ends all other sessions; returns their number. Every instance sees it within seconds.
    ///
    /// Checks the throttle again, so that of many concurrent guesses none succeeds after the tenth. A login whose password was
    /// checked before begins no session afterwards.
    ///
    /// # Errors
    /// [`PasswordChangeError`], also if the password or the session was changed meanwhile.
    pub fn change_password(
        &self,
        unit: &mut dyn UnitOfWork,
        change: &CheckedChange,
    ) -> Result<u64, PasswordChangeError> {
        let CheckedChange { partner, credential, session, subjects, former_hash, hash } = change;
        check_throttle(unit, subjects, self.env.settled())?;
        if active_holder(unit, *partner, *credential)?.password_hash != *former_hash {
            return Err(PasswordChangeError::Refused { wrong_current: true, new: None });
        }
        if !unit
            .sessions()
            .list(*partner, *session, self.env.now())?
            .iter()
            .any(|active| active.id == *session)
        {
            return Err(TokenError::Unauthorized.into());
        }
        match credential {
            Some(id) => unit.credentials().set_password_hash(*partner, *id, hash)?,
            None => unit.partners().set_password_hash(*partner, hash)?,
        }
        Ok(unit.sessions().revoke_others(*partner, *session)?)
    }
}

/// Whose password it is.
struct Holder {
    login: String,
    name: String,
    password_hash: String,
}

/// The technical login of an active partner, or its scoped credential, unless that is revoked.
fn active_holder(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    credential: Option<CredentialId>,
) -> Result<Holder, TokenError> {
    let owner = unit.partners().credentials(partner)?;
    let owner = owner.filter(|owner| owner.partner.status == PartnerStatus::Active);
    let owner = owner.ok_or(TokenError::Unauthorized)?;
    let (name, login) = (owner.partner.name, owner.partner.login);
    let Some(id) = credential else { return Ok(Holder { login, name, password_hash: owner.password_hash }) };
    let record = unit.credentials().get(partner, id)?;
    let record = record.filter(|record| record.credential.revoked_at.is_none());
    let record = record.ok_or(TokenError::Unauthorized)?;
    Ok(Holder { login: record.login, name, password_hash: record.password_hash })
}

#[cfg(test)]
mod tests;
