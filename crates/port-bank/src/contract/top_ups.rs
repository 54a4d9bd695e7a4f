//! Money on cards, and limits.

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::limit::{Limit, Period};
use kopeck_domain::transaction::TransactionType;
use time::Weekday;

use super::{a_card, balance, key, submit_one, top_up, unknown_card};
use crate::{BankGateway, DeclineReason, Instruction, Submission, Verdict};

/// A top-up shows in balance, room and transactions at once.
pub fn money_arrives_on_the_card(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let before = bank.card(card).unwrap().unwrap();
    assert_eq!(submit_one(bank, &top_up("t", card, 150_000)), Ok(Verdict::Done));
    let after = bank.card(card).unwrap().unwrap();
    assert_eq!(after.balance.get(), 150_000);
    assert_eq!(after.remaining_top_up, before.remaining_top_up.minus(Kopecks::new(150_000)).unwrap());
    let made = bank.transactions(card, 0, 10).unwrap();
    assert_eq!(
        made.iter().map(|made| (made.kind, made.amount.get())).collect::<Vec<_>>(),
        [(TransactionType::Replenishment, 150_000)]
    );
}

/// The bank has no such card.
pub fn a_card_that_is_not_there_takes_no_money_and_no_limit(bank: &dyn BankGateway) {
    let refused = Ok(Verdict::Declined(DeclineReason::Refused));
    assert_eq!(submit_one(bank, &top_up("t", unknown_card(), 1)), refused);
    let instruction = Instruction::SetLimit { card: unknown_card(), limit: Limit::Unlimited };
    assert_eq!(submit_one(bank, &Submission { key: key("l"), instruction }), refused);
    assert_eq!(bank.card(unknown_card()), Ok(None));
    assert_eq!(bank.transactions(unknown_card(), 0, 10), Ok(vec![]));
}

/// The room is used up to the last kopeck, and not over it.
pub fn a_card_takes_no_more_than_it_has_room_for(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let room = bank.card(card).unwrap().unwrap().remaining_top_up.get();
    let over = Ok(Verdict::Declined(DeclineReason::OverCardLimit));
    for (text, amount, verdict) in [
        ("1", room + 1, over.clone()),
        ("2", room, Ok(Verdict::Done)),
        ("3", 1, over.clone()),
        ("4", i64::MAX, over),
    ] {
        assert_eq!(submit_one(bank, &top_up(text, card, amount)), verdict, "{amount}");
    }
    assert_eq!(balance(bank, card), room);
}

/// Ids ascend, and a reader goes on where it stopped.
pub fn transactions_are_read_from_an_id_on(bank: &dyn BankGateway) {
    let card = a_card(bank);
    for amount in 1..=5 {
        assert_eq!(submit_one(bank, &top_up(&amount.to_string(), card, amount)), Ok(Verdict::Done));
    }
    let all = bank.transactions(card, 0, 100).unwrap();
    assert_eq!(all.iter().map(|made| made.amount.get()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert!(all.is_sorted_by_key(|made| made.id));
    assert_eq!(bank.transactions(card, all[1].id, 2).unwrap(), all[2..4]);
    assert_eq!(bank.transactions(card, all[4].id, 100), Ok(vec![]));
    assert_eq!(bank.transactions(card, i64::MIN, 100), Ok(all));
}

/// Each part of a limit by itself, and all of them together.
pub fn every_form_of_limit_is_taken(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let amount = |period| Limit::per(period, Kopecks::new(100));
    let windows = ["22:00-06:00", "09:00-12:00"];
    let limited = [
        amount(Period::Day),
        amount(Period::Week),
        amount(Period::Quarter),
        Limit::on([Weekday::Monday, Weekday::Sunday]),
        amount(Period::Month).on([Weekday::Wednesday]).within(windows),
    ];
    let limits = limited.into_iter().map(|limit| limit.build().unwrap());
    for (number, limit) in [Limit::unlimited()].into_iter().chain(limits).enumerate() {
        let submission = Submission {
            key: key(&format!("l/{number}")),
            instruction: Instruction::SetLimit { card, limit },
        };
        for _ in 0..2 {
            assert_eq!(submit_one(bank, &submission), Ok(Verdict::Done), "{submission:?}");
        }
    }
}

/// A block by instruction is apart from the card's standing. The latest change counts, whichever arrives last.
pub fn a_blocked_card_takes_no_money_until_the_block_is_lifted(bank: &dyn BankGateway) {
    let card = a_card(bank);
    let block = |change, blocked| {
        let instruction = Instruction::SetBlock { card, blocked, change };
        submit_one(bank, &Submission { key: key(&format!("b{change}")), instruction })
    };
    let refused = Ok(Verdict::Declined(DeclineReason::BlockedByPartner));
    assert_eq!(block(2, true), Ok(Verdict::Done));
    assert_eq!(submit_one(bank, &top_up("1", card, 100)), refused);
    assert_eq!(bank.card(card).unwrap().unwrap().standing, Standing::Open);
    assert_eq!(block(1, false), Ok(Verdict::Done), "an earlier one that was late");
    assert_eq!(submit_one(bank, &top_up("2", card, 100)), refused);
    assert_eq!(block(3, false), Ok(Verdict::Done));
    assert_eq!(submit_one(bank, &top_up("3", card, 100)), Ok(Verdict::Done));
    let instruction = Instruction::SetBlock { card: unknown_card(), blocked: true, change: 1 };
    let unknown = submit_one(bank, &Submission { key: key("unknown"), instruction });
    assert_eq!(unknown, Ok(Verdict::Declined(DeclineReason::Refused)));
}
