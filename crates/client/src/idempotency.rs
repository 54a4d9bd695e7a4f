//! Idempotency keys.

use std::fmt;

use crate::error::Error;
use crate::system;

/// The idempotency key of one logical request. A retry under the key returns the recorded response and has no second
/// effect.
///
/// The client makes a key for every such request and keeps it through its retries. Set your own
/// ([`Write::idempotency_key`](crate::Write::idempotency_key)) where a request has to survive a restart of your
/// program: store the key first, then send.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    const MAX_CHARS: usize = 255;

    /// A fresh key: the digits of a version 7 uuid, which is the time and 74 random bits. Keys that ascend with time
    /// are adjacent in the service's index, which is cheaper than random keys.
    #[must_use]
    pub fn fresh() -> Self {
        Self(system::fresh_key())
    }

    /// Your own key: 1 to 255 visible ASCII characters.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] if the text is anything else.
    pub fn parse(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        let visible = text.bytes().all(|byte| byte.is_ascii_graphic());
        if !visible || text.is_empty() || text.len() > Self::MAX_CHARS {
            return Err(Error::Config("an idempotency key is 1 to 255 visible ASCII characters".to_owned()));
        }
        Ok(Self(text))
    }

    /// The text of the key.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_an_alphabet_and_a_length() {
        assert!(IdempotencyKey::parse("payroll-2026-01/7").is_ok());
        assert!(IdempotencyKey::parse("a".repeat(255)).is_ok());
        for bad in [String::new(), "with space".to_owned(), "ключ".to_owned(), "a".repeat(256)] {
            assert!(IdempotencyKey::parse(bad).is_err());
        }
        assert_ne!(IdempotencyKey::fresh(), IdempotencyKey::fresh());
    }
}
