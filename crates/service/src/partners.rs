//! Partners: create, list, show, suspend, resume, rotate keys, end sessions, transfer money. For operator commands.

pub mod contract_end;
mod credentials;
mod overview;
mod pending_deposits;
mod transfers;

use std::sync::Arc;

pub use credentials::{CredentialDraft, NewCredential, create_credential, credentials, revoke_credential};
pub use overview::{PartnerOverview, SealingKeyOverview, overview};
pub use pending_deposits::{
    PendingDepositError, confirm_deposit, digest_of_deposit, enter_deposit, pending_deposits, refuse_deposit,
};
pub(crate) use transfers::is_generated;
pub use transfers::{DepositOrigin, TransferOutcome, deposit, reverse_deposit, withdraw};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_domain::access::{Forbidden, Scope};
use kopeck_domain::credential::MAX_CREDENTIALS;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_port_security::{PasswordHasher, SecretBinding, SecretBox, SecurityError};
use kopeck_port_store::session::SessionHolder;
use kopeck_port_store::{Credentials, Rule, SealingKeyRecord, StoreError, UnitOfWork};
use secrecy::{ExposeSecret, SecretSlice, SecretString};
use time::OffsetDateTime;

use crate::password::check_password;
use crate::tokens::{api_key_hash, credential_key_place, sealing_key_place};
use crate::{Env, money};

/// Reads a login: 1..=64 visible ASCII characters.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse_login(text: &str) -> Result<String, Invalid> {
    if text.is_empty() || text.len() > 64 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Invalid::new("must have 1 to 64 visible ASCII characters"));
    }
    Ok(text.to_owned())
}

/// A new partner; [`parse_name`](kopeck_domain::partner::parse_name) and [`parse_login`] check name and login.
#[derive(Debug)]
pub struct NewPartner {
    /// Its name.
    pub name: String,
    /// Its login; generated if absent.
    pub login: Option<String>,
    /// Its password, which [`check_password`] checks; generated if absent.
    pub password: Option<SecretString>,
    /// Whether it has to seal.
    pub sealing: SealingPolicy,
}

/// A partner with its secrets, made outside of a unit of work because hashing a password is slow.
pub struct PartnerDraft {
    credentials: Credentials,
    key: SealingKeyRecord,
    secrets: PartnerSecrets,
}

impl PartnerDraft {
    /// The identifier that the partner will have.
    #[must_use]
    pub const fn id(&self) -> PartnerId {
        self.credentials.partner.id
    }
}

/// Secrets that are shown only once.
#[derive(Debug, Clone)]
pub struct PartnerSecrets {
    /// The API key.
    pub api_key: SecretString,
    /// The password.
    pub password: SecretString,
    /// The sealing key.
    pub sealing_key: NewSealingKey,
}

/// A new sealing key.
#[derive(Debug, Clone)]
pub struct NewSealingKey {
    /// Its id.
    pub id: [u8; 8],
    /// Its secret.
    pub secret: SecretSlice<u8>,
}

/// The fate of the former key after a rotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FormerKey {
    /// It is accepted beside the new one for [`Settings::key_overlap`](crate::Settings::key_overlap).
    Overlaps,
    /// It ends at once, because it may be compromised.
    EndsAtOnce,
}

/// The outcome of a key rotation.
#[derive(Debug)]
pub struct KeyRotation<K> {
    /// The new key.
    pub key: K,
    /// Until when the former key is accepted; `None` if it has ended.
    pub former_until: Option<OffsetDateTime>,
}

/// The hash of a password that the policy accepts.
pub struct PasswordHash(String);

/// Why an operator's command failed.
#[derive(Debug, thiserror::Error)]
pub enum PartnerError {
    /// The login belongs to another partner.
    #[error("the login is taken")]
    LoginTaken,
    /// The policy refuses the password.
    #[error("the password {0}")]
    Password(Invalid),
    /// There is no such partner.
    #[error("there is no such partner")]
    NotFound,
    /// The partner has no such scoped credential.
    #[error("the partner has no such credential")]
    NoCredential,
    /// The partner has as many scoped credentials as it can have.
    #[error("the partner has {MAX_CREDENTIALS} credentials; revoke one")]
    TooManyCredentials,
    /// The actor may not do it.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// A scoped credential cannot have the scope.
    #[error("a credential cannot have the scope {0}")]
    NotForCredentials(Scope),
    /// Only an amount above zero can be moved.
    #[error("only an amount above zero can be moved")]
    NotPositive,
    /// The reference moved another amount before.
    #[error("the reference moved another amount before: {0}")]
    ReferenceUsed(Kopecks),
    /// No deposit was made under the reference.
    #[error("there is no deposit under this reference")]
    NoDeposit,
    /// The deposit was reversed before.
    #[error("the deposit was reversed before")]
    AlreadyReversed,
    /// Less is available than would be taken from the balance.
    #[error("only {0} is available")]
    Insufficient(Kopecks),
    /// The balance would not fit.
    #[error("the balance would not fit")]
    Overflow,
    /// The store failed.
    #[error(transparent)]
    Store(StoreError),
    /// Cryptography failed.
    #[error(transparent)]
    Security(#[from] SecurityError),
}

impl From<StoreError> for PartnerError {
    fn from(error: StoreError) -> Self {
        if error == StoreError::Conflict(Rule::PartnerLogin) { Self::LoginTaken } else { Self::Store(error) }
    }
}

/// Creates partners and their keys.
#[derive(Clone)]
pub struct PartnerService {
    env: Arc<Env>,
    passwords: Arc<dyn PasswordHasher>,
    secrets: Arc<dyn SecretBox>,
}

impl PartnerService {
    /// A service over these ports.
    #[must_use]
    pub fn new(env: Arc<Env>, passwords: Arc<dyn PasswordHasher>, secrets: Arc<dyn SecretBox>) -> Self {
        Self { env, passwords, secrets }
    }

    /// Generates a partner's identifiers and secrets without storing them.
    ///
    /// # Errors
    /// [`PartnerError::Password`], [`PartnerError::Security`].
    pub fn prepare(&self, new: NewPartner) -> Result<PartnerDraft, PartnerError> {
        let id = PartnerId::new(self.env.ids.next_id());
        let api_key = self.new_api_key();
        let login = new.login.unwrap_or_else(|| format!("partner-{}", self.random_text(6)));
        let password = match new.password {
            Some(password) => {
                check_password(password.expose_secret(), &[&login, &new.name])
                    .map_err(PartnerError::Password)?;
                password
            }
            None => SecretString::from(self.random_text(18)),
        };
        let (key, sealing_key) = self.new_sealing_key(id)?;
        let partner = Partner {
            id,
            name: new.name,
            login,
            status: PartnerStatus::Active,
            sealing: new.sealing,
            created_at: self.env.now(),
        };
        let credentials = Credentials {
            partner,
            api_key_hash: api_key_hash(api_key.expose_secret()),
            password_hash: self.passwords.hash(&password)?,
        };
        Ok(PartnerDraft { credentials, key, secrets: PartnerSecrets { api_key, password, sealing_key } })
    }

    /// Stores a new partner. It can log in at once.
    ///
    /// # Errors
    /// [`PartnerError::LoginTaken`].
    pub fn create(
        &self,
        unit: &mut dyn UnitOfWork,
        prepared: &PartnerDraft,
    ) -> Result<(Partner, PartnerSecrets), PartnerError> {
        unit.partners().insert(&prepared.credentials)?;
        unit.partners().add_sealing_key(prepared.credentials.partner.id, &prepared.key)?;
        Ok((prepared.credentials.partner.clone(), prepared.secrets.clone()))
    }

    /// Hashes a partner's new password without storing it.
    ///
    /// # Errors
    /// [`PartnerError::Password`], [`PartnerError::Security`].
    pub fn hash_password(
        &self,
        partner: &Partner,
        password: &SecretString,
    ) -> Result<PasswordHash, PartnerError> {
        check_password(password.expose_secret(), &[&partner.login, &partner.name])
            .map_err(PartnerError::Password)?;
        Ok(PasswordHash(self.passwords.hash(password)?))
    }

    /// Issues a new sealing key. `former` decides about the active one; an older one ends at once.
    ///
    /// # Errors
    /// [`PartnerError::NotFound`].
    pub fn rotate_keys(
        &self,
        unit: &mut dyn UnitOfWork,
        id: PartnerId,
        former: FormerKey,
    ) -> Result<KeyRotation<NewSealingKey>, PartnerError> {
        find(unit, id)?;
        let now = self.env.now();
        let former_until = self.end_of(former);
        for key in unit.partners().sealing_keys(id)? {
            let until = match key.accepted_until {
                None => former_until.unwrap_or(LONG_AGO),
                Some(until) if until > now => former_until.map_or(LONG_AGO, |_| now),
                Some(_) => continue,
            };
            unit.partners().end_sealing_key(id, key.key_id, until)?;
        }
        let (record, key) = self.new_sealing_key(id)?;
        unit.partners().add_sealing_key(id, &record)?;
        Ok(KeyRotation { key, former_until })
    }

    /// Issues a new API key. `former` decides about the present one; an older one ends at once. Sessions continue.
    ///
    /// # Errors
    /// [`PartnerError::NotFound`].
    pub fn rotate_api_key(
        &self,
        unit: &mut dyn UnitOfWork,
        id: PartnerId,
        former: FormerKey,
    ) -> Result<KeyRotation<SecretString>, PartnerError> {
        find(unit, id)?;
        let key = self.new_api_key();
        let former_until = self.end_of(former);
        let until = former_until.unwrap_or(LONG_AGO);
        unit.partners().replace_api_key(id, &api_key_hash(key.expose_secret()), until)?;
        Ok(KeyRotation { key, former_until })
    }

    fn end_of(&self, former: FormerKey) -> Option<OffsetDateTime> {
        match former {
            FormerKey::Overlaps => Some(self.env.now() + self.env.settings.key_overlap),
            FormerKey::EndsAtOnce => None,
        }
    }

    /// Re-encrypts a partner's secrets under former master keys; returns their number.
    ///
    /// # Errors
    /// [`PartnerError::Store`]; [`PartnerError::Security`] if the key of one is not accepted any more.
    pub fn reencrypt(&self, unit: &mut dyn UnitOfWork, id: PartnerId) -> Result<usize, PartnerError> {
        let mut stale = unit.partners().sealing_keys(id)?;
        stale.retain(|key| !self.secrets.is_current(&key.encrypted_secret));
        for key in &stale {
            let anew = self.encrypt_anew(&sealing_key_place(id, key.key_id), &key.encrypted_secret)?;
            unit.partners().reencrypt_sealing_key(id, key.key_id, &anew)?;
        }
        let mut of_credentials = unit.credentials().list(id)?;
        of_credentials.retain(|record| !self.secrets.is_current(&record.encrypted_secret));
        for record in &of_credentials {
            let anew =
                self.encrypt_anew(&credential_key_place(id, record.key_id), &record.encrypted_secret)?;
            unit.credentials().reencrypt(id, record.credential.id, &anew)?;
        }
        Ok(stale.len() + of_credentials.len())
    }

    fn encrypt_anew(&self, place: &SecretBinding, encrypted: &[u8]) -> Result<Vec<u8>, PartnerError> {
        Ok(self.secrets.encrypt(place, &self.secrets.decrypt(place, encrypted)?)?)
    }

    /// Whether an accepted master key fits the stored secrets; true if there are none.
    ///
    /// # Errors
    /// [`PartnerError::Store`] or [`PartnerError::Security`].
    pub fn key_fits(&self, unit: &mut dyn UnitOfWork) -> Result<bool, PartnerError> {
        let Some(partner) = unit.partners().list()?.into_iter().next().map(|partner| partner.id) else {
            return Ok(true);
        };
        let Some(key) = unit.partners().sealing_keys(partner)?.into_iter().next() else {
            return Ok(true);
        };
        match self.secrets.decrypt(&sealing_key_place(partner, key.key_id), &key.encrypted_secret) {
            Ok(_) => Ok(true),
            Err(SecurityError::NotAuthentic) => Ok(false),
            Err(error @ SecurityError::Failed(_)) => Err(error.into()),
        }
    }

    fn new_sealing_key(&self, partner: PartnerId) -> Result<(SealingKeyRecord, NewSealingKey), PartnerError> {
        let key = self.random_sealing_key();
        let place = sealing_key_place(partner, key.id);
        let record = SealingKeyRecord {
            key_id: key.id,
            encrypted_secret: self.secrets.encrypt(&place, &key.secret)?,
            created_at: self.env.now(),
            accepted_until: None,
            first_used_at: None,
        };
        Ok((record, key))
    }

    fn random_sealing_key(&self) -> NewSealingKey {
        let (mut id, mut secret) = ([0_u8; 8], [0_u8; 32]);
        self.env.entropy.fill(&mut id);
        self.env.entropy.fill(&mut secret);
        NewSealingKey { id, secret: SecretSlice::from(secret.to_vec()) }
    }

    fn new_api_key(&self) -> SecretString {
        SecretString::from(format!("ak_{}", self.random_text(32)))
    }

    fn random_text(&self, bytes: usize) -> String {
        let mut random = vec![0_u8; bytes];
        self.env.entropy.fill(&mut random);
        URL_SAFE_NO_PAD.encode(random)
    }
}

/// The end of a key that ends at once: past by the clock of every process.
const LONG_AGO: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// All partners, oldest first.
///
/// # Errors
/// [`PartnerError::Store`].
pub fn list(unit: &mut dyn UnitOfWork) -> Result<Vec<Partner>, PartnerError> {
    Ok(unit.partners().list()?)
}

/// Suspends or resumes a partner; every instance sees it within seconds. A suspension ends all sessions for good, its users'
/// too.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn set_status(
    unit: &mut dyn UnitOfWork,
    id: PartnerId,
    status: PartnerStatus,
) -> Result<(), PartnerError> {
    find(unit, id)?;
    unit.partners().set_status(id, status)?;
    if status == PartnerStatus::Suspended {
        unit.sessions().revoke_all_but(id, SessionHolder::Anyone, 0)?;
        unit.users().end_sessions_of(id)?;
    }
    Ok(())
}

/// Sets whether a partner has to seal; every instance sees it within seconds.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn set_sealing(
    unit: &mut dyn UnitOfWork,
    id: PartnerId,
    policy: SealingPolicy,
) -> Result<(), PartnerError> {
    find(unit, id)?;
    Ok(unit.partners().set_sealing(id, policy)?)
}

/// Gives a partner another name.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn rename(unit: &mut dyn UnitOfWork, id: PartnerId, name: &str) -> Result<(), PartnerError> {
    find(unit, id)?;
    Ok(unit.partners().set_name(id, name)?)
}

/// The partner with this identifier.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn find(unit: &mut dyn UnitOfWork, id: PartnerId) -> Result<Partner, PartnerError> {
    unit.partners().get(id)?.ok_or(PartnerError::NotFound)
}

/// Sets a partner's password and ends all its sessions; returns their number.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn set_password(
    unit: &mut dyn UnitOfWork,
    id: PartnerId,
    hash: &PasswordHash,
) -> Result<u64, PartnerError> {
    find(unit, id)?;
    unit.partners().set_password_hash(id, &hash.0)?;
    Ok(unit.sessions().revoke_all_but(id, SessionHolder::Anyone, 0)?)
}

/// Ends all sessions of a partner and of its users; returns their number. Every instance sees it within seconds.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn end_sessions(unit: &mut dyn UnitOfWork, id: PartnerId) -> Result<u64, PartnerError> {
    find(unit, id)?;
    Ok(unit.sessions().revoke_all_but(id, SessionHolder::Anyone, 0)? + unit.users().end_sessions_of(id)?)
}

/// Sets the amount in kopecks below which the partner wants to hear, by an event, of what it can spend; zero for never.
///
/// # Errors
/// [`PartnerError`].
pub fn set_threshold(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
    threshold: Kopecks,
) -> Result<(), PartnerError> {
    find(unit, id)?;
    Ok(money::set_threshold(unit, env, id, threshold)?)
}

/// Sets the amount in kopecks above which what the partner's people prepare needs an approval; zero for never. The next
/// submission heeds it, in every process.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn set_approval(unit: &mut dyn UnitOfWork, id: PartnerId, above: Kopecks) -> Result<(), PartnerError> {
    find(unit, id)?;
    Ok(unit.ledger().set_approval(id, above)?)
}

#[cfg(test)]
mod tests;
