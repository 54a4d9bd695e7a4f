//! Form, secret, clock.

use kopeck_adapter_bank_http::BankProbe;
use kopeck_bank_protocol::{
    CAPABILITIES, CARDS, CapabilitiesResponse, FEED, INSTRUCTIONS, ISSUED_CARDS, QUERY,
};
use kopeck_port_bank::Instruction;
use secrecy::SecretString;
use serde_json::{Value, json};
use time::Duration;

use crate::session::{Broken, Checked, DONE, Reply, Session, error_code, hold, plastic};

/// How far the clock of the bank may be from that of the check.
const SKEW: Duration = Duration::minutes(5);

pub(super) fn needs_the_secret(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let top_up = session.top_up(card, 100);
    let body = body_of(&session.key(), &json!({"type": "TOP_UP", "card": card.to_string(), "amount": 100}));
    let query = json!({"keys": [top_up.key.as_str()]}).to_string();
    for secret in ["wrong-secret", "x"] {
        let address = session.settings.address.clone().with_secret(SecretString::from(secret));
        let stranger = BankProbe::new(address).map_err(|error| Broken(error.to_string()))?;
        for (path, body) in [
            (INSTRUCTIONS.to_owned(), Some(body.as_str())),
            (QUERY.to_owned(), Some(query.as_str())),
            (format!("{CARDS}/{card}"), None),
            (ISSUED_CARDS.to_owned(), None),
            (FEED.to_owned(), None),
        ] {
            let response = match body {
                Some(body) => stranger.post(&path, body),
                None => stranger.get(&path, &[]),
            };
            let response = response.map_err(|error| error.to_string());
            let reply = session.record(&path, &[], body, &response).map_err(Broken)?;
            hold!(reply.status == 401, "with a wrong secret: status code {}, expected 401", reply.status);
        }
    }
    session.expect_balance(card, 0, "after a top-up with a wrong secret")
}

pub(super) fn refuses_what_it_cannot_read(session: &mut Session<'_>) -> Checked {
    for (body, what) in [
        ("{", "a body that is not JSON"),
        ("", "an empty body"),
        ("[]", "a list"),
        ("{}", "a body without instructions"),
        (r#"{"instructions":[]}"#, "no instructions"),
        (r#"{"instructions":[{"type":"DANCE","key":"check/dance"}]}"#, "an unknown type"),
    ] {
        let reply = session.request(INSTRUCTIONS, &[], Some(body)).map_err(Broken)?;
        is_refused(&reply, what)?;
    }
    for (body, what) in [
        (r#"{"keys":[]}"#, "no keys"),
        (r#"{"keys":["a b"]}"#, "a key with a space"),
        (r#"{"keys":[""]}"#, "an empty key"),
    ] {
        let reply = session.request(QUERY, &[], Some(body)).map_err(Broken)?;
        is_refused(&reply, what)?;
    }
    let reply = session.request(ISSUED_CARDS, &[], None).map_err(Broken)?;
    is_refused(&reply, "issued cards of no order")
}

pub(super) fn refuses_a_batch_as_a_whole(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let good = |key: &str| json!({"type": "TOP_UP", "key": key, "card": card.to_string(), "amount": 100});
    for (name, value) in
        [("amount", json!(0)), ("amount", json!(-100)), ("amount", json!("100")), ("card", json!("7"))]
    {
        let [first, bad, last] = [session.key(), session.key(), session.key()];
        let mut invalid = good(bad.as_str());
        if let Some(object) = invalid.as_object_mut() {
            object.insert(name.to_owned(), value.clone());
        }
        let batch = json!({"instructions": [good(first.as_str()), invalid, good(last.as_str())]}).to_string();
        let reply = session.request(INSTRUCTIONS, &[], Some(&batch)).map_err(Broken)?;
        is_refused(&reply, &format!("a batch with {name} {value}"))?;
        let verdicts = session.query(&[first, bad, last])?;
        hold!(
            verdicts.iter().all(Option::is_none),
            "an instruction of a batch that was refused is known: {verdicts:?}, expected NOT_SEEN"
        );
    }
    session.expect_balance(card, 0, "after batches that were refused")
}

pub(super) fn refuses_unknown_fields(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let key = session.key();
    let with = json!({"type": "TOP_UP", "card": card.to_string(), "amount": 100, "currency": "USD"});
    let reply = session.request(INSTRUCTIONS, &[], Some(&body_of(&key, &with))).map_err(Broken)?;
    is_refused(&reply, "an instruction with the field currency")?;
    hold!(session.query(&[key])? == [None], "the refused instruction is known, expected NOT_SEEN");
    session.expect_balance(card, 0, "after an instruction with an unknown field")
}

pub(super) fn tells_the_time(session: &mut Session<'_>) -> Checked {
    let (_, cards) = session.issue(vec![plastic(1)])?;
    let Some(card) = cards.first() else { return Err(Broken("an order of one card has none".to_owned())) };
    let top_up = session.top_up(card.number, 100);
    session.expect(&top_up, DONE, "a top-up")?;
    let transactions = session.transactions(card.number, 0, 10)?;
    let executed = transactions.first().map(|made| ("executedAt", made.executed_at));
    for (field, at) in [("issuedAt", card.issued_at)].into_iter().chain(executed) {
        let ahead = at - session.clock().now();
        hold!(
            ahead.abs() <= SKEW,
            "{field} is {} s ahead of the clock of the check: set the bank's clock, or its offset",
            ahead.whole_seconds()
        );
    }
    let today = session.clock().now().date();
    hold!(
        card.valid_until > today,
        "a new card is valid until {}, which is not after today",
        card.valid_until
    );
    Ok(())
}

pub(super) fn says_what_it_cannot_do(session: &mut Session<'_>) -> Checked {
    let reply = session.request(CAPABILITIES, &[], None).map_err(Broken)?;
    if reply.status == 404 {
        return Ok(());
    }
    hold!(reply.status == 200, "status code {}, expected 200 or 404", reply.status);
    let said: CapabilitiesResponse = serde_json::from_str(&reply.body)
        .map_err(|error| Broken(format!("the response is not of the protocol: {error}")))?;
    for name in &said.without {
        hold!(kopeck_port_bank::Capability::from_name(name).is_some(), "{name} is no capability");
    }
    let largest = said.largest_batch.unwrap_or(1);
    hold!((1..=1_000).contains(&largest), "largestBatch is {largest}, expected 1 to 1000");
    // What a bank says to lack must not be carried out.
    for instruction in [
        Instruction::Withdraw { card: unknown_card()?, amount: None },
        Instruction::CloseCard { card: unknown_card()? },
    ] {
        let submission = session.submission(instruction);
        if session.capabilities.require_for(&submission.instruction).is_err() {
            let answer = session.one(&submission)?;
            hold!(answer != DONE, "the connector carries out what it says that it cannot do");
        }
    }
    Ok(())
}

/// A number that no bank has issued.
pub(super) fn unknown_card() -> Checked<kopeck_domain::card_number::CardNumber> {
    kopeck_domain::card_number::CardNumber::parse("9999999999")
        .map_err(|_| Broken("9999999999 is no card number".to_owned()))
}

/// A request of one instruction.
fn body_of(key: &kopeck_port_bank::BankKey, instruction: &Value) -> String {
    let mut instruction = instruction.clone();
    if let Some(object) = instruction.as_object_mut() {
        object.insert("key".to_owned(), Value::from(key.as_str()));
    }
    json!({"instructions": [instruction]}).to_string()
}

/// Expects that a request was refused as it should be: 400 or 422, with a code and a message.
pub(super) fn is_refused(reply: &Reply, what: &str) -> Checked {
    hold!(matches!(reply.status, 400 | 422), "{what}: status code {}, expected 400 or 422", reply.status);
    hold!(!error_code(reply).is_empty(), "{what}: the error response has no code");
    Ok(())
}
