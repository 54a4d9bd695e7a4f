//! The observable state of an idle server, without identifiers and times.

use std::collections::HashMap;

use kopeck_port_system::Clock as _;
use serde_json::Value;

use crate::raw_http::get;
use crate::server::TestServer;
use crate::world::Things;

/// Everything that a partner has.
const LISTS: [&str; 9] = [
    "/v1/employees?per_page=500",
    "/v1/categories",
    "/v1/cards/available?per_page=500",
    "/v1/orders",
    "/v1/replenishments",
    "/v1/limits",
    "/v1/closings",
    "/v1/withdrawals",
    "/v1/balance",
];

/// The lists of the partner with this token, its cards, the transactions of one, the sums of the bank's ledger, and the
/// offset of the clock: a line each.
pub fn observe(server: &TestServer, token: &str, things: &Things) -> Vec<String> {
    let read = |target: &str| {
        let got = get(target).token(token).send(server);
        assert_eq!(got.status, 200, "{target}: {got:?}");
        let mut answer: Value = serde_json::from_str(&got.text).unwrap();
        if target.starts_with("/v1/cards/available") {
            // Cards come in the order of their issue, and whichever of two orders met a fault is issued last.
            let cards = answer["data"].as_array_mut().unwrap();
            cards.sort_by_key(|card| card["customIdCard"].to_string());
        }
        format!("{target} {answer}")
    };
    let mut lines: Vec<String> = LISTS.into_iter().map(read).collect();
    let cards = ["card", "other card", "sleeping card"].map(|name| things.id(name));
    lines.extend(cards.map(|card| read(&format!("/v1/card/{card}"))));
    lines.push(read(&format!("/v1/card/{}/transactions", things.id("card"))));
    lines.push(format!("{:?}", server.bank.totals().unwrap()));
    let moved = server.application.env.clock.now() - server.clock.now();
    lines.push(format!("the clock was moved by {moved}"));
    lines
}

/// The same with names in place of identifiers, by the order in which they first come, and without moments.
pub fn anonymous(lines: Vec<String>) -> Vec<String> {
    let mut names = Names::default();
    lines.iter().map(|line| names.replace_in(&without_secrets(line))).collect()
}

/// A secret of a webhook is random.
fn without_secrets(line: &str) -> String {
    let mut parts = line.split("whsec_");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + "SECRET" + part.split_once('"').map_or("", |(_, rest)| rest))
}

#[derive(Default)]
struct Names(HashMap<String, usize>);

impl Names {
    fn replace_in(&mut self, line: &str) -> String {
        let begins = |letter: char| letter.is_ascii_alphanumeric();
        let ends = |letter: char| !begins(letter) && !"-.:".contains(letter);
        let (mut rest, mut replaced) = (line, String::new());
        while let Some(start) = rest.find(begins) {
            let end = rest[start..].find(ends).map_or(rest.len(), |end| start + end);
            replaced.push_str(&rest[..start]);
            replaced.push_str(&self.replace(&rest[start..end]));
            rest = &rest[end..];
        }
        replaced + rest
    }

    fn replace(&mut self, word: &str) -> String {
        if is_like(word, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") || is_like(word, "ddddddddddddd") {
            let count = self.0.len();
            format!("#{}", self.0.entry(word.to_owned()).or_insert(count))
        } else if ["dddd-dd-dd", "dd.dd.dddd", "dd:dd", "dd:dd:dd"].iter().any(|like| is_like(word, like)) {
            "WHEN".to_owned()
        } else {
            word.to_owned()
        }
    }
}

/// Whether a word has this pattern: `d` stands for a digit, `x` for a hexadecimal one.
fn is_like(word: &str, pattern: &str) -> bool {
    let fits = |(letter, like): (char, char)| match like {
        'd' => letter.is_ascii_digit(),
        'x' => letter.is_ascii_hexdigit(),
        _ => letter == like,
    };
    word.len() == pattern.len() && word.chars().zip(pattern.chars()).all(fits)
}

#[test]
fn identifiers_and_timestamps_are_masked_and_nothing_else() {
    let line = r#"{"a":"0f8fad5b-d9cb-469f-a165-70867728950e","b":4006381333931,"at":"2026-03-02 12:00:00","n":1000}"#;
    let other = r#"{"a":"4006381333931","b":-5.5}"#;
    let lines = anonymous(vec![line.to_owned(), other.to_owned()]);
    assert_eq!(lines[0], r##"{"a":"#0","b":#1,"at":"WHEN WHEN","n":1000}"##);
    assert_eq!(lines[1], r##"{"a":"#1","b":-5.5}"##);
}
