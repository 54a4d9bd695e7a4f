//! A bank to build and test against, with a SQLite database of its own.
//!
//! [`Simulator`] implements `kopeck_port_bank::BankGateway` in process; the feature `server` adds an HTTP server. Its
//! rules:
//!
//! - A virtual card holds the money of its order from the start. Its activation code is valid for [`CODE_DAYS`] days. A
//!   plastic card starts empty and active.
//! - A balance after a top-up is at most [`CARD_LIMIT`]. A card is valid for three years, to the end of the month.
//! - The bank declines top-ups whose kopecks end in 13 and orders to an address that contains `DECLINE`, so that
//!   partners can test a refusal.
//! - A limit is set unless the card is closed, expired or of another bank. Purchases obey it by
//!   `kopeck_domain::limit::decide`: payments less refunds of the period of the purchase, in the bank's zone.
//! - The verdict on an instruction is recorded under its key in the transaction of its effect. A repeated key gets the
//!   recorded verdict.
//!
//! It also implements `kopeck_port_bank::sandbox::SandboxControl`: purchases and refunds, activating, blocking and
//! expiring cards, and fault injection. [`Simulator::totals`] and [`Simulator::check`] verify the ledger afterwards.
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

mod activation_codes;
mod card_issuer;
mod card_numbers;
mod cards;
mod clock_reading;
mod connection;
mod error;
mod faults;
mod fingerprint;
mod gateway;
mod idempotency;
mod instructions;
mod ledger;
mod limits;
mod purchases;
mod sandbox;
mod schema;
#[cfg(feature = "server")]
pub mod server;
mod simulator;
mod submit;
mod top_up;

pub use activation_codes::CODE_DAYS;
pub use card_issuer::MOST_CARDS_OF_AN_ORDER;
pub use cards::CARD_LIMIT;
pub use error::SimulatorError;
pub use ledger::{Discrepancy, LedgerTotals};
pub use simulator::Simulator;
