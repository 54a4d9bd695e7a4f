//! The gateway.

use std::iter;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use kopeck_bank_protocol::{
    CAPABILITIES, CARDS, CapabilitiesResponse, CardResponse, ErrorBody, ErrorCode, FEED, FeedResponse,
    INSTRUCTIONS, ISSUED_CARDS, InstructionDto, IssuedCardsResponse, MOST_INSTRUCTIONS, MOST_ROWS, QUERY,
    QueryRequest, QueryResponse, REGISTRY, RegistryResponse, SubmitRequest, SubmitResponse,
    TransactionsResponse,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{
    BankCard, BankError, BankGateway, BankKey, Capabilities, Capability, FeedEntry, FeedError, IssuedCard,
    RegistryEntry, RegistryError, RegistryPosition, Submission, Verdict,
};
use kopeck_port_system::Clock;
use reqwest::Method;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::address::{BankAddress, ConfigError};
use crate::batch;
use crate::broken_rule::broken_rule;
use crate::resilience::{HttpBankSettings, ResilientTransport};
use crate::transport::{BankRequest, Transport};
use crate::transport_error::TransportError;

/// Instructions or keys of one request: fewer than a bank accepts, so that large batches do not block a processor for
/// long.
const BATCH: usize = 200;
const _: () = assert!(BATCH <= MOST_INSTRUCTIONS);

/// A bank across the network.
pub struct HttpBank {
    transport: ResilientTransport,
    repeat_is_safe: bool,
    capabilities: RwLock<Capabilities>,
}

impl HttpBank {
    /// The bank at `address`. `clock` times the circuit breaker. Sends nothing yet.
    ///
    /// # Errors
    /// [`ConfigError`] for invalid settings.
    pub fn new(
        address: BankAddress,
        settings: &HttpBankSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ConfigError> {
        let transport = ResilientTransport::new(Transport::new(address)?, &settings.resilience, clock);
        let capabilities = RwLock::new(Capabilities::EVERYTHING);
        Ok(Self { transport, repeat_is_safe: settings.repeat_is_safe, capabilities })
    }

    /// The size of a batch.
    fn batch_size(&self) -> usize {
        usize::try_from(self.capabilities().largest_batch()).unwrap_or(BATCH).clamp(1, BATCH)
    }

    fn submit_batch(&self, batch: &[Submission]) -> Result<Vec<Result<Verdict, BankError>>, TransportError> {
        let request = SubmitRequest { instructions: batch.iter().map(InstructionDto::from).collect() };
        let call = BankRequest::with_body(Method::POST, INSTRUCTIONS, &request)?;
        Ok(batch::match_results(batch, self.transport.once::<SubmitResponse>(&call)?.results))
    }

    fn query_batch(&self, keys: &[BankKey]) -> Result<Vec<Option<Verdict>>, BankError> {
        let request = QueryRequest { keys: keys.iter().map(|key| key.as_str().to_owned()).collect() };
        let call = BankRequest::with_body(Method::POST, QUERY, &request)?;
        batch::verdicts(keys, self.transport.read::<QueryResponse>(&call)?.results)
    }
}

impl BankGateway for HttpBank {
    fn repeat_is_safe(&self) -> bool {
        self.repeat_is_safe && self.capabilities().has(Capability::RepeatSafe)
    }

    fn capabilities(&self) -> Capabilities {
        *self.capabilities.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn read_capabilities(&self) -> Result<Capabilities, BankError> {
        let capabilities = match self.transport.read::<CapabilitiesResponse>(&BankRequest::get(CAPABILITIES))
        {
            Ok(said) => said.into(),
            Err(TransportError::Rejected { status: 404, .. }) => Capabilities::EVERYTHING,
            Err(failure) => return Err(failure.into()),
        };
        *self.capabilities.write().unwrap_or_else(PoisonError::into_inner) = capabilities;
        Ok(capabilities)
    }

    fn submit(&self, submissions: &[Submission]) -> Vec<Result<Verdict, BankError>> {
        let mut answers = Vec::with_capacity(submissions.len());
        for batch in submissions.chunks(self.batch_size()) {
            let failure = match self.submit_batch(batch) {
                Ok(said) => {
                    answers.extend(said);
                    continue;
                }
                Err(failure) => failure,
            };
            let counts_as_failure = failure.counts_as_failure();
            answers.extend(iter::repeat_n(Err(failure.into()), batch.len()));
            if counts_as_failure {
                // Each further request might take as long to fail, and the caller has a lease to keep.
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
        for batch in keys.chunks(self.batch_size()) {
            verdicts.extend(self.query_batch(batch)?);
        }
        Ok(verdicts)
    }

    fn issued_cards(&self, key: &BankKey, skip: u32, limit: u32) -> Result<Vec<IssuedCard>, BankError> {
        in_pages(limit, |read: &[IssuedCard], limit| {
            // No order has as many cards as a `u32` counts.
            let skip = skip.saturating_add(u32::try_from(read.len()).unwrap_or(u32::MAX));
            let call = BankRequest::get(ISSUED_CARDS)
                .query("order", key.as_str())
                .query("skip", skip)
                .query("limit", limit);
            let page: IssuedCardsResponse = self.transport.read(&call)?;
            Ok(page.cards.into_iter().map(IssuedCard::from).collect())
        })
    }

    fn card(&self, number: CardNumber) -> Result<Option<BankCard>, BankError> {
        match self.transport.read::<CardResponse>(&BankRequest::get(format!("{CARDS}/{number}"))) {
            Ok(answer) if answer.card.number == number => Ok(Some(answer.card.into())),
            Ok(_) => Err(broken_rule(31, "card", "the bank answered for another card")),
            Err(failure) if is_unknown_card(&failure) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    fn feed(&self, after: i64, limit: u32) -> Result<Vec<FeedEntry>, FeedError> {
        if !self.capabilities().has(Capability::Feed) {
            return Err(FeedError::NotSupported);
        }
        let limit = limit.min(MOST_ROWS);
        let call = BankRequest::get(FEED).query("after", after).query("limit", limit);
        let page: FeedResponse = self.transport.read(&call).map_err(feed_error)?;
        let numbers = std::iter::once(after).chain(page.entries.iter().map(|entry| entry.seq));
        if page.entries.len() <= limit as usize && numbers.is_sorted_by(|one, next| one < next) {
            Ok(page.entries.into_iter().map(FeedEntry::from).collect())
        } else {
            Err(broken_rule(61, "feed", "the bank's feed is not in its order").into())
        }
    }

    fn registry(
        &self,
        period: &Range<OffsetDateTime>,
        after: Option<RegistryPosition>,
        limit: u32,
    ) -> Result<Vec<RegistryEntry>, RegistryError> {
        if !self.capabilities().has(Capability::Registry) {
            return Err(RegistryError::NotSupported);
        }
        let limit = limit.min(MOST_ROWS);
        let mut call = BankRequest::get(REGISTRY)
            .query("from", moment_text(period.start)?)
            .query("until", moment_text(period.end)?)
            .query("limit", limit);
        if let Some(RegistryPosition { card, id }) = after {
            call = call.query("afterCard", card).query("afterId", id);
        }
        let page: RegistryResponse = self.transport.read(&call).map_err(registry_error)?;
        let entries = page.entries.into_iter().map(RegistryEntry::try_from).collect::<Result<Vec<_>, _>>();
        let entries = entries.map_err(|error| BankError::Unknown(error.to_string()))?;
        let is_within = entries.iter().all(|entry| period.contains(&entry.transaction.executed_at));
        let positions = after.into_iter().chain(entries.iter().map(RegistryEntry::position));
        if entries.len() <= limit as usize && is_within && positions.is_sorted_by(|one, next| one < next) {
            Ok(entries)
        } else {
            Err(broken_rule(72, "registry", "the bank's registry is not that of the period in its order")
                .into())
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
            let call = BankRequest::get(format!("{CARDS}/{number}/transactions"))
                .query("after", after)
                .query("limit", limit);
            let page = match self.transport.read::<TransactionsResponse>(&call) {
                Ok(page) => page.transactions,
                Err(failure) if is_unknown_card(&failure) => Vec::new(),
                Err(failure) => return Err(failure.into()),
            };
            let ids = std::iter::once(after).chain(page.iter().map(|made| made.id));
            if ids.is_sorted_by(|one, next| one < next) {
                Ok(page.into_iter().map(Transaction::from).collect())
            } else {
                Err(broken_rule(34, "transactions", "the bank's transactions do not ascend"))
            }
        })
    }
}

fn feed_error(failure: TransportError) -> FeedError {
    match &failure {
        TransportError::Rejected { status: 404, .. } => FeedError::NotSupported,
        TransportError::Rejected { status: 410, body: Some(ErrorBody { oldest: Some(oldest), .. }) } => {
            FeedError::Forgotten { oldest: *oldest }
        }
        _ => FeedError::Bank(failure.into()),
    }
}

fn registry_error(failure: TransportError) -> RegistryError {
    match &failure {
        TransportError::Rejected { status: 404, .. } => RegistryError::NotSupported,
        _ => RegistryError::Bank(failure.into()),
    }
}

fn moment_text(moment: OffsetDateTime) -> Result<String, BankError> {
    let text = moment.to_offset(time::UtcOffset::UTC).format(&Rfc3339);
    text.map_err(|_| BankError::Unavailable("the period is out of range".to_owned()))
}

/// A 404 of an unknown path says nothing about a card.
fn is_unknown_card(failure: &TransportError) -> bool {
    matches!(failure, TransportError::Rejected { status: 404, body: Some(body) } if body.code == ErrorCode::UnknownCard)
}

/// Reads up to `limit` rows in pages. `page` gets the rows so far and the size of the next page; a shorter page is the
/// last.
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
            return Err(broken_rule(22, "page", "the bank answered with more than was asked for"));
        }
        rows.extend(next);
        left -= got;
        if got < asked {
            break;
        }
    }
    Ok(rows)
}
