//! Concurrency limit and circuit breaker.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use kopeck_adapter_bank_http::{HttpBank, HttpBankSettings, ResilienceSettings};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankError, BankGateway as _, BankKey};
use kopeck_port_system::fake::FakeClock;

use crate::script::{Act, Script, answer, say};
use crate::test_bank::{PATIENCE, START, address, settings};

const NOT_SEEN: &str = r#"{"results":[{"key":"k","outcome":"NOT_SEEN"}]}"#;

fn bank(url: &str, resilience: ResilienceSettings) -> (HttpBank, Arc<FakeClock>) {
    let clock = Arc::new(FakeClock::starting_at(START));
    let settings = HttpBankSettings { resilience, ..settings() };
    (HttpBank::new(address(url, PATIENCE), &settings, Arc::clone(&clock) as _).unwrap(), clock)
}

fn ask(bank: &HttpBank) -> Result<Vec<Option<kopeck_port_bank::Verdict>>, BankError> {
    bank.query(&[BankKey::new("k").unwrap()])
}

#[test]
fn requests_beyond_the_limit_are_refused() {
    let (release, held) = mpsc::channel();
    let script = Script::play(vec![Act::Hold(held, answer(200, NOT_SEEN)), say(200, NOT_SEEN)]);
    let (bank, _) = bank(&script.url, ResilienceSettings { in_flight: 1, ..settings().resilience });
    std::thread::scope(|scope| {
        let first = scope.spawn(|| ask(&bank));
        script.wait_for_a_call();
        let second = ask(&bank).unwrap_err();
        assert!(matches!(&second, BankError::Unavailable(why) if why.contains("too many")), "{second:?}");
        release.send(()).unwrap();
        assert_eq!(first.join().unwrap(), Ok(vec![None]));
    });
    assert_eq!(ask(&bank), Ok(vec![None]), "there is room again");
    assert_eq!(script.end().len(), 2);
}

#[test]
fn a_bank_that_fails_is_left_alone_and_then_asked_once() {
    let trouble = || say(500, "");
    // Five to open it; one that finds no better; one that does; one more.
    let acts = (0..6).map(|_| trouble()).chain([say(200, NOT_SEEN), say(200, NOT_SEEN)]).collect();
    let script = Script::play(acts);
    let pause = Duration::from_secs(5);
    let resilience = ResilienceSettings { failures: 5, retries: 0, pause, ..settings().resilience };
    let (bank, clock) = bank(&script.url, resilience);
    let is_left_alone =
        || matches!(ask(&bank), Err(BankError::Unavailable(why)) if why.contains("left alone"));
    for _ in 0..5 {
        assert!(matches!(ask(&bank), Err(BankError::Unknown(_))));
    }
    assert!(is_left_alone());
    clock.advance(time::Duration::seconds(5));
    assert!(matches!(ask(&bank), Err(BankError::Unknown(_))), "the probe");
    assert!(is_left_alone());
    clock.advance(time::Duration::seconds(5));
    assert_eq!(ask(&bank), Ok(vec![None]));
    assert_eq!(ask(&bank), Ok(vec![None]));
    assert_eq!(script.end().len(), 8);
}

#[test]
fn a_bank_that_refuses_does_not_fail() {
    let acts = (0..20).map(|_| say(404, r#"{"code":"unknown_card","message":""}"#)).collect();
    let script = Script::play(acts);
    let (bank, _) = bank(&script.url, ResilienceSettings { failures: 5, ..settings().resilience });
    for _ in 0..20 {
        assert_eq!(bank.card(CardNumber::parse("1000000007").unwrap()), Ok(None));
    }
    assert_eq!(script.end().len(), 20);
}

#[test]
fn repeat_is_safe_is_a_setting() {
    for repeat_is_safe in [true, false] {
        let settings = HttpBankSettings { repeat_is_safe, ..settings() };
        let clock = Arc::new(FakeClock::starting_at(START));
        let bank = HttpBank::new(address("http://127.0.0.1:1", PATIENCE), &settings, clock).unwrap();
        assert_eq!(bank.repeat_is_safe(), repeat_is_safe);
    }
}
