//! Card numbers: unique by construction, and hard to guess from each other.
//!
//! The n-th card of a kind gets the n-th value of a secret permutation, so no lookup for uniqueness is needed. The
//! permutation is no encryption, and card numbers are no secret.

use kopeck_domain::card_number::CardNumber;

/// The generator of a database, with its key. A change of the algorithm would issue numbers twice.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CardNumbers {
    key: u64,
}

/// The numbers of one kind, before a check digit.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: u64,
    size: u64,
    /// Half the bits of a number that can count the whole range.
    half_bits: u32,
}

/// The twelve digits of an EAN-13 before its check digit.
const PLASTIC: Range = Range { first: 100_000_000_000, size: 900_000_000_000, half_bits: 20 };
/// Ten digits.
const VIRTUAL: Range = Range { first: 1_000_000_000, size: 9_000_000_000, half_bits: 17 };

const ROUNDS: u64 = 6;

impl CardNumbers {
    pub(crate) const fn new(key: u64) -> Self {
        Self { key }
    }

    /// The number of the plastic card number `serial`, counted from 0; `None` if there are no more.
    pub(crate) fn plastic(self, serial: u64) -> Option<CardNumber> {
        self.number(PLASTIC, serial).and_then(|body| CardNumber::ean13(body).ok())
    }

    /// The number of the virtual card number `serial`, counted from 0; `None` if there are no more.
    pub(crate) fn virtual_card(self, serial: u64) -> Option<CardNumber> {
        self.number(VIRTUAL, serial).and_then(|number| CardNumber::from_u64(number).ok())
    }

    /// Cycle walking: applies the permutation until the result is in range. It ends, because the permutation returns
    /// to `serial` at the latest, and it keeps serials distinct.
    fn number(self, range: Range, serial: u64) -> Option<u64> {
        if serial >= range.size {
            return None;
        }
        let mut scrambled = self.permuted(range.half_bits, serial);
        while scrambled >= range.size {
            scrambled = self.permuted(range.half_bits, scrambled);
        }
        Some(range.first + scrambled)
    }

    /// A Feistel network over `2 * half_bits` bits: a permutation, whatever its rounds do.
    fn permuted(self, half_bits: u32, value: u64) -> u64 {
        let mask = (1 << half_bits) - 1;
        let (mut left, mut right) = (value >> half_bits, value & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (self.mixed(round, right) & mask));
        }
        left << half_bits | right
    }

    /// The finaliser of splitmix64 over key, round and half.
    fn mixed(self, round: u64, half: u64) -> u64 {
        let mut mixed = self.key.wrapping_add((half << 8 | round).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_value_of_a_small_network_comes_out_once() {
        let numbers = CardNumbers::new(42);
        let all: HashSet<u64> = (0..1 << 12).map(|value| numbers.permuted(6, value)).collect();
        assert_eq!(all, (0..1 << 12).collect());
    }

    #[test]
    fn cycle_walking_fills_a_range_exactly() {
        let range = Range { first: 1_000, size: 900, half_bits: 5 };
        let all: HashSet<u64> =
            (0..900).filter_map(|serial| CardNumbers::new(7).number(range, serial)).collect();
        assert_eq!(all, (1_000..1_900).collect());
        assert_eq!(CardNumbers::new(7).number(range, 900), None);
    }

    #[test]
    fn the_ranges_end() {
        assert!(CardNumbers::new(1).plastic(899_999_999_999).is_some());
        assert!(CardNumbers::new(1).plastic(900_000_000_000).is_none());
        assert!(CardNumbers::new(1).virtual_card(8_999_999_999).is_some());
        assert!(CardNumbers::new(1).virtual_card(9_000_000_000).is_none());
    }

    #[test]
    fn neighbours_are_far_apart() {
        let numbers = CardNumbers::new(0x1234_5678_9abc_def0);
        let issued: Vec<u64> =
            (0..1_000).filter_map(|n| numbers.virtual_card(n)).map(CardNumber::get).collect();
        let near =
            issued.windows(2).filter(|pair| matches!(pair, [a, b] if a.abs_diff(*b) < 1_000_000)).count();
        assert!(near < 5, "{near} of 1,000 are near the one before");
    }

    proptest! {
        #[test]
        fn numbers_are_valid_and_differ(key: u64, a in 0_u64..9_000_000_000, b in 0_u64..9_000_000_000) {
            let numbers = CardNumbers::new(key);
            let (plastic, virtual_card) = (numbers.plastic(a).unwrap(), numbers.virtual_card(a).unwrap());
            prop_assert_eq!(plastic.to_string().len(), 13);
            prop_assert!(plastic.is_plastic());
            prop_assert_eq!(virtual_card.to_string().len(), 10);
            prop_assert!(!virtual_card.is_plastic());
            prop_assert_eq!(a == b, plastic == numbers.plastic(b).unwrap());
            prop_assert_eq!(a == b, virtual_card == numbers.virtual_card(b).unwrap());
        }

        #[test]
        fn another_key_gives_other_numbers(key: u64) {
            let first_ten = |key| (0..10).filter_map(|serial| CardNumbers::new(key).plastic(serial)).collect::<Vec<_>>();
            prop_assert_ne!(first_ten(key), first_ten(key.wrapping_add(1)));
        }
    }
}
