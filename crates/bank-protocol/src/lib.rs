#![doc = include_str!("../README.md")]

mod capabilities;
mod cards;
mod convert;
mod day;
mod error;
mod feed;
mod instructions;
mod limit;
mod number;
mod registry;
mod responses;
pub mod simulator;

pub use capabilities::CapabilitiesResponse;
pub use cards::{
    CardDto, CardResponse, IssuedCardDto, IssuedCardsResponse, TransactionDto, TransactionsResponse,
};
pub use error::{ErrorBody, ErrorCode, ProtocolError};
pub use feed::{DeclinedDto, FeedChangeDto, FeedEntryDto, FeedResponse};
pub use instructions::{DeliveryDto, InstructionDto, LineDto, SubmitRequest, check_key};
pub use limit::{LimitDto, WindowDto};
pub use registry::{RegistryEntryDto, RegistryQuery, RegistryResponse};
pub use responses::{
    InstructionResult, QueryOutcome, QueryRequest, QueryResponse, SubmitOutcome, SubmitResponse,
};

/// What the bank can do: `GET`.
pub const CAPABILITIES: &str = "/bank/v1/capabilities";
/// Submits instructions: `POST`.
pub const INSTRUCTIONS: &str = "/bank/v1/instructions";
/// Reads the verdicts on instructions: `POST`.
pub const QUERY: &str = "/bank/v1/instructions/query";
/// Cards issued under the key of an order: `GET`, with `order`, `skip` and `limit` in the query string.
pub const ISSUED_CARDS: &str = "/bank/v1/issued-cards";
/// A card: `GET`, with its number behind it; its transactions below that, with `after` and `limit` in the query string.
pub const CARDS: &str = "/bank/v1/cards";
/// The feed: `GET`, with `after` and `limit` in the query string.
pub const FEED: &str = "/bank/v1/feed";
/// The registry of a period: `GET`, with [`RegistryQuery`] in the query string.
pub const REGISTRY: &str = "/bank/v1/registry";

/// The most instructions, or keys, of one request.
pub const MOST_INSTRUCTIONS: usize = 1_000;
/// The most cards, transactions or entries of one page.
pub const MOST_ROWS: u32 = 1_000;
