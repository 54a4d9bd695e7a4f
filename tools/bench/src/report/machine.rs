//! What was measured on.

use std::fs;

use kopeck_port_system::Clock as _;

use crate::machine::MachineClock;

/// Date, machine and commit, as a table.
pub(super) fn describe(postgres: &str, commit: &str) -> anyhow::Result<String> {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo")?;
    let processors = cpuinfo.lines().filter(|line| line.starts_with("processor")).count();
    let model = value_of(&cpuinfo, "model name").unwrap_or("unknown");
    let memory = fs::read_to_string("/proc/meminfo")?;
    let memory = value_of(&memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let (year, month, day) = MachineClock.now().to_calendar_date();
    Ok(format!(
        "| date | processors | memory | kernel | PostgreSQL | commit |\n|---|---|---|---|---|---|\n\
        | {year}-{:02}-{day:02} | {processors} × {model} | {:.0} GiB | {} | {postgres} | {commit} |",
        u8::from(month),
        memory.unwrap_or(0.0) / 1_048_576.0,
        kernel.trim(),
    ))
}

/// What stands behind the colon of the first line with this name.
fn value_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_behind_the_colon() {
        let text = "processor\t: 0\nmodel name\t: A: B\nMemTotal:   1024 kB\n";
        assert_eq!(value_of(text, "model name"), Some("A: B"));
        assert_eq!(value_of(text, "MemTotal"), Some("1024 kB"));
        assert_eq!(value_of(text, "x"), None);
    }
}
