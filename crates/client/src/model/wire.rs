//! Forms of values that serde has no words for: dates, times, telephone numbers.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};
use time::{Date, Month, PrimitiveDateTime, Time};

/// `DD.MM.YYYY`.
pub(crate) fn date_text(date: Date) -> String {
    format!("{:02}.{:02}.{:04}", date.day(), u8::from(date.month()), date.year())
}

/// `DD.MM.YYYY HH:MM`.
pub(crate) fn date_time_text(at: PrimitiveDateTime) -> String {
    format!("{} {:02}:{:02}", date_text(at.date()), at.hour(), at.minute())
}

pub(crate) fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Date, D::Error> {
    parse(deserializer, parse_date, "DD.MM.YYYY")
}

pub(crate) fn date_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Date>, D::Error> {
    parse_or_null(deserializer, parse_date, "DD.MM.YYYY")
}

pub(crate) fn date_time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PrimitiveDateTime, D::Error> {
    parse(deserializer, parse_date_time, "DD.MM.YYYY HH:MM")
}

pub(crate) fn date_time_or_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<PrimitiveDateTime>, D::Error> {
    parse_or_null(deserializer, parse_date_time, "DD.MM.YYYY HH:MM")
}

pub(crate) fn time_of_day<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
    parse(deserializer, parse_time, "HH:MM")
}

pub(crate) fn serialize_date<S: Serializer>(date: &Date, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&date_text(*date))
}

pub(crate) fn serialize_date_or_null<S: Serializer>(
    date: &Option<Date>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match date {
        Some(date) => serialize_date(date, serializer),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn serialize_date_time<S: Serializer>(
    at: &PrimitiveDateTime,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&date_time_text(*at))
}

pub(crate) fn serialize_time_of_day<S: Serializer>(time: &Time, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{:02}:{:02}", time.hour(), time.minute()))
}

pub(crate) fn serialize_date_time_or_null<S: Serializer>(
    at: &Option<PrimitiveDateTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => serialize_date_time(at, serializer),
        None => serializer.serialize_none(),
    }
}

/// A telephone number of ten digits: the service sends it as a string here and as an integer there, where its
/// leading zeros are lost.
pub(crate) fn phone_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Phone {
        Text(String),
        Number(u64),
    }
    let phone = Option::<Phone>::deserialize(deserializer)?;
    Ok(phone.map(|phone| match phone {
        Phone::Text(text) => text,
        Phone::Number(number) => format!("{number:010}"),
    }))
}

/// `null` as the default value: an empty list, or `false`.
pub(crate) fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Default + Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

fn parse<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    parse: fn(&str) -> Option<T>,
    form: &str,
) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| D::Error::custom(format!("{text:?} is not of the form {form}")))
}

fn parse_or_null<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    parse: fn(&str) -> Option<T>,
    form: &str,
) -> Result<Option<T>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    parse(&text).map(Some).ok_or_else(|| D::Error::custom(format!("{text:?} is not of the form {form}")))
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
        assert_eq!(date_time_text(at), "07.02.2026 09:05");
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

    #[test]
    fn phones_are_taken_in_both_forms() {
        let phone = |json: &str| phone_or_null(&mut serde_json::Deserializer::from_str(json)).unwrap();
        assert_eq!(phone("\"9031234567\"").as_deref(), Some("9031234567"));
        assert_eq!(phone("9031234567").as_deref(), Some("9031234567"));
        assert_eq!(phone("31234567").as_deref(), Some("0031234567"));
        assert_eq!(phone("null"), None);
    }
}
