//! What can be done with master keys.

use clap::{Args, Subcommand};

use super::StoreArgs;

/// Commands for master keys.
#[derive(Debug, Subcommand)]
pub enum MasterKeyCommand {
    /// Generate a key and show it; nothing else changes.
    Generate,
    /// Use a new key and encrypt everything anew under it; the old one stays accepted. The service may run
    /// meanwhile.
    Rotate(RotateArgs),
    /// Stop accepting the old keys: tokens signed under them end.
    Retire(StoreArgs),
}

/// Options of the rotation.
#[derive(Debug, Args)]
pub struct RotateArgs {
    /// Where the data is.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Generate no key: encrypt everything anew under the one in use. With keys from variables this is the only
    /// effect.
    #[arg(long)]
    pub reencrypt_only: bool,
}
