//! Passwords: argon2id with 19 MiB, two passes, one lane, as OWASP recommends it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{self, PasswordHasher as _, PasswordVerifier as _};
use argon2::{Algorithm, Argon2, Params, Version};
use kopeck_port_security::{PasswordHasher, SecurityError};
use kopeck_port_system::Entropy;
use secrecy::{ExposeSecret as _, SecretString};

use crate::concurrency_limit::ConcurrencyLimit;

const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_LEN: usize = 16;

/// Hashes and checks passwords with argon2id.
///
/// A hash takes some 20 ms of one core and 19 MiB, so only a few run at once and the others wait: a flood of logins
/// fills neither the memory nor every core.
pub struct Argon2Passwords {
    argon2: Argon2<'static>,
    entropy: Arc<dyn Entropy>,
    running: ConcurrencyLimit,
    /// The hash of an unknown random text, as expensive to check as any other.
    dummy: PasswordHash,
}

impl Argon2Passwords {
    /// Hashes with salts from `entropy`, at most `at_once` at the same time.
    ///
    /// # Errors
    /// [`SecurityError::Failed`] when the machinery fails.
    pub fn new(entropy: Arc<dyn Entropy>, at_once: NonZeroUsize) -> Result<Self, SecurityError> {
        let params = Params::new(MEMORY_KIB, PASSES, LANES, None)
            .map_err(|error| SecurityError::Failed(format!("argon2: {error}")))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut dummy_password = [0; 32];
        entropy.fill(&mut dummy_password);
        let dummy = hash(&argon2, entropy.as_ref(), &dummy_password)?;
        Ok(Self { argon2, entropy, running: ConcurrencyLimit::new(at_once), dummy })
    }
}

impl PasswordHasher for Argon2Passwords {
    fn hash(&self, password: &SecretString) -> Result<String, SecurityError> {
        let password = password.expose_secret().as_bytes();
        let hash = self.running.run(|| hash(&self.argon2, self.entropy.as_ref(), password))?;
        Ok(hash.to_string())
    }

    fn verify(&self, password: &SecretString, stored: Option<&str>) -> bool {
        // A stored text that is no hash is worth as much as none, and takes as long.
        let stored = stored.and_then(|text| PasswordHash::new(text).ok());
        let hash = stored.as_ref().unwrap_or(&self.dummy);
        let password = password.expose_secret().as_bytes();
        let matches = self.running.run(|| self.argon2.verify_password(password, hash)).is_ok();
        matches && stored.is_some()
    }
}

fn hash(argon2: &Argon2<'_>, entropy: &dyn Entropy, password: &[u8]) -> Result<PasswordHash, SecurityError> {
    let mut salt = [0; SALT_LEN];
    entropy.fill(&mut salt);
    argon2
        .hash_password_with_salt(password, &salt)
        .map_err(|error: password_hash::Error| SecurityError::Failed(format!("argon2: {error}")))
}

#[cfg(test)]
mod tests {
    use kopeck_port_system::fake::SeededEntropy;

    use super::*;

    fn passwords() -> Argon2Passwords {
        Argon2Passwords::new(Arc::new(SeededEntropy::new(1)), NonZeroUsize::MIN).unwrap()
    }

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    #[test]
    fn only_the_right_password_matches() {
        let passwords = passwords();
        let stored = passwords.hash(&secret("correct horse")).unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        assert!(passwords.verify(&secret("correct horse"), Some(&stored)));
        for wrong in ["correct hors", "correct horse ", "Correct horse", ""] {
            assert!(!passwords.verify(&secret(wrong), Some(&stored)), "{wrong}");
        }
    }

    #[test]
    fn one_password_has_many_hashes() {
        let passwords = passwords();
        let (first, second) = (passwords.hash(&secret("a")).unwrap(), passwords.hash(&secret("a")).unwrap());
        assert_ne!(first, second);
        assert!(passwords.verify(&secret("a"), Some(&second)));
    }

    #[test]
    fn without_a_hash_nothing_matches() {
        let passwords = passwords();
        assert!(!passwords.verify(&secret(""), None));
        assert!(!passwords.verify(&secret("a"), Some("")));
        assert!(!passwords.verify(&secret("a"), Some("$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ")));
    }

    #[test]
    fn the_dummy_costs_what_a_hash_costs() {
        let passwords = passwords();
        let stored = PasswordHash::new(&passwords.hash(&secret("a")).unwrap()).unwrap();
        let cost = |hash: &PasswordHash| (hash.algorithm, hash.version, hash.params.to_string());
        assert_eq!(cost(&passwords.dummy), cost(&stored));
    }
}
