//! Passwords that are checked at once. The real check takes longer than most tests of this service; it has tests in its own
//! crate, and whatever starts the real process uses it.

use std::num::NonZeroUsize;
use std::sync::Arc;

use kopeck_adapter_security::Argon2Passwords;
use kopeck_port_security::{PasswordHasher, SecurityError};
use kopeck_port_system::Entropy;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};

/// Keeps a SHA-256. It takes as many random bytes as the real check, on which the identifiers in the pages of the docs depend.
pub struct QuickPasswords {
    entropy: Arc<dyn Entropy>,
}

impl QuickPasswords {
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        entropy.fill(&mut [0; 48]);
        Self { entropy }
    }
}

fn sum(password: &SecretString) -> String {
    let sum = Sha256::digest(password.expose_secret());
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl PasswordHasher for QuickPasswords {
    fn hash(&self, password: &SecretString) -> Result<String, SecurityError> {
        self.entropy.fill(&mut [0; 16]);
        Ok(sum(password))
    }

    fn verify(&self, password: &SecretString, stored: Option<&str>) -> bool {
        if stored.is_some_and(|stored| stored.starts_with('$')) {
            // A database that a real process has made.
            let real = Argon2Passwords::new(Arc::clone(&self.entropy), NonZeroUsize::MIN).unwrap();
            return real.verify(password, stored);
        }
        stored == Some(&*sum(password))
    }
}
