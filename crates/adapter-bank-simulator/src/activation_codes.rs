//! Activation codes of virtual cards.

use kopeck_port_system::Entropy;

/// The validity of a code in days.
pub const CODE_DAYS: i64 = 90;

const CODE_LEN: usize = 8;

/// Letters and digits that are not mistaken for one another: no `0 O 1 I`.
const ALPHABET: &[u8; 32] = b"ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/// `count` random codes of eight characters, 40 bits each.
pub(crate) fn draw(entropy: &dyn Entropy, count: usize) -> Vec<String> {
    let mut random = vec![0; count * CODE_LEN];
    entropy.fill(&mut random);
    random.chunks_exact(CODE_LEN).map(|bytes| bytes.iter().copied().filter_map(letter).collect()).collect()
}

/// Each letter stands for eight byte values.
fn letter(byte: u8) -> Option<char> {
    ALPHABET.get(usize::from(byte % 32)).copied().map(char::from)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use kopeck_port_system::fake::SeededEntropy;

    use super::*;

    #[test]
    fn codes_have_eight_clear_characters_and_differ() {
        let codes = draw(&SeededEntropy::new(1), 1_000);
        assert_eq!(codes.iter().collect::<HashSet<_>>().len(), 1_000);
        for code in codes {
            assert_eq!(code.len(), 8);
            assert!(code.bytes().all(|byte| ALPHABET.contains(&byte)), "{code}");
        }
    }

    #[test]
    fn every_byte_has_a_letter() {
        assert_eq!((0..=u8::MAX).filter_map(letter).collect::<HashSet<_>>().len(), 32);
        assert_eq!((0..=u8::MAX).filter_map(letter).count(), 256);
    }
}
