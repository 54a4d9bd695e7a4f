//! Follows what the bank can do.

use std::sync::Arc;

use kopeck_adapter_workers::PeriodicCheck;
use kopeck_port_bank::{BankGateway, Capabilities, Capability};

/// Seconds between two reads.
const INTERVAL: u32 = 60;
/// Seconds until the next read after one that failed.
const RETRY: u32 = 5;

/// What was logged of the bank.
#[derive(Default)]
struct Known {
    capabilities: Option<Capabilities>,
    /// That it did not respond.
    warned: bool,
}

/// Reads what the bank can do, logs it, and reads it again each minute until the result is dropped.
///
/// The first read comes before the first request, so that none is accepted that the bank cannot carry out. A bank that does
/// not respond is taken for one that can do everything: it declines what it cannot do.
///
/// # Errors
/// If the system gives no thread.
pub(super) fn follow(bank: Arc<dyn BankGateway>) -> anyhow::Result<PeriodicCheck> {
    let mut known = Known::default();
    let mut wait = read(&*bank, &mut known);
    PeriodicCheck::start(move || {
        wait = wait.saturating_sub(1);
        if wait == 0 {
            wait = read(&*bank, &mut known);
        }
    })
}

/// Reads once, logs what is new, and returns the seconds until the next read.
fn read(bank: &dyn BankGateway, Known { capabilities: known, warned }: &mut Known) -> u32 {
    match bank.read_capabilities() {
        Ok(capabilities) => {
            if known.replace(capabilities) != Some(capabilities) {
                let without = names(&capabilities);
                log::info!(without = without.as_str(), largest_batch = capabilities.largest_batch(); "bank capabilities");
            }
            INTERVAL
        }
        Err(reason) => {
            if known.is_none() && !*warned {
                log::warn!(reason:% = reason; "what the bank can do is not known yet, everything is assumed");
                *warned = true;
            }
            RETRY
        }
    }
}

fn names(capabilities: &Capabilities) -> String {
    let names: Vec<&str> = capabilities.missing().map(Capability::name).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(",") }
}

#[cfg(test)]
mod tests {
    use kopeck_port_bank::{BankError, MockBankGateway};

    use super::*;

    #[test]
    fn a_bank_is_read_again_soon_after_a_failure() {
        let mut bank = MockBankGateway::new();
        let mut answers = vec![
            Ok(Capabilities::without([Capability::Feed])),
            Err(BankError::Unavailable("down".to_owned())),
        ];
        bank.expect_read_capabilities().returning(move || answers.pop().unwrap());
        let mut known = Known::default();
        assert_eq!(read(&bank, &mut known), RETRY);
        assert_eq!(read(&bank, &mut known), INTERVAL);
        assert_eq!(known.capabilities, Some(Capabilities::without([Capability::Feed])));
        assert_eq!(names(&known.capabilities.unwrap()), "feed");
        assert_eq!(names(&Capabilities::EVERYTHING), "nothing");
    }
}
