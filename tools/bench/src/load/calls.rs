//! The requests of a load, rendered to bytes.
//!
//! Calls with a body are made beforehand, sealed, each under a nonce and with values of its own, and under a key such as
//! our clients give to what changes something; calls without one are put together when they are sent, of parts that are
//! there. Partners take turns: of calls with a body one after the other, of others by chance.

use kopeck_port_system::IdSource as _;
use kopeck_sealing::{Clear, RequestContext, SealingKey, Slot, seal_request};
use kopeck_test_support::Random;
use serde_json::{Value, json};

use super::kind::LoadKind;
use crate::machine::{self, TimeOrderedIds};
use crate::numbered;
use crate::targets::{Target, Targets};

/// Cards of a replenishment.
const CARDS: u64 = 10;
/// A request to be sent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlannedRequest {
    kind: LoadKind,
    /// A number of the request among those made of its kind; for a request without a body, chance.
    number: u64,
}

impl PlannedRequest {
    /// The status of its response.
    pub(crate) const fn status(self) -> u16 {
        self.kind.status()
    }
}

/// All requests of a load.
pub(crate) struct Calls {
    turns: Vec<RenderedRequest>,
    turn: usize,
    partners: Vec<Partner>,
    employees: u64,
    /// What the names of this load's new employees begin with.
    load: u32,
    random: Random,
}

/// Calls of one kind.
struct RenderedRequest {
    kind: LoadKind,
    /// One after the other, and where each ends.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    sent: usize,
}

/// What is the same in all requests of a partner.
struct Partner {
    /// `host` and `authorization`, up to the value of the nonce.
    head: Vec<u8>,
}

impl Calls {
    /// Makes calls of these kinds, taking turns; `at_most` of those with a body.
    pub(crate) fn make(targets: &Targets, kinds: &[LoadKind], at_most: usize) -> anyhow::Result<Self> {
        let head =
            |token: &str| format!("host: bench\r\nauthorization: Bearer {token}\r\nx-nonce: ").into_bytes();
        let partners: Vec<_> =
            targets.partners.iter().map(|target| Partner { head: head(&target.access_token) }).collect();
        let keys = targets.partners.iter().map(Target::key);
        let keys = keys.collect::<anyhow::Result<Vec<_>>>()?;
        let mut calls = Self {
            turns: Vec::new(),
            turn: 0,
            partners,
            employees: targets.employees,
            load: u32::from_le_bytes(machine::random()),
            random: Random::new(u64::from_le_bytes(machine::random())),
        };
        for kind in kinds {
            let made = calls.make_kind(*kind, &keys, at_most.div_ceil(kinds.len()));
            calls.turns.push(made);
        }
        Ok(calls)
    }

    /// The next request, if there is one left of the kind whose turn it is.
    pub(crate) fn next(&mut self) -> Option<PlannedRequest> {
        let index = self.turn % self.turns.len().max(1);
        self.turn += 1;
        let made = self.turns.get_mut(index)?;
        let kind = made.kind;
        if path_of_read(kind).is_some() {
            return Some(PlannedRequest { kind, number: self.random.next_u64() });
        }
        let number = made.sent;
        made.sent += 1;
        (number < made.ends.len()).then_some(PlannedRequest { kind, number: number as u64 })
    }

    /// Writes the bytes of a request.
    pub(crate) fn render(&mut self, call: PlannedRequest, out: &mut Vec<u8>) {
        if path_of_read(call.kind).is_some() {
            return self.render_read(call, out);
        }
        let Some(made) = self.turns.iter().find(|made| made.kind == call.kind) else { return };
        let number = call.number as usize;
        let start = number.checked_sub(1).and_then(|before| made.ends.get(before)).copied().unwrap_or(0);
        let end = made.ends.get(number).copied().unwrap_or(start);
        out.extend_from_slice(made.bytes.get(start..end).unwrap_or_default());
    }

    fn render_read(&mut self, call: PlannedRequest, out: &mut Vec<u8>) {
        let count = self.partners.len() as u64;
        let Some(partner) = self.partners.get((call.number % count) as usize) else { return };
        out.extend_from_slice(b"GET ");
        out.extend_from_slice(path_of_read(call.kind).unwrap_or_default().as_bytes());
        if call.kind == LoadKind::Read {
            let employee = numbered::id(numbered::EMPLOYEES + 1 + call.number / count % self.employees);
            out.extend_from_slice(employee.hyphenated().encode_lower(&mut [0; 36]).as_bytes());
        }
        out.extend_from_slice(b" HTTP/1.1\r\n");
        out.extend_from_slice(&partner.head);
        out.extend_from_slice(&nonce(&self.random));
        out.extend_from_slice(b"\r\n\r\n");
    }

    /// Makes the requests of one kind; none if they have no body.
    fn make_kind(&mut self, kind: LoadKind, keys: &[SealingKey], at_most: usize) -> RenderedRequest {
        let mut made = RenderedRequest { kind, bytes: Vec::new(), ends: Vec::new(), sent: 0 };
        if path_of_read(kind).is_some() {
            return made;
        }
        let partners = self.partners.len() as u64;
        let at_most = match kind {
            // Each card is in one request only.
            LoadKind::Replenish => at_most.min((self.employees / CARDS * partners) as usize),
            _ => at_most,
        };
        let now = machine::unix_seconds();
        for number in 0..at_most as u64 {
            let which = (number % partners) as usize;
            let (Some(partner), Some(key)) = (self.partners.get(which), keys.get(which)) else { break };
            let nonce = nonce(&self.random);
            let nonce = std::str::from_utf8(&nonce).unwrap_or_default();
            let (path, value) = post(kind, number / partners, self.load);
            let clear = Clear::none();
            let context = RequestContext { method: "POST", path, nonce, slot: Slot::Body, clear };
            let sealed = seal_request(key, &context, now, machine::random(), value.to_string().as_bytes());
            let text = format!(r#"{{"sealed":"{sealed}"}}"#);
            made.bytes.extend_from_slice(format!("POST {path} HTTP/1.1\r\n").as_bytes());
            made.bytes.extend_from_slice(&partner.head);
            let length = text.len();
            made.bytes.extend_from_slice(nonce.as_bytes());
            if changes(kind) {
                let key = TimeOrderedIds.next_id();
                made.bytes.extend_from_slice(format!("\r\nidempotency-key: {}", key.simple()).as_bytes());
            }
            made.bytes.extend_from_slice(
                format!(
                    "\r\ncontent-type: application/sealed+json\r\ncontent-length: {length}\r\n\r\n{text}"
                )
                .as_bytes(),
            );
            made.ends.push(made.bytes.len());
        }
        made
    }
}

/// The path of a request without a body, as far as it is always the same.
const fn path_of_read(kind: LoadKind) -> Option<&'static str> {
    match kind {
        LoadKind::Read => Some("/v1/employee/"),
        LoadKind::Refused => Some("/v1/employee/none"),
        LoadKind::First => Some("/v1/employees"),
        LoadKind::Balance => Some("/v1/balance"),
        LoadKind::Add | LoadKind::Replenish | LoadKind::Status => None,
    }
}

/// Whether a request changes something, so that its response is recorded under a key.
const fn changes(kind: LoadKind) -> bool {
    matches!(kind, LoadKind::Add | LoadKind::Replenish)
}

/// Path and body of a request: of number `number` among its partner's in this load.
fn post(kind: LoadKind, number: u64, load: u32) -> (&'static str, Value) {
    match kind {
        LoadKind::Replenish => {
            let card = |index| {
                let id = numbered::id(numbered::MAIN_CARDS + 1 + number * CARDS + index);
                json!({ "idCard": id.to_string(), "amountReplenishment": 100 })
            };
            ("/v1/replenishment", json!({ "cards": (0..CARDS).map(card).collect::<Vec<_>>() }))
        }
        LoadKind::Status => {
            let request = numbered::id(numbered::REQUEST).to_string();
            ("/v1/limits/status", json!({ "setLimitsCardsId": request }))
        }
        _ => {
            let fields = json!({
                "customId": format!("{load:08x}{number:08}"),
                "surname": "Ёжиков", "name": "Иван", "phone": "9031234567", "status": "WORK",
            });
            ("/v1/employee/add", fields)
        }
    }
}

fn hex(number: u64) -> [u8; 16] {
    let mut digits = [0; 16];
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        let nibble = (rest & 15) as u8;
        *digit = if nibble < 10 { b'0' + nibble } else { b'a' - 10 + nibble };
        rest >>= 4;
    }
    digits
}

/// A nonce of 32 hexadecimal digits.
fn nonce(random: &Random) -> [u8; 32] {
    let mut nonce = [0; 32];
    for half in nonce.chunks_exact_mut(16) {
        half.copy_from_slice(&hex(random.next_u64()));
    }
    nonce
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kopeck_sealing::{KeyId, open_request};

    use super::*;

    fn key(number: u8) -> SealingKey {
        SealingKey::new(KeyId::from_bytes([number; 8]), [number; 32])
    }

    fn calls(kinds: &[LoadKind], at_most: usize) -> Calls {
        let partners = (1..=2).map(|n| Target::new(n, format!("token-{n}"), &key(n as u8))).collect();
        let targets = Targets { partners, employees: 20, cards: 2 };
        Calls::make(&targets, kinds, at_most).unwrap()
    }

    /// The partner of a request, and its body.
    fn opened(text: &str) -> (String, Value) {
        let partner = header(text, "authorization: Bearer token-");
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(header(head, "content-length: "), body.len().to_string());
        let sealed: Value = serde_json::from_str(body).unwrap();
        let context = RequestContext {
            method: "POST",
            path: head.split(' ').nth(1).unwrap(),
            nonce: header(head, "x-nonce: "),
            slot: Slot::Body,
            clear: Clear::none(),
        };
        let key = key(partner.parse().unwrap());
        let now = machine::unix_seconds();
        let opened = open_request(&key, &context, now, sealed["sealed"].as_str().unwrap()).unwrap();
        (partner.to_owned(), serde_json::from_str(&opened).unwrap())
    }

    fn texts(calls: &mut Calls) -> Vec<String> {
        let mut texts = Vec::new();
        while let Some(call) = calls.next() {
            let mut out = Vec::new();
            calls.render(call, &mut out);
            texts.push(String::from_utf8(out).unwrap());
        }
        texts
    }

    fn header<'t>(text: &'t str, name: &str) -> &'t str {
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap()
    }

    #[test]
    fn new_employees_differ_within_a_load_and_between_two_and_open_under_their_key_and_nonce() {
        let texts: Vec<_> = (0..2).flat_map(|_| texts(&mut calls(&[LoadKind::Add], 10))).collect();
        let bodies: HashSet<_> = texts.iter().map(|text| format!("{:?}", opened(text))).collect();
        let nonces: HashSet<_> = texts.iter().map(|text| header(text, "x-nonce: ")).collect();
        assert_eq!((bodies.len(), nonces.len()), (20, 20));
    }

    #[test]
    fn keys_ascend_where_something_changes() {
        let keyed = texts(&mut calls(&[LoadKind::Add], 20));
        let keys: Vec<_> = keyed.iter().map(|text| header(text, "idempotency-key: ")).collect();
        assert_eq!(keys.len(), 20);
        assert!(keys.is_sorted_by(|a, b| a < b));
        let reads = texts(&mut calls(&[LoadKind::Status], 1));
        assert!(reads.iter().all(|text| !text.contains("idempotency-key")));
    }

    #[test]
    fn no_card_is_in_two_replenishments() {
        let texts = texts(&mut calls(&[LoadKind::Replenish], 1_000));
        assert_eq!(texts.len(), 4, "20 cards for each of two partners");
        let mut cards = HashSet::new();
        for text in texts {
            let (partner, body) = opened(&text);
            for card in body["cards"].as_array().unwrap() {
                assert!(cards.insert(format!("{partner} {}", card["idCard"])));
            }
        }
        assert_eq!(cards.len(), 40);
    }

    #[test]
    fn kinds_take_turns() {
        let mut calls = calls(&[LoadKind::Read, LoadKind::Add], 4);
        let kinds: Vec<_> = std::iter::from_fn(|| calls.next()).map(|call| call.kind).collect();
        assert_eq!(kinds, [LoadKind::Read, LoadKind::Add, LoadKind::Read, LoadKind::Add, LoadKind::Read]);
    }

    #[test]
    fn reads_are_of_employees_that_exist() {
        let mut calls = calls(&[LoadKind::Read], 0);
        for _ in 0..100 {
            let call = calls.next().unwrap();
            let mut out = Vec::new();
            calls.render(call, &mut out);
            let text = String::from_utf8(out).unwrap();
            let id = text.split(['/', ' ']).nth(4).unwrap();
            let id = uuid::Uuid::parse_str(id).unwrap();
            let number: u64 = std::str::from_utf8(id.as_bytes()).unwrap().parse().unwrap();
            assert!((numbered::EMPLOYEES + 1..=numbered::EMPLOYEES + 20).contains(&number));
        }
    }
}
