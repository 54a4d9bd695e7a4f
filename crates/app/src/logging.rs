//! Log lines: one a line, to standard error, with their key-value pairs. The level is `RUST_LOG`'s, else `info`.

use std::io::Write;

use env_logger::fmt::Formatter;
use env_logger::{Env, Target};
use kopeck_port_system::Clock;
use log::Record;
use log::kv::{Error, Key, Value, VisitSource};

use crate::system::SystemClock;

/// What is logged unless `RUST_LOG` says otherwise. The framework speaks only of trouble, and not at all of heads that
/// are no HTTP, or strangers could fill the log with errors.
const DEFAULT: &str = "info,actix_server=warn,actix_http=off";

/// Starts logging; a second start in the same process changes nothing.
pub(crate) fn start() {
    let clock = SystemClock::default();
    let mut builder = env_logger::Builder::from_env(Env::default().default_filter_or(DEFAULT));
    builder.target(Target::Stderr).format(move |line, record| write_line(line, &clock, record));
    let _ = builder.try_init();
}

/// `2026-03-02T09:00:00.000Z INFO kopeck::access request status=200 …`
fn write_line(line: &mut Formatter, clock: &SystemClock, record: &Record<'_>) -> std::io::Result<()> {
    let now = clock.now();
    write!(
        line,
        "{}T{:02}:{:02}:{:02}.{:03}Z {} {} {}",
        now.date(),
        now.hour(),
        now.minute(),
        now.second(),
        now.millisecond(),
        record.level(),
        record.target(),
        record.args()
    )?;
    let mut pairs = Pairs(line);
    record.key_values().visit(&mut pairs).map_err(std::io::Error::other)?;
    writeln!(line)
}

struct Pairs<'a>(&'a mut Formatter);

impl<'kvs> VisitSource<'kvs> for Pairs<'_> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        Ok(write!(self.0, " {key}={value}")?)
    }
}
