//! Why a value did not open.

/// Why a sealed value was refused.
///
/// The reason is for the log alone. A service returns one and the same error for every reason: a distinction would
/// help an attacker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The value is longer than its slot allows.
    #[error("the value is too long for its slot")]
    TooLong,
    /// The value does not start with `s1.`, or is not base64url, or not of a possible length.
    #[error("the value is not encoded as a sealed value")]
    Encoding,
    /// The first byte names a suite that is not known.
    #[error("the suite is unknown")]
    Suite,
    /// The value is sealed under another key than the one given.
    #[error("the value is sealed under another key id")]
    Key,
    /// The `x-nonce` is not one that [`valid_nonce`](crate::valid_nonce) accepts.
    #[error("the x-nonce is malformed")]
    Nonce,
    /// The tag does not match: another secret, another request, or a changed value.
    #[error("the tag does not fit")]
    Tag,
    /// The value was sealed too long ago, or too far in the future.
    #[error("the time is outside the window")]
    Time,
    /// The plaintext is not padded as it should be.
    #[error("the padding is malformed")]
    Padding,
    /// The plaintext is not UTF-8.
    #[error("the plaintext is not UTF-8")]
    Utf8,
}
