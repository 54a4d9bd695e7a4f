//! Servers that abort, lie or stay silent: certain and possible effects are distinguished.

use std::time::Duration;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{
    BankError, BankGateway as _, BankKey, Delivery, FeedError, Instruction, OrderedCards, RegistryError,
    RegistryPosition, Submission, Verdict,
};
use time::macros::datetime;

use crate::script::{Act, Script, answer, say};
use crate::test_bank::{PATIENCE, SECRET, gateway};

const DONE: &str = r#"{"results":[{"key":"t/1","outcome":"DONE"}]}"#;
/// Long for a machine, short for a person.
const SHORT: Duration = Duration::from_millis(300);

fn card() -> CardNumber {
    CardNumber::parse("1000000007").unwrap()
}

fn top_up(key: &str) -> Submission {
    Submission {
        key: BankKey::new(key).unwrap(),
        instruction: Instruction::TopUp { card: card(), amount: Kopecks::new(100) },
    }
}

/// The result of a top-up, and how many requests arrived for it.
fn submit(act: Act, timeout: Duration) -> (Result<Verdict, BankError>, usize) {
    let script = Script::play(vec![act]);
    let answer = gateway(&script.url, timeout).submit(&[top_up("t/1")]).remove(0);
    (answer, script.end().len())
}

fn is_unknown<T>(answer: &Result<T, BankError>) -> bool {
    matches!(answer, Err(BankError::Unknown(_)))
}

fn is_unavailable<T>(answer: &Result<T, BankError>) -> bool {
    matches!(answer, Err(BankError::Unavailable(_)))
}

#[test]
fn a_failed_connection_means_no_effect() {
    // The port was bound and is closed again.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{address}");
    let bank = gateway(&url, PATIENCE);
    assert!(is_unavailable(&bank.submit(&[top_up("t/1")])[0]));
    assert!(is_unavailable(&bank.card(card())));
    let nowhere = gateway("https://no-such-host.invalid", PATIENCE);
    assert!(is_unavailable(&nowhere.submit(&[top_up("t/1")])[0]));
}

#[test]
fn a_server_without_tls_was_told_nothing() {
    // It gets a TLS handshake, which is no request, and hangs up.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let answer = gateway(&url, PATIENCE).submit(&[top_up("t/1")]).remove(0);
    server.join().unwrap();
    assert!(is_unavailable(&answer), "{answer:?}");
}

#[test]
fn a_submission_whose_answer_is_lost_is_unknown_and_not_sent_again() {
    let half = &answer(200, DONE)[..answer(200, DONE).len() - 10];
    for act in [
        Act::HangUp,
        Act::Say("nonsense".to_owned()),
        Act::Say("HTTP/1.1 200".to_owned()),
        Act::Say(half.to_owned()),
        say(200, "{}"),
        say(200, "<html>"),
        say(200, ""),
        say(200, r#"{"results":[]}"#),
        say(200, r#"{"results":[{"key":"t/1","outcome":"PERHAPS"}]}"#),
        say(200, r#"{"results":[{"key":"another","outcome":"DONE"}]}"#),
        say(201, DONE),
        say(302, DONE),
        say(408, ""),
        say(409, ""),
        say(500, r#"{"code":"internal","message":"?"}"#),
        say(502, "<html>"),
        say(503, r#"{"code":"unavailable","message":"?"}"#),
    ] {
        let (answer, calls) = submit(act, PATIENCE);
        assert!(is_unknown(&answer), "{answer:?}");
        assert_eq!(calls, 1);
    }
}

#[test]
fn a_pending_submission_is_not_sent_again() {
    let (answer, calls) = submit(say(200, r#"{"results":[{"key":"t/1","outcome":"PENDING"}]}"#), PATIENCE);
    assert_eq!((answer, calls), (Ok(Verdict::Pending), 1));
}

#[test]
fn a_bank_that_takes_too_long_may_have_done_it() {
    for act in [Act::Nothing, Act::Drip] {
        let (answer, calls) = submit(act, SHORT);
        assert!(is_unknown(&answer), "{answer:?}");
        assert_eq!(calls, 1);
    }
}

#[test]
fn refused_requests_have_no_effect() {
    for status in [400, 401, 403, 404, 405, 413, 422, 429] {
        for body in [r#"{"code":"unauthorized","message":"no"}"#, "<html>", ""] {
            let (answer, _) = submit(say(status, body), PATIENCE);
            assert!(is_unavailable(&answer), "{status}: {answer:?}");
        }
    }
    let (answer, _) = submit(say(200, r#"{"results":[{"key":"t/1","outcome":"NOT_ACCEPTED"}]}"#), PATIENCE);
    assert!(is_unavailable(&answer), "{answer:?}");
}

#[test]
fn an_answer_for_a_part_of_a_batch_counts_for_that_part() {
    let body = r#"{"results":[
        {"key":"t/3","outcome":"NOT_ACCEPTED"},{"key":"t/1","outcome":"DONE"},
        {"key":"t/4","outcome":"DECLINED","reason":"OVER_CARD_LIMIT"}]}"#;
    let script = Script::play(vec![say(200, body)]);
    let batch = ["t/1", "t/2", "t/3", "t/4"].map(top_up);
    let answers = gateway(&script.url, PATIENCE).submit(&batch);
    assert_eq!(answers[0], Ok(Verdict::Done));
    assert!(is_unknown(&answers[1]) && is_unavailable(&answers[2]), "{answers:?}");
    assert_eq!(answers[3], Ok(Verdict::Declined(kopeck_port_bank::DeclineReason::OverCardLimit)));
}

/// A refusal of one batch does not stop the next. Silence does: each batch would cost a whole timeout.
#[test]
fn after_a_call_without_an_answer_the_rest_is_not_sent() {
    let many: Vec<Submission> = (0..450).map(|number| top_up(&format!("t/{number}"))).collect();
    let turned_away = || say(422, r#"{"code":"invalid","message":"-"}"#);
    let script = Script::play(vec![turned_away(), turned_away(), turned_away()]);
    let answers = gateway(&script.url, PATIENCE).submit(&many);
    assert_eq!((answers.len(), answers.iter().all(is_unavailable)), (450, true));
    assert_eq!(script.end().len(), 3);

    let script = Script::play(vec![turned_away(), Act::HangUp]);
    let answers = gateway(&script.url, PATIENCE).submit(&many);
    assert_eq!(script.end().len(), 2);
    let (first, rest) = answers.split_at(200);
    let (second, third) = rest.split_at(200);
    assert!(first.iter().all(is_unavailable), "{first:?}");
    assert!(second.iter().all(is_unknown), "{second:?}");
    assert_eq!((third.len(), third.iter().all(is_unavailable)), (50, true), "{third:?}");
}

#[test]
fn a_read_is_tried_again_until_it_is_answered() {
    let found = r#"{"card":{"number":"1000000007","balance":5,"topUpRoom":1,"account":5,"standing":"OPEN","validUntil":"2029-03-31"}}"#;
    for trouble in [|| Act::HangUp, || say(500, ""), || say(200, "{")] {
        let script = Script::play(vec![trouble(), trouble(), say(200, found)]);
        let card = gateway(&script.url, PATIENCE).card(card()).unwrap().unwrap();
        assert_eq!(card.balance.get(), 5);
        assert_eq!(script.end().len(), 3);
    }
    let script = Script::play(vec![Act::HangUp, Act::HangUp, Act::HangUp]);
    assert!(is_unknown(&gateway(&script.url, PATIENCE).query(&[BankKey::new("t/1").unwrap()])));
    assert_eq!(script.end().len(), 3, "three tries and no more");
}

#[test]
fn a_read_that_was_refused_or_took_all_its_time_is_not_tried_again() {
    let script = Script::play(vec![say(401, "")]);
    assert!(is_unavailable(&gateway(&script.url, PATIENCE).card(card())));
    assert_eq!(script.end().len(), 1);
    let script = Script::play(vec![Act::Nothing]);
    assert!(is_unknown(&gateway(&script.url, SHORT).card(card())));
    assert_eq!(script.end().len(), 1);
}

#[test]
fn only_the_bank_itself_can_say_that_there_is_no_such_card() {
    for (body, is_word) in [
        (r#"{"code":"unknown_card","message":""}"#, true),
        (r#"{"code":"not_found","message":""}"#, false),
        ("", false),
    ] {
        let script = Script::play(vec![say(404, body), say(404, body)]);
        let bank = gateway(&script.url, PATIENCE);
        let (found, transactions) = (bank.card(card()), bank.transactions(card(), 0, 10));
        if is_word {
            assert_eq!((found, transactions), (Ok(None), Ok(vec![])));
        } else {
            assert!(is_unavailable(&found) && is_unavailable(&transactions), "{body}");
        }
    }
}

#[test]
fn responses_that_contradict_the_request_are_ignored() {
    let made =
        |id: i64| format!(r#"{{"id":{id},"executedAt":"2026-03-02T09:00:00Z","type":"PAYMENT","amount":1}}"#);
    let transactions = |ids: &[i64]| {
        let made: Vec<String> = ids.iter().map(|id| made(*id)).collect();
        format!(r#"{{"transactions":[{}]}}"#, made.join(","))
    };
    for ids in [&[5, 5][..], &[6, 5], &[4], &[5, 6, 7]] {
        let script = Script::play(vec![say(200, &transactions(ids))]);
        let read = gateway(&script.url, PATIENCE).transactions(card(), 4, 2);
        assert!(is_unknown(&read), "{ids:?}: {read:?}");
    }
    let other = r#"{"card":{"number":"1000000015","balance":5,"topUpRoom":1,"account":5,"standing":"OPEN","validUntil":"2029-03-31"}}"#;
    let script = Script::play(vec![say(200, other)]);
    assert!(is_unknown(&gateway(&script.url, PATIENCE).card(card())));
    let huge = format!(r#"{{"cards":[{}]}}"#, " ".repeat(9 << 20));
    let script = Script::play(vec![say(200, &huge), say(200, &huge), say(200, &huge)]);
    assert!(is_unknown(&gateway(&script.url, PATIENCE).issued_cards(&BankKey::new("o").unwrap(), 0, 1)));
}

#[test]
fn a_redirection_is_not_followed_with_the_secret() {
    let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    let location = elsewhere.local_addr().unwrap();
    let redirect = format!(
        "HTTP/1.1 307 Elsewhere\r\nlocation: http://{location}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (answer, _) = submit(Act::Say(redirect), PATIENCE);
    assert!(is_unknown(&answer));
    assert_eq!(
        elsewhere.accept().unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock,
        "there was no connection"
    );
}

/// A request arrives below the path of the URL; and no error repeats its content.
#[test]
fn errors_show_nothing_of_the_call() {
    let delivery = Delivery {
        address: "12 Secret Street".into(),
        recipient: "Anna Petrova".into(),
        phone: "9001234567".into(),
    };
    let line = OrderedCards { kind: CardType::Mp4, count: 1, first_top_up: None, delivery: Some(delivery) };
    let order = Submission {
        key: BankKey::new("order/1").unwrap(),
        instruction: Instruction::IssueCards(vec![line]),
    };
    let echo =
        r#"{"code":"invalid","message":"12 Secret Street, Anna Petrova, 9001234567, correct-horse-battery"}"#;
    for act in [say(422, echo), say(500, echo), say(200, echo), Act::HangUp] {
        let script = Script::play(vec![act]);
        let url = format!("{}/front/", script.url);
        let error = gateway(&url, PATIENCE).submit(std::slice::from_ref(&order)).remove(0).unwrap_err();
        let call = script.end().remove(0);
        assert!(call.starts_with("POST /front/bank/v1/instructions HTTP/1.1\r\n"), "{call}");
        assert!(call.contains(&format!("authorization: Bearer {SECRET}\r\n")), "{call}");
        assert!(call.contains("12 Secret Street"));
        let said = format!("{error} {error:?}");
        for kept in ["Secret Street", "Petrova", "9001234567", SECRET] {
            assert!(!said.contains(kept), "{said}");
        }
    }
}

#[test]
fn a_bank_may_have_no_feed_or_have_forgotten_it() {
    let feed = |status, body: &str| {
        let script = Script::play(vec![say(status, body)]);
        let read = gateway(&script.url, PATIENCE).feed(5, 10);
        assert_eq!(script.end().len(), 1);
        read
    };
    assert_eq!(feed(404, r#"{"code":"not_found","message":""}"#), Err(FeedError::NotSupported));
    assert_eq!(feed(404, ""), Err(FeedError::NotSupported));
    let gone = r#"{"code":"forgotten","message":"","oldest":7}"#;
    assert_eq!(feed(410, gone), Err(FeedError::Forgotten { oldest: 7 }));
    for (status, body) in [(410, ""), (401, r#"{"code":"unauthorized","message":""}"#)] {
        assert!(matches!(feed(status, body), Err(FeedError::Bank(BankError::Unavailable(_)))), "{status}");
    }
}

/// Two entries under one number, numbers that do not ascend, one that was not asked for, and too many.
#[test]
fn a_feed_out_of_order_is_not_understood() {
    for numbers in [&[6, 6][..], &[7, 6], &[5], &[6, 7, 8]] {
        let entry = |seq| {
            format!(r#"{{"seq":{seq},"at":"2026-11-21T06:00:00Z","card":"1000000007","type":"BLOCKED"}}"#)
        };
        let entries: Vec<String> = numbers.iter().map(entry).collect();
        let body = format!(r#"{{"entries":[{}]}}"#, entries.join(","));
        let script = Script::play(vec![say(200, &body)]);
        let read = gateway(&script.url, PATIENCE).feed(5, 2);
        assert!(matches!(read, Err(FeedError::Bank(BankError::Unknown(_)))), "{numbers:?}");
        assert_eq!(script.end().len(), 1);
    }
}

#[test]
fn a_bank_may_have_no_registry() {
    let day = datetime!(2026-11-21 00:00 UTC)..datetime!(2026-11-22 00:00 UTC);
    let registry = |status, body: &str| {
        let script = Script::play(vec![say(status, body)]);
        let read = gateway(&script.url, PATIENCE).registry(&day, None, 10);
        let call = script.end().remove(0);
        let query =
            "/bank/v1/registry?from=2026-11-21T00%3A00%3A00Z&until=2026-11-22T00%3A00%3A00Z&limit=10 ";
        assert!(call.contains(query), "{call}");
        read
    };
    for body in [r#"{"code":"not_found","message":""}"#, ""] {
        assert_eq!(registry(404, body), Err(RegistryError::NotSupported));
    }
    let refused = registry(401, r#"{"code":"unauthorized","message":""}"#);
    assert!(matches!(refused, Err(RegistryError::Bank(BankError::Unavailable(_)))), "{refused:?}");
}

/// The last one again, another card's before it, an id that does not ascend, another day's, and too many.
#[test]
fn a_registry_out_of_order_is_not_understood() {
    let day = datetime!(2026-11-21 00:00 UTC)..datetime!(2026-11-22 00:00 UTC);
    let card = |number: u64| CardNumber::from_u64(number).unwrap();
    let after = RegistryPosition { card: card(1_000_000_007), id: 5 };
    for (entries, is_good) in [
        (&[(1_000_000_007, 6, 21), (1_000_000_008, 1, 21)][..], true),
        (&[(1_000_000_007, 5, 21)], false),
        (&[(1_000_000_006, 9, 21)], false),
        (&[(1_000_000_008, 2, 21), (1_000_000_008, 1, 21)], false),
        (&[(1_000_000_008, 2, 22)], false),
        (&[(1_000_000_008, 2, 21), (1_000_000_008, 3, 21), (1_000_000_008, 4, 21)], false),
    ] {
        let entry = |(card, id, day): &(u64, i64, u8)| {
            format!(
                r#"{{"card":"{card}","transaction":{{"id":{id},"executedAt":"2026-11-{day}T06:00:00Z","type":"PAYMENT","amount":5}}}}"#
            )
        };
        let listed: Vec<String> = entries.iter().map(entry).collect();
        let script = Script::play(vec![say(200, &format!(r#"{{"entries":[{}]}}"#, listed.join(",")))]);
        let read = gateway(&script.url, PATIENCE).registry(&day, Some(after), 2);
        assert!(script.end().remove(0).contains("&afterCard=1000000007&afterId=5 "));
        let is_unknown = matches!(read, Err(RegistryError::Bank(BankError::Unknown(_))));
        assert_eq!((read.is_ok(), is_unknown), (is_good, !is_good), "{entries:?}");
    }
}
