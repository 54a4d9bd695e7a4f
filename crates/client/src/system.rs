//! The machine's clock and random source: the only place of the client that reads them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use rand::TryRng as _;
use rand::rngs::SysRng;
use uuid::Uuid;

/// Tells the Unix time in seconds.
pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

#[expect(
    clippy::disallowed_methods,
    reason = "a client has the machine's clock only; the builder takes another"
)]
pub(crate) fn unix_now() -> u64 {
    // A clock set before 1970 counts as 1970: the service then refuses what is sealed, and says so.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Bytes from the operating system.
#[expect(clippy::expect_used, reason = "without random bytes nothing can be sealed; no caller could go on")]
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).expect("the operating system has random bytes");
    bytes
}

/// 128 random bits as hexadecimal digits: a nonce.
pub(crate) fn random_hex() -> String {
    random::<16>().iter().fold(String::with_capacity(32), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The time in milliseconds and 74 random bits as hexadecimal digits, a version 7 uuid: the key of a call.
#[expect(clippy::disallowed_methods, reason = "a client has the machine's clock and random source only")]
pub(crate) fn fresh_key() -> String {
    Uuid::now_v7().simple().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_texts_are_nonces_and_differ() {
        let (a, b) = (random_hex(), random_hex());
        assert!(kopeck_sealing::valid_nonce(&a));
        assert_eq!(a.len(), 32);
        assert_ne!(a, b);
    }

    #[test]
    fn keys_ascend() {
        let keys: Vec<String> = (0..1_000).map(|_| fresh_key()).collect();
        assert!(keys.is_sorted_by(|a, b| a < b), "each comes after the one before");
        assert!(keys.iter().all(|key| key.len() == 32 && kopeck_sealing::valid_nonce(key)));
    }
}
