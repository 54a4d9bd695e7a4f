//! Every choice of a run comes from one sequence that its seed names.

use kopeck_port_system::Entropy;
use kopeck_port_system::fake::SeededEntropy;

/// The sequence.
pub(crate) struct Dice {
    bytes: SeededEntropy,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { bytes: SeededEntropy::new(seed) }
    }

    /// A number from 0 to below `bound`; 0 if that is 0.
    pub(crate) fn below(&self, bound: u64) -> u64 {
        let mut bytes = [0; 8];
        self.bytes.fill(&mut bytes);
        u64::from_le_bytes(bytes).checked_rem(bound).unwrap_or(0)
    }

    /// A number from `from` to `to`, both included.
    pub(crate) fn between(&self, from: i64, to: i64) -> i64 {
        let width = u64::try_from(to.saturating_sub(from)).unwrap_or(0).saturating_add(1);
        from.saturating_add(i64::try_from(self.below(width)).unwrap_or(0))
    }

    /// Yes in so many of a thousand cases.
    pub(crate) fn chance(&self, per_mille: u32) -> bool {
        self.below(1_000) < u64::from(per_mille)
    }

    /// A place in a list of so many; 0 if it is empty.
    pub(crate) fn place(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of `choices`, if there are any.
    pub(crate) fn pick<'a, T>(&self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.place(choices.len()))
    }

    /// One of the choices, each as likely as its weight says.
    pub(crate) fn weighted<T: Copy>(&self, choices: &[(u32, T)]) -> Option<T> {
        let total: u64 = choices.iter().map(|(weight, _)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        for (weight, choice) in choices {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return Some(*choice),
            }
        }
        None
    }
}
