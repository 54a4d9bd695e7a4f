//! Whether the money adds up: every amount computed from requests and responses, beside the balances of the service.

use std::collections::BTreeSet;
use std::fmt;

use kopeck_client::{Balance, Uuid};

use crate::money;
use crate::outcome::CardOutcome;
use crate::steps::top_ups::CardTopUp;

/// All requests and responses of the day.
pub(crate) struct Books {
    /// The deposit of the new partner.
    pub(crate) deposit: i64,
    pub(crate) at_start: Funds,
    pub(crate) after_orders: Funds,
    pub(crate) after_refused_order: Funds,
    pub(crate) at_end: Funds,
    /// The expected cost of the orders.
    pub(crate) order_cost: i64,
    pub(crate) employees: Count,
    pub(crate) orders: Count,
    pub(crate) requests: Count,
    pub(crate) repeats_answered_alike: bool,
    pub(crate) top_ups: Vec<CardTopUp>,
    pub(crate) linked: Vec<CardMoney>,
    pub(crate) free: Vec<CardMoney>,
}

/// The partner's money at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Funds {
    pub(crate) balance: i64,
    pub(crate) hold: i64,
    pub(crate) available: i64,
}

impl From<&Balance> for Funds {
    fn from(balance: &Balance) -> Self {
        Self { balance: balance.balance, hold: balance.hold, available: balance.available }
    }
}

/// How many there should be, and how many there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) expected: usize,
    pub(crate) found: usize,
}

/// The money of one card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CardMoney {
    pub(crate) card: Uuid,
    /// Its first top-up.
    pub(crate) first_top_up: i64,
    /// By how much it was topped up since.
    pub(crate) topped_up: i64,
    /// Its balance, by the service.
    pub(crate) balance: i64,
}

impl CardMoney {
    const fn due(&self) -> i64 {
        self.first_top_up + self.topped_up
    }
}

/// One comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) what: String,
    expected: i64,
    found: i64,
    unit: Unit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Kopecks,
    Pieces,
}

impl Check {
    pub(crate) fn money(what: impl Into<String>, expected: i64, found: i64) -> Self {
        Self { what: what.into(), expected, found, unit: Unit::Kopecks }
    }

    pub(crate) fn count(what: impl Into<String>, Count { expected, found }: Count) -> Self {
        let pieces = |number| i64::try_from(number).unwrap_or(i64::MAX);
        Self { what: what.into(), expected: pieces(expected), found: pieces(found), unit: Unit::Pieces }
    }

    /// Whether what is there is what should be there.
    pub(crate) const fn fits(&self) -> bool {
        self.expected == self.found
    }

    pub(crate) fn expected(&self) -> String {
        self.shown(self.expected)
    }

    pub(crate) fn found(&self) -> String {
        self.shown(self.found)
    }

    fn shown(&self, figure: i64) -> String {
        match self.unit {
            Unit::Kopecks => money::shown(figure),
            Unit::Pieces => figure.to_string(),
        }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: should be {}, is {}", self.what, self.expected(), self.found())
    }
}

impl Books {
    /// Every comparison there is to make.
    pub(crate) fn checks(&self) -> Vec<Check> {
        let mut checks = self.balance_checks();
        checks.extend(self.top_up_checks());
        checks.extend(self.card_checks());
        checks.extend(self.count_checks());
        checks
    }

    fn balance_checks(&self) -> Vec<Check> {
        let after_orders = self.deposit - self.first_top_ups();
        let at_end = after_orders - self.topped_up();
        vec![
            Check::money("balance at the start = deposit", self.deposit, self.at_start.balance),
            Check::money(
                "first top-ups of the cards = price of the orders",
                self.order_cost,
                self.first_top_ups(),
            ),
            Check::money(
                "balance after the orders = deposit - first top-ups",
                after_orders,
                self.after_orders.balance,
            ),
            Check::money("... and it is all available", after_orders, self.after_orders.available),
            Check::money(
                "an order refused with 402 costs nothing",
                after_orders,
                self.after_refused_order.balance,
            ),
            Check::money("... and holds nothing", 0, self.after_refused_order.hold),
            Check::money(
                "balance at the end = deposit - first top-ups - top-ups",
                at_end,
                self.at_end.balance,
            ),
            Check::money("nothing is held at the end", 0, self.at_end.hold),
            Check::money("all that is left is available", at_end, self.at_end.available),
        ]
    }

    /// The request as a whole, and the amounts by what was to become of them.
    fn top_up_checks(&self) -> Vec<Check> {
        let sum_where = |takes: &dyn Fn(&CardTopUp) -> bool, amount: fn(&CardTopUp) -> i64| -> i64 {
            self.top_ups.iter().filter(|card| takes(card)).map(amount).sum()
        };
        let asked = sum_where(&|_| true, |card| card.asked);
        let answered = sum_where(&|_| true, |card| card.answered);
        let mut checks = vec![Check::money("top-ups asked for = top-ups answered", asked, answered)];
        let outcomes: BTreeSet<&CardOutcome> =
            self.top_ups.iter().flat_map(|card| [&card.expected, &card.outcome]).collect();
        for outcome in outcomes {
            let expected = sum_where(&|card| card.expected == *outcome, |card| card.asked);
            let found = sum_where(&|card| card.outcome == *outcome, |card| card.answered);
            checks.push(Check::money(format!("top-ups: {outcome}"), expected, found));
        }
        let as_expected = self.top_ups.iter().filter(|card| card.outcome == card.expected).count();
        let cards = Count { expected: self.top_ups.len(), found: as_expected };
        checks.push(Check::count("cards that ended as they had to", cards));
        checks
    }

    fn card_checks(&self) -> Vec<Check> {
        let due = |cards: &[CardMoney]| cards.iter().map(CardMoney::due).sum::<i64>();
        let held = |cards: &[CardMoney]| cards.iter().map(|card| card.balance).sum::<i64>();
        let (linked, free) = (&self.linked, &self.free);
        let correct = linked.iter().chain(free).filter(|card| card.due() == card.balance).count();
        let each = Count { expected: linked.len() + free.len(), found: correct };
        vec![
            Check::money("linked cards hold first top-ups + top-ups", due(linked), held(linked)),
            Check::money("unassigned cards hold their first top-ups", due(free), held(free)),
            Check::money(
                "all cards hold what left the partner's balance",
                self.deposit - self.at_end.balance,
                held(linked) + held(free),
            ),
            Check::count("cards that hold just what they have to", each),
        ]
    }

    fn count_checks(&self) -> Vec<Check> {
        let repeat = Count { expected: 1, found: if self.repeats_answered_alike { 1 } else { 2 } };
        vec![
            Check::count("answers to a call repeated under its key", repeat),
            Check::count("top-up requests that the repeated call made", self.requests),
            Check::count("orders, each sent twice, without the refused one", self.orders),
            Check::count("employees", self.employees),
        ]
    }

    fn first_top_ups(&self) -> i64 {
        self.linked.iter().chain(&self.free).map(|card| card.first_top_up).sum()
    }

    fn topped_up(&self) -> i64 {
        self.top_ups.iter().map(CardTopUp::topped_up).sum()
    }
}

#[cfg(test)]
mod tests;
