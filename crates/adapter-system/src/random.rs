//! Identifiers and randomness of the operating system.

use kopeck_port_system::{Entropy, IdSource};
use rand::TryRng;
use uuid::Uuid;

/// Version 7 uuids: they ascend with time, so that new rows stand side by side in every index.
#[derive(Debug, Default)]
pub struct TimeOrderedIds;

impl IdSource for TimeOrderedIds {
    #[expect(clippy::disallowed_methods, reason = "this is the one source of identifiers")]
    fn next_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

/// The operating system's random bytes.
#[derive(Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    #[expect(
        clippy::panic,
        reason = "without random bytes no key and no salt is safe: going on would be worse"
    )]
    fn fill(&self, bytes: &mut [u8]) {
        if let Err(error) = rand::rngs::SysRng.try_fill_bytes(bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_bytes_differ() {
        let (mut a, mut b) = ([0_u8; 32], [0_u8; 32]);
        OsEntropy.fill(&mut a);
        OsEntropy.fill(&mut b);
        assert_ne!(a, b);
    }
}
