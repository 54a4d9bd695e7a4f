//! Seeded random numbers: a failing run can be repeated by its seed.

use std::hash::{BuildHasher as _, RandomState};

use kopeck_port_system::Entropy as _;
use kopeck_port_system::fake::SeededEntropy;

/// A sequence of random numbers that a seed determines.
#[derive(Debug)]
pub struct Random {
    seed: u64,
    bytes: SeededEntropy,
}

impl Random {
    /// The sequence of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { seed, bytes: SeededEntropy::new(seed) }
    }

    /// A random seed, short enough to type.
    #[must_use]
    pub fn any_seed() -> u64 {
        RandomState::new().hash_one(std::process::id()) % 1_000_000_000
    }

    /// Sequence `number` of those that this seed determines, whatever was drawn from this one.
    #[must_use]
    pub fn part(&self, number: u64) -> Self {
        let part = Self::new(self.seed ^ number.wrapping_add(1).wrapping_mul(0xd605_bbb5_8c8a_bc2d));
        Self::new(part.next_u64())
    }

    /// The next 64 bits.
    pub fn next_u64(&self) -> u64 {
        let mut bytes = [0; 8];
        self.bytes.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&self, end: u64) -> u64 {
        self.next_u64().checked_rem(end).unwrap_or(0)
    }

    /// A number from `from` to `to`, both included.
    pub fn between<N: Copy + Into<i128> + TryFrom<i128>>(&self, from: N, to: N) -> N {
        let (low, high) = (from.into(), to.into());
        let width = u64::try_from(high - low).unwrap_or(0).saturating_add(1);
        N::try_from(low + i128::from(self.below(width))).unwrap_or(from)
    }

    /// True in so many of 100 cases.
    pub fn percent(&self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// True in so many of 1,000 cases.
    pub fn chance(&self, per_mille: u32) -> bool {
        self.below(1_000) < u64::from(per_mille)
    }

    /// An index into a list of this length; 0 if it is empty.
    pub fn place(&self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    /// One of `choices`, if there are any.
    pub fn pick<'a, T>(&self, choices: &'a [T]) -> Option<&'a T> {
        choices.get(self.place(choices.len()))
    }

    /// One of `choices`, in proportion to the weights.
    pub fn weighted<T: Copy>(&self, choices: &[(u32, T)]) -> Option<T> {
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

    /// Shuffles `items`.
    pub fn shuffle<T>(&self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.place(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_determines_its_numbers_and_parts_differ() {
        let numbers = |random: Random| (0..8).map(|_| random.below(1_000_000)).collect::<Vec<_>>();
        assert_eq!(numbers(Random::new(7)), numbers(Random::new(7)));
        assert_eq!(numbers(Random::new(7).part(3)), numbers(Random::new(7).part(3)));
        assert_ne!(numbers(Random::new(7).part(3)), numbers(Random::new(7).part(4)));
    }

    #[test]
    fn numbers_stay_within_their_bounds() {
        let random = Random::new(1);
        let drawn: Vec<i64> = (0..100).map(|_| random.between(-1, 1)).collect();
        assert!([-1, 0, 1].iter().all(|number| drawn.contains(number)), "{drawn:?}");
        assert!(drawn.iter().all(|number| (-1..=1).contains(number)), "{drawn:?}");
        assert_eq!((random.below(0), random.place(0), random.pick::<u8>(&[])), (0, 0, None));
    }

    #[test]
    fn shuffling_keeps_all_items() {
        let mut items: Vec<u8> = (0..20).collect();
        Random::new(1).shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
