//! Signatures and chain heads of the audit log.

mod heads;

use kopeck_adapter_security::AuditKeys;
use kopeck_audit::Signature;
use kopeck_port_store::{AuditSigner, SignatureCheck};

pub use heads::{HeadDestination, HeadForwarder};

/// Signatures under keys that are derived from the master keys.
pub struct MasterKeySigner(pub AuditKeys);

impl AuditSigner for MasterKeySigner {
    fn sign(&self, message: &[u8]) -> Signature {
        self.0.sign(message)
    }

    fn check(&self, message: &[u8], signature: &Signature) -> SignatureCheck {
        match self.0.check(message, signature) {
            Some(true) => SignatureCheck::Valid,
            Some(false) => SignatureCheck::Wrong,
            None => SignatureCheck::UnknownKey,
        }
    }

    fn is_current(&self, signature: &Signature) -> bool {
        self.0.is_current(signature)
    }
}
