//! Consecutive failures of a loop, in the log.

use std::fmt::Display;

/// Consecutive failures. The first is logged, then one a minute, then the recovery, so that a long outage does not fill the
/// log.
#[derive(Default)]
pub(crate) struct Failures(u32);

impl Failures {
    /// Failures per log line. A pause of a second follows each.
    const QUIET: u32 = 60;

    /// Counts a failure; returns whether to log it.
    fn note(&mut self) -> bool {
        self.0 = self.0.saturating_add(1);
        self.0 % Self::QUIET == 1
    }

    /// Ends the row of failures; returns their number.
    fn end(&mut self) -> Option<u32> {
        Some(std::mem::take(&mut self.0)).filter(|count| *count > 0)
    }

    /// Counts and logs the outcome of a round of the loop `name`.
    pub(crate) fn follow<T, E: Display>(&mut self, name: &str, went: &Result<T, E>) {
        match went {
            Err(error) if self.note() => log::error!("loop" = name, error:% = error; "job loop failed"),
            Err(_) => {}
            Ok(_) => {
                if let Some(failures) = self.end() {
                    log::info!("loop" = name, failures = failures; "job loop recovered");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_one_a_minute_and_the_recovery_are_logged() {
        let mut failures = Failures::default();
        assert_eq!(failures.end(), None);
        let logged = (0..3_600).filter(|_| failures.note()).count();
        assert_eq!(logged, 60, "once a minute");
        assert_eq!((failures.end(), failures.end()), (Some(3_600), None));
        assert!(failures.note());
    }
}
