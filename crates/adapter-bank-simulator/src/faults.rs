//! Fault injection.

use std::sync::{Arc, Mutex, PoisonError};

use kopeck_port_bank::sandbox::{BankFaults, FaultRate, SandboxError};
use kopeck_port_system::Entropy;

/// The faults in force, and the source of randomness.
pub(crate) struct FaultInjection {
    faults: Mutex<BankFaults>,
    entropy: Arc<dyn Entropy>,
}

impl FaultInjection {
    pub(crate) fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { faults: Mutex::default(), entropy }
    }

    pub(crate) fn get(&self) -> BankFaults {
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, faults: BankFaults) -> Result<(), SandboxError> {
        let rates = [
            (FaultRate::Error, faults.error_rate),
            (FaultRate::LoseRequest, faults.lose_request_rate),
            (FaultRate::LoseAnswer, faults.lose_answer_rate),
            (FaultRate::Duplicate, faults.duplicate_rate),
        ];
        if let Some((rate, _)) = rates.into_iter().find(|(_, rate)| !(0.0..=1.0).contains(rate)) {
            return Err(SandboxError::Rate(rate));
        }
        *self.faults.lock().unwrap_or_else(PoisonError::into_inner) = faults;
        Ok(())
    }

    /// Whether a fault with this rate occurs now. Certainties draw nothing.
    pub(crate) fn occurs(&self, rate: f64) -> bool {
        if rate <= 0.0 || rate >= 1.0 {
            return rate >= 1.0;
        }
        let mut bytes = [0; 4];
        self.entropy.fill(&mut bytes);
        f64::from(u32::from_le_bytes(bytes)) < rate * f64::from(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kopeck_port_system::fake::SeededEntropy;

    use super::*;

    fn faults() -> FaultInjection {
        FaultInjection::new(Arc::new(SeededEntropy::new(1)))
    }

    #[test]
    fn rates_are_probabilities() {
        let faults = faults();
        for rate in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let refused = faults.set(BankFaults { lose_answer_rate: rate, ..BankFaults::default() });
            assert_eq!(refused, Err(SandboxError::Rate(FaultRate::LoseAnswer)));
        }
        assert_eq!(faults.get(), BankFaults::default());
        let all = BankFaults {
            latency: Duration::from_millis(5),
            error_rate: 0.0,
            lose_request_rate: 0.25,
            lose_answer_rate: 0.5,
            duplicate_rate: 1.0,
            silent_feed: true,
            down: true,
        };
        faults.set(all).unwrap();
        assert_eq!(faults.get(), all);
    }

    #[test]
    fn faults_occur_at_their_rate() {
        let faults = faults();
        let count = |rate| (0..10_000).filter(|_| faults.occurs(rate)).count();
        assert_eq!(count(0.0), 0);
        assert_eq!(count(1.0), 10_000);
        assert!((2_700..3_300).contains(&count(0.3)));
    }
}
