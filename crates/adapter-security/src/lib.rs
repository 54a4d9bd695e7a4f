#![doc = include_str!("../README.md")]

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
