//! Scoped credentials: create, list, revoke. For operators, and for users who may make users and credentials.

use kopeck_domain::access::{Authority, Scope, Scopes};
use kopeck_domain::address_blocks::AddressBlocks;
use kopeck_domain::credential::{Credential, MAX_CREDENTIALS};
use kopeck_domain::ids::{CredentialId, PartnerId};
use kopeck_port_store::session::SessionHolder;
use kopeck_port_store::{CredentialRecord, UnitOfWork};
use secrecy::{ExposeSecret as _, SecretString};

use super::{PartnerError, PartnerSecrets, PartnerService, find};
use crate::Env;
use crate::tokens::{api_key_hash, credential_key_place};

/// A new scoped credential; [`parse_name`](kopeck_domain::partner::parse_name) checks the name.
#[derive(Debug)]
pub struct NewCredential {
    /// Its name; its login if absent.
    pub name: Option<String>,
    /// What it may do.
    pub scopes: Scopes,
    /// The networks from which alone it is accepted; `None` for any.
    pub addresses: Option<AddressBlocks>,
}

/// A credential with its secrets, made outside of a unit of work because hashing a password is slow.
#[derive(Debug)]
pub struct CredentialDraft {
    /// What is stored.
    pub record: CredentialRecord,
    /// What is shown, once.
    pub secrets: PartnerSecrets,
}

impl PartnerService {
    /// Generates a credential's identifier, login and secrets without storing them.
    ///
    /// # Errors
    /// [`PartnerError::NotForCredentials`], [`PartnerError::Security`].
    pub fn prepare_credential(
        &self,
        partner: PartnerId,
        new: NewCredential,
    ) -> Result<CredentialDraft, PartnerError> {
        if let Some(scope) = new.scopes.iter().find(|scope| !scope.is_for_credentials()) {
            return Err(PartnerError::NotForCredentials(scope));
        }
        let login = format!("credential-{}", self.random_text(6));
        let api_key = self.new_api_key();
        let password = SecretString::from(self.random_text(18));
        let sealing_key = self.random_sealing_key();
        let place = credential_key_place(partner, sealing_key.id);
        let record = CredentialRecord {
            credential: Credential {
                id: CredentialId::new(self.env.ids.next_id()),
                name: new.name.unwrap_or_else(|| login.clone()),
                scopes: new.scopes,
                addresses: new.addresses,
                created_at: self.env.now(),
                revoked_at: None,
            },
            login,
            api_key_hash: api_key_hash(api_key.expose_secret()),
            password_hash: self.passwords.hash(&password)?,
            key_id: sealing_key.id,
            encrypted_secret: self.secrets.encrypt(&place, &sealing_key.secret)?,
        };
        Ok(CredentialDraft { record, secrets: PartnerSecrets { api_key, password, sealing_key } })
    }
}

/// Stores a new credential of the partner for which `authority` acts. It can log in at once.
///
/// # Errors
/// [`PartnerError::Forbidden`], [`PartnerError::NotFound`], [`PartnerError::TooManyCredentials`].
pub fn create_credential(
    unit: &mut dyn UnitOfWork,
    authority: &Authority,
    partner: PartnerId,
    record: &CredentialRecord,
) -> Result<(), PartnerError> {
    authority.require(Scope::UsersWrite)?;
    let active = credentials(unit, partner)?.iter().filter(|one| one.revoked_at.is_none()).count();
    if active >= MAX_CREDENTIALS {
        return Err(PartnerError::TooManyCredentials);
    }
    Ok(unit.credentials().insert(partner, record)?)
}

/// A partner's credentials in the order of their creation, also revoked ones.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn credentials(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Vec<Credential>, PartnerError> {
    find(unit, partner)?;
    Ok(unit.credentials().list(partner)?.into_iter().map(|record| record.credential).collect())
}

/// Revokes a credential of the partner for which `authority` acts, for good, and ends its sessions; returns their number. Every
/// instance sees it within seconds. A second time it changes nothing.
///
/// # Errors
/// [`PartnerError::Forbidden`], [`PartnerError::NotFound`], [`PartnerError::NoCredential`].
pub fn revoke_credential(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    authority: &Authority,
    partner: PartnerId,
    id: CredentialId,
) -> Result<u64, PartnerError> {
    authority.require(Scope::UsersWrite)?;
    find(unit, partner)?;
    unit.credentials().get(partner, id)?.ok_or(PartnerError::NoCredential)?;
    unit.credentials().revoke(partner, id, env.now())?;
    Ok(unit.sessions().revoke_all_but(partner, SessionHolder::Credential(id), 0)?)
}

#[cfg(test)]
mod tests;
