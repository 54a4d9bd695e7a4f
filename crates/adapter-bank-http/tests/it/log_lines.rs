//! A response that breaks a rule is one line of the log, by which an operator can tell the bank what is wrong.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Once;

use kopeck_adapter_bank_http::HttpBank;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankGateway as _, BankKey, Instruction, Submission};
use log::kv::{Key, VisitSource};
use log::{LevelFilter, Log, Metadata, Record};
use time::macros::datetime;

use crate::script::{Script, say};
use crate::test_bank::{PATIENCE, gateway};

const PAGE: &str = include_str!("../../../../docs/bank/mistakes.md");

/// A line: its text, rule, subject and reason.
type Line = [String; 4];

thread_local! {
    /// The lines of this thread: a gateway logs on the thread that calls it.
    static LINES: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// Keeps lines that have a rule.
struct Lines;

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let mut line = Line::default();
        line[0] = record.args().to_string();
        record.key_values().visit(&mut Values(&mut line)).unwrap();
        if !line[1].is_empty() {
            LINES.with_borrow_mut(|lines| lines.push(line));
        }
    }

    fn flush(&self) {}
}

struct Values<'a>(&'a mut Line);

impl<'kv> VisitSource<'kv> for Values<'_> {
    fn visit_pair(&mut self, key: Key<'kv>, value: log::kv::Value<'kv>) -> Result<(), log::kv::Error> {
        let place = ["rule", "subject", "reason"].iter().position(|name| *name == key.as_str());
        if let Some(place) = place {
            self.0[place + 1] = value.to_string();
        }
        Ok(())
    }
}

/// The lines of a request to a bank that responds with this body.
fn lines(body: &str, ask: impl FnOnce(&HttpBank)) -> Vec<Line> {
    static START: Once = Once::new();
    START.call_once(|| {
        log::set_logger(&Lines).unwrap();
        log::set_max_level(LevelFilter::Warn);
    });
    let script = Script::play(vec![say(200, body)]);
    ask(&gateway(&script.url, PATIENCE));
    assert_eq!(script.end().len(), 1);
    LINES.take()
}

fn card() -> CardNumber {
    CardNumber::parse("1000000007").unwrap()
}

fn key() -> BankKey {
    BankKey::new("replenishment/7/3").unwrap()
}

fn top_up() -> Submission {
    Submission { key: key(), instruction: Instruction::TopUp { card: card(), amount: Kopecks::new(100) } }
}

fn transactions(ids: &[i64]) -> String {
    let made = |id: &i64| {
        format!(r#"{{"id":{id},"executedAt":"2026-03-02T09:00:00Z","type":"PAYMENT","amount":1}}"#)
    };
    format!(r#"{{"transactions":[{}]}}"#, ids.iter().map(made).collect::<Vec<_>>().join(","))
}

/// Each broken response, with the rule and the subject of its line.
fn broken_responses() -> Vec<(&'static str, &'static str, Vec<Line>)> {
    let key_text = "replenishment/7/3";
    let result = |outcome: &str| format!(r#"{{"key":"{key_text}","outcome":{outcome}}}"#);
    let results = |outcomes: &[&str]| {
        format!(r#"{{"results":[{}]}}"#, outcomes.iter().map(|one| result(one)).collect::<Vec<_>>().join(","))
    };
    let query = |body: &str| lines(body, |bank| drop(bank.query(&[key()])));
    let submit = |body: &str| lines(body, |bank| drop(bank.submit(&[top_up()])));
    let day = datetime!(2026-03-03 00:00 UTC)..datetime!(2026-03-04 00:00 UTC);
    let other = r#"{"card":{"number":"1000000015","balance":5,"topUpRoom":1,"account":5,"standing":"OPEN","validUntil":"2029-03-31"}}"#;
    let feed = r#"{"entries":[{"seq":5,"at":"2026-11-21T06:00:00Z","card":"1000000007","type":"BLOCKED"}]}"#;
    let registry = r#"{"entries":[{"card":"1000000007","transaction":{"id":1,"executedAt":"2026-03-02T09:00:00Z","type":"PAYMENT","amount":1}}]}"#;
    vec![
        ("18", key_text, query(&results(&[r#""DONE""#, r#""NOT_SEEN""#]))),
        ("18", key_text, query(&results(&[]))),
        ("33", key_text, submit(&results(&[]))),
        ("50", key_text, submit(&results(&[r#""DONE","returned":-1"#]))),
        ("22", "page", lines(&transactions(&[5, 6]), |bank| drop(bank.transactions(card(), 4, 1)))),
        ("34", "transactions", lines(&transactions(&[6, 5]), |bank| drop(bank.transactions(card(), 4, 2)))),
        ("31", "card", lines(other, |bank| drop(bank.card(card())))),
        ("61", "feed", lines(feed, |bank| drop(bank.feed(5, 10)))),
        ("72", "registry", lines(registry, |bank| drop(bank.registry(&day, None, 10)))),
    ]
}

/// The page has a row for each reason, with what to tell the bank, and no other.
#[test]
fn each_broken_rule_is_one_line_that_the_page_explains() {
    let mut logged = BTreeSet::new();
    for (rule, subject, lines) in broken_responses() {
        let [[text, said_rule, said_subject, reason]] = &lines[..] else {
            panic!("rule {rule}: {lines:?}");
        };
        assert_eq!((text.as_str(), said_rule.as_str()), ("bank broke a rule of the protocol", rule));
        assert_eq!(said_subject, subject, "rule {rule}");
        assert!(!format!("{lines:?}").contains("10000000"), "a card number in {lines:?}");
        logged.insert(format!("{rule}: {reason}"));
    }
    let table = PAGE.split("| `rule` | `reason` | what to tell the bank |\n|---|---|---|\n").nth(1).unwrap();
    let rows = table.lines().take_while(|line| line.starts_with("| "));
    let explained: BTreeSet<String> = rows
        .flat_map(|row| {
            let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
            assert!(cells.len() == 3 && !cells[2].is_empty(), "{row}");
            let rule = cells[0];
            cells[1].split("; ").map(|reason| format!("{rule}: {reason}")).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(logged, explained);
}

/// What a bank may say is no line.
#[test]
fn a_right_response_is_not_logged() {
    let body = r#"{"results":[{"key":"replenishment/7/3","outcome":"DONE"}]}"#;
    assert_eq!(lines(body, |bank| drop(bank.submit(&[top_up()]))), Vec::<Line>::new());
    assert_eq!(
        lines(&transactions(&[5, 6]), |bank| drop(bank.transactions(card(), 4, 2))),
        Vec::<Line>::new()
    );
}
