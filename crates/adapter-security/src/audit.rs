//! Signatures of the audit log.

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use kopeck_audit::Signature;
use kopeck_port_store::{AuditSigner, SignatureCheck};
use sha2::Sha256;

use crate::ring::{DerivedKeys, KeyRing};

/// HMAC-SHA256 under a key derived from the master key for this purpose; signatures contain its id.
#[derive(Debug)]
pub struct AuditKeys(Arc<KeyRing>);

impl AuditKeys {
    /// Signs under the first key of `ring`, checks under all of them.
    #[must_use]
    pub fn new(ring: Arc<KeyRing>) -> Self {
        Self(ring)
    }
}

impl AuditSigner for AuditKeys {
    fn sign(&self, message: &[u8]) -> Signature {
        let keys = self.0.current();
        let code = keyed(&keys).chain_update(message).finalize().into_bytes().into();
        Signature { key: keys.audit_id, code }
    }

    fn check(&self, message: &[u8], signature: &Signature) -> SignatureCheck {
        match self.0.find(|keys| keys.audit_id == signature.key) {
            None => SignatureCheck::UnknownKey,
            Some(keys) => match keyed(&keys).chain_update(message).verify_slice(&signature.code) {
                Ok(()) => SignatureCheck::Valid,
                Err(_) => SignatureCheck::Wrong,
            },
        }
    }

    fn is_current(&self, signature: &Signature) -> bool {
        self.0.current().audit_id == signature.key
    }
}

#[expect(clippy::expect_used, reason = "HMAC takes keys of any length")]
fn keyed(keys: &DerivedKeys) -> Hmac<Sha256> {
    Hmac::new_from_slice(&keys.audit[..]).expect("any length is valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::testing::ring;

    #[test]
    fn a_signature_holds_for_its_message_and_key_alone() {
        let keys = AuditKeys::new(ring(&[1]).0);
        let signature = keys.sign(b"message");
        assert_eq!(signature, keys.sign(b"message"));
        assert_eq!(keys.check(b"message", &signature), SignatureCheck::Valid);
        assert_eq!(keys.check(b"messagf", &signature), SignatureCheck::Wrong);
        let mut forged = signature;
        forged.code[31] ^= 1;
        assert_eq!(keys.check(b"message", &forged), SignatureCheck::Wrong);
        let other = AuditKeys::new(ring(&[2]).0);
        assert_eq!(other.check(b"message", &signature), SignatureCheck::UnknownKey);
        assert_ne!(other.sign(b"message").code, signature.code);
    }

    #[test]
    fn a_former_key_is_known_as_long_as_the_ring_has_it() {
        let (ring, source) = ring(&[1]);
        let keys = AuditKeys::new(Arc::clone(&ring));
        let old = keys.sign(b"message");
        source.put(&[2, 1]);
        assert!(ring.refresh());
        assert_eq!((keys.check(b"message", &old), keys.is_current(&old)), (SignatureCheck::Valid, false));
        assert!(keys.is_current(&keys.sign(b"message")));
        source.put(&[2]);
        assert!(ring.refresh());
        assert_eq!(keys.check(b"message", &old), SignatureCheck::UnknownKey);
    }
}
