//! The gateway.

use std::iter;
use std::sync::Arc;

use kopeck_bank_protocol::{
    CARDS, CardAnswer, ErrorCode, INSTRUCTIONS, ISSUED_CARDS, InstructionDto, IssuedCardsAnswer,
    MOST_INSTRUCTIONS, MOST_ROWS, QUERY, QueryAnswer, QueryRequest, SubmitAnswer, SubmitRequest,
    TransactionsAnswer,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{BankCard, BankError, BankGateway, BankKey, IssuedCard, Submission, Verdict};
use kopeck_port_system::Clock;
use reqwest::Method;

use crate::address::{BankAddress, ConfigError};
use crate::batch;
use crate::failure::Failure;
use crate::guard::{Guard, HttpBankSettings};
use crate::transport::{Call, Transport};

/// So many instructions or keys go with one call: fewer than a bank takes, so that neither side is busy with one for long
/// while others wait for the processor.
const BATCH: usize = 200;
const _: () = assert!(BATCH <= MOST_INSTRUCTIONS);

/// A bank across the network.
pub struct HttpBank {
    guard: Guard,
    repeat_is_safe: bool,
}

impl HttpBank {
    /// The bank at `address`. `clock` says when a rest from it is over. Nothing is sent yet.
    ///
    /// # Errors
    /// [`ConfigError`] if no call can be made with these settings.
    pub fn new(
        address: BankAddress,
        settings: &HttpBankSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ConfigError> {
        let guard = Guard::new(Transport::new(address)?, &settings.guard, clock);
        Ok(Self { guard, repeat_is_safe: settings.repeat_is_safe })
    }

    fn submit_batch(&self, batch: &[Submission]) -> Result<Vec<Result<Verdict, BankError>>, Failure> {
        let request = SubmitRequest { instructions: batch.iter().map(InstructionDto::from).collect() };
        let call = Call::with_body(Method::POST, INSTRUCTIONS, &request)?;
        Ok(batch::answers(batch, self.guard.once::<SubmitAnswer>(&call)?.results))
    }

    fn query_batch(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        let request = QueryRequest { keys: keys.iter().map(|key| key.as_str().to_owned()).collect() };
        let call = Call::with_body(Method::POST, QUERY, &request)?;
        batch::verdicts(keys, self.guard.read::<QueryAnswer>(&call)?.results)
    }
}

impl BankGateway for HttpBank {
    fn repeat_is_safe(&self) -> bool {
        self.repeat_is_safe
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let mut answers = Vec::with_capacity(submissions.len());
        for batch in submissions.chunks(BATCH) {
            let failure = match self.submit_batch(batch) {
                Ok(said) => {
                    answers.extend(said);
                    continue;
                }
                Err(failure) => failure,
            };
            let is_trouble = failure.is_trouble();
            answers.extend(iter::repeat_n(Err(failure.into()), batch.len()));
            if is_trouble {
                // Each further call might take as long as this one to fail, and whoever waits has a lease to keep.
                let rest = submissions.len() - answers.len();
                let not_sent = BankError::Unavailable("the call before it failed".to_owned());
                answers.extend(iter::repeat_n(Err(not_sent), rest));
                break;
            }
        }
        answers
    }

    fn query(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        let mut verdicts = Vec::with_capacity(keys.len());
        for batch in keys.chunks(BATCH) {
            verdicts.extend(self.query_batch(batch)?);
        }
        Ok(verdicts)
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        in_pages(limit, |read: &[IssuedCard], limit| {
            // No order has as many cards as a `u32` counts.
            let skip = skip.saturating_add(u32::try_from(read.len()).unwrap_or(u32::MAX));
            let call = Call::get(ISSUED_CARDS)
                .query("order", key.as_str())
                .query("skip", skip)
                .query("limit", limit);
            let page: IssuedCardsAnswer = self.guard.read(&call)?;
            Ok(page.cards.into_iter().map(IssuedCard::from).collect())
        })
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        match self.guard.read::<CardAnswer>(&Call::get(format!("{CARDS}/{number}"))) {
            Ok(answer) if answer.card.number == number => Ok(Some(answer.card.into())),
            Ok(_) => Err(BankError::Unknown("the bank answered for another card".to_owned())),
            Err(failure) if is_unknown_card(&failure) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    fn transactions(
        &self,
        number: CardNumber,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Transaction>, BankError> {
        in_pages(limit, |read: &[Transaction], limit| {
            let after = read.last().map_or(after, |last| last.id);
            let call = Call::get(format!("{CARDS}/{number}/transactions"))
                .query("after", after)
                .query("limit", limit);
            let page = match self.guard.read::<TransactionsAnswer>(&call) {
                Ok(page) => page.transactions,
                Err(failure) if is_unknown_card(&failure) => Vec::new(),
                Err(failure) => return Err(failure.into()),
            };
            let ids = std::iter::once(after).chain(page.iter().map(|made| made.id));
            if ids.is_sorted_by(|one, next| one < next) {
                Ok(page.into_iter().map(Transaction::from).collect())
            } else {
                Err(BankError::Unknown("the bank's transactions do not ascend".to_owned()))
            }
        })
    }
}

/// A path that the bank's front does not know is a 404 too, and no word about a card.
fn is_unknown_card(failure: &Failure) -> bool {
    matches!(failure, Failure::Refused { status: 404, body: Some(body) } if body.code == ErrorCode::UnknownCard)
}

/// Reads up to `limit` rows page by page. `page` gets what was read so far and how many rows to read next; a page
/// with fewer is the last.
fn in_pages<T>(
    limit: u32,
    page: impl Fn(&[T], u32) -> Result<Vec<T>, BankError>,
) -> Result<Vec<T>, BankError> {
    let mut rows = Vec::new();
    let mut left = limit;
    while left > 0 {
        let asked = left.min(MOST_ROWS);
        let next = page(&rows, asked)?;
        let got = u32::try_from(next.len()).unwrap_or(u32::MAX);
        if got > asked {
            return Err(BankError::Unknown("the bank answered with more than was asked for".to_owned()));
        }
        rows.extend(next);
        left -= got;
        if got < asked {
            break;
        }
    }
    Ok(rows)
}
