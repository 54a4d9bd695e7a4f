//! Log lines: one line an event, to standard error, with its key-value pairs. The level is `RUST_LOG`'s, else one that
//! depends on the command.

mod json;
mod text;

use env_logger::{Env, Target};
use kopeck_port_system::Clock;
use time::OffsetDateTime;

use crate::system::SystemClock;

/// What a process that serves or works logs unless `RUST_LOG` says otherwise. The framework speaks only of trouble, and
/// not at all of heads that are no HTTP, or strangers could fill the log with errors; nor does TLS of handshakes.
pub(crate) const OF_SERVICE: &str = "info,actix_server=warn,actix_http=off,rustls=warn";

/// The same of a command that ends by itself: it prints its result, and its steps are of no interest beside it.
pub(crate) const OF_COMMAND: &str = "warn";

/// How a line is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For programs: a JSON object a line.
    Json,
}

/// Starts logging by `default` or `RUST_LOG`; a second start in the same process changes nothing.
pub(crate) fn start(format: LogFormat, default: &str) {
    let clock = SystemClock::default();
    let mut builder = env_logger::Builder::from_env(Env::default().default_filter_or(default));
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
