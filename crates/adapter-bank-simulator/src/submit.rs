//! Carries out a batch of instructions: decides one after the other in memory, then writes all effects together.

use std::collections::{HashMap, HashSet};

use diesel::SqliteConnection;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::limit::Limit;
use kopeck_port_bank::{
    BankCard, BankError, Capabilities, DeclineReason, Instruction, OrderedCards, Submission, Verdict,
};

use crate::blocks::{self, Block};
use crate::card_issuer::{self, CardIssuer};
use crate::cards;
use crate::clock_reading::{ClockReading, to_micros};
use crate::error::SimulatorError;
use crate::fingerprint;
use crate::instructions::{self, InstructionRecord, NewInstruction};
use crate::ledger::{self, NewTransaction};
use crate::limits;
use crate::returns;
use crate::top_up;

/// Carries out `submissions` and returns their verdicts in order. `again` decides whether a repeated instruction has a
/// second effect.
pub(crate) fn carry_out(
    connection: &mut SqliteConnection,
    issuer: &CardIssuer<'_>,
    capabilities: Capabilities,
    submissions: &[&Submission],
    again: &dyn Fn() -> bool,
) -> Result<Vec<Result<Verdict, BankError>>, SimulatorError> {
    let keys: Vec<&str> = submissions.iter().map(|submission| submission.key.as_str()).collect();
    let numbers: Vec<CardNumber> =
        submissions.iter().filter_map(|submission| named(&submission.instruction)).collect();
    let mut state = BatchState {
        moment: issuer.moment,
        capabilities,
        again,
        recorded: instructions::recorded(connection, &keys)?,
        cards: cards::cards(connection, &numbers)?,
        blocked: blocks::blocked(connection, &numbers)?,
        next_id: instructions::next_id(connection)?,
        writes: PendingWrites::default(),
    };
    let answers = submissions.iter().map(|submission| state.answer(submission)).collect();
    state.writes.write(connection, issuer)?;
    Ok(answers)
}

fn named(instruction: &Instruction) -> Option<CardNumber> {
    match instruction {
        Instruction::TopUp { card, .. }
        | Instruction::SetLimit { card, .. }
        | Instruction::SetBlock { card, .. }
        | Instruction::CloseCard { card }
        | Instruction::Withdraw { card, .. } => Some(*card),
        Instruction::IssueCards(_) => None,
    }
}

/// The state of the database before the batch, updated with each decision.
struct BatchState<'a> {
    moment: ClockReading,
    capabilities: Capabilities,
    again: &'a dyn Fn() -> bool,
    recorded: HashMap<&'a str, InstructionRecord>,
    cards: HashMap<CardNumber, BankCard>,
    /// Cards blocked by instruction.
    blocked: HashSet<CardNumber>,
    next_id: i64,
    writes: PendingWrites<'a>,
}

/// The effects of a batch.
#[derive(Default)]
struct PendingWrites<'a> {
    new: Vec<NewInstruction<'a>>,
    applied_again: Vec<i64>,
    orders: Vec<(i64, &'a [OrderedCards])>,
    transactions: Vec<NewTransaction<'static>>,
    closed: Vec<CardNumber>,
    limits: Vec<(CardNumber, &'a Limit)>,
    /// The latest change of each card.
    blocks: HashMap<CardNumber, Block>,
}

impl<'a> BatchState<'a> {
    fn answer(&mut self, submission: &'a Submission) -> Result<Verdict, BankError> {
        let (key, instruction) = (submission.key.as_str(), &submission.instruction);
        let fingerprint = fingerprint::of(instruction);
        match self.recorded.get(key).copied() {
            None => {
                let id = self.next_id;
                self.next_id += 1;
                let verdict = match self.capabilities.require_for(instruction) {
                    Ok(()) => self.apply(id, instruction),
                    Err(_) => Verdict::Declined(DeclineReason::Refused),
                };
                let recorded = InstructionRecord { id, fingerprint, verdict };
                self.writes.new.push(NewInstruction::new(key, instruction, recorded));
                self.recorded.insert(key, recorded);
                Ok(recorded.verdict)
            }
            Some(recorded) if recorded.fingerprint != fingerprint => {
                Err(BankError::Unavailable("the key names another instruction".to_owned()))
            }
            Some(recorded) => {
                let repeated = instructions::is_done(recorded.verdict)
                    && (self.again)()
                    && instructions::is_done(self.apply(recorded.id, instruction));
                if repeated {
                    self.writes.applied_again.push(recorded.id);
                }
                Ok(recorded.verdict)
            }
        }
    }

    /// Decides an instruction and adds its effect.
    fn apply(&mut self, id: i64, instruction: &'a Instruction) -> Verdict {
        match instruction {
            Instruction::IssueCards(lines) => match card_issuer::decide(lines) {
                Ok(()) => {
                    self.writes.orders.push((id, lines));
                    Verdict::Done
                }
                Err(reason) => Verdict::Declined(reason),
            },
            Instruction::TopUp { card, .. } if self.blocked.contains(card) => {
                Verdict::Declined(DeclineReason::BlockedByPartner)
            }
            Instruction::TopUp { card: number, amount } => {
                match top_up::decide(self.cards.get(number), *amount, self.moment.today) {
                    Ok(topped_up) => {
                        self.cards.insert(*number, topped_up);
                        let (card, at) = (cards::column(*number), to_micros(self.moment.now));
                        self.writes.transactions.push(NewTransaction::replenishment(
                            card,
                            amount.get(),
                            at,
                            id,
                        ));
                        Verdict::Done
                    }
                    Err(reason) => Verdict::Declined(reason),
                }
            }
            Instruction::SetLimit { card, limit } => {
                match limits::decide(self.cards.get(card), self.moment.today) {
                    Ok(()) => {
                        self.writes.limits.push((*card, limit));
                        Verdict::Done
                    }
                    Err(reason) => Verdict::Declined(reason),
                }
            }
            Instruction::SetBlock { card, blocked, change } => match blocks::decide(self.cards.get(card)) {
                Ok(()) => {
                    let block = Block { blocked: *blocked, change: *change };
                    let latest = self.writes.blocks.entry(*card).or_insert(block);
                    if latest.change < *change {
                        *latest = block;
                    }
                    Verdict::Done
                }
                Err(reason) => Verdict::Declined(reason),
            },
            Instruction::CloseCard { card } => {
                let decided = returns::close(self.cards.get(card));
                if decided.is_ok() {
                    self.writes.closed.push(*card);
                }
                self.take_back(id, *card, decided)
            }
            Instruction::Withdraw { card, amount } => {
                self.take_back(id, *card, returns::withdraw(self.cards.get(card), *amount))
            }
        }
    }

    /// Adds what a decision takes from a card.
    fn take_back(
        &mut self,
        id: i64,
        number: CardNumber,
        decided: Result<(BankCard, Kopecks), DeclineReason>,
    ) -> Verdict {
        let (card, returned) = match decided {
            Ok(decided) => decided,
            Err(reason) => return Verdict::Declined(reason),
        };
        self.cards.insert(number, card);
        if returned.is_positive() {
            let (card, at) = (cards::column(number), to_micros(self.moment.now));
            self.writes.transactions.push(NewTransaction::reversal(card, returned.get(), at, id));
        }
        Verdict::Returned(returned)
    }
}

impl PendingWrites<'_> {
    fn write(self, connection: &mut SqliteConnection, issuer: &CardIssuer<'_>) -> Result<(), SimulatorError> {
        instructions::insert(connection, &self.new)?;
        for id in self.applied_again {
            instructions::applied_again(connection, id)?;
        }
        for (order, lines) in self.orders {
            issuer.issue(connection, order, lines)?;
        }
        limits::set(connection, &self.limits)?;
        blocks::set(connection, &self.blocks)?;
        ledger::post(connection, &self.transactions, to_micros(issuer.moment.now))?;
        returns::set_closed(connection, &self.closed, issuer.moment)
    }
}
