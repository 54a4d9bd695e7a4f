//! The calls of the protocol.

use kopeck_bank_protocol::{
    CardAnswer, CardDto, InstructionAnswer, IssuedCardDto, IssuedCardsAnswer, MOST_INSTRUCTIONS, MOST_ROWS,
    Outcome, QueryAnswer, QueryOutcome, QueryRequest, SubmitAnswer, SubmitRequest, TransactionDto,
    TransactionsAnswer, check_key,
};
use kopeck_port_bank::{BankError, BankGateway as _, BankKey, Submission, Verdict};
use serde::Deserialize;

use super::Desk;
use super::call::{Answer, Call, Refusal};

pub(super) fn submit(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let request: SubmitRequest = call.body()?;
    fits(request.instructions.len())?;
    let submissions =
        request.instructions.into_iter().map(Submission::try_from).collect::<Result<Vec<_>, _>>()?;
    let answers = desk.bank.submit(&submissions);
    let result = |(submission, answer): (&Submission, Result<Verdict, BankError>)| InstructionAnswer {
        key: submission.key.as_str().to_owned(),
        outcome: outcome(answer),
    };
    Answer::new(&SubmitAnswer { results: submissions.iter().zip(answers).map(result).collect() })
}

fn outcome(answer: Result<Verdict, BankError>) -> Outcome {
    match answer {
        Ok(verdict) => verdict.into(),
        Err(BankError::Unavailable(reason)) => {
            log::warn!(reason = reason.as_str(); "an instruction was not accepted");
            Outcome::NotAccepted
        }
        Err(BankError::Unknown(reason)) => {
            log::warn!(reason = reason.as_str(); "an instruction has no verdict");
            Outcome::Pending
        }
    }
}

pub(super) fn query(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let QueryRequest { keys } = call.body()?;
    fits(keys.len())?;
    let keys = keys.iter().map(|key| check_key(key)).collect::<Result<Vec<_>, _>>()?;
    let verdicts = desk.bank.query(&keys)?;
    let result = |(key, verdict): (&BankKey, Option<Verdict>)| InstructionAnswer {
        key: key.as_str().to_owned(),
        outcome: QueryOutcome::from(verdict),
    };
    Answer::new(&QueryAnswer { results: keys.iter().zip(verdicts).map(result).collect() })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OrderPage {
    order: String,
    #[serde(default)]
    skip: u32,
    #[serde(default = "most_rows")]
    limit: u32,
}

pub(super) fn issued_cards(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let OrderPage { order, skip, limit } = call.query()?;
    let cards = desk.bank.issued_cards(&check_key(&order)?, skip, rows(limit)?)?;
    Answer::new(&IssuedCardsAnswer { cards: cards.into_iter().map(IssuedCardDto::from).collect() })
}

pub(super) fn card(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let number = call.number()?;
    let card = desk.bank.card(number)?.ok_or_else(Refusal::unknown_card)?;
    Answer::new(&CardAnswer { card: CardDto::new(number, card) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TransactionPage {
    #[serde(default)]
    after: i64,
    #[serde(default = "most_rows")]
    limit: u32,
}

pub(super) fn transactions(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let TransactionPage { after, limit } = call.query()?;
    let transactions = desk.bank.transactions(call.number()?, after, rows(limit)?)?;
    let transactions = transactions.into_iter().map(TransactionDto::from).collect();
    Answer::new(&TransactionsAnswer { transactions })
}

fn most_rows() -> u32 {
    MOST_ROWS
}

fn rows(limit: u32) -> Result<u32, Refusal> {
    if (1..=MOST_ROWS).contains(&limit) {
        Ok(limit)
    } else {
        Err(Refusal::invalid(format!("limit: must lie between 1 and {MOST_ROWS}")))
    }
}

fn fits(count: usize) -> Result<(), Refusal> {
    if (1..=MOST_INSTRUCTIONS).contains(&count) {
        Ok(())
    } else {
        Err(Refusal::invalid(format!("a call has 1 to {MOST_INSTRUCTIONS} instructions or keys")))
    }
}
