//! Carrying out instructions: decided one after the other in memory, written all together.

use std::collections::HashMap;

use diesel::SqliteConnection;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_port_bank::{BankCard, BankError, Instruction, OrderedCards, Submission, Verdict};

use crate::cards;
use crate::error::SimulatorError;
use crate::fingerprint;
use crate::instructions::{self, NewInstruction, Recorded};
use crate::issue::{self, Press};
use crate::ledger::{self, NewTransaction};
use crate::limits;
use crate::moments::{Moment, to_micros};
use crate::top_up;

/// Answers each of `submissions` in their order and has their effects. `again` tells, each time it is asked,
/// whether an instruction that was done is done once more.
pub(crate) fn carry_out(
    connection: &mut SqliteConnection,
    press: &Press<'_>,
    submissions: &[&Submission],
    again: &dyn Fn() -> bool,
) -> Result<Vec<Result<Verdict, BankError>>, SimulatorError> {
    let keys: Vec<&str> = submissions.iter().map(|submission| submission.key.as_str()).collect();
    let numbers: Vec<CardNumber> =
        submissions.iter().filter_map(|submission| named(&submission.instruction)).collect();
    let mut desk = Desk {
        moment: press.moment,
        again,
        recorded: instructions::recorded(connection, &keys)?,
        cards: cards::cards(connection, &numbers)?,
        next_id: instructions::next_id(connection)?,
        plan: Plan::default(),
    };
    let answers = submissions.iter().map(|submission| desk.answer(submission)).collect();
    desk.plan.write(connection, press)?;
    Ok(answers)
}

/// The card that an instruction is about.
fn named(instruction: &Instruction) -> Option<CardNumber> {
    match instruction {
        Instruction::TopUp { card, .. } | Instruction::SetLimit { card, .. } => Some(*card),
        Instruction::IssueCards(_) => None,
    }
}

/// What the books say before a batch, kept up to date while its instructions are decided.
struct Desk<'a> {
    moment: Moment,
    again: &'a dyn Fn() -> bool,
    recorded: HashMap<&'a str, Recorded>,
    cards: HashMap<CardNumber, BankCard>,
    next_id: i64,
    plan: Plan<'a>,
}

/// What a batch changes.
#[derive(Default)]
struct Plan<'a> {
    new: Vec<NewInstruction<'a>>,
    applied_again: Vec<i64>,
    orders: Vec<(i64, &'a [OrderedCards])>,
    top_ups: Vec<NewTransaction<'static>>,
    limits: Vec<(CardNumber, &'a Limit)>,
}

impl<'a> Desk<'a> {
    fn answer(&mut self, submission: &'a Submission) -> Result<Verdict, BankError> {
        let (key, instruction) = (submission.key.as_str(), &submission.instruction);
        let fingerprint = fingerprint::of(instruction);
        match self.recorded.get(key).copied() {
            None => {
                let id = self.next_id;
                self.next_id += 1;
                let recorded = Recorded { id, fingerprint, verdict: self.apply(id, instruction) };
                self.plan.new.push(NewInstruction::new(key, instruction, recorded));
                self.recorded.insert(key, recorded);
                Ok(recorded.verdict)
            }
            Some(recorded) if recorded.fingerprint != fingerprint => {
                Err(BankError::Unavailable("the key names another instruction".to_owned()))
            }
            Some(recorded) => {
                let repeated = recorded.verdict == Verdict::Done
                    && (self.again)()
                    && self.apply(recorded.id, instruction) == Verdict::Done;
                if repeated {
                    self.plan.applied_again.push(recorded.id);
                }
                Ok(recorded.verdict)
            }
        }
    }

    /// Decides an instruction and plans its effect.
    fn apply(&mut self, id: i64, instruction: &'a Instruction) -> Verdict {
        match instruction {
            Instruction::IssueCards(lines) => match issue::decide(lines) {
                Ok(()) => {
                    self.plan.orders.push((id, lines));
                    Verdict::Done
                }
                Err(reason) => Verdict::Declined(reason),
            },
            Instruction::TopUp { card: number, amount } => {
                match top_up::decide(self.cards.get(number), *amount, self.moment.today) {
                    Ok(topped_up) => {
                        self.cards.insert(*number, topped_up);
                        let (card, at) = (cards::column(*number), to_micros(self.moment.now));
                        self.plan.top_ups.push(NewTransaction::replenishment(card, amount.get(), at, id));
                        Verdict::Done
                    }
                    Err(reason) => Verdict::Declined(reason),
                }
            }
            Instruction::SetLimit { card, limit } => {
                match limits::decide(self.cards.get(card), self.moment.today) {
                    Ok(()) => {
                        self.plan.limits.push((*card, limit));
                        Verdict::Done
                    }
                    Err(reason) => Verdict::Declined(reason),
                }
            }
        }
    }
}

impl Plan<'_> {
    fn write(self, connection: &mut SqliteConnection, press: &Press<'_>) -> Result<(), SimulatorError> {
        instructions::insert(connection, &self.new)?;
        for id in self.applied_again {
            instructions::applied_again(connection, id)?;
        }
        for (order, lines) in self.orders {
            press.issue(connection, order, lines)?;
        }
        limits::set(connection, &self.limits)?;
        ledger::post(connection, &self.top_ups)
    }
}
