//! Log lines: one line an event, to standard error, with its key-value pairs. The level is `RUST_LOG`'s, else `info`.

mod json;
mod text;

use env_logger::{Env, Target};
use kopeck_port_system::Clock;
use time::OffsetDateTime;

use crate::system::SystemClock;

/// What is logged unless `RUST_LOG` says otherwise. The framework speaks only of trouble, and not at all of heads that
/// are no HTTP, or strangers could fill the log with errors; nor does TLS of handshakes.
const DEFAULT: &str = "info,actix_server=warn,actix_http=off,rustls=warn";

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: a JSON object a line.
    Json,
}

/// Starts logging; a second start in the same process changes nothing.
pub(crate) fn start(format: LogFormat) {
    let clock = SystemClock::default();
    let mut builder = env_logger::Builder::from_env(Env::default().default_filter_or(DEFAULT));
    builder.target(Target::Stderr);
    match format {
        LogFormat::Text => builder.format(move |line, record| text::write(line, clock.now(), record)),
        LogFormat::Json => builder.format(move |line, record| json::write(line, clock.now(), record)),
    };
    let _ = builder.try_init();
}

/// `2026-03-02T09:00:00.000Z`
pub(crate) struct Moment(pub(crate) OffsetDateTime);

impl std::fmt::Display for Moment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self(at) = self;
        let (date, millis) = (at.date(), at.millisecond());
        write!(f, "{date}T{:02}:{:02}:{:02}.{millis:03}Z", at.hour(), at.minute(), at.second())
    }
}
