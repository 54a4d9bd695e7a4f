//! The bad way to the bank.

use std::ops::Range;

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, FeedEntry, FeedError, IssuedCard, RegistryEntry,
    RegistryError, RegistryPosition, Submission, Verdict,
};
use time::OffsetDateTime;

use super::{Bank, Ledger};
use crate::store::lock;

/// What becomes of something that is sent.
#[derive(Clone, Copy)]
enum Fate {
    /// It does not arrive, and we know.
    NotSent,
    /// It does not arrive, and we do not know.
    Lost,
    /// It arrives later, and we do not know.
    Late,
    /// It is carried out, and we do not know.
    AnswerLost,
}

impl Bank {
    /// What goes wrong with something that is sent, if anything.
    fn fate(&self, state: &Ledger) -> Option<Fate> {
        if state.is_down {
            return Some(Fate::NotSent);
        }
        if !state.is_ill || !self.dice.chance(self.manners.goes_wrong) {
            return None;
        }
        self.dice.weighted(&[(2, Fate::NotSent), (1, Fate::Lost), (2, Fate::Late), (3, Fate::AnswerLost)])
    }

    /// Whether a question is answered.
    fn answers(&self, state: &Ledger) -> Result<(), BankError> {
        match self.fate(state) {
            None => Ok(()),
            Some(Fate::NotSent) => Err(not_sent()),
            Some(Fate::Lost | Fate::Late | Fate::AnswerLost) => Err(no_answer()),
        }
    }

    fn send(&self, state: &mut Ledger, submission: &Submission) -> Result<Verdict, BankError> {
        let fate = self.fate(state);
        let note = |what: &'static str| {
            self.trace.note("bank", || format!("{} {what}", submission.key.as_str()));
        };
        match fate {
            None => Ok(self.carry_out(state, submission)),
            Some(Fate::NotSent) => {
                note("is not sent");
                Err(not_sent())
            }
            Some(Fate::Lost) => {
                note("is lost");
                Err(no_answer())
            }
            Some(Fate::Late) => {
                note("is on the way");
                state.on_the_way.push(submission.clone());
                Err(no_answer())
            }
            Some(Fate::AnswerLost) => {
                self.carry_out(state, submission);
                note("was carried out, its answer is lost");
                Err(no_answer())
            }
        }
    }
}

fn not_sent() -> BankError {
    BankError::Unavailable("as the simulation has it".to_owned())
}

fn no_answer() -> BankError {
    BankError::Unknown("as the simulation has it".to_owned())
}

impl BankGateway for Bank {
    fn repeat_is_safe(&self) -> bool {
        self.manners.repeat_is_safe
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let mut state = lock(&self.state);
        submissions.iter().map(|submission| self.send(&mut state, submission)).collect()
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        let state = lock(&self.state);
        self.answers(&state)?;
        Ok(keys.iter().map(|key| state.verdicts.get(key).copied()).collect())
    }

    /// Now and then the cards of an order that is done are not all made yet.
    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        let state = lock(&self.state);
        self.answers(&state)?;
        let made = state.issued.get(key).map_or(0, Vec::len);
        let ready =
            if state.is_ill && self.dice.chance(200) { self.dice.below(made as u64) } else { made as u64 };
        let cards = state.issued.get(key).into_iter().flatten().take(usize::try_from(ready).unwrap_or(0));
        let (skip, limit) = (usize::try_from(skip).unwrap_or(0), usize::try_from(limit).unwrap_or(0));
        Ok(cards.skip(skip).take(limit).cloned().collect())
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        let state = lock(&self.state);
        self.answers(&state)?;
        Ok(state.cards.get(&number).map(super::CardAtBank::shown))
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        let state = lock(&self.state);
        self.answers(&state)?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let made = state.feed.transactions(number).iter().filter(|made| made.id > after);
        Ok(made.take(limit).cloned().collect())
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        let state = lock(&self.state);
        self.answers(&state)?;
        state.feed.read(after, limit)
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        let state = lock(&self.state);
        self.answers(&state)?;
        Ok(state.feed.registry(period, after, limit))
    }
}
