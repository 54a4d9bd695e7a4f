//! Money on cards.

use kopeck_bank_protocol::CARDS;
use kopeck_domain::Kopecks;
use kopeck_domain::limit::Limit;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::{BankKey, DeclineReason, Instruction, Submission, Verdict};

use super::form::unknown_card;
use crate::session::{Answer, Broken, Checked, DONE, Session, declined, error_code, hold, shown};

pub(super) fn puts_money_on_cards(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let before = session.known_card(card)?;
    let top_up = session.top_up(card, 1_500);
    session.expect(&top_up, DONE, "a top-up")?;
    let after = session.known_card(card)?;
    hold!(after.balance.get() == 1_500, "the card holds {} after a top-up of 1500", after.balance.get());
    hold!(
        after.remaining_top_up.get() == before.remaining_top_up.get() - 1_500,
        "topUpRoom was {} and is {} after a top-up of 1500",
        before.remaining_top_up.get(),
        after.remaining_top_up.get()
    );
    let made = session.transactions(card, 0, 10)?;
    let seen: Vec<_> = made.iter().map(|made| (made.kind, made.amount.get())).collect();
    hold!(
        seen == [(TransactionType::Replenishment, 1_500)],
        "the transactions are {seen:?}, expected one REPLENISHMENT of 1500"
    );
    Ok(())
}

pub(super) fn knows_its_cards(session: &mut Session<'_>) -> Checked {
    let card = unknown_card()?;
    hold!(session.card(card)?.is_none(), "the bank has a card {card}");
    let query = [("after", "0".to_owned()), ("limit", "10".to_owned())];
    let reply = session.request(&format!("{CARDS}/{card}/transactions"), &query, None).map_err(Broken)?;
    // An empty list says the same.
    let is_unknown = (reply.status == 404 && error_code(&reply) == "unknown_card")
        || (reply.status == 200 && reply.body.contains("[]"));
    hold!(is_unknown, "transactions of an unknown card: {}, expected 404 unknown_card", reply.status);
    for instruction in [
        Instruction::TopUp { card, amount: Kopecks::new(100) },
        Instruction::SetLimit { card, limit: Limit::Unlimited },
        Instruction::SetBlock { card, blocked: true, change: 1 },
    ] {
        let submission = session.submission(instruction);
        let answer = session.one(&submission)?;
        hold!(
            matches!(answer, Answer::Verdict(Verdict::Declined(_))),
            "an instruction for an unknown card: {}, expected DECLINED",
            shown(answer)
        );
    }
    Ok(())
}

pub(super) fn keeps_the_room(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let room = session.known_card(card)?.remaining_top_up.get();
    let over = declined(DeclineReason::OverCardLimit);
    for amount in [room + 1, i64::MAX / 2] {
        let top_up = session.top_up(card, amount);
        session.expect(&top_up, over, &format!("a top-up of {amount} with room for {room}"))?;
    }
    let first = session.top_up(card, 100);
    session.expect(&first, DONE, "a top-up")?;
    let rest = session.top_up(card, room);
    session.expect(&rest, over, "a top-up of the whole room after another one")?;
    session.expect_balance(card, 100, "after top-ups over the room")
}

pub(super) fn decides_each_instruction(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let unknown = unknown_card()?;
    let batch = [
        session.top_up(unknown, 100),
        session.top_up(card, 200),
        session.top_up(unknown, 300),
        session.top_up(card, 400),
    ];
    let answers = session.submit(&batch)?;
    let is_done: Vec<bool> = answers.iter().map(|answer| *answer == DONE).collect();
    hold!(
        is_done == [false, true, false, true],
        "good and bad instructions in a batch: DONE are {is_done:?}"
    );
    session.expect_balance(card, 600, "after a batch with declined instructions")?;
    let keys: Vec<BankKey> = batch.iter().rev().map(|submission| submission.key.clone()).collect();
    let verdicts = session.query(&keys)?;
    let same = verdicts
        .iter()
        .rev()
        .zip(&answers)
        .all(|(known, answer)| known.map(Answer::Verdict) == Some(*answer));
    hold!(same, "the query has other verdicts than the response: {verdicts:?}");
    Ok(())
}

pub(super) fn lists_transactions(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    for amount in 1..=5 {
        let top_up = session.top_up(card, amount * 100);
        session.expect(&top_up, DONE, "a top-up")?;
    }
    let all = session.transactions(card, 0, 100)?;
    let amounts: Vec<i64> = all.iter().map(|made| made.amount.get()).collect();
    hold!(amounts == [100, 200, 300, 400, 500], "the amounts are {amounts:?}, in the order of ids");
    hold!(all.is_sorted_by(|one, next| one.id < next.id), "the ids of transactions do not ascend");
    let mut read = Vec::new();
    let mut after = 0;
    loop {
        let page = session.transactions(card, after, 2)?;
        hold!(page.len() <= 2, "a page of 2 transactions has {}", page.len());
        let Some(last) = page.last() else { break };
        hold!(last.id > after, "a page after {after} ends at {}", last.id);
        after = last.id;
        read.extend(page);
    }
    hold!(read == all, "pages of 2 transactions do not join to the list");
    Ok(())
}

pub(super) fn takes_a_large_batch(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let size = session.capabilities.largest_batch();
    let batch: Vec<Submission> = (0..size).map(|_| session.top_up(card, 100)).collect();
    let answers = session.submit(&batch)?;
    let done = answers.iter().filter(|answer| **answer == DONE).count();
    hold!(done == batch.len(), "{done} of {size} instructions of a batch are DONE");
    session.expect_balance(card, i64::from(size) * 100, "after a large batch")?;
    let keys: Vec<BankKey> = batch.iter().map(|submission| submission.key.clone()).collect();
    let verdicts = session.query(&keys)?;
    hold!(
        verdicts.iter().all(|verdict| *verdict == Some(Verdict::Done)),
        "the query of a large batch differs"
    );
    Ok(())
}
