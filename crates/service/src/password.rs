//! The password policy.
//!
//! Length, and no easy guess; no rules about kinds of characters (NIST SP 800-63B).

use std::collections::BTreeSet;

use kopeck_domain::Invalid;

/// The fewest characters of a password.
pub const MIN_CHARACTERS: usize = 12;

/// The most bytes of a password.
pub const MAX_BYTES: usize = 1_024;

/// The fewest characters of a password without its context words.
const MIN_BESIDE_CONTEXT: usize = 8;

/// Shorter words are in many good passwords by chance.
const MIN_CONTEXT_WORD: usize = 4;

/// The fewest different characters of a password, not counting blanks and those that go on from the one before them.
const MIN_DIFFERENT: usize = 5;

const PRODUCT: &str = "kopeck";

/// Common passwords, one a line. None is shorter than [`MIN_CHARACTERS`].
const COMMON: &str = include_str!("password/common.txt");

/// Checks a new password. `owner` has the texts that identify its owner, such as login and name.
///
/// Letter case does not matter. The *context words* are `kopeck`, each text of `owner` and each word of these texts, of
/// four characters or more; without them at least eight characters must be left. A password that only repeats a text of
/// fewer than eight characters, or has fewer than five different ones (blanks, and characters that repeat the one before
/// them or follow it in the alphabet, do not count), is refused too.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn check_password(text: &str, owner: &[&str]) -> Result<(), Invalid> {
    if text.chars().count() < MIN_CHARACTERS {
        return Err(Invalid::new(format!("must have at least {MIN_CHARACTERS} characters")));
    }
    if text.len() > MAX_BYTES {
        return Err(Invalid::new(format!("must have at most {MAX_BYTES} bytes")));
    }
    let text = text.to_lowercase();
    if COMMON.lines().any(|common| common == text) {
        return Err(Invalid::new("is one of the most common passwords"));
    }
    if is_monotonous(&text) {
        return Err(Invalid::new("must not repeat a few characters, or take them in their order"));
    }
    if without_context(text, owner).chars().count() < MIN_BESIDE_CONTEXT {
        return Err(Invalid::new(format!(
            "must have at least {MIN_BESIDE_CONTEXT} characters beside the login, words of the name and `{PRODUCT}`"
        )));
    }
    Ok(())
}

/// Whether a text is one short text again and again, or a few runs such as `aaaa`, `abcd` and `4321`.
fn is_monotonous(text: &str) -> bool {
    let characters: Vec<char> = text.chars().collect();
    let is_start = |(before, character): &(Option<&char>, &char)| {
        !character.is_whitespace()
            && before.is_none_or(|before| u32::from(*before).abs_diff(u32::from(**character)) > 1)
    };
    let before = std::iter::once(None).chain(characters.iter().map(Some));
    let different: BTreeSet<&char> = before.zip(&characters).filter(is_start).map(|pair| pair.1).collect();
    let repeats = |period| characters.iter().skip(period).zip(&characters).all(|(later, one)| later == one);
    different.len() < MIN_DIFFERENT || (1..MIN_BESIDE_CONTEXT).any(repeats)
}

fn without_context(lowercase: String, owner: &[&str]) -> String {
    let owner: Vec<String> = owner.iter().map(|text| text.to_lowercase()).collect();
    let words = owner.iter().flat_map(|text| {
        std::iter::once(text.as_str()).chain(text.split(|character: char| !character.is_alphanumeric()))
    });
    let mut words: Vec<&str> = words.filter(|word| word.chars().count() >= MIN_CONTEXT_WORD).collect();
    words.push(PRODUCT);
    // A word within another one would leave pieces of that one.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words.into_iter().fold(lowercase, |rest, word| rest.replace(word, ""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str) -> Result<(), String> {
        check_password(text, &["bakery-7", "Пекарня Old Town LLC"]).map_err(|invalid| invalid.to_string())
    }

    fn is_refused(text: &str, why: &str) {
        let refusal = check(text).expect_err(text);
        assert!(refusal.contains(why), "{text}: {refusal}");
    }

    #[test]
    fn length_is_counted_in_characters_and_limited_in_bytes() {
        is_refused("", "12 characters");
        is_refused("v7Q-rain-xz", "12 characters");
        assert_eq!(check("v7Q-rain-xzb"), Ok(()));
        assert_eq!(check("тихо-едет-🚜🚜"), Ok(()), "12 characters, more bytes");
        let long = |bytes: usize| "ab3-xz7 ".repeat(bytes / 8);
        assert_eq!(check(&long(1_024)), Ok(()));
        is_refused(&long(1_032), "1024 bytes");
    }

    #[test]
    fn common_passwords_are_refused_in_any_letter_case() {
        for common in ["123456789012", "qwertyuiop123", "Password1234", "UNBELIEVABLE", "administrator"] {
            is_refused(common, "most common");
        }
        assert_eq!(check("unbelievable-tractor"), Ok(()));
    }

    #[test]
    fn repeated_and_counting_passwords_are_refused() {
        for guess in [
            "aaaaaaaaaaaa",
            "            ",
            "\u{3000}\u{a0} \u{3000}\u{a0} \u{3000}\u{a0} \u{3000}\u{a0} ",
            "ЖЖЖЖЖЖЖЖЖЖЖЖ",
            "🚜🚜🚜🚜🚜🚜🚜🚜🚜🚜🚜🚜",
            "aaaaaaaaaaab",
            "a a a a a a a a",
            "abababababab",
            "AbAbaBaBabAb",
            "x7Qx7Qx7Qx7Qx",
            "v7Qrainv7Qrainv7",
            "abcdefghijklm",
            "mlkjihgfedcba",
            "абвгдежзийкл",
            "456789:;<=>?",
            "111222333444",
            "aaaabbbbccccdddd",
            "abcdabcdefgh1234",
        ] {
            assert!(is_monotonous(&guess.to_lowercase()), "{guess}");
            check(guess).expect_err(guess);
        }
        is_refused("ЖЖЖЖЖЖЖЖЖЖЖЖ", "must not repeat");
        for good in ["correct horse battery staple", "314159265358", "v7Q-rainv7Q-rain", "тихо едет мышь"]
        {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    proptest! {
        #[test]
        fn no_short_text_becomes_a_password_by_repetition(unit in "\\PC{1,7}", times in 12_usize..40) {
            // Some letters become two in lower case.
            prop_assume!(unit.to_lowercase().chars().count() < MIN_BESIDE_CONTEXT);
            prop_assert!(check(&unit.repeat(times)).is_err());
        }

        #[test]
        fn no_run_becomes_a_password(
            start in prop_oneof![0x20_u32..0x40, 0x400_u32..0x420],
            length in 12_u32..60,
            falls in any::<bool>(),
        ) {
            let place = |at| if falls { start + 60 - at } else { start + at };
            let run: String = (0..length).map(|at| char::from_u32(place(at)).unwrap()).collect();
            prop_assert!(check(&run).is_err(), "{}", run);
        }

        /// As `partner create` makes them up: 144 bits as base64url.
        #[test]
        fn every_made_up_password_is_taken(text in "[A-Za-z0-9_-]{24}") {
            prop_assert_eq!(check(&text), Ok(()));
        }
    }

    /// Nothing in the list is out of reach of the comparison, or refused for its length already.
    #[test]
    fn the_list_holds_passwords_as_they_are_compared() {
        let listed: Vec<&str> = COMMON.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(listed.len() >= 3_000, "{}: as OWASP ASVS 6.2.4 asks for", listed.len());
        for common in listed {
            assert!(common.chars().count() >= MIN_CHARACTERS && common.to_lowercase() == common, "{common}");
        }
    }

    #[test]
    fn words_that_the_owner_is_known_by_do_not_count() {
        for guess in [
            "kopeck-kopeck-1",
            "KopeckKopeck2026",
            "bakery-7-2026",
            "Bakery-7bakery-7",
            "пекарня-пекарня",
            "Town-Town-2026",
            "пекарня old town llc",
        ] {
            is_refused(guess, "beside the login");
        }
        for good in ["kopeck-v7Q-rain", "bakery-7-v7Q-rain", "old-rain-llc-2x"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }
}
