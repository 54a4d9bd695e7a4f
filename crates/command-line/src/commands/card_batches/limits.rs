//! `kopeck call limits …`.

use std::str::FromStr;

use clap::{ArgGroup, Args, ValueEnum};
use kopeck_client::{
    CardLimit, Client, LimitChange, LimitPeriod, Limits, MerchantCategories, TimeWindow, Weekday,
};

use super::NewBatch;
use crate::examples;
use crate::failure::Failure;
use crate::money;
use crate::names::CardName;
use crate::output::Output;
use crate::requests::NewRequestArgs;
use crate::table::{Column, flag, number, text};

/// Which cards, and which limit.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("limit").required(true).multiple(true).args(["unlimited", "amount", "days", "times", "only_at", "except_at"]))]
pub(crate) struct LimitArgs {
    /// The cards.
    #[arg(required = true)]
    cards: Vec<CardName>,
    /// No limit but the card's balance.
    #[arg(long, conflicts_with_all = ["amount", "days", "times", "only_at", "except_at"])]
    unlimited: bool,
    /// The amount to spend in a period, such as `500.00`.
    #[arg(long, value_parser = money::parse, requires = "period")]
    amount: Option<i64>,
    /// The period of the calendar that the amount is for.
    #[arg(long, requires = "amount")]
    period: Option<Period>,
    /// The weekdays on which the card pays, 1 is Monday: `1,2,5` or `1-5`.
    #[arg(long)]
    days: Option<Days>,
    /// The times of day at which the card pays: `08:00-20:00`, several with commas between.
    #[arg(long, value_delimiter = ',')]
    times: Vec<Window>,
    /// The merchants at which alone the card pays, by category code: `5812,5411-5499`.
    #[arg(long, value_delimiter = ',', value_name = "CODES", conflicts_with = "except_at")]
    only_at: Vec<String>,
    /// The merchants at which the card does not pay, by category code: `5812,5411-5499`.
    #[arg(long, value_delimiter = ',', value_name = "CODES")]
    except_at: Vec<String>,
    #[command(flatten)]
    request: NewRequestArgs,
}

/// A period of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Period {
    /// From midnight.
    Day,
    /// From Monday.
    Week,
    /// From the first day of the month.
    Month,
    /// From 1 January, April, July, October.
    Quarter,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Days(Vec<Weekday>);

/// A part of the day. Whether its times make sense is the service's to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Window(TimeWindow);

impl FromStr for Days {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} are no weekdays: write 1,2,5 or 1-5, where 1 is Monday");
        let day = |text: &str| match text.trim().parse() {
            Ok(number @ 1..=7_u8) => Ok(number),
            _ => Err(wrong()),
        };
        let mut days = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (day(first)?, day(last)?);
            if first > last {
                return Err(wrong());
            }
            days.extend((first..=last).map(|number| Weekday::Monday.nth_next(number - 1)));
        }
        Ok(Self(days))
    }
}

impl FromStr for Window {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = |text: &str| {
            let digits = |text: &str| text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            text.split_once(':').is_some_and(|(hour, minute)| digits(hour) && digits(minute))
        };
        match text.split_once('-').map(|(from, to)| (from.trim(), to.trim())) {
            Some((from, to)) if time(from) && time(to) => Ok(Self(TimeWindow::new(from, to))),
            _ => Err(format!("invalid window {text:?}: write HH:MM-HH:MM, e.g. 08:00-20:00")),
        }
    }
}

impl NewBatch for LimitArgs {
    type Record = LimitChange;

    const COMMAND: &'static str = "set";
    const ABOUT: &'static str = "Give the same limit to cards, in place of the whole limit that each had";
    const EXAMPLES: &'static str = examples::LIMITS_SET;
    const NOUN: &'static str = "change";
    const ID: &'static str = "SET_LIMITS_CARDS_ID";
    const COLUMNS: &'static [Column] = &[
        text("setLimitsCardsId", "/setLimitsCardsId"),
        text("status", "/status"),
        number("cards", "/numberCards"),
        text("created", "/createdAt"),
        text("reference", "/reference"),
    ];
    const RESULT: &'static [Column] =
        &[text("idCard", "/idCard"), flag("limit set", "/resultLimit"), text("reason", "/errorLimit")];

    fn of(client: &Client) -> Limits<'_> {
        client.limits()
    }

    async fn create(self, client: &Client) -> Result<Output, Failure> {
        let cards = self.cards.clone();
        let created = client.limits().set(&cards, &self.limit());
        self.request.send::<Self, _>(client, created, |created| created.set_limits_cards_id, argument).await
    }
}

/// The argument that a field of a limit came from, such as `limit.times[0].from`.
fn argument(field: &str) -> Option<String> {
    if let Some(list) = field.strip_prefix("limit.merchantCategories.") {
        return Some(if list.starts_with("only") { "--only-at" } else { "--except-at" }.to_owned());
    }
    let name = field.strip_prefix("limit.")?.split(['.', '[']).next()?;
    ["amount", "period", "days", "times"].contains(&name).then(|| format!("--{name}"))
}

impl LimitArgs {
    fn limit(&self) -> CardLimit {
        CardLimit {
            unlimited: self.unlimited,
            amount: self.amount,
            period: self.period.map(Period::of_the_interface),
            days: self.days.as_ref().map(|Days(days)| days.clone()).unwrap_or_default(),
            times: self.times.iter().map(|Window(window)| window.clone()).collect(),
            merchant_categories: self.merchant_categories(),
        }
    }

    fn merchant_categories(&self) -> Option<MerchantCategories> {
        if !self.only_at.is_empty() {
            Some(MerchantCategories::only(&self.only_at))
        } else if !self.except_at.is_empty() {
            Some(MerchantCategories::except(&self.except_at))
        } else {
            None
        }
    }
}

impl Period {
    const fn of_the_interface(self) -> LimitPeriod {
        match self {
            Self::Day => LimitPeriod::Day,
            Self::Week => LimitPeriod::Week,
            Self::Month => LimitPeriod::Month,
            Self::Quarter => LimitPeriod::Quarter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_a_limit_name_the_argument() {
        for (field, name) in [
            ("limit.times[0].from", Some("--times")),
            ("limit.merchantCategories.only[3]", Some("--only-at")),
            ("limit.merchantCategories.except", Some("--except-at")),
            ("limit", None),
            ("data[0].idCard", None),
        ] {
            assert_eq!(argument(field).as_deref(), name, "{field}");
        }
    }

    #[test]
    fn a_window_is_two_times() {
        assert_eq!("08:00-24:00".parse(), Ok(Window(TimeWindow::new("08:00", "24:00"))));
        for bad in ["8-20", "08:00", "8:00-20:00", "08:00-20", "08:00-20:0x", ""] {
            let said = bad.parse::<Window>().unwrap_err();
            assert_eq!(said, format!("invalid window {bad:?}: write HH:MM-HH:MM, e.g. 08:00-20:00"));
        }
    }

    #[test]
    fn weekdays_are_numbers_and_spans() {
        use Weekday::{Friday, Monday, Saturday, Sunday};
        assert_eq!("1,5-7".parse(), Ok(Days(vec![Monday, Friday, Saturday, Sunday])));
        for bad in ["", "0", "8", "5-1", "Mon", "1,"] {
            assert!(bad.parse::<Days>().is_err(), "{bad}");
        }
    }
}
