//! The handlers of the protocol.

use kopeck_bank_protocol::{
    CapabilitiesResponse, CardDto, CardResponse, FeedEntryDto, FeedResponse, InstructionResult,
    IssuedCardDto, IssuedCardsResponse, MOST_ROWS, QueryOutcome, QueryRequest, QueryResponse,
    RegistryEntryDto, RegistryQuery, RegistryResponse, SubmitOutcome, SubmitRequest, SubmitResponse,
    TransactionDto, TransactionsResponse, check_key,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankError, BankGateway as _, BankKey, RegistryPosition, Submission, Verdict};
use serde::Deserialize;

use super::Context;
use super::request::{BankRequest, ErrorResponse, JsonResponse};

pub(super) fn capabilities(context: &Context, _: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    JsonResponse::new(&CapabilitiesResponse::from(context.bank.capabilities()))
}

pub(super) fn submit(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let request: SubmitRequest = call.body()?;
    fits(context, request.instructions.len())?;
    let submissions =
        request.instructions.into_iter().map(Submission::try_from).collect::<Result<Vec<_>, _>>()?;
    let answers = context.bank.submit(&submissions);
    let result = |(submission, answer): (&Submission, Result<Verdict, BankError>)| InstructionResult {
        key: submission.key.as_str().to_owned(),
        outcome: outcome(answer),
    };
    JsonResponse::new(&SubmitResponse { results: submissions.iter().zip(answers).map(result).collect() })
}

fn outcome(answer: Result<Verdict, BankError>) -> SubmitOutcome {
    match answer {
        Ok(verdict) => verdict.into(),
        Err(BankError::Unavailable(reason)) => {
            log::warn!(reason = reason.as_str(); "an instruction was not accepted");
            SubmitOutcome::NotAccepted
        }
        Err(BankError::Unknown(reason)) => {
            log::warn!(reason = reason.as_str(); "an instruction has no verdict");
            SubmitOutcome::Pending
        }
    }
}

pub(super) fn query(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let QueryRequest { keys } = call.body()?;
    fits(context, keys.len())?;
    let keys = keys.iter().map(|key| check_key(key)).collect::<Result<Vec<_>, _>>()?;
    let verdicts = context.bank.query(&keys)?;
    let result = |(key, verdict): (&BankKey, Option<Verdict>)| InstructionResult {
        key: key.as_str().to_owned(),
        outcome: QueryOutcome::from(verdict),
    };
    JsonResponse::new(&QueryResponse { results: keys.iter().zip(verdicts).map(result).collect() })
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

pub(super) fn issued_cards(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let OrderPage { order, skip, limit } = call.query()?;
    let cards = context.bank.issued_cards(&check_key(&order)?, skip, rows(limit)?)?;
    JsonResponse::new(&IssuedCardsResponse { cards: cards.into_iter().map(IssuedCardDto::from).collect() })
}

pub(super) fn card(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let number = call.number()?;
    let card = context.bank.card(number)?.ok_or_else(ErrorResponse::unknown_card)?;
    JsonResponse::new(&CardResponse { card: CardDto::new(number, card) })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PageAfter {
    #[serde(default)]
    after: i64,
    #[serde(default = "most_rows")]
    limit: u32,
}

pub(super) fn transactions(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let PageAfter { after, limit } = call.query()?;
    let transactions = context.bank.transactions(call.number()?, after, rows(limit)?)?;
    let transactions = transactions.into_iter().map(TransactionDto::from).collect();
    JsonResponse::new(&TransactionsResponse { transactions })
}

pub(super) fn feed(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let PageAfter { after, limit } = call.query()?;
    let entries = context.bank.feed(after, rows(limit)?)?;
    JsonResponse::new(&FeedResponse { entries: entries.into_iter().map(FeedEntryDto::from).collect() })
}

pub(super) fn registry(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let RegistryQuery { from, until, after_card, after_id, limit } = call.query()?;
    let card = after_card.map(|text| CardNumber::parse(&text)).transpose();
    let card = card.map_err(|invalid| ErrorResponse::invalid(format!("afterCard: {}", invalid.detail())))?;
    let after = card.map(|card| RegistryPosition { card, id: after_id });
    let entries = context.bank.registry(&(from..until), after, rows(limit)?)?;
    JsonResponse::new(&RegistryResponse {
        entries: entries.into_iter().map(RegistryEntryDto::from).collect(),
    })
}

fn most_rows() -> u32 {
    MOST_ROWS
}

fn rows(limit: u32) -> Result<u32, ErrorResponse> {
    if (1..=MOST_ROWS).contains(&limit) {
        Ok(limit)
    } else {
        Err(ErrorResponse::invalid(format!("limit: must lie between 1 and {MOST_ROWS}")))
    }
}

fn fits(context: &Context, count: usize) -> Result<(), ErrorResponse> {
    let most = context.bank.capabilities().largest_batch();
    if (1..=most as usize).contains(&count) {
        Ok(())
    } else {
        Err(ErrorResponse::invalid(format!("a request has 1 to {most} instructions or keys")))
    }
}
