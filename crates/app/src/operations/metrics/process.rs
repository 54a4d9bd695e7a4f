//! Metrics of this process under the names of Prometheus' clients, so that dashboards and alarms for any process work with
//! them. Linux only.

use std::fs;

use prometheus::{Counter, Gauge, IntGauge, Registry};
use rustix::param::{clock_ticks_per_second, page_size};
use rustix::process::{Resource, getrlimit};

use super::Registrar;

/// Metrics of the process.
pub(super) struct ProcessMetrics {
    cpu: Counter,
    resident: IntGauge,
    virtual_memory: IntGauge,
    open_files: IntGauge,
    max_files: IntGauge,
    threads: IntGauge,
}

/// The values of `/proc/self/stat`, in units of the kernel.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    /// Ticks of processor time, of the process itself and of the kernel for it.
    cpu: u64,
    threads: i64,
    /// Ticks from the start of the machine.
    start: u64,
    virtual_bytes: i64,
    resident_pages: i64,
}

impl ProcessMetrics {
    /// `None` where the system does not tell.
    pub(super) fn new(registrar: &Registrar<'_>) -> prometheus::Result<Option<Self>> {
        let Some(stat) = Stat::read() else { return Ok(None) };
        let Registrar(registry) = registrar;
        if let Some(boot) = boot_time() {
            let start = Gauge::new(
                "process_start_time_seconds",
                "Start time of the process since the Unix epoch, in seconds.",
            )?;
            start.set(boot + seconds(stat.start));
            registry.register(Box::new(start))?;
        }
        let metrics = Self {
            cpu: cpu(registry)?,
            resident: registrar.gauge("process_resident_memory_bytes", "Resident memory size in bytes.")?,
            virtual_memory: registrar
                .gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.")?,
            open_files: registrar.gauge("process_open_fds", "Number of open file descriptors.")?,
            max_files: registrar.gauge("process_max_fds", "Maximum number of open file descriptors.")?,
            threads: registrar.gauge("process_threads", "Number of threads of the process.")?,
        };
        Ok(Some(metrics))
    }

    /// Takes over how things stand. What cannot be read stays as it was.
    pub(super) fn show(&self) {
        if let Some(stat) = Stat::read() {
            // Two readers at the same moment would count the same time twice, but the operations port has one thread.
            self.cpu.inc_by((seconds(stat.cpu) - self.cpu.get()).max(0.0));
            self.resident.set(stat.resident_pages.saturating_mul(page_bytes()));
            self.virtual_memory.set(stat.virtual_bytes);
            self.threads.set(stat.threads);
        }
        if let Ok(files) = fs::read_dir("/proc/self/fd") {
            // One of them is the folder itself, which is being read.
            self.open_files.set(i64::try_from(files.count()).unwrap_or(i64::MAX).saturating_sub(1));
        }
        // No limit is shown as the greatest number.
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        self.max_files.set(i64::try_from(limit).unwrap_or(i64::MAX));
    }
}

fn cpu(registry: &Registry) -> prometheus::Result<Counter> {
    let cpu = Counter::new("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")?;
    registry.register(Box::new(cpu.clone()))?;
    Ok(cpu)
}

impl Stat {
    fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// Reads the line as `proc_pid_stat(5)` has it. The name of the program, in brackets, may hold blanks and brackets.
    fn parse(line: &str) -> Option<Self> {
        let (_, behind) = line.rsplit_once(')')?;
        let fields: Vec<&str> = behind.split_whitespace().collect();
        // The manual counts from 1, and the third field is the first behind the name.
        let field = |number: usize| fields.get(number - 3).copied();
        let ticks = |number| field(number)?.parse::<u64>().ok();
        Some(Self {
            cpu: ticks(14)?.checked_add(ticks(15)?)?,
            threads: field(20)?.parse().ok()?,
            start: ticks(22)?,
            virtual_bytes: field(23)?.parse().ok()?,
            resident_pages: field(24)?.parse().ok()?,
        })
    }
}

/// When the machine started, in seconds since the Unix epoch.
fn boot_time() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}

/// Ticks of the kernel as seconds.
#[expect(clippy::cast_precision_loss, reason = "ticks of some thousand years are exact")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / clock_ticks_per_second() as f64
}

fn page_bytes() -> i64 {
    i64::try_from(page_size()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_the_kernel_is_read_whatever_the_program_is_called() {
        let line = "42 (a ) b) S 1 42 42 0 -1 4194560 900 0 3 0 250 50 0 0 20 0 9 0 12345 104857600 2560 18446744073709551615 1";
        let stat =
            Stat { cpu: 300, threads: 9, start: 12_345, virtual_bytes: 104_857_600, resident_pages: 2_560 };
        assert_eq!(Stat::parse(line), Some(stat));
        for broken in ["", "42 (a", "42 (a) S 1 2", "42 (a) S 1 42 42 0 -1 0 0 0 3 0 x 50 0 0 20 0 9 0 1 2 3"]
        {
            assert_eq!(Stat::parse(broken), None, "{broken}");
        }
    }
}
