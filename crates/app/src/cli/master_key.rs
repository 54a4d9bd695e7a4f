//! What can be done with master keys.

use clap::{Args, Subcommand};

use super::StoreArgs;

/// What can be done with master keys.
#[derive(Debug, Subcommand)]
pub enum MasterKeyCommand {
    /// Make a key and show it; nothing else happens.
    Generate,
    /// Put a new key in use and encrypt everything anew under it; the old one is accepted on. Can be done while the
    /// service runs.
    Rotate(RotateArgs),
    /// Give the old keys up: what was signed under them ends.
    Retire(StoreArgs),
}

/// How to rotate.
#[derive(Debug, Args)]
pub struct RotateArgs {
    /// Where the data is.
    #[command(flatten)]
    pub store: StoreArgs,
    /// Make no key: encrypt everything anew under the one that is in use already. With keys that are given by
    /// variables this is all that is done.
    #[arg(long)]
    pub reencrypt_only: bool,
}
