//! Log lines: one a line, to standard error, with their key-value pairs. The level is `RUST_LOG`'s, else `info`.

use env_logger::{Env, Target};

/// Starts logging; a second start in the same process changes nothing.
pub(crate) fn start() {
    let settings = Env::default().default_filter_or("info");
    let _ = env_logger::Builder::from_env(settings).target(Target::Stderr).try_init();
}
