//! What a bank says that it cannot do.

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{
    BankError, BankGateway as _, BankKey, Capabilities, Capability, FeedError, Instruction, Submission,
};

use crate::script::{Script, say};
use crate::test_bank::{PATIENCE, gateway};

fn top_up(key: &str) -> Submission {
    let card = CardNumber::parse("1000000007").unwrap();
    Submission {
        key: BankKey::new(key).unwrap(),
        instruction: Instruction::TopUp { card, amount: Kopecks::new(1) },
    }
}

#[test]
fn the_gateway_asks_for_nothing_that_the_bank_lacks() {
    let script = Script::play(vec![
        say(200, r#"{"without":["feed","repeat-safe","teleport"],"largestBatch":2}"#),
        say(200, r#"{"results":[{"key":"a","outcome":"DONE"},{"key":"b","outcome":"DONE"}]}"#),
        say(200, r#"{"results":[{"key":"c","outcome":"DONE"}]}"#),
    ]);
    let bank = gateway(&script.url, PATIENCE);
    assert_eq!(bank.capabilities(), Capabilities::EVERYTHING);
    assert!(bank.repeat_is_safe());
    let known = Capabilities::without([Capability::Feed, Capability::RepeatSafe]).with_largest_batch(2);
    assert_eq!(bank.read_capabilities(), Ok(known));
    assert_eq!((bank.capabilities(), bank.repeat_is_safe()), (known, false));
    assert_eq!(bank.feed(0, 10), Err(FeedError::NotSupported));
    let answers = bank.submit(&["a", "b", "c"].map(top_up));
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(script.end().len(), 3, "two batches, and nothing of a feed");
}

#[test]
fn a_bank_that_does_not_say_can_do_everything() {
    let script = Script::play(vec![
        say(200, r#"{"without":["closings"]}"#),
        say(503, ""),
        say(503, ""),
        say(503, ""),
        say(404, r#"{"code":"not_found","message":"no such path"}"#),
    ]);
    let bank = gateway(&script.url, PATIENCE);
    let poor = Capabilities::without([Capability::Closings]);
    assert_eq!(bank.read_capabilities(), Ok(poor));
    assert!(matches!(bank.read_capabilities(), Err(BankError::Unknown(_))));
    assert_eq!(bank.capabilities(), poor, "what was known stays");
    assert_eq!(bank.read_capabilities(), Ok(Capabilities::EVERYTHING));
    assert_eq!(script.end().len(), 5);
}
