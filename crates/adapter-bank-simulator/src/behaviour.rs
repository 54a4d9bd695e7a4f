//! Fault injection.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kopeck_port_system::Entropy;

/// The injected faults; none by default.
///
/// Rates are probabilities, 0.0 to 1.0, drawn for each instruction. They last until they are set anew or the process
/// ends.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Behaviour {
    /// Milliseconds added to each response.
    pub latency_ms: u64,
    /// The share of instructions and reads that fail without an effect.
    pub error_rate: f64,
    /// The share of instructions with an effect and no response. Reads have no effect, so they get a response.
    pub lose_answer_rate: f64,
    /// The share of repeated instructions with a second effect.
    pub duplicate_rate: f64,
    /// Whether the bank responds to nothing.
    pub down: bool,
}

/// A rate outside of 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} must lie between 0 and 1")]
pub struct BehaviourError(pub &'static str);

impl Behaviour {
    fn checked(self) -> Result<Self, BehaviourError> {
        let rates = [
            ("errorRate", self.error_rate),
            ("loseAnswerRate", self.lose_answer_rate),
            ("duplicateRate", self.duplicate_rate),
        ];
        match rates.into_iter().find(|(_, rate)| !(0.0..=1.0).contains(rate)) {
            Some((name, _)) => Err(BehaviourError(name)),
            None => Ok(self),
        }
    }

    pub(crate) const fn latency(&self) -> Duration {
        Duration::from_millis(self.latency_ms)
    }
}

/// The faults in force, and the source of randomness.
pub(crate) struct FaultInjection {
    behaviour: Mutex<Behaviour>,
    entropy: Arc<dyn Entropy>,
}

impl FaultInjection {
    pub(crate) fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { behaviour: Mutex::default(), entropy }
    }

    pub(crate) fn get(&self) -> Behaviour {
        *self.behaviour.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, behaviour: Behaviour) -> Result<(), BehaviourError> {
        *self.behaviour.lock().unwrap_or_else(PoisonError::into_inner) = behaviour.checked()?;
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
    use kopeck_port_system::fake::SeededEntropy;

    use super::*;

    fn faults() -> FaultInjection {
        FaultInjection::new(Arc::new(SeededEntropy::new(1)))
    }

    #[test]
    fn rates_are_probabilities() {
        let faults = faults();
        for rate in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            let refused = faults.set(Behaviour { lose_answer_rate: rate, ..Behaviour::default() });
            assert_eq!(refused, Err(BehaviourError("loseAnswerRate")));
        }
        assert_eq!(faults.get(), Behaviour::default());
        let all = Behaviour {
            latency_ms: 5,
            error_rate: 0.0,
            lose_answer_rate: 0.5,
            duplicate_rate: 1.0,
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
