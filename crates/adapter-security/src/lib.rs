//! The cryptography behind the ports of `kopeck-port-security`.
//!
//! | port | here | by |
//! |---|---|---|
//! | `PasswordHasher` | [`Argon2Passwords`] | argon2id, 19 MiB, two passes |
//! | `TokenCodec` | [`JwtTokens`] | JWT, HS256 |
//! | `SecretBox` | [`MasterKeyBox`] | XChaCha20-Poly1305, HMAC-SHA256 |
//!
//! [`AuditKeys`] signs the audit log by HMAC-SHA256; its port is the store's.
//!
//! Tokens and secrets depend on one [`MasterKey`], from which each use derives a key of its own. During a rotation a
//! [`KeyRing`] has several.

mod audit;
mod concurrency_limit;
mod hs256;
mod master_key;
mod pae;
mod passwords;
mod ring;
mod secret_box;
mod tokens;

pub use audit::AuditKeys;
pub use master_key::{MasterKey, MasterKeyError};
pub use passwords::Argon2Passwords;
pub use ring::{KeyRing, KeySource};
pub use secret_box::MasterKeyBox;
pub use tokens::JwtTokens;
