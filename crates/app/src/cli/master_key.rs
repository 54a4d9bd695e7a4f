//! Commands for master keys.

use clap::{Args, Subcommand};

use super::StoreArgs;

/// Commands for master keys.
#[derive(Debug, Subcommand)]
pub enum MasterKeyCommand {
    /// Generate a key and show it; nothing else changes.
    Generate,
    /// Use a new key and encrypt everything again under it; the old one stays accepted. The service may run
    /// meanwhile.
    Rotate(RotateArgs),
    /// Stop accepting the old keys: tokens signed under them end.
    Retire(StoreArgs),
}

/// Options of the rotation.
#[derive(Debug, Args)]
pub struct RotateArgs {
    /// The location of the data.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Generate no key: encrypt everything again under the one in use. With keys from variables this is the only
    /// effect.
    #[arg(long)]
    pub reencrypt_only: bool,
}
