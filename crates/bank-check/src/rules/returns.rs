//! Money that comes back from cards, and cards that are closed.

use kopeck_domain::Kopecks;
use kopeck_domain::card::Standing;
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::{Capability, DeclineReason, Instruction, Verdict};

use crate::session::{
    Answer, Broken, Checked, DONE, Session, declined, hold, returned, shown, virtual_cards,
};

const NOT_ENOUGH: Answer = declined(DeclineReason::NotEnoughOnCard);

pub(super) fn takes_money_back(session: &mut Session<'_>) -> Checked {
    let card = session.card_with(1_000)?;
    let part = session.withdraw(card, Some(300));
    session.expect(&part, returned(300), "a withdrawal of 300")?;
    session.expect_balance(card, 700, "after a withdrawal of 300 from 1000")?;
    let all = session.withdraw(card, None);
    session.expect(&all, returned(700), "a withdrawal without an amount")?;
    session.expect_balance(card, 0, "after a withdrawal of all")?;
    let made = session.transactions(card, 0, 10)?;
    let seen: Vec<_> = made.iter().skip(1).map(|made| (made.kind, made.amount.get())).collect();
    let reversal = TransactionType::Reversal;
    hold!(
        seen == [(reversal, 300), (reversal, 700)],
        "the transactions of two withdrawals are {seen:?}, expected a REVERSAL of 300 and one of 700"
    );
    let top_up = session.top_up(card, 100);
    session.expect(&top_up, DONE, "a top-up after a withdrawal")
}

pub(super) fn takes_no_more_than_there_is(session: &mut Session<'_>) -> Checked {
    let card = session.card_with(500)?;
    let more = session.withdraw(card, Some(600));
    session.expect(&more, NOT_ENOUGH, "a withdrawal of 600 from 500")?;
    session.expect_balance(card, 500, "after a declined withdrawal")?;
    let all = session.withdraw(card, Some(500));
    session.expect(&all, returned(500), "a withdrawal of the last kopeck")?;
    let nothing = session.withdraw(card, None);
    session.expect(&nothing, NOT_ENOUGH, "a withdrawal from an empty card")
}

pub(super) fn closes_cards(session: &mut Session<'_>) -> Checked {
    let card = session.card_with(800)?;
    let close = session.submission(Instruction::CloseCard { card });
    session.expect(&close, returned(800), "closing a card with 800")?;
    let closed = session.known_card(card)?;
    hold!(closed.standing == Standing::Closed, "the standing of a closed card is {}", closed.standing);
    hold!(closed.balance == Kopecks::ZERO, "a closed card holds {} kopecks", closed.balance.get());
    hold!(
        closed.remaining_top_up == Kopecks::ZERO,
        "topUpRoom of a closed card is {}",
        closed.remaining_top_up.get()
    );
    session.expect(&close, returned(800), "the same closing again")?;
    let gone = declined(DeclineReason::Closed);
    let again = session.submission(Instruction::CloseCard { card });
    session.expect(&again, gone, "another closing of a closed card")?;
    if session.capabilities.has(Capability::Withdrawals) {
        let withdraw = session.withdraw(card, None);
        session.expect(&withdraw, gone, "a withdrawal from a closed card")?;
    }
    let blocked = declined(DeclineReason::Blocked);
    let top_up = session.top_up(card, 100);
    session.expect(&top_up, blocked, "a top-up of a closed card")?;
    let block = session.submission(Instruction::SetBlock { card, blocked: true, change: 1 });
    session.expect(&block, blocked, "a block of a closed card")?;
    let empty = session.new_card()?;
    let close = session.submission(Instruction::CloseCard { card: empty });
    session.expect(&close, returned(0), "closing an empty card")?;
    hold!(session.transactions(empty, 0, 10)?.is_empty(), "closing an empty card has made a transaction");
    Ok(())
}

pub(super) fn returns_once(session: &mut Session<'_>) -> Checked {
    let card = session.card_with(1_000)?;
    let all = session.withdraw(card, None);
    let answers = session.submit(&[all.clone(), all.clone()])?;
    let same = [returned(1_000); 2];
    let texts: Vec<String> = answers.iter().map(|answer| shown(*answer)).collect();
    hold!(answers == same, "a withdrawal of all twice in a batch: {}", texts.join(", "));
    let top_up = session.top_up(card, 200);
    session.expect(&top_up, DONE, "a top-up after the withdrawal")?;
    session.expect(&all, returned(1_000), "the same withdrawal after a top-up")?;
    session.expect_balance(card, 200, "after the same withdrawal again")?;
    let verdicts = session.query(&[all.key])?;
    hold!(verdicts == [Some(Verdict::Returned(Kopecks::new(1_000)))], "the query has {verdicts:?}");
    Ok(())
}

pub(super) fn returns_from_blocked_cards(session: &mut Session<'_>) -> Checked {
    let card = session.card_with(900)?;
    let block = session.submission(Instruction::SetBlock { card, blocked: true, change: 1 });
    session.expect(&block, DONE, "a block")?;
    let withdraw = session.withdraw(card, Some(400));
    session.expect(&withdraw, returned(400), "a withdrawal from a blocked card")?;
    let (_, cards) = session.issue(vec![virtual_cards(1, 5_000)])?;
    let inactive = cards.first().ok_or_else(|| Broken("an order of one card has none".to_owned()))?.number;
    let withdraw = session.withdraw(inactive, Some(1_000));
    session.expect(&withdraw, returned(1_000), "a withdrawal from a card that is not active")?;
    if session.capabilities.has(Capability::Closings) {
        for (card, left) in [(card, 500), (inactive, 4_000)] {
            let close = session.submission(Instruction::CloseCard { card });
            session.expect(&close, returned(left), "closing a blocked or inactive card")?;
        }
    }
    Ok(())
}
