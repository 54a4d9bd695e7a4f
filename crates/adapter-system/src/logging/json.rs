//! Lines for programs.

use std::io::{self, Write};

use log::Record;
use log::kv::{self, Error, Key, VisitSource, VisitValue};
use serde_json::{Map, Value};
use time::OffsetDateTime;

use super::Timestamp;

/// The names that every line has. A pair with one of them is written with a `_` behind it.
const OWN: [&str; 4] = ["time", "level", "target", "message"];

/// `{"time":"2026-03-02T09:00:00.000Z","level":"INFO","target":"kopeck::access","message":"request","status":200,…}`
pub(super) fn write(mut line: impl Write, now: OffsetDateTime, record: &Record<'_>) -> io::Result<()> {
    let mut event = Pairs(Map::new());
    let own = [
        Timestamp(now).to_string(),
        record.level().to_string(),
        record.target().to_owned(),
        record.args().to_string(),
    ];
    event.0.extend(OWN.map(str::to_owned).into_iter().zip(own.map(Value::String)));
    record.key_values().visit(&mut event).map_err(io::Error::other)?;
    serde_json::to_writer(&mut line, &event.0)?;
    writeln!(line)
}

struct Pairs(Map<String, Value>);

impl<'kvs> VisitSource<'kvs> for Pairs {
    fn visit_pair(&mut self, key: Key<'kvs>, value: kv::Value<'kvs>) -> Result<(), Error> {
        let mut name = key.as_str().to_owned();
        if OWN.contains(&&*name) {
            name.push('_');
        }
        let mut converted = JsonValue(None);
        value.visit(&mut converted)?;
        if let Some(value) = converted.0 {
            self.0.insert(name, value);
        }
        Ok(())
    }
}

/// A value as JSON: numbers and booleans as such, all else as text. A pair without a value is omitted.
struct JsonValue(Option<Value>);

impl VisitValue<'_> for JsonValue {
    fn visit_any(&mut self, value: kv::Value<'_>) -> Result<(), Error> {
        self.0 = Some(Value::String(value.to_string()));
        Ok(())
    }

    fn visit_null(&mut self) -> Result<(), Error> {
        self.0 = None;
        Ok(())
    }

    fn visit_u64(&mut self, value: u64) -> Result<(), Error> {
        self.0 = Some(value.into());
        Ok(())
    }

    fn visit_i64(&mut self, value: i64) -> Result<(), Error> {
        self.0 = Some(value.into());
        Ok(())
    }

    fn visit_f64(&mut self, value: f64) -> Result<(), Error> {
        // A float without a JSON number is null.
        self.0 = Some(value.into());
        Ok(())
    }

    fn visit_bool(&mut self, value: bool) -> Result<(), Error> {
        self.0 = Some(value.into());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use log::Level;
    use log::kv::ToValue as _;
    use serde_json::json;

    use super::*;

    fn line(pairs: &[(&str, kv::Value<'_>)], message: &str) -> String {
        let mut record = Record::builder();
        record.level(Level::Warn).target("kopeck::access").key_values(&pairs);
        let mut line = Vec::new();
        let now = OffsetDateTime::UNIX_EPOCH + time::Duration::milliseconds(1_007);
        write(&mut line, now, &record.args(format_args!("{message}")).build()).unwrap();
        String::from_utf8(line).unwrap()
    }

    #[test]
    fn a_line_is_an_object_with_values_of_their_kind() {
        let pairs = [
            ("status", 200_u16.to_value()),
            ("change", (-7_i64).to_value()),
            ("share", 0.5_f64.to_value()),
            ("nothing", f64::NAN.to_value()),
            ("sealed", true.to_value()),
            ("route", "/v1/balance".to_value()),
            ("reason", None::<&str>.to_value()),
        ];
        let line = line(&pairs, "request");
        let expected = json!({
            "time": "1970-01-01T00:00:01.007Z", "level": "WARN", "target": "kopeck::access",
            "message": "request", "status": 200, "change": -7, "share": 0.5, "nothing": null, "sealed": true,
            "route": "/v1/balance",
        });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    }

    #[test]
    fn an_event_is_one_line_whatever_is_in_it() {
        let line = line(&[("reason", "two\nlines \"quoted\"".to_value()), ("time", 9_u8.to_value())], "a\nb");
        assert_eq!(line.matches('\n').count(), 1);
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["message"], "a\nb");
        assert_eq!(event["reason"], "two\nlines \"quoted\"");
        assert_eq!((&event["time_"], &event["time"]), (&json!(9), &json!("1970-01-01T00:00:01.007Z")));
    }
}
