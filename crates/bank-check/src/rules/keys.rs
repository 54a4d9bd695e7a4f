//! Keys and verdicts: the three rules.

use kopeck_adapter_bank_http::BankProbe;
use kopeck_bank_protocol::{INSTRUCTIONS, InstructionDto, SubmitRequest};
use kopeck_port_bank::{BankKey, DeclineReason, Instruction, Submission, Verdict};

use crate::relay::Fault;
use crate::session::{Answer, Broken, Checked, DONE, Session, declined, hold, json, plastic, shown};

pub(super) fn does_not_know_other_keys(session: &mut Session<'_>) -> Checked {
    let keys = [session.key(), session.key()];
    for _ in 0..2 {
        let verdicts = session.query(&keys)?;
        hold!(verdicts == [None, None], "keys that were never sent: {verdicts:?}, expected NOT_SEEN");
    }
    Ok(())
}

pub(super) fn acts_once(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let once = session.top_up(card, 100);
    let answers = session.submit(&[once.clone(), once.clone()])?;
    hold!(answers == [DONE, DONE], "the same instruction twice in a batch: {}", list(&answers));
    session.expect_balance(card, 100, "after the same key twice in a batch")?;
    session.expect(&once, DONE, "the same key again")?;
    session.expect_balance(card, 100, "after the same key again")?;
    let verdicts = session.query(&[once.key.clone(), once.key])?;
    hold!(verdicts == [Some(Verdict::Done); 2], "the query has {verdicts:?}, expected DONE twice");
    let transactions = session.transactions(card, 0, 10)?;
    hold!(transactions.len() == 1, "the card has {} transactions, expected one", transactions.len());
    Ok(())
}

pub(super) fn acts_once_at_the_same_time(session: &mut Session<'_>) -> Checked {
    const ROUNDS: i64 = 5;
    const COPIES: usize = 4;
    let card = session.new_card()?;
    for round in 1..=ROUNDS {
        let once = session.top_up(card, 100);
        let request = SubmitRequest { instructions: vec![InstructionDto::from(&once)] };
        let body = json(&request)?;
        let address = &session.settings.address;
        let probes: Result<Vec<_>, _> = (0..COPIES).map(|_| BankProbe::new(address.clone())).collect();
        let probes = probes.map_err(|error| Broken(error.to_string()))?;
        let responses: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                probes.iter().map(|probe| scope.spawn(|| probe.post(INSTRUCTIONS, &body))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        for response in responses {
            let response = response.map_err(|error| error.to_string());
            // A copy that is refused for now is fine; what counts is the effect.
            session.record(INSTRUCTIONS, &[], Some(&body), &response).map_err(Broken)?;
        }
        session.expect(&once, DONE, "an instruction that was sent several times at once")?;
        session.expect_balance(
            card,
            round * 100,
            "after several copies of one instruction at the same time",
        )?;
    }
    Ok(())
}

pub(super) fn keeps_a_key_for_one_instruction(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let first = session.top_up(card, 100);
    session.expect(&first, DONE, "a top-up")?;
    let other = Submission { key: first.key.clone(), ..session.top_up(card, 200) };
    session.expect(&other, Answer::NotAccepted, "another amount under the same key")?;
    let block = Instruction::SetBlock { card, blocked: true, change: 1 };
    let other = Submission { key: first.key.clone(), instruction: block };
    session.expect(&other, Answer::NotAccepted, "another type under the same key")?;
    let verdicts = session.query(&[first.key])?;
    hold!(verdicts == [Some(Verdict::Done)], "the first verdict is {verdicts:?}, expected DONE");
    session.expect_balance(card, 100, "after another instruction under a used key")
}

pub(super) fn keeps_a_verdict(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let block = session.submission(Instruction::SetBlock { card, blocked: true, change: 1 });
    session.expect(&block, DONE, "a block")?;
    let top_up = session.top_up(card, 100);
    let refused = session.one(&top_up)?;
    hold!(
        matches!(refused, Answer::Verdict(Verdict::Declined(_))),
        "a top-up of a blocked card: {}, expected DECLINED",
        shown(refused)
    );
    let unblock = session.submission(Instruction::SetBlock { card, blocked: false, change: 2 });
    session.expect(&unblock, DONE, "lifting a block")?;
    session.expect(&top_up, refused, "the same key after the block was lifted")?;
    session.expect_balance(card, 0, "after a declined top-up was sent again")?;
    let verdicts = session.query(&[top_up.key])?;
    hold!(
        verdicts.first().copied().flatten().map(Answer::Verdict) == Some(refused),
        "the query has {verdicts:?}"
    );
    Ok(())
}

pub(super) fn takes_any_key(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let run = session.settings.run.simple();
    let visible: String = ('!'..='~').filter(|character| !character.is_ascii_alphanumeric()).collect();
    for end in ["..", "a?b=c&d#e%2F+f", "//", "100%", &visible, &"k".repeat(64)] {
        let text: String = format!("{run}/{end}").chars().take(BankKey::MAX_CHARS).collect();
        let key = BankKey::new(text).map_err(|_| Broken("no key".to_owned()))?;
        let order = Submission { key: key.clone(), instruction: Instruction::IssueCards(vec![plastic(1)]) };
        session.expect(&order, DONE, &format!("an order under the key {}", key.as_str()))?;
        let verdicts = session.query(std::slice::from_ref(&key))?;
        hold!(verdicts == [Some(Verdict::Done)], "the query of the key {} has {verdicts:?}", key.as_str());
        let cards = session.issued(&key, 0, 10)?;
        hold!(cards.len() == 1, "the order {} has {} cards, expected one", key.as_str(), cards.len());
        session.adopt(&cards);
    }
    session.expect_balance(card, 0, "of a card that no instruction names")
}

pub(super) fn survives_a_lost_response(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    for round in 1..=3 {
        let top_up = session.top_up(card, 100);
        session.send_through(Fault::LoseResponse, std::slice::from_ref(&top_up))?;
        let verdicts = session.query(std::slice::from_ref(&top_up.key))?;
        // A request may be on its way still; what Kopeck does next is the same.
        hold!(
            matches!(verdicts.first(), Some(None | Some(Verdict::Done | Verdict::Pending))),
            "the query after a lost response has {verdicts:?}, expected DONE"
        );
        session.expect(&top_up, DONE, "an instruction whose response was lost, sent again")?;
        session.expect_balance(card, round * 100, "after a lost response and the same key again")?;
    }
    Ok(())
}

pub(super) fn survives_a_broken_request(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let batch: Vec<Submission> = (0..20).map(|_| session.top_up(card, 100)).collect();
    session.send_through(Fault::BreakRequest, &batch)?;
    let keys: Vec<BankKey> = batch.iter().map(|submission| submission.key.clone()).collect();
    let verdicts = session.query(&keys)?;
    hold!(
        verdicts.iter().all(Option::is_none),
        "{} instructions of half a request are known, expected NOT_SEEN",
        verdicts.iter().flatten().count()
    );
    session.expect_balance(card, 0, "after half a request")?;
    let answers = session.submit(&batch)?;
    hold!(answers.iter().all(|answer| *answer == DONE), "the whole request afterwards: {}", list(&answers));
    session.expect_balance(card, 2_000, "after the whole request")
}

pub(super) fn answers_for_every_key(session: &mut Session<'_>) -> Checked {
    let card = session.new_card()?;
    let done = session.top_up(card, 100);
    session.expect(&done, DONE, "a top-up")?;
    let room = session.known_card(card)?.remaining_top_up.get();
    let refused = session.top_up(card, room + 1);
    session.expect(&refused, declined(DeclineReason::OverCardLimit), "a top-up over the room of the card")?;
    let never = session.key();
    let verdicts = session.query(&[refused.key.clone(), never, done.key, refused.key])?;
    let over = Some(Verdict::Declined(DeclineReason::OverCardLimit));
    hold!(verdicts == [over, None, Some(Verdict::Done), over], "the query has {verdicts:?}");
    Ok(())
}

fn list(answers: &[Answer]) -> String {
    answers.iter().map(|answer| shown(*answer)).collect::<Vec<_>>().join(", ")
}
