//! Choices that a seed names.

use std::hash::{BuildHasher as _, RandomState};

/// A small seeded generator (splitmix64).
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

/// A seed by chance, short enough to be typed.
pub(crate) fn any_seed() -> u64 {
    RandomState::new().hash_one(std::process::id()) % 1_000_000_000
}

impl Dice {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator of its own for part `number` of what this seed names.
    pub(crate) fn part(&self, number: u64) -> Self {
        let mut part = Self(self.0 ^ number.wrapping_add(1).wrapping_mul(0xd605_bbb5_8c8a_bc2d));
        part.next();
        part
    }

    /// A number below `end`; 0 if that is 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next().checked_rem(end).unwrap_or(0)
    }

    /// A number from `from` to `to`, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from.saturating_add(self.below(to.saturating_sub(from).saturating_add(1)))
    }

    /// Yes in so many of a hundred cases.
    pub(crate) fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, if there are any.
    pub(crate) fn pick<'a, T>(&mut self, choices: &'a [T]) -> Option<&'a T> {
        let place = self.below(choices.len() as u64);
        choices.get(usize::try_from(place).unwrap_or(0))
    }

    /// Brings `items` into an order by chance.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let other = usize::try_from(self.below(end as u64 + 1)).unwrap_or(0);
            items.swap(end, other);
        }
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_names_its_numbers_and_parts_differ() {
        let numbers = |mut dice: Dice| (0..8).map(|_| dice.below(1_000_000)).collect::<Vec<_>>();
        let dice = Dice::new(7);
        assert_eq!(numbers(dice.clone()), numbers(Dice::new(7)));
        assert_eq!(numbers(dice.part(3)), numbers(Dice::new(7).part(3)));
        assert_ne!(numbers(dice.part(3)), numbers(dice.part(4)));
    }

    #[test]
    fn shuffling_keeps_everything() {
        let mut items: Vec<u8> = (0..20).collect();
        Dice::new(1).shuffle(&mut items);
        assert_ne!(items, (0..20).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..20).collect::<Vec<_>>());
    }
}
