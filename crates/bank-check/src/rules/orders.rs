//! Orders and their cards.

use std::collections::HashSet;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::{Instruction, OrderedCards, Submission, Verdict};

use crate::session::{Answer, Checked, DONE, Session, hold, plastic, shown, virtual_cards};

pub(super) fn issues_plastic_cards(session: &mut Session<'_>) -> Checked {
    let (_, cards) = session.issue(vec![plastic(2)])?;
    hold!(cards.len() == 2, "an order of two cards has {}", cards.len());
    for card in cards {
        let number = card.number;
        hold!(number.is_plastic(), "{number} is no EAN-13, the form of a plastic card's number");
        hold!(card.kind == CardType::Mp4, "card {number} is of the type {}, expected MP4", card.kind);
        hold!(card.first_top_up.is_none(), "plastic card {number} has a firstTopUp");
        hold!(card.activated_at.is_some(), "plastic card {number} is not active");
        let now = session.known_card(number)?;
        hold!(now.balance == Kopecks::ZERO, "plastic card {number} holds {}", now.balance);
        hold!(now.standing == Standing::Open, "the standing of card {number} is {}", now.standing);
        hold!(now.valid_until == card.valid_until, "card {number} has two values of validUntil");
        hold!(
            now.remaining_top_up == card.remaining_top_up && now.remaining_top_up.is_positive(),
            "card {number}: topUpRoom is {} in the order and {} now",
            card.remaining_top_up,
            now.remaining_top_up
        );
        hold!(session.transactions(number, 0, 10)?.is_empty(), "a new plastic card has transactions");
    }
    Ok(())
}

pub(super) fn issues_virtual_cards(session: &mut Session<'_>) -> Checked {
    let (_, cards) = session.issue(vec![virtual_cards(3, 5_000)])?;
    hold!(cards.len() == 3, "an order of three cards has {}", cards.len());
    let codes: HashSet<_> = cards.iter().filter_map(|card| card.activation_code.as_deref()).collect();
    hold!(
        codes.len() == 3 && !codes.contains(""),
        "three virtual cards have {} activation codes",
        codes.len()
    );
    for card in cards {
        let number = card.number;
        hold!(!number.is_plastic(), "{number} has not ten digits, the form of a virtual card's number");
        hold!(card.kind == CardType::Mlz, "card {number} is of the type {}, expected MLZ", card.kind);
        hold!(
            card.first_top_up == Some(Kopecks::new(5_000)),
            "card {number}: firstTopUp is {:?}, expected 5000",
            card.first_top_up.map(Kopecks::get)
        );
        hold!(card.activated_at.is_none(), "virtual card {number} is active before its code");
        hold!(card.code_valid_until.is_some(), "virtual card {number} has no codeValidUntil");
        session.expect_balance(number, 5_000, "of a new virtual card")?;
        let transactions = session.transactions(number, 0, 10)?;
        let seen: Vec<_> = transactions.iter().map(|made| (made.kind, made.amount.get())).collect();
        hold!(
            seen == [(TransactionType::Replenishment, 5_000)],
            "the transactions of a new virtual card are {seen:?}, expected a REPLENISHMENT of 5000"
        );
    }
    Ok(())
}

pub(super) fn pages_cards(session: &mut Session<'_>) -> Checked {
    let (order, all) = session.issue(vec![plastic(4), virtual_cards(3, 100)])?;
    let kinds: Vec<CardType> = all.iter().map(|card| card.kind).collect();
    let lines = [[CardType::Mp4; 4].as_slice(), &[CardType::Mlz; 3]].concat();
    hold!(kinds == lines, "cards are not sorted as the lines of the order");
    for limit in [1, 2, 3, 7, 8] {
        let mut joined = Vec::new();
        for skip in (0..7).step_by(limit as usize) {
            joined.extend(session.issued(&order, skip, limit)?);
        }
        hold!(joined == all, "pages of {limit} cards do not join to the list");
    }
    hold!(session.issued(&order, 7, 5)?.is_empty(), "there are cards after the last one");
    Ok(())
}

pub(super) fn issues_once(session: &mut Session<'_>) -> Checked {
    let lines = vec![plastic(1), virtual_cards(1, 100)];
    let (order, cards) = session.issue(lines.clone())?;
    let again = Submission { key: order.clone(), instruction: Instruction::IssueCards(lines) };
    session.expect(&again, DONE, "the same order again")?;
    hold!(session.issued(&order, 0, 10)? == cards, "the same order again has changed its cards");
    let more = Submission { key: order.clone(), instruction: Instruction::IssueCards(vec![plastic(5)]) };
    session.expect(&more, Answer::NotAccepted, "another order under the same key")?;
    hold!(session.issued(&order, 0, 10)? == cards, "another order under the same key has changed the cards");
    Ok(())
}

pub(super) fn has_no_cards_of_unknown_orders(session: &mut Session<'_>) -> Checked {
    let key = session.key();
    hold!(session.issued(&key, 0, 10)?.is_empty(), "an order that was never made has cards");
    let verdicts = session.query(&[key])?;
    hold!(verdicts == [None], "reading the cards of an order has made its key known");
    Ok(())
}

pub(super) fn decides_lines_together(session: &mut Session<'_>) -> Checked {
    let lines = vec![plastic(1), OrderedCards { count: u32::MAX, ..virtual_cards(1, 100) }];
    let order = session.submission(Instruction::IssueCards(lines));
    let answer = session.one(&order)?;
    hold!(
        matches!(answer, Answer::Verdict(Verdict::Declined(_)) | Answer::NotAccepted),
        "an order with a line of {} cards: {}, expected DECLINED",
        u32::MAX,
        shown(answer)
    );
    let cards = session.issued(&order.key, 0, 10)?;
    session.adopt(&cards);
    hold!(cards.is_empty(), "an order that was not carried out has {} cards", cards.len());
    Ok(())
}
