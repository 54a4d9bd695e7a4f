//! Replays a journal of movements and prints the balances after each: where the money of a partner is, and which movement
//! could not have happened.
//!
//! ```text
//! cargo run -p kopeck-domain --example ledger_replay -- journal.csv
//! ```
//!
//! The file has the columns `kind` (`DEPOSIT`, `HOLD`, `CAPTURE`, `RELEASE`, `RETURN`, `WITHDRAWAL`, `CORRECTION`),
//! `kopecks` and `reference`: the identifier of an order, of a withdrawal for `RETURN`, else the reference of a
//! transfer.

use std::error::Error;

use kopeck_domain::Kopecks;
use kopeck_domain::ledger::{Balances, Movement, MovementKind, Reference, TransferReference};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("ledger_replay FILE")?;
    print!("{}", replay(&std::fs::read_to_string(file)?)?);
    Ok(())
}

/// One line a movement. An impossible one changes nothing.
pub(crate) fn replay(csv: &str) -> Result<String, Box<dyn Error>> {
    let mut balances = Balances::default();
    let mut lines = String::new();
    for row in csv::Reader::from_reader(csv.as_bytes()).deserialize() {
        let (kind, kopecks, reference): (String, i64, String) = row?;
        let kind: MovementKind = kind.parse()?;
        let origin = match kind {
            MovementKind::Deposit | MovementKind::Withdrawal | MovementKind::Correction => {
                Reference::Transfer(TransferReference::parse(&reference)?)
            }
            MovementKind::Return => Reference::Withdrawal(reference.parse()?),
            MovementKind::Hold | MovementKind::Capture | MovementKind::Release => {
                Reference::Order(reference.parse()?)
            }
        };
        let moved =
            Movement::new(kind, origin, Kopecks::new(kopecks)).and_then(|movement| balances.after(&movement));
        let outcome = match moved {
            Ok(after) => {
                balances = after;
                "ok".to_owned()
            }
            Err(error) => format!("IMPOSSIBLE: {error}"),
        };
        let Balances { available, held, spent, .. } = balances;
        let kind = kind.as_str();
        lines.push_str(&format!("{kind:<10} available {available}, held {held}, spent {spent}: {outcome}\n"));
    }
    Ok(lines)
}
