//! The limit of open files, which bounds connections.

use std::num::NonZeroUsize;

use anyhow::ensure;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that stay free for other things than connections from partners, if there are so many: connections to webhooks, to
/// the bank and to the operations port, temporary files.
const BESIDE_CONNECTIONS: u64 = 128;

/// The minimum limit of open files: a base, plus some per processor. With two processors an idle process
/// with all its ports has 46 files open. The framework's threads panic at the start if they cannot have theirs.
const AT_LEAST: u64 = 40;
const AT_LEAST_FOR_A_PROCESSOR: u64 = 8;

/// Raises the soft limit of open files to the hard one, and returns how many of `connections` fit into it. Many systems
/// start a process with a soft limit of 1,024 for the sake of programs that use `select`; this one does not.
///
/// # Errors
/// If the process could not even start to serve.
pub fn raise_open_files(connections: u32) -> anyhow::Result<u32> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    let Some(limit) = (if raised.is_ok() { maximum } else { current }) else { return Ok(connections) };
    let processors = std::thread::available_parallelism().map_or(1, NonZeroUsize::get) as u64;
    let needed = AT_LEAST + AT_LEAST_FOR_A_PROCESSOR * processors;
    ensure!(
        limit >= needed,
        "the limit of open files is {limit}, and at least {needed} are needed: raise it by `ulimit -n` or LimitNOFILE"
    );
    let served = connections.min(bearable(limit - needed));
    if served < connections {
        log::warn!(
            limit, connections = served;
            "the limit of open files is too low for KOPECK_MAX_CONNECTIONS: fewer connections are served"
        );
    }
    Ok(served)
}

/// The connections that may be open if `spare` files are left by what a process needs: half of them at least, and one in
/// any case.
fn bearable(spare: u64) -> u32 {
    u32::try_from(spare - BESIDE_CONNECTIONS.min(spare / 2)).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_files_is_not_for_connections() {
        let bearable: Vec<u32> = [0, 1, 8, 256, 1_000, u64::MAX].map(bearable).into();
        assert_eq!(bearable, [1, 1, 4, 128, 872, u32::MAX]);
    }
}
