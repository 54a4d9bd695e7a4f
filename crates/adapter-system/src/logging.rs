//! Log lines: one line an event, to standard error, with its key-value pairs. The level is `RUST_LOG`'s, else one that
//! depends on the command.

mod json;
mod text;

use std::io::{self, Write};
use std::panic::PanicHookInfo;

use env_logger::{Env, Target};
use kopeck_port_system::Clock;
use log::{Level, Record};
use time::OffsetDateTime;

use crate::service_output;
use crate::system_clock::SystemClock;

/// The default filter of `serve` and `worker`. The framework logs warnings only, and nothing about heads that are no HTTP or
/// failed TLS handshakes, with which strangers could fill the log.
const OF_SERVICE: &str = "info,actix_server=warn,actix_http=off,rustls=warn";

/// The default filter of other commands, which print their result.
const OF_COMMAND: &str = "warn";

/// The format of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// For programs: a JSON object a line.
    Json,
}

impl LogFormat {
    fn write(self, line: impl Write, now: OffsetDateTime, record: &Record<'_>) -> io::Result<()> {
        match self {
            Self::Text => text::write(line, now, record),
            Self::Json => json::write(line, now, record),
        }
    }

    /// The line that stands for lines that were dropped.
    fn note_on_dropped(self, now: OffsetDateTime, lines: u64) -> Vec<u8> {
        let mut line = Vec::new();
        let pairs = [("lines", lines)];
        let mut record = Record::builder();
        record.level(Level::Warn).target("kopeck::logging").key_values(&pairs);
        // Writing to memory cannot fail.
        let _ = self.write(&mut line, now, &record.args(format_args!("{lines} log lines dropped")).build());
        line
    }
}

/// Starts the log of a command that does not serve, by `RUST_LOG` or from level WARN on. A second start in the same process
/// changes nothing.
pub fn start_log_of_command(format: LogFormat) {
    start(format, OF_COMMAND, Target::Stderr);
}

/// Starts the log of a process that serves or works, by `RUST_LOG` or from level INFO on. No thread that logs waits for the
/// reader of the log.
///
/// # Errors
/// If the system gives no thread.
pub fn start_log_of_service(format: LogFormat) -> io::Result<()> {
    let clock = SystemClock::default();
    let lines = service_output::queue_log(move |lines| format.note_on_dropped(clock.now(), lines))?;
    start(format, OF_SERVICE, Target::Pipe(Box::new(lines)));
    if format == LogFormat::Json {
        service_output::write_as(json_line);
    }
    // The default hook writes to standard error itself and would block on its reader.
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

/// A line for programs with this message and nothing else.
fn json_line(message: &str) -> Vec<u8> {
    let mut line = Vec::new();
    let mut record = Record::builder();
    record.level(Level::Info).target("kopeck");
    // Writing to memory cannot fail.
    let now = SystemClock::default().now();
    let _ = LogFormat::Json.write(&mut line, now, &record.args(format_args!("{message}")).build());
    line
}

fn start(format: LogFormat, default: &str, target: Target) {
    let clock = SystemClock::default();
    let mut builder = env_logger::Builder::from_env(Env::default().default_filter_or(default));
    builder.target(target).format(move |line, record| {
        if is_end_of_listener(record) { Ok(()) } else { format.write(line, clock.now(), record) }
    });
    let _ = builder.try_init();
}

/// Whether the framework reports what the drain did to its listener: `accept` on a socket that was shut down fails with
/// EINVAL. It would stand in the log as an error at every stop.
fn is_end_of_listener(record: &Record<'_>) -> bool {
    record.target() == "actix_server::accept" && record.args().to_string().ends_with("(os error 22)")
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let thread = std::thread::current();
    log::error!(thread = thread.name().unwrap_or("-"); "{panic}");
}

/// `2026-03-02T09:00:00.000Z`; `{:.6}` shows microseconds.
pub struct Timestamp(pub OffsetDateTime);

impl std::fmt::Display for Timestamp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(at) = self;
        let (date, (hour, minute, second, micros)) = (at.date(), at.to_hms_micro());
        write!(f, "{date}T{hour:02}:{minute:02}:{second:02}.")?;
        match f.precision() {
            Some(6) => write!(f, "{micros:06}")?,
            _ => write!(f, "{:03}", micros / 1_000)?,
        }
        match at.offset().as_hms() {
            (0, 0, _) => f.write_str("Z"),
            (hours, minutes, _) => {
                let sign = if at.offset().is_negative() { '-' } else { '+' };
                write!(f, "{sign}{:02}:{:02}", hours.unsigned_abs(), minutes.unsigned_abs())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_on_dropped_lines_has_the_form_of_the_log() {
        let note = |format: LogFormat| {
            String::from_utf8(format.note_on_dropped(OffsetDateTime::UNIX_EPOCH, 7)).unwrap()
        };
        let text = "1970-01-01T00:00:00.000Z WARN kopeck::logging 7 log lines dropped lines=7\n";
        assert_eq!(note(LogFormat::Text), text);
        let json: serde_json::Value = serde_json::from_str(&note(LogFormat::Json)).unwrap();
        assert_eq!((&json["message"], &json["lines"]), (&"7 log lines dropped".into(), &7.into()));
    }
}
