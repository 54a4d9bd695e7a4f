#![doc = include_str!("../README.md")]

mod audit;
mod column_cipher;
mod concurrency_limit;
mod hs256;
mod key_file;
mod master_key;
mod one_time_codes;
mod pae;
mod passwords;
mod ring;
mod secret_box;
mod tokens;

pub use audit::AuditKeys;
pub use key_file::{KeyFile, read_private};
pub use master_key::{MasterKey, MasterKeyError};
pub use one_time_codes::TotpCodes;
pub use passwords::Argon2Passwords;
pub use ring::KeyRing;
pub use secret_box::MasterKeyBox;
pub use tokens::JwtTokens;
