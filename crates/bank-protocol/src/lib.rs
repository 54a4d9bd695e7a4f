//! The wire types of the calls to a bank: what `docs/BANK.md` says, as Rust types.
//!
//! Both ends use them: the gateway that calls a bank, and the simulator that answers in a bank's place. Each type
//! turns into the one of `kopeck_port_bank` that it stands for, and back; what the port cannot mean is refused on the
//! way in with [`Malformed`]. [`simulator`] holds the calls beyond the protocol by which a sandbox rules a simulator.
//!
//! Types that carry personal data, secrets or activation codes have no `Debug`.

mod answers;
mod cards;
mod day;
mod error;
mod instructions;
mod limit;
mod number;
pub mod simulator;

pub use answers::{InstructionAnswer, Outcome, QueryAnswer, QueryOutcome, QueryRequest, SubmitAnswer};
pub use cards::{CardAnswer, CardDto, IssuedCardDto, IssuedCardsAnswer, TransactionDto, TransactionsAnswer};
pub use error::{ErrorBody, ErrorCode, Malformed};
pub use instructions::{DeliveryDto, InstructionDto, LineDto, SubmitRequest, check_key};
pub use limit::{LimitDto, WindowDto};

/// Submits instructions: `POST`.
pub const INSTRUCTIONS: &str = "/bank/v1/instructions";
/// Asks what became of instructions: `POST`.
pub const QUERY: &str = "/bank/v1/instructions/query";
/// Cards issued under the key of an order: `GET`, with `order`, `skip` and `limit` in the query string.
pub const ISSUED_CARDS: &str = "/bank/v1/issued-cards";
/// A card: `GET`, with its number behind it; its transactions below that, with `after` and `limit` in the query string.
pub const CARDS: &str = "/bank/v1/cards";

/// The most instructions, or keys, of one call.
pub const MOST_INSTRUCTIONS: usize = 1_000;
/// The most cards, or transactions, of one page.
pub const MOST_ROWS: u32 = 1_000;
/// The most characters of a key.
pub const LONGEST_KEY: usize = 100;
