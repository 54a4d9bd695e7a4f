//! The password policy.
//!
//! Length, and no easy guess; no rules about kinds of characters (NIST SP 800-63B).

use crate::draft::Invalid;

/// The fewest characters of a password.
pub const MIN_CHARACTERS: usize = 12;

/// The most bytes of a password.
pub const MAX_BYTES: usize = 1_024;

/// The fewest characters of a password without its context words.
const MIN_BESIDE_CONTEXT: usize = 8;

/// Shorter words are in many good passwords by chance.
const MIN_CONTEXT_WORD: usize = 4;

const PRODUCT: &str = "kopeck";

/// Common passwords, one a line. None is shorter than [`MIN_CHARACTERS`].
const COMMON: &str = include_str!("password/common.txt");

/// Checks a new password. `owner` has the texts that identify its owner, such as login and name.
///
/// Letter case does not matter. The *context words* are `kopeck`, each text of `owner` and each word of these texts, of
/// four characters or more; without them at least eight characters must be left.
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
    if without_context(text, owner).chars().count() < MIN_BESIDE_CONTEXT {
        return Err(Invalid::new(format!(
            "must have at least {MIN_BESIDE_CONTEXT} characters beside the login, words of the name and `{PRODUCT}`"
        )));
    }
    Ok(())
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
        let long = |bytes: usize| "ab3 ".repeat(bytes / 4);
        assert_eq!(check(&long(1_024)), Ok(()));
        is_refused(&long(1_028), "1024 bytes");
    }

    #[test]
    fn common_passwords_are_refused_in_any_letter_case() {
        for common in ["123456789012", "qwertyuiop123", "Password1234", "UNBELIEVABLE", "administrator"] {
            is_refused(common, "most common");
        }
        assert_eq!(check("unbelievable-tractor"), Ok(()));
    }

    /// Nothing in the list is out of reach of the comparison, or refused for its length already.
    #[test]
    fn the_list_holds_passwords_as_they_are_compared() {
        let listed: Vec<&str> = COMMON.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(listed.len() > 400, "{}", listed.len());
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
