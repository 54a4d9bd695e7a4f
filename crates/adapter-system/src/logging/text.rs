//! Lines for people.
//!
//! Message and values may come from a caller or from a bank. What could end the line, or change how a terminal shows it,
//! is escaped: control characters, line separators and characters that turn the direction of text.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use log::Record;
use log::kv::{Error, Key, Value, VisitSource, VisitValue};
use time::OffsetDateTime;

use super::Timestamp;

/// `2026-03-02T09:00:00.000Z INFO kopeck::access request status=200 …`
pub(super) fn write(mut line: impl Write, now: OffsetDateTime, record: &Record<'_>) -> io::Result<()> {
    write!(line, "{} {} {} ", Timestamp(now), record.level(), record.target())?;
    write!(Escaped(&mut line), "{}", record.args()).map_err(io::Error::other)?;
    record.key_values().visit(&mut Pairs(&mut line)).map_err(io::Error::other)?;
    writeln!(line)
}

struct Pairs<W>(W);

impl<'kvs, W: Write> VisitSource<'kvs> for Pairs<W> {
    fn visit_pair(&mut self, key: Key<'kvs>, value: Value<'kvs>) -> Result<(), Error> {
        value.visit(&mut Pair { line: &mut self.0, key })
    }
}

struct Pair<'a, W> {
    line: &'a mut W,
    key: Key<'a>,
}

impl<W: Write> VisitValue<'_> for Pair<'_, W> {
    fn visit_any(&mut self, value: Value<'_>) -> Result<(), Error> {
        write!(self.line, " {}=", self.key)?;
        Ok(write!(Escaped(&mut self.line), "{value}")?)
    }

    /// A pair without a value is left out.
    fn visit_null(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Escapes what is written through it.
struct Escaped<W>(W);

impl<W: Write> fmt::Write for Escaped<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive(is_special) {
            let mut plain = piece.chars();
            let special = plain.clone().next_back().filter(|last| is_special(*last));
            if special.is_some() {
                plain.next_back();
            }
            self.0.write_all(plain.as_str().as_bytes()).map_err(|_| fmt::Error)?;
            if let Some(special) = special {
                write!(self.0, "{}", special.escape_debug()).map_err(|_| fmt::Error)?;
            }
        }
        Ok(())
    }
}

/// Whether a character is not shown as itself. A backslash is not, or an escape could be forged.
fn is_special(character: char) -> bool {
    match character {
        '\\' => true,
        ' '..='~' => false,
        // More than one character: an escape.
        other => other.escape_debug().len() > 1,
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

    #[test]
    fn an_event_is_one_line_whatever_is_in_it() {
        let forged = "x\n1970-01-01T00:00:00.000Z INFO kopeck::access request";
        let special = "\r\0\u{1b}[2J\u{7f}\u{9b}2J\u{85}\u{2028}\u{2029}\u{202e}\u{2066}\u{200b}\u{feff}\\n";
        let pairs = [("reason", forged), ("special", special), ("plain", "it's \"Ёж\" 🦔 = 1")];
        let mut record = Record::builder();
        record.level(Level::Warn).target("t").key_values(&pairs);
        let mut line = Vec::new();
        write(&mut line, OffsetDateTime::UNIX_EPOCH, &record.args(format_args!("a\nb")).build()).unwrap();
        let line = String::from_utf8(line).unwrap();
        let expected = concat!(
            r"1970-01-01T00:00:00.000Z WARN t a\nb",
            r" reason=x\n1970-01-01T00:00:00.000Z INFO kopeck::access request",
            r" special=\r\0\u{1b}[2J\u{7f}\u{9b}2J\u{85}\u{2028}\u{2029}\u{202e}\u{2066}\u{200b}\u{feff}\\n",
            " plain=it's \"Ёж\" 🦔 = 1\n",
        );
        assert_eq!(line, expected);
    }

    #[test]
    fn a_pair_without_a_value_is_left_out() {
        let pairs = [("reason", None), ("count", Some(1))];
        let mut record = Record::builder();
        record.level(Level::Info).target("t").key_values(&pairs);
        let mut line = Vec::new();
        write(&mut line, OffsetDateTime::UNIX_EPOCH, &record.args(format_args!("m")).build()).unwrap();
        assert_eq!(String::from_utf8(line).unwrap(), "1970-01-01T00:00:00.000Z INFO t m count=1\n");
    }
}
