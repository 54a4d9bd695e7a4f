//! Reads the text of a limit in its columns, which is that of its `Display`.
//!
//! A limit has one text only, and a text that differs from that of the limit it is read as is corrupt.

use kopeck_domain::Invalid;
use kopeck_domain::Kopecks;
use kopeck_domain::limit::{Days, Limit, LimitBuilder};
use kopeck_port_store::StoreError;

use crate::convert::corrupt;

const UNLIMITED: &str = "UNLIMITED";
const DAYS: &str = "days ";
const TIMES: &str = "times ";
const ONLY: &str = "only ";
const EXCEPT: &str = "except ";

/// The limit with this text.
pub(crate) fn parse(stored: &str, column: &'static str) -> Result<Limit, StoreError> {
    let limit =
        if stored == UNLIMITED { Limit::Unlimited } else { read(stored).map_err(|_| corrupt(column))? };
    if limit.to_string() == stored { Ok(limit) } else { Err(corrupt(column)) }
}

fn read(stored: &str) -> Result<Limit, Invalid> {
    let mut limit = LimitBuilder::default();
    for part in stored.split("; ") {
        limit = if let Some(days) = part.strip_prefix(DAYS) {
            let days = days.split(',').map(number).collect::<Result<Vec<_>, _>>()?;
            limit.on(Days::parse(&days)?)
        } else if let Some(windows) = part.strip_prefix(TIMES) {
            limit.within(windows.split(','))
        } else if let Some(categories) = part.strip_prefix(ONLY) {
            limit.only_at(categories.split(','))
        } else if let Some(categories) = part.strip_prefix(EXCEPT) {
            limit.except_at(categories.split(','))
        } else {
            let (amount, period) = part.split_once(' ').unwrap_or((part, ""));
            limit.per(period.parse()?, Kopecks::new(number(amount)?))
        }
    }
    limit.build()
}

fn number(text: &str) -> Result<i64, Invalid> {
    text.parse().map_err(|_| Invalid::new("must be a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_has_one_text_and_is_read_back() {
        assert_eq!(parse(UNLIMITED, "t.c"), Ok(Limit::Unlimited));
        for stored in [
            UNLIMITED,
            "1 CDAY",
            "9223372036854775807 CQUARTET",
            "days 6,7",
            "times 00:00-24:00",
            "500000 CMONTH; times 22:00-06:00,12:00-13:00",
            "500000 CWEEK; days 1,2,3,4,5; times 08:00-12:00,13:00-18:30",
            "only 5812",
            "except 5812,5812,5411-5499,5411-5411",
            "500000 CWEEK; days 1; times 08:00-12:00; only 5812,5411-5499",
        ] {
            assert_eq!(parse(stored, "t.c").unwrap().to_string(), stored);
        }
    }

    #[test]
    fn other_texts_than_limits_are_corrupt() {
        for stored in [
            "",
            "unlimited",
            "UNLIMITED; days 1",
            "0 CDAY",
            "-1 CDAY",
            "1",
            "1 CYEAR",
            "01 CDAY",
            "1  CDAY",
            "1 CDAY; 1 CDAY",
            "days ",
            "days 0",
            "days 2,1",
            "days 1,1",
            "days 1;times 00:00-01:00",
            "times 00:00-01:00; days 1",
            "times 01:00",
            "times 01:00-01:00",
            "times 00:00-02:00,01:00-03:00",
            "1 CDAY; ",
            "only ",
            "only 581",
            "only 5499-5411",
            "only 5812; except 5813",
            "except 5812; 1 CDAY",
        ] {
            assert_eq!(parse(stored, "t.c"), Err(corrupt("t.c")), "{stored}");
        }
    }
}
