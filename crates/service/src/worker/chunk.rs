//! Telling the bank about a chunk of a request's cards, each under its own key.

use std::iter;

use kopeck_port_bank::{BankError, BankGateway, BankKey, Submission, Verdict};
use kopeck_port_store::Claim;

/// What the bank said of each card.
pub(super) type Findings<T> = Vec<(T, Result<Verdict, BankError>)>;

/// Sends what `submission` makes of every card, or finds out what became of it: where an earlier claim may have sent
/// something, the bank is asked first, and told only what it does not know.
pub(super) fn tell<T>(
    bank: &dyn BankGateway,
    claim: &Claim,
    cards: Vec<T>,
    submission: impl Fn(&T) -> Submission,
) -> Findings<T> {
    let submissions: Vec<Submission> = cards.iter().map(submission).collect();
    let known = match known_verdicts(bank, claim, &submissions) {
        Ok(known) => known,
        Err(error) => return cards.into_iter().map(|card| (card, Err(error.clone()))).collect(),
    };
    let may_send = !claim.may_have_sent || bank.repeat_is_safe();
    let mut findings = Vec::with_capacity(cards.len());
    let (mut unsent, mut unknown) = (Vec::new(), Vec::new());
    for ((card, submission), verdict) in cards.into_iter().zip(submissions).zip(known) {
        match verdict {
            Some(verdict) => findings.push((card, Ok(verdict))),
            None if may_send => {
                unknown.push(submission);
                unsent.push(card);
            }
            None => {
                let error = BankError::Unknown("sent before, and the bank does not know it".to_owned());
                findings.push((card, Err(error)));
            }
        }
    }
    let answers = if unknown.is_empty() { Vec::new() } else { bank.submit(&unknown) };
    // A gateway that answers for fewer than it was sent has said nothing of the rest.
    let silence = || Err(BankError::Unknown("the bank gave no answer".to_owned()));
    findings.extend(unsent.into_iter().zip(answers.into_iter().chain(iter::repeat_with(silence))));
    findings
}

/// What the bank knows of each submission already; nothing is asked if nothing can have been sent.
fn known_verdicts(
    bank: &dyn BankGateway,
    claim: &Claim,
    submissions: &[Submission],
) -> Result<Vec<Option<Verdict>>, BankError> {
    if !claim.may_have_sent {
        return Ok(vec![None; submissions.len()]);
    }
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
