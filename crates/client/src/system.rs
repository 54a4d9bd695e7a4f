//! The machine's clock and random source: no other module reads them.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rand::TryRng as _;
use rand::rngs::SysRng;

/// Returns the Unix time in seconds.
pub(crate) type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

pub(crate) fn unix_now() -> u64 {
    since_1970().as_secs()
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

/// A key made now.
pub(crate) fn fresh_key() -> String {
    key_of(since_1970())
}

/// A version 7 uuid as hexadecimal digits: the time in milliseconds, and 74 random bits.
fn key_of(since_1970: Duration) -> String {
    let millis = u64::try_from(since_1970.as_millis()).unwrap_or(u64::MAX);
    uuid::Builder::from_unix_timestamp_millis(millis, &random()).into_uuid().simple().to_string()
}

/// A clock set before 1970 counts as 1970: the service then refuses what is sealed, and says so.
#[expect(
    clippy::disallowed_methods,
    reason = "a client has the machine's clock only; the builder takes another"
)]
fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
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
    fn keys_ascend_with_time_and_differ() {
        let moments = [1_790_000_000_122, 1_790_000_000_123, 1_790_000_000_123].map(Duration::from_millis);
        let [earlier, first, second] = moments.map(key_of);
        assert!(earlier < first && earlier < second);
        assert_ne!(first, second);
        assert!(
            first.starts_with("01a0c4506c7b7") && second.starts_with("01a0c4506c7b7"),
            "{first} {second}"
        );
        assert!(kopeck_sealing::valid_nonce(&fresh_key()));
    }
}
