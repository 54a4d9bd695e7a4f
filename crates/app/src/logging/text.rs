//! Lines for people.

use std::io::{self, Write};

use log::Record;
use log::kv::{Error, Key, Value, VisitSource};
use time::OffsetDateTime;

use super::Moment;

/// `2026-03-02T09:00:00.000Z INFO kopeck::access request status=200 …`
pub(super) fn write(mut line: impl Write, now: OffsetDateTime, record: &Record<'_>) -> io::Result<()> {
    write!(line, "{} {} {} {}", Moment(now), record.level(), record.target(), record.args())?;
    record.key_values().visit(&mut Pairs(&mut line)).map_err(io::Error::other)?;
    writeln!(line)
}

struct Pairs<W>(W);

impl<'kvs, W: Write> VisitSource<'kvs> for Pairs<W> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        Ok(write!(self.0, " {key}={value}")?)
    }
}

#[cfg(test)]
mod tests {
    use log::Level;

    use super::*;

    #[test]
    fn a_line_has_time_level_target_message_and_pairs() {
        let pairs = [("status", 200), ("micros", 7)];
        let mut record = Record::builder();
        record.level(Level::Info).target("kopeck::access").key_values(&pairs);
        let now = OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(1_007);
        let mut line = Vec::new();
        write(&mut line, now, &record.args(format_args!("request")).build()).unwrap();
        let expected = "1970-01-01T00:00:01.007Z INFO kopeck::access request status=200 micros=7\n";
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }
}
