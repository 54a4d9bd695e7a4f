//! The examples of `docs/API.md`, played from top to bottom against one server.
//!
//! An example is two fenced blocks of `http`: a call, and its answer with status, telling headers and body. The page is
//! true if it comes out of the play as it went in. What every request carries (token, API key, nonce, content type) is
//! added here; `<API key>` and `<password>` stand for the partner's; a token is abbreviated to its end, `eyJ…0a1B2c3D`,
//! and spelt out again where a request holds it. HTML comments move the world between two examples: `<!-- work -->` does
//! the asynchronous work that is due, `<!-- accounts -->` the daily refresh of accounts, `<!-- log -->` writes the request log, `<!-- advance 15m -->` moves
//! the clock, `<!-- waiting -->` has somebody else submit a run that waits for an approval, `<!-- waiting programme -->` create such a programme.
//!
//! After a change of the service rewrite its responses and look at the diff:
//!
//! ```sh
//! UPDATE_DOCS=1 cargo test --workspace --locked --test it -- api_examples
//! ```
//!
//! Identifiers and tokens are those of the page: a value in the place of one of them stands for it from there on.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use kopeck_adapter_http::{OperationInfo, codes, operations};
use kopeck_domain::partner::SealingPolicy;
use reqwest::header::HeaderMap;
use serde_json::Value;
use time::Duration;

use crate::api_client::plain_http;
use crate::layout::layout;
use crate::names::Names;
use crate::server::{TestPartner, TestServer};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/API.md");
const DEPOSIT: i64 = 10_000_000;
/// The headers of a response that the page shows.
const TELLING: [&str; 3] = ["allow", "idempotent-replayed", "retry-after"];
/// The end by which an abbreviated token is known.
const TOKEN_END: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_examples_are_the_service_s_responses() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let mut player = Player::new();
    let played = player.play(&page).await;
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &played).unwrap();
    } else if let Some(line) = page.lines().zip(played.lines()).position(|(page, played)| page != played) {
        let from = |text: &str| text.lines().skip(line).take(12).collect::<Vec<_>>().join("\n");
        panic!("docs/API.md:{}\n{}\n\nbut the service answers\n{}", line + 1, from(&page), from(&played));
    } else {
        assert!(page == played, "docs/API.md has not as many lines as the play, {}", played.lines().count());
    }
    let missing: Vec<OperationInfo> =
        operations().filter(|operation| !player.played.contains(operation)).collect();
    assert!(missing.is_empty(), "operations without an example in docs/API.md: {missing:#?}");
}

#[test]
fn every_operation_has_its_place_on_the_page_and_nothing_else_has() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let signature = |line: &str| {
        let (method, path) = line.strip_prefix('`')?.strip_suffix('`')?.split_once(' ')?;
        method.bytes().all(|byte| byte.is_ascii_uppercase()).then(|| format!("{method} {path}"))
    };
    let on_page: BTreeSet<String> = page.lines().filter_map(signature).collect();
    let offered: BTreeSet<String> =
        operations().map(|OperationInfo { method, path, .. }| format!("{method} {path}")).collect();
    assert_eq!(on_page, offered);
}

#[test]
fn the_page_explains_every_code_and_names_no_other() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (_, codes_on) = page.split_once("\n### Codes\n").unwrap();
    let (table, _) = codes_on.split_once("\n## ").unwrap();
    let row = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    let explained: BTreeSet<String> = table.lines().filter_map(row).collect();
    let all: BTreeSet<String> = codes().map(str::to_owned).collect();
    assert_eq!(explained, all);

    let errors = page.split("\n\n").filter(|paragraph| paragraph.starts_with("Errors:"));
    for word in errors.flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2)) {
        assert!(all.contains(word), "`{word}` is no code of the service");
    }
}

/// A part of the page.
#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Prose(&'a str),
    Call(&'a str),
    Answer(&'a str),
}

/// Takes the page apart: `http` blocks without their fences, and what lies between.
fn pieces(page: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = page;
    while let Some((prose, block)) = rest.split_once("```http\n") {
        let (block, behind) = block.split_once("```\n").unwrap();
        pieces.push(Piece::Prose(prose));
        pieces.push(if block.starts_with("HTTP/") { Piece::Answer(block) } else { Piece::Call(block) });
        rest = behind;
    }
    pieces.push(Piece::Prose(rest));
    pieces
}

/// The partner of the story.
struct Player {
    server: TestServer,
    partner: TestPartner,
    http: reqwest::Client,
    /// Every token that was issued.
    tokens: Vec<String>,
    /// The access token of the latest pair.
    access: String,
    sent: u32,
    played: BTreeSet<OperationInfo>,
    names: Names,
}

impl Player {
    fn new() -> Self {
        let server = TestServer::start();
        let partner = server.partner(SealingPolicy::Optional, DEPOSIT);
        let (tokens, access, played, names) = Default::default();
        Self { server, partner, http: plain_http(), tokens, access, sent: 0, played, names }
    }

    /// The page with the responses that the service gives.
    async fn play(&mut self, page: &str) -> String {
        let mut played = String::new();
        let mut pieces = pieces(page).into_iter().peekable();
        while let Some(piece) = pieces.next() {
            match piece {
                Piece::Prose(prose) => {
                    prose.lines().for_each(|line| self.direct(line));
                    played.push_str(prose);
                }
                Piece::Call(call) => {
                    // Identifiers that the request introduces stand for themselves.
                    self.names.learn(call, call);
                    let answer = self.send(&self.names.in_this_play(call)).await;
                    let gap = pieces.next_if_eq(&Piece::Prose("\n")).map_or("", |_| "\n");
                    let before = pieces.next_if(|piece| !gap.is_empty() && matches!(piece, Piece::Answer(_)));
                    let gap = if let Some(Piece::Answer(before)) = before {
                        self.names.learn(before, &answer);
                        ""
                    } else {
                        // A new example, to which the response is put.
                        self.names.add(page, &answer);
                        gap
                    };
                    let answer = self.names.as_on_the_page(&answer);
                    write!(played, "```http\n{call}```\n\n```http\n{answer}```\n{gap}").unwrap();
                }
                Piece::Answer(answer) => panic!("an answer without a call before it:\n{answer}"),
            }
        }
        played
    }

    /// Does what an HTML comment says.
    fn direct(&self, line: &str) {
        let Some(words) = line.strip_prefix("<!-- ").and_then(|line| line.strip_suffix(" -->")) else {
            return;
        };
        match words.split(' ').collect::<Vec<_>>()[..] {
            ["work"] => self.server.run_jobs(),
            ["waiting"] => drop(self.server.waiting_run_of(self.partner.id)),
            ["waiting", "programme"] => drop(self.server.waiting_programme_of(self.partner.id)),
            ["log"] => self.server.write_request_log(),
            ["accounts"] => self.server.refresh_accounts(),
            ["advance", duration] => {
                let (number, unit) = duration.split_at(duration.len() - 1);
                let seconds = match unit {
                    "s" => 1,
                    "m" => 60,
                    "h" => 3_600,
                    "d" => 86_400,
                    _ => panic!("{line}"),
                };
                self.server.clock.advance(Duration::seconds(seconds * number.parse::<i64>().unwrap()));
            }
            _ => panic!("no direction: {line}"),
        }
    }

    /// Sends a request and shows its response.
    async fn send(&mut self, call: &str) -> String {
        let call = self.spell_out(call);
        let (head, body) = call.split_once("\n\n").unwrap_or((call.trim_end(), ""));
        let mut lines = head.lines();
        let (method, path) = lines.next().and_then(|line| line.split_once(' ')).expect("method and path");
        let operation =
            operation(method, path).unwrap_or_else(|| panic!("no such operation: {method} {path}"));
        self.played.insert(operation);

        let mut headers = self.headers(!body.is_empty());
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("no header: {line}"));
            headers.insert(reqwest::header::HeaderName::try_from(name).unwrap(), value.parse().unwrap());
        }
        let url = format!("{}{path}", self.server.base_url);
        let request = self.http.request(method.parse().unwrap(), url).headers(headers);
        let answer = request.body(body.to_owned()).send().await.unwrap();

        let mut shown = format!("HTTP/1.1 {}\n", answer.status());
        for name in TELLING {
            if let Some(value) = answer.headers().get(name) {
                writeln!(shown, "{name}: {}", value.to_str().unwrap()).unwrap();
            }
        }
        let json = answer.text().await.unwrap();
        self.keep_tokens(&json);
        writeln!(shown, "\n{}", layout(&self.abbreviate(json), 0)).unwrap();
        shown
    }

    /// The headers of every request. A given request id keeps the service from drawing one.
    fn headers(&mut self, has_body: bool) -> HeaderMap {
        self.sent += 1;
        let mut headers = HeaderMap::new();
        headers.insert("x-nonce", format!("nonce-of-example-{:03}", self.sent).parse().unwrap());
        headers.insert("x-request-id", format!("example-{:03}", self.sent).parse().unwrap());
        headers.insert("x-api-key", self.partner.api_key.parse().unwrap());
        headers.insert("authorization", format!("Bearer {}", self.access).parse().unwrap());
        if has_body {
            headers.insert("content-type", "application/json".parse().unwrap());
        }
        headers
    }

    fn keep_tokens(&mut self, json: &str) {
        let answer: Value = serde_json::from_str(json).unwrap_or_else(|_| panic!("not JSON: {json}"));
        if let (Some(access), Some(refresh)) =
            (answer["accessToken"].as_str(), answer["refreshToken"].as_str())
        {
            self.tokens.extend([access.to_owned(), refresh.to_owned()]);
            self.access = access.to_owned();
        }
    }

    fn abbreviate(&self, text: String) -> String {
        self.tokens.iter().fold(text, |text, token| text.replace(token, &abbreviated(token)))
    }

    fn spell_out(&self, text: &str) -> String {
        let text =
            text.replace("<API key>", &self.partner.api_key).replace("<password>", &self.partner.password);
        let text = self.tokens.iter().fold(text, |text, token| text.replace(&abbreviated(token), token));
        assert!(!text.contains("eyJ…"), "a token that no response had: {text}");
        text
    }
}

fn abbreviated(token: &str) -> String {
    format!("eyJ…{}", &token[token.len() - TOKEN_END..])
}

fn operation(method: &str, path: &str) -> Option<OperationInfo> {
    let method = if method == "PATCH" { "PUT" } else { method };
    let path = path.split('?').next()?.trim_end_matches('/');
    operations().find(|operation| {
        let mut places = operation.path.split('/').zip(path.split('/'));
        operation.method == method
            && operation.path.split('/').count() == path.split('/').count()
            && places.all(|(place, segment)| place.starts_with('{') || place == segment)
    })
}
