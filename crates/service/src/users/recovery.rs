//! Recovery codes: each takes the place of the authenticator app once.

use kopeck_port_system::Entropy;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

/// How many codes a user gets.
pub(super) const CODES: usize = 10;

/// Crockford's base 32: no letter that looks like a digit.
const SYMBOLS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Random bytes of a code: 120 bits, so that its digest needs neither salt nor slow hashing.
const BYTES: usize = 15;
/// Symbols between two hyphens.
const GROUP: usize = 6;

/// New codes, such as `4h7kq2-…`, four groups of six symbols.
pub(super) fn generate(entropy: &dyn Entropy) -> Vec<SecretString> {
    let code = || {
        let mut bytes = [0_u8; BYTES];
        entropy.fill(&mut bytes);
        SecretString::from(text(&bytes))
    };
    std::iter::repeat_with(code).take(CODES).collect()
}

fn text(bytes: &[u8; BYTES]) -> String {
    let bits = bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| usize::from(byte >> bit & 1)));
    let bits: Vec<usize> = bits.collect();
    let value = |five: &[usize]| five.iter().fold(0, |value, bit| value << 1 | bit);
    let symbols = bits.chunks(5).filter_map(|five| SYMBOLS.get(value(five)));
    let symbols: Vec<u8> = symbols.copied().collect();
    let groups: Vec<_> = symbols.chunks(GROUP).map(String::from_utf8_lossy).collect();
    groups.join("-")
}

/// The digest under which a code is stored, of a code as a person types it: letter case, blanks and hyphens do not count, and
/// letters stand for the digits that they look like.
pub(super) fn digest(typed: &str) -> [u8; 32] {
    let symbols = typed.chars().filter(|character| !character.is_whitespace() && *character != '-');
    let code: String = symbols
        .map(|character| match character.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        })
        .collect();
    Sha256::digest(code.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use kopeck_port_system::fake::SeededEntropy;
    use secrecy::ExposeSecret as _;

    use super::*;

    #[test]
    fn a_code_is_every_bit_of_its_bytes() {
        assert_eq!(text(&[0; 15]), "000000-000000-000000-000000");
        assert_eq!(text(&[0xFF; 15]), "zzzzzz-zzzzzz-zzzzzz-zzzzzz");
        let mut bytes = [0; 15];
        (bytes[0], bytes[14]) = (0b0000_1000, 1);
        assert_eq!(text(&bytes), "100000-000000-000000-000001");
    }

    #[test]
    fn codes_differ() {
        let entropy = SeededEntropy::new(1);
        let codes = [generate(&entropy), generate(&entropy)].concat();
        let codes: std::collections::BTreeSet<_> = codes.iter().map(|code| code.expose_secret()).collect();
        assert_eq!(codes.len(), 20);
    }

    #[test]
    fn a_code_may_be_typed_in_many_ways() {
        let stored = digest("10abcd-000000-000000-00000z");
        for typed in
            ["10ABCD 000000 000000 00000Z", "loabcdOooo00-000000-00000z", " i0abcd-000000-000000-00000z\n"]
        {
            assert_eq!(digest(typed), stored, "{typed}");
        }
        assert_ne!(digest("10abcd-000000-000000-00000y"), stored);
    }
}
