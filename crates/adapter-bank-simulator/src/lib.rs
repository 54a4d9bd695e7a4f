//! A bank to build and test against, with books of its own in its own SQLite file.
//!
//! [`Simulator`] implements `kopeck_port_bank::BankGateway` in process; with the feature `server`, `server` puts it
//! behind HTTP. Its rules:
//!
//! - A virtual card holds the money of its order from the start and has to be activated by its code, good for
//!   [`CODE_DAYS`] days; a plastic card starts empty and active.
//! - A card can hold [`CARD_LIMIT`]; what is missing to it is what it can be topped up by. It is valid for three
//!   years, to the end of the month.
//! - A top-up whose kopecks end in 13 is refused, and so is an order to an address that contains `DECLINE`: both
//!   are there to be tried out.
//! - The limit of a card is set unless the card is closed, expired or not the bank's. Purchases obey it by
//!   `kopeck_domain::limit::decide`: what counts as spent are the payments less the refunds of the period that the
//!   purchase falls in, in the bank's zone.
//! - An instruction's verdict is stored under its key in the transaction that has its effect. The same key again is
//!   answered with that verdict.
//!
//! Beyond the port it has the powers of a sandbox: purchases and refunds, activating, blocking and expiring cards,
//! and a [`Behaviour`] that makes it slow, failing, silent or forgetful. [`Simulator::books`] and
//! [`Simulator::check`] tell whether the money is right afterwards.
//!
//! ```
//! use std::sync::Arc;
//!
//! use kopeck_adapter_bank_simulator::Simulator;
//! use kopeck_domain::{Kopecks, calendar::Zone, card::CardType};
//! use kopeck_port_bank::{BankGateway, BankKey, Instruction, OrderedCards, Submission, Verdict};
//! use kopeck_port_system::fake::{FakeClock, SeededEntropy};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let clock = Arc::new(FakeClock::starting_at(time::OffsetDateTime::UNIX_EPOCH));
//! let entropy = Arc::new(SeededEntropy::new(1));
//! let bank = Simulator::open(&folder.path().join("bank.db"), clock, entropy, Zone::parse("+03:00")?)?;
//!
//! let card = OrderedCards { kind: CardType::Mp4, count: 1, first_top_up: None, delivery: None };
//! let order = Submission { key: BankKey::new("order-1"), instruction: Instruction::IssueCards(vec![card]) };
//! assert_eq!(bank.submit(&[order]), [Ok(Verdict::Done)]);
//!
//! let number = bank.issued_cards(&BankKey::new("order-1"), 0, 100)?[0].number;
//! let instruction = Instruction::TopUp { card: number, amount: Kopecks::new(150_000) };
//! let top_up = Submission { key: BankKey::new("top-up-1"), instruction };
//! // Sent twice, done once.
//! assert_eq!(bank.submit(&[top_up.clone(), top_up]), [Ok(Verdict::Done), Ok(Verdict::Done)]);
//! assert_eq!(bank.card(number)?.unwrap().balance, Kopecks::new(150_000));
//! # Ok(())
//! # }
//! ```

mod behaviour;
mod cards;
mod codes;
mod commands;
mod connection;
mod error;
mod fingerprint;
mod gateway;
mod instructions;
mod issue;
mod ledger;
mod limits;
mod moments;
mod numbers;
mod purchases;
mod sandbox;
mod schema;
#[cfg(feature = "server")]
pub mod server;
mod simulator;
mod submit;
mod top_up;

pub use behaviour::{Behaviour, BehaviourError};
pub use cards::CARD_LIMIT;
pub use codes::CODE_DAYS;
pub use commands::Once;
pub use error::SimulatorError;
pub use issue::MOST_CARDS_OF_AN_ORDER;
pub use ledger::{Books, Discrepancy};
pub use purchases::{Purchase, PurchaseAnswer, Refund};
pub use sandbox::SandboxError;
pub use simulator::Simulator;
