//! Money that comes back from cards, and cards that are closed.

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_domain::transaction::TransactionType;

use super::{a_card, balance, issue, key, submit_one, top_up, unknown_card, virtual_cards};
use crate::{BankError, BankGateway, DeclineReason, Instruction, Submission, Verdict};

type Answer = Result<Verdict, BankError>;

fn withdraw(text: &str, card: CardNumber, amount: Option<i64>) -> Submission {
    let instruction = Instruction::Withdraw { card, amount: amount.map(Kopecks::new) };
    Submission { key: key(text), instruction }
}

fn close(text: &str, card: CardNumber) -> Submission {
    Submission { key: key(text), instruction: Instruction::CloseCard { card } }
}

fn returned(amount: i64) -> Answer {
    Ok(Verdict::Returned(Kopecks::new(amount)))
}

fn declined(reason: DeclineReason) -> Answer {
    Ok(Verdict::Declined(reason))
}

/// A card with this balance.
fn a_card_with(bank: &dyn BankGateway, amount: i64) -> CardNumber {
    let card = a_card(bank);
    assert_eq!(submit_one(bank, &top_up("fill", card, amount)), Ok(Verdict::Done));
    card
}

/// The amounts of the card's transactions after its top-up, each of which has to be a reversal.
fn reversals(bank: &dyn BankGateway, card: CardNumber) -> Vec<i64> {
    let made = bank.transactions(card, 0, 100).unwrap();
    assert!(made[1..].iter().all(|made| made.kind == TransactionType::Reversal), "{made:?}");
    made[1..].iter().map(|made| made.amount.get()).collect()
}

/// A part, then all that is left. Balance, room and transactions show it at once.
pub fn money_comes_back_from_a_card(bank: &dyn BankGateway) {
    let card = a_card_with(bank, 10_000);
    let room = bank.card(card).unwrap().unwrap().remaining_top_up;
    assert_eq!(submit_one(bank, &withdraw("w1", card, Some(2_500))), returned(2_500));
    let after = bank.card(card).unwrap().unwrap();
    assert_eq!((after.balance.get(), after.standing), (7_500, Standing::Open));
    assert_eq!(after.remaining_top_up, room.plus(Kopecks::new(2_500)).unwrap());
    assert_eq!(submit_one(bank, &withdraw("w2", card, None)), returned(7_500));
    assert_eq!((balance(bank, card), reversals(bank, card)), (0, vec![2_500, 7_500]));
    assert_eq!(submit_one(bank, &top_up("again", card, 100)), Ok(Verdict::Done));
}

/// More than the card holds, all of an empty card, and a card that the bank does not have.
pub fn a_withdrawal_returns_no_more_than_the_card_has(bank: &dyn BankGateway) {
    let card = a_card_with(bank, 500);
    let short = declined(DeclineReason::NotEnoughOnCard);
    assert_eq!(submit_one(bank, &withdraw("w1", card, Some(501))), short);
    assert_eq!(submit_one(bank, &withdraw("w2", card, Some(i64::MAX))), short);
    assert_eq!(submit_one(bank, &withdraw("w3", card, Some(500))), returned(500));
    assert_eq!(submit_one(bank, &withdraw("w4", card, None)), short);
    assert_eq!((balance(bank, card), reversals(bank, card)), (0, vec![500]));
    for unknown in [withdraw("w5", unknown_card(), None), close("c", unknown_card())] {
        assert_eq!(submit_one(bank, &unknown), declined(DeclineReason::Refused));
    }
}

/// Every instruction is refused; each has another key.
pub fn a_closed_card_is_empty_and_changes_no_more(bank: &dyn BankGateway) {
    let card = a_card_with(bank, 300);
    assert_eq!(submit_one(bank, &close("c1", card)), returned(300));
    let closed = bank.card(card).unwrap().unwrap();
    assert_eq!((closed.balance, closed.remaining_top_up), (Kopecks::ZERO, Kopecks::ZERO));
    assert_eq!(closed.standing, Standing::Closed);
    assert_eq!(reversals(bank, card), [300]);
    for again in [close("c2", card), withdraw("w1", card, None), withdraw("w2", card, Some(1))] {
        assert_eq!(submit_one(bank, &again), declined(DeclineReason::Closed), "{again:?}");
    }
    let limit = Instruction::SetLimit { card, limit: Limit::Unlimited };
    let block = Instruction::SetBlock { card, blocked: true, change: 1 };
    let others = [("l", limit), ("b", block), ("t", top_up("t", card, 1).instruction)];
    for (text, instruction) in others {
        let other = Submission { key: key(text), instruction };
        assert_eq!(submit_one(bank, &other), declined(DeclineReason::Blocked), "{other:?}");
    }
    // An empty card gives nothing back, and is closed all the same.
    let empty = issue(bank, "empty", &[super::plastic(1)])[0].number;
    assert_eq!(submit_one(bank, &close("c3", empty)), returned(0));
    assert_eq!(bank.card(empty).unwrap().unwrap().standing, Standing::Closed);
    assert_eq!(bank.transactions(empty, 0, 10), Ok(vec![]));
}

/// The same key has the first verdict, with its amount, whatever is on the card by then.
pub fn money_comes_back_once(bank: &dyn BankGateway) {
    let card = a_card_with(bank, 1_000);
    let all = withdraw("w", card, None);
    assert_eq!(bank.submit(&[all.clone(), all.clone()]), [returned(1_000), returned(1_000)]);
    assert_eq!(submit_one(bank, &top_up("more", card, 70)), Ok(Verdict::Done));
    assert_eq!(submit_one(bank, &all), returned(1_000));
    assert_eq!(balance(bank, card), 70);
    assert_eq!(bank.submit(&[close("c", card), close("c", card)]), [returned(70), returned(70)]);
    let [of_all, of_close] = [1_000, 70].map(|amount| Some(Verdict::Returned(Kopecks::new(amount))));
    assert_eq!(bank.query(&[key("c"), key("w"), key("c")]), Ok(vec![of_close, of_all, of_close]));
    let other = submit_one(bank, &withdraw("w", card, Some(1_000)));
    assert!(matches!(other, Err(BankError::Unavailable(_))), "the key names another instruction: {other:?}");
}

/// A block keeps a card from paying, not its money from the partner.
pub fn a_card_that_is_blocked_or_inactive_gives_its_money_back(bank: &dyn BankGateway) {
    let card = a_card_with(bank, 900);
    let block = Instruction::SetBlock { card, blocked: true, change: 1 };
    assert_eq!(submit_one(bank, &Submission { key: key("b"), instruction: block }), Ok(Verdict::Done));
    assert_eq!(submit_one(bank, &withdraw("w1", card, Some(400))), returned(400));
    assert_eq!(submit_one(bank, &close("c1", card)), returned(500));
    let asleep = issue(bank, "v", &[virtual_cards(1, 5_000)])[0].number;
    assert_eq!(submit_one(bank, &withdraw("w2", asleep, Some(1_000))), returned(1_000));
    assert_eq!(submit_one(bank, &close("c2", asleep)), returned(4_000));
}
