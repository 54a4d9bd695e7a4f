//! The examples of docs/BANK.md, played against a simulator, and held against docs/bank-openapi.json.
//!
//! With `UPDATE_DOCS` in the environment the test writes the actual responses to the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kopeck_adapter_bank_simulator::server::OPERATIONS;
use reqwest::Method;

use crate::layout::layout;
use crate::openapi::OpenApi;
use crate::server::client;
use crate::test_bank::{SECRET, TestBank};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/BANK.md");

#[test]
fn the_examples_are_the_simulator_s_responses() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (bench, document) = (TestBank::new(), OpenApi::read());
    let mut exampled = BTreeSet::new();
    let mut played = String::new();
    let mut rest = page.as_str();
    while let Some((prose, block)) = rest.split_once("```http\n") {
        let (block, behind) = block.split_once("```\n").unwrap();
        played.push_str(prose);
        if block.starts_with("HTTP/") {
            // It was written with its request.
            rest = behind;
            continue;
        }
        let call = ExampleCall::read(block);
        let (status, body) = call.send(&bench);
        let template = template(call.method, call.path);
        assert_eq!(document.allows(call.method, template, call.body), status != 422, "{block}");
        document.check_answer(call.method, template, status, &body);
        exampled.insert((call.method, template));
        let reason = reqwest::StatusCode::from_u16(status).unwrap().canonical_reason().unwrap();
        let answer = format!("HTTP/1.1 {status} {reason}\n\n{}\n", layout(&body, 0));
        write!(played, "```http\n{block}```\n\n```http\n{answer}```\n").unwrap();
        rest = behind.trim_start_matches('\n');
        rest = if rest.starts_with("```http\nHTTP/") { rest } else { behind };
    }
    played.push_str(rest);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &played).unwrap();
    } else if let Some(line) = page.lines().zip(played.lines()).position(|(page, played)| page != played) {
        let from = |text: &str| text.lines().skip(line).take(8).collect::<Vec<_>>().join("\n");
        panic!("docs/BANK.md:{}\n{}\n\nbut the simulator answers\n{}", line + 1, from(&page), from(&played));
    } else {
        assert!(page == played, "docs/BANK.md has not as many lines as the play");
    }
    let all: BTreeSet<_> = protocol().collect();
    assert_eq!(exampled, all, "every operation of the protocol has an example");
}

/// The operations that a bank has to have.
pub fn protocol() -> impl Iterator<Item = (&'static str, &'static str)> {
    let operations = OPERATIONS.iter().map(|operation| (operation.method, operation.path));
    operations.filter(|(_, path)| path.starts_with("/bank/v1/"))
}

/// A request as on the page: a line with method and target, a blank line, a body.
struct ExampleCall<'a> {
    method: &'a str,
    target: &'a str,
    path: &'a str,
    body: Option<&'a str>,
}

impl<'a> ExampleCall<'a> {
    fn read(block: &'a str) -> Self {
        let (line, rest) = block.split_once('\n').unwrap();
        let (method, target) = line.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        Self { method, target, path, body: rest.strip_prefix('\n') }
    }

    fn send(&self, bench: &TestBank) -> (u16, String) {
        let method = Method::from_bytes(self.method.as_bytes()).unwrap();
        let mut request =
            client().request(method, format!("{}{}", bench.url, self.target)).bearer_auth(SECRET);
        if let Some(body) = self.body {
            request = request.header("content-type", "application/json").body(body.to_owned());
        }
        let response = request.send().unwrap();
        (response.status().as_u16(), response.text().unwrap())
    }
}

/// The path pattern of the protocol that matches `path`.
fn template(method: &str, path: &str) -> &'static str {
    let fits = |template: &str| {
        let mut places = template.split('/').zip(path.split('/'));
        template.split('/').count() == path.split('/').count()
            && places.all(|(place, segment)| place.starts_with('{') || place == segment)
    };
    let mut operations = protocol();
    operations.find(|(offered, template)| *offered == method && fits(template)).unwrap().1
}
