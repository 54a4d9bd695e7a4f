//! The limit of open files, which bounds connections.

use std::num::NonZeroUsize;

use anyhow::ensure;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that a process has open beside its connections: the database, the log, timers.
const BESIDE_CONNECTIONS: u64 = 128;

/// What a process cannot do without: so many files, and so many for each processor. With two processors an idle process
/// with all its ports has 46 files open. The framework's threads panic at the start if they cannot have theirs.
const AT_LEAST: u64 = 40;
const AT_LEAST_FOR_A_PROCESSOR: u64 = 8;

/// Raises the soft limit of open files to the hard one, and warns if `connections` do not fit into it. Many systems start
/// a process with a soft limit of 1,024 for the sake of programs that use `select`; this one does not.
///
/// # Errors
/// If the process could not even start to serve.
pub(crate) fn raise_limit(connections: Option<u32>) -> anyhow::Result<()> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let Some(limit) = (if raised.is_ok() { maximum } else { current }) else { return Ok(()) };
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let needed = AT_LEAST + AT_LEAST_FOR_A_PROCESSOR * processors;
    ensure!(
        limit >= needed,
        "the limit of open files is {limit}, and at least {needed} are needed: raise it by `ulimit -n` or LimitNOFILE"
    );
    if let Some(connections) = connections
        && limit < u64::from(connections) + BESIDE_CONNECTIONS
    {
        log::warn!(limit, connections; "the limit of open files is too low for KOPECK_MAX_CONNECTIONS");
    }
    Ok(())
}
