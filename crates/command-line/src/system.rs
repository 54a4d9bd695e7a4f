//! The machine's clock and random source: no other module reads them.

use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

use rand::TryRng as _;
use rand::rngs::SysRng;

use crate::failure::Failure;

/// The Unix time in seconds.
#[expect(clippy::disallowed_methods, reason = "a command has the machine's clock only")]
pub(crate) fn unix_now() -> u64 {
    // A clock before 1970 counts as 1970: the service then refuses sealed values.
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Bytes from the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    SysRng.try_fill_bytes(&mut bytes).map_err(|error| Failure::local(format!("no random bytes: {error}")))?;
    Ok(bytes)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
