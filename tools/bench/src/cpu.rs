//! What processes cost: processor time and memory, from `/proc`.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use anyhow::Context as _;

/// Processes of one name, with all that they started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchedProcess {
    /// What the figures are called.
    pub(crate) name: String,
    /// The process at the top.
    pub(crate) pid: u32,
}

impl WatchedProcess {
    /// Reads `name=pid`.
    ///
    /// # Errors
    /// If it is anything else.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, pid) = text.split_once('=').ok_or("must be name=pid")?;
        let pid = pid.parse().map_err(|_| "the pid must be a number")?;
        Ok(Self { name: name.to_owned(), pid })
    }
}

/// One line of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// Of the process, in ticks.
    own: u64,
    /// Of its children that have ended and been waited for, in ticks.
    ended: u64,
}

impl Stat {
    fn parse(line: &str) -> Option<Self> {
        // The name in parentheses may hold blanks; what follows it does not.
        let (_, rest) = line.rsplit_once(')')?;
        let field = |number: usize| rest.split_ascii_whitespace().nth(number)?.parse::<u64>().ok();
        Some(Self {
            parent: u32::try_from(field(1)?).ok()?,
            own: field(11)? + field(12)?,
            ended: field(13)? + field(14)?,
        })
    }
}

/// Processor time spent so far, user and system, by each of `watched` with all that it started.
pub(crate) fn spent(watched: &[WatchedProcess]) -> anyhow::Result<Vec<Duration>> {
    let all = processes()?;
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    let time = |watched: &WatchedProcess| {
        anyhow::ensure!(all.contains_key(&watched.pid), "there is no process {}", watched.pid);
        Ok(Duration::from_secs_f64(tree(&all, watched.pid) as f64 / ticks_per_second as f64))
    };
    watched.iter().map(time).collect()
}

/// Ticks of a process and of all below it.
fn tree(all: &HashMap<u32, Stat>, top: u32) -> u64 {
    let own = all.get(&top).map_or(0, |stat| stat.own + stat.ended);
    let children = all.iter().filter(|(_, stat)| stat.parent == top);
    own + children.map(|(pid, _)| tree(all, *pid)).sum::<u64>()
}

fn processes() -> anyhow::Result<HashMap<u32, Stat>> {
    let mut all = HashMap::new();
    for entry in fs::read_dir("/proc").context("there is no /proc")? {
        let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process that ends meanwhile is none.
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|line| Stat::parse(&line));
        if let Some(stat) = stat {
            all.insert(pid, stat);
        }
    }
    Ok(all)
}

/// Memory of a process in MiB: what it has now, and the most that it had.
pub(crate) fn memory(pid: u32) -> anyhow::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("there is no such process")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
    };
    Ok((field("VmRSS:").context("no VmRSS")?, field("VmHWM:").context("no VmHWM")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat_is_read_behind_the_name() {
        let line = "17 (a (b) c) S 4 1 1 0 -1 4194560 100 0 0 0 250 50 7 3 20 0 1 0 100 1 2";
        assert_eq!(Stat::parse(line), Some(Stat { parent: 4, own: 300, ended: 10 }));
        assert_eq!(Stat::parse("17 (a"), None);
    }

    #[test]
    fn a_tree_is_added_up_with_its_dead() {
        let stat = |parent, own, ended| Stat { parent, own, ended };
        let all = HashMap::from([
            (1, stat(0, 1, 0)),
            (2, stat(1, 10, 5)),
            (3, stat(2, 100, 0)),
            (4, stat(1, 1_000, 0)),
        ]);
        assert_eq!(tree(&all, 2), 115);
        assert_eq!(tree(&all, 1), 1_116);
    }

    #[test]
    fn this_process_has_memory_and_time() {
        let pid = std::process::id();
        let (now, most) = memory(pid).unwrap();
        assert!(now > 0.0 && most >= now);
        assert!(spent(&[WatchedProcess { name: "self".to_owned(), pid }]).is_ok());
    }

    #[test]
    fn a_watched_process_is_a_name_and_a_number() {
        assert_eq!(WatchedProcess::parse("serve=7"), Ok(WatchedProcess { name: "serve".to_owned(), pid: 7 }));
        assert!(WatchedProcess::parse("serve").is_err() && WatchedProcess::parse("serve=x").is_err());
    }
}
