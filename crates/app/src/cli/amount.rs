//! Amounts of money on command lines.

use clap::Args;
use kopeck_domain::Kopecks;

/// A greater amount needs a confirmation: a million roubles.
const LARGE: Kopecks = Kopecks::new(100_000_000);

/// Whether to ask back.
#[derive(Debug, Clone, Copy, Args)]
pub struct ConfirmArgs {
    /// Do not prompt for an amount above a million roubles. Without a terminal there is no prompt anyway.
    #[arg(long)]
    pub yes: bool,
}

impl ConfirmArgs {
    /// Whether a person has to confirm the amount.
    #[must_use]
    pub fn asks(self, amount: Kopecks, at_terminal: bool) -> bool {
        at_terminal && !self.yes && amount > LARGE
    }
}

/// Reads an amount as partners type it: in roubles, and refuses one that could be meant in kopecks.
pub(super) fn roubles(text: &str) -> Result<Kopecks, String> {
    kopeck_command_line::roubles(text).map(Kopecks::new)
}

/// Reads an amount that is more than nothing.
pub(super) fn roubles_above_zero(text: &str) -> Result<Kopecks, String> {
    match roubles(text)? {
        Kopecks::ZERO => Err("must be 0.01 or more".to_owned()),
        amount => Ok(amount),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_could_be_kopecks() {
        assert_eq!(roubles("500.00"), Ok(Kopecks::new(50_000)));
        assert_eq!(roubles("1 000 000,50"), Ok(Kopecks::new(100_000_050)));
        for bad in ["50000", "0", "500.0", "-1.00", "5e3", ""] {
            assert!(roubles(bad).is_err(), "{bad}");
        }
        assert!(
            roubles("50000").unwrap_err().contains("could be meant in kopecks; write 500.00 or 50000.00")
        );
        assert_eq!((roubles("0.00"), roubles_above_zero("0.00").is_err()), (Ok(Kopecks::ZERO), true));
    }

    #[test]
    fn a_large_amount_needs_a_confirmation_at_a_terminal_alone() {
        let (ask, yes) = (ConfirmArgs { yes: false }, ConfirmArgs { yes: true });
        let large = Kopecks::new(100_000_001);
        assert!(ask.asks(large, true) && !ask.asks(LARGE, true));
        assert!(!ask.asks(large, false) && !yes.asks(large, true));
    }
}
