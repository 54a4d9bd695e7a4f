//! Telling the bank about a chunk of a request's cards, each under its own key.
//!
//! Where the bank does twice what it is sent twice, each card is marked as sent before it is, for ever: after that the
//! bank is only asked for it, and a card that it does not know then is left for a person.

use std::iter;

use kopeck_port_bank::{BankError, BankGateway, BankKey, Submission, Verdict};
use kopeck_port_store::{Claim, StoreError};

use super::{Next, Tactics};

/// How the bank is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approach {
    /// Nothing can have been sent: all is.
    Send,
    /// As `Send`, by cards that are marked as sent.
    SendOnce,
    /// Some may have been sent: the bank is asked first, and told only what it does not know.
    AskThenSend,
    /// All may have been sent and must not be sent again: the bank is only asked.
    Ask,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoVerdict {
    /// It reached nobody.
    #[error("not sent: {0}")]
    NotSent(String),
    /// It may have reached the bank.
    #[error("no word: {0}")]
    NoWord(String),
    /// It was sent before, must not be sent again, and the bank does not know it.
    #[error("sent before, and the bank does not know it")]
    NotKnown,
}

/// Cards of a request that the bank has to be told of next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk<T> {
    pub(super) approach: Approach,
    pub(super) cards: Vec<T>,
}

impl<T> Chunk<T> {
    /// How many cards it has.
    pub(super) fn len(&self) -> u32 {
        u32::try_from(self.cards.len()).unwrap_or(u32::MAX)
    }

    /// Whether the cards are marked as sent before they are.
    pub(super) fn is_marked(&self) -> bool {
        self.approach == Approach::SendOnce
    }

    /// Notes that marked cards were not sent after all.
    pub(super) fn take_back(&self, request: &mut impl OpenCards<Card = T>) -> Result<(), StoreError> {
        mark_unsent(request, self.cards.iter())
    }
}

/// What the bank said of each card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Findings<T> {
    pub(super) approach: Approach,
    pub(super) cards: Vec<(T, Result<Verdict, NoVerdict>)>,
}

/// The undecided cards of one request.
pub(super) trait OpenCards {
    type Card;

    fn ordinal(card: &Self::Card) -> u32;
    fn open(&mut self, limit: u32) -> Result<Vec<Self::Card>, StoreError>;
    fn unsent(&mut self, limit: u32) -> Result<Vec<Self::Card>, StoreError>;
    fn mark_sent(&mut self, ordinals: &[u32], sent: bool) -> Result<(), StoreError>;
}

/// The next of the request's cards: a chunk of them if they are to be sent, all that are left if they are not.
pub(super) fn gather<C: OpenCards>(
    request: &mut C,
    claim: &Claim,
    tactics: Tactics,
) -> Result<Chunk<C::Card>, StoreError> {
    if tactics.repeat_is_safe {
        let approach = if claim.may_have_sent { Approach::AskThenSend } else { Approach::Send };
        return Ok(Chunk { approach, cards: request.open(tactics.chunk)? });
    }
    let fresh = request.unsent(tactics.chunk)?;
    if fresh.is_empty() {
        return Ok(Chunk { approach: Approach::Ask, cards: request.open(u32::MAX)? });
    }
    let ordinals: Vec<u32> = fresh.iter().map(C::ordinal).collect();
    request.mark_sent(&ordinals, true)?;
    Ok(Chunk { approach: Approach::SendOnce, cards: fresh })
}

/// Tells the bank what `submission` makes of every card, or finds out what became of it.
pub(super) fn tell<T>(
    bank: &dyn BankGateway,
    chunk: Chunk<T>,
    submission: impl Fn(&T) -> Submission,
) -> Findings<T> {
    let Chunk { approach, cards } = chunk;
    let submissions: Vec<Submission> = cards.iter().map(submission).collect();
    let known = match approach {
        Approach::Send | Approach::SendOnce => Ok(vec![None; submissions.len()]),
        Approach::AskThenSend | Approach::Ask => verdicts(bank, &submissions),
    };
    let cards = match known {
        Ok(known) => send_unknown(bank, approach, cards.into_iter().zip(submissions).zip(known)),
        Err(error) => {
            let no_word = NoVerdict::NoWord(error.to_string());
            cards.into_iter().map(|card| (card, Err(no_word.clone()))).collect()
        }
    };
    Findings { approach, cards }
}

/// How the work goes on if some cards have no verdict; `None` if all have. Verdicts are stored already.
pub(super) fn next_without_verdict<C: OpenCards>(
    request: &mut C,
    findings: &Findings<C::Card>,
) -> Result<Option<Next>, StoreError> {
    let missing =
        || findings.cards.iter().filter_map(|(card, finding)| Some((card, finding.as_ref().err()?)));
    let Some((_, reason)) = missing().next() else { return Ok(None) };
    log::warn!(reason:% = reason; "cards wait for the bank");
    if findings.approach == Approach::SendOnce {
        let not_sent = missing().filter(|(_, reason)| matches!(reason, NoVerdict::NotSent(_)));
        mark_unsent(request, not_sent.map(|(card, _)| card))?;
        // Cards that the bank is silent about do not hold up the others.
        if findings.cards.iter().any(|(_, finding)| finding.is_ok()) {
            return Ok(Some(Next::GoOn));
        }
    }
    let stuck = missing().all(|(_, reason)| *reason == NoVerdict::NotKnown);
    Ok(Some(if stuck { Next::LeaveToPerson } else { Next::Later { may_have_sent: true } }))
}

/// Whether cards of the request, which has so many, lie behind those that were sent. They are looked for next, and it
/// does no harm if they turn out to be decided; to count all cards after each chunk would cost a large request the
/// square of its size.
pub(super) fn is_followed<C: OpenCards>(findings: &Findings<C::Card>, cards: u32) -> bool {
    let last = findings.cards.iter().map(|(card, _)| C::ordinal(card)).max();
    findings.approach != Approach::Ask && last.is_some_and(|last| last.saturating_add(1) < cards)
}

fn mark_unsent<'a, C: OpenCards>(
    request: &mut C,
    cards: impl Iterator<Item = &'a C::Card>,
) -> Result<(), StoreError>
where
    C::Card: 'a,
{
    let ordinals: Vec<u32> = cards.map(C::ordinal).collect();
    if ordinals.is_empty() { Ok(()) } else { request.mark_sent(&ordinals, false) }
}

fn send_unknown<T>(
    bank: &dyn BankGateway,
    approach: Approach,
    cards: impl Iterator<Item = ((T, Submission), Option<Verdict>)>,
) -> Vec<(T, Result<Verdict, NoVerdict>)> {
    let (mut findings, mut unsent, mut submissions) = (Vec::new(), Vec::new(), Vec::new());
    for ((card, submission), verdict) in cards {
        match verdict {
            Some(verdict) => findings.push((card, Ok(verdict))),
            None if approach == Approach::Ask => findings.push((card, Err(NoVerdict::NotKnown))),
            None => {
                unsent.push(card);
                submissions.push(submission);
            }
        }
    }
    let answers = if submissions.is_empty() { Vec::new() } else { bank.submit(&submissions) };
    let answers = answers.into_iter().map(|answer| {
        answer.map_err(|error| match error {
            BankError::Unavailable(_) => NoVerdict::NotSent(error.to_string()),
            BankError::Unknown(_) => NoVerdict::NoWord(error.to_string()),
        })
    });
    // A gateway that answers for fewer than it was sent has said nothing of the rest.
    let silence = || Err(NoVerdict::NoWord("the bank gave no answer".to_owned()));
    findings.extend(unsent.into_iter().zip(answers.chain(iter::repeat_with(silence))));
    findings
}

/// What the bank knows of each submission.
fn verdicts(bank: &dyn BankGateway, submissions: &[Submission]) -> Result<Vec<Option<Verdict>>, BankError> {
    let keys: Vec<BankKey> = submissions.iter().map(|submission| submission.key.clone()).collect();
    let verdicts = bank.query(&keys)?;
    if verdicts.len() == keys.len() {
        Ok(verdicts)
    } else {
        Err(BankError::Unknown("the bank did not answer for every key".to_owned()))
    }
}

#[cfg(test)]
mod tests;
