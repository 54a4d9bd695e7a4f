//! The limit of open files, of which each connection is one.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that a process has open beside its connections: the database, the log, timers.
const BESIDE_CONNECTIONS: u64 = 128;

/// Raises the soft limit of open files to the hard one, and warns if `connections` do not fit into it. Many systems start
/// a process with a soft limit of 1,024 for the sake of programs that use `select`; this one does not.
pub(crate) fn raise_limit(connections: u32) {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let limit = if raised.is_ok() { maximum } else { current };
    if limit.is_some_and(|limit| limit < u64::from(connections) + BESIDE_CONNECTIONS) {
        log::warn!(limit, connections; "the limit of open files is too low for KOPECK_MAX_CONNECTIONS");
    }
}
