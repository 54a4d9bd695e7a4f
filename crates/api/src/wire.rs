//! Dates and times on the wire, for serde.

use serde::{Deserialize, Deserializer, Serializer};
use time::{Date, Month, PrimitiveDateTime, Time};

/// A value that is a text on the wire.
pub trait WireText: Sized {
    /// Its form, for errors.
    const FORM: &'static str;

    /// The value of a text.
    fn parse(text: &str) -> Option<Self>;

    /// The text of the value.
    fn text(&self) -> String;
}

impl WireText for Date {
    const FORM: &'static str = "DD.MM.YYYY";

    fn parse(text: &str) -> Option<Self> {
        parse_date(text)
    }

    fn text(&self) -> String {
        format!("{:02}.{:02}.{:04}", self.day(), u8::from(self.month()), self.year())
    }
}

impl WireText for Time {
    const FORM: &'static str = "HH:MM";

    fn parse(text: &str) -> Option<Self> {
        parse_time(text)
    }

    fn text(&self) -> String {
        format!("{:02}:{:02}", self.hour(), self.minute())
    }
}

impl WireText for PrimitiveDateTime {
    const FORM: &'static str = "DD.MM.YYYY HH:MM";

    fn parse(text: &str) -> Option<Self> {
        parse_date_time(text)
    }

    fn text(&self) -> String {
        format!("{} {}", self.date().text(), self.time().text())
    }
}

/// For `#[serde(with = "wire::text")]`.
#[expect(missing_docs, reason = "serde's own names")]
pub mod text {
    use super::{Deserialize, Deserializer, Serializer, WireText, parsed};

    pub fn serialize<T: WireText, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.text())
    }

    pub fn deserialize<'de, T: WireText, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        parsed(&String::deserialize(deserializer)?)
    }
}

/// For `#[serde(with = "wire::text_or_null")]`.
#[expect(missing_docs, reason = "serde's own names")]
pub mod text_or_null {
    use super::{Deserialize, Deserializer, Serializer, WireText, parsed};

    pub fn serialize<T: WireText, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => super::text::serialize(value, serializer),
            None => serializer.serialize_none(),
        }
    }

    pub fn deserialize<'de, T: WireText, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<T>, D::Error> {
        Option::<String>::deserialize(deserializer)?.map(|text| parsed(&text)).transpose()
    }
}

fn parsed<T: WireText, E: serde::de::Error>(text: &str) -> Result<T, E> {
    T::parse(text).ok_or_else(|| E::custom(format!("{text:?} is not of the form {}", T::FORM)))
}

/// `null` as the default value: an empty list, or `false`.
pub(crate) fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn parse_date(text: &str) -> Option<Date> {
    let mut parts = text.split('.');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let month = Month::try_from(month.parse::<u8>().ok()?).ok()?;
    Date::from_calendar_date(year.parse().ok()?, month, day.parse().ok()?).ok()
}

fn parse_time(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    Time::from_hms(hour.parse().ok()?, minute.parse().ok()?, 0).ok()
}

fn parse_date_time(text: &str) -> Option<PrimitiveDateTime> {
    let (date, time) = text.split_once(' ')?;
    Some(PrimitiveDateTime::new(parse_date(date)?, parse_time(time)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_come_back() {
        let at = parse_date_time("07.02.2026 09:05").unwrap();
        assert_eq!(at.date(), Date::from_calendar_date(2026, Month::February, 7).unwrap());
        assert_eq!(at.text(), "07.02.2026 09:05");
    }

    #[test]
    fn other_forms_are_no_dates() {
        for bad in ["", "2026-02-07", "30.02.2026", "1.2", "01.13.2026", "01.02.2026.1", "a.b.c"] {
            assert_eq!(parse_date(bad), None, "{bad}");
        }
        for bad in ["", "9", "24:00", "12:60", "12:00:00"] {
            assert_eq!(parse_time(bad), None, "{bad}");
        }
        assert_eq!(parse_date_time("07.02.2026"), None);
    }
}
