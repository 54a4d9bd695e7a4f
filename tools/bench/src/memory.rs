//! The memory of a process, from `/proc`.

use std::fs;

use anyhow::Context as _;

/// Memory of a process in MiB: what it has now, and the most that it had.
pub(crate) fn of(pid: u32) -> anyhow::Result<(f64, f64)> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).context("there is no such process")?;
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<f64>().ok().map(|kib| kib / 1024.0)
    };
    Ok((field("VmRSS:").context("no VmRSS")?, field("VmHWM:").context("no VmHWM")?))
}

#[cfg(test)]
mod tests {
    #[test]
    fn this_process_has_memory() {
        let (now, most) = super::of(std::process::id()).unwrap();
        assert!(now > 0.0 && most >= now);
    }
}
