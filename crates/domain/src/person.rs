//! What is known of a person: names, phone, e-mail. None of it shows in `Debug` output.

use std::fmt;
use std::str::FromStr;

mod letters;

use crate::invalid::{Invalid, from_text};
use crate::text;
use letters::{NAME_LETTERS, is_name_letter};

/// Latin letters of ASCII, and every letter of the Unicode block Cyrillic (`Ё` lies outside `А..я`).
fn is_custom_id_letter(letter: char) -> bool {
    letter.is_ascii_alphabetic() || ('\u{0400}'..='\u{04FF}').contains(&letter) && letter.is_alphabetic()
}

/// Refuses an empty text and one of more than `most` characters.
fn check_length(text: &str, most: usize) -> Result<(), Invalid> {
    if text.is_empty() {
        return Err(Invalid::new("must not be empty"));
    }
    if text.chars().nth(most).is_some() {
        return Err(Invalid::new(format!("must have at most {most} characters")));
    }
    Ok(())
}

macro_rules! personal_text {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        /// Personal data: the text stays out of logs.
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), "(..)"))
            }
        }
    };
}

personal_text! {
    /// The partner's own identifier of an employee: 1..=64 letters `A-Z`, `a-z` and Cyrillic, digits, `-`, `_`.
    CustomId
}
personal_text! {
    /// A surname, name or patronymic: 1..=32 letters of the scripts Latin and Cyrillic, and `-`.
    PersonName
}
personal_text! {
    /// A phone of exactly ten digits, without a country code.
    Phone
}
personal_text! {
    /// An e-mail address of the form local-part@domain, at most 254 characters.
    Email
}
personal_text! {
    /// The full name of who receives an order: 1..=128 characters.
    Recipient
}
personal_text! {
    /// A postal address: 1..=512 characters.
    DeliveryAddress
}

from_text!(as_str: CustomId, PersonName, Phone, Email, Recipient, DeliveryAddress);

impl CustomId {
    /// The most characters.
    pub const MAX_CHARS: usize = 64;

    /// Reads a custom identifier, in NFC.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text::nfc(text);
        check_length(&text, Self::MAX_CHARS)?;
        if !text.chars().all(|c| is_custom_id_letter(c) || c.is_ascii_digit() || c == '-' || c == '_') {
            return Err(Invalid::new("may hold Latin and Cyrillic letters, digits, '-' and '_' only"));
        }
        Ok(Self(text))
    }
}

impl PersonName {
    /// The most characters.
    pub const MAX_CHARS: usize = 32;
    /// First and last letter of each range of letters that a name may hold, ascending: the letters of the scripts Latin and
    /// Cyrillic in their composed form. A name may hold `-` too.
    pub const LETTERS: &'static [(char, char)] = NAME_LETTERS;

    /// Reads a name, in NFC: a letter that is typed with combining marks is composed first.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let text = text::nfc(text);
        check_length(&text, Self::MAX_CHARS)?;
        if !text.chars().all(|c| is_name_letter(c) || c == '-') {
            return Err(Invalid::new("may hold Latin and Cyrillic letters and '-' only"));
        }
        Ok(Self(text))
    }
}

impl Phone {
    /// Reads a phone.
    ///
    /// # Errors
    /// [`Invalid`] unless the text is ten digits 0-9.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.len() != 10 || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Invalid::new("must be exactly 10 digits without a country code"));
        }
        Ok(Self(text.to_owned()))
    }

    /// The digits as a number; leading zeros are lost.
    #[must_use]
    pub fn as_number(&self) -> u64 {
        self.0.bytes().fold(0, |number, byte| number * 10 + u64::from(byte.wrapping_sub(b'0')))
    }
}

impl Email {
    /// The most characters.
    pub const MAX_CHARS: usize = 254;

    /// Reads an address.
    ///
    /// # Errors
    /// [`Invalid`] unless it has the form local-part@domain of RFC 5322, without a display name and without characters that
    /// cannot be seen.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        check_length(text, Self::MAX_CHARS)?;
        email_address::EmailAddress::from_str(text)
            .ok()
            .filter(|address| {
                address.as_str() == text && !text.contains('<') && !text.chars().any(text::is_excluded)
            })
            .map(|_| Self(text.to_owned()))
            .ok_or_else(|| Invalid::new("must be of the form local-part@domain"))
    }

    /// An address that was accepted once, even where [`Self::parse`] would refuse it today.
    #[cfg(any(test, feature = "stored"))]
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl Recipient {
    /// The most characters.
    pub const MAX_CHARS: usize = 128;

    /// Reads a recipient's full name, in NFC.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text::parse(text, Self::MAX_CHARS).map(Self)
    }

    /// A name that was accepted once, even where [`Self::parse`] would refuse it today.
    #[cfg(any(test, feature = "stored"))]
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

impl DeliveryAddress {
    /// The most characters.
    pub const MAX_CHARS: usize = 512;

    /// Reads a postal address, in NFC.
    ///
    /// # Errors
    /// [`Invalid`] with the rule that is broken.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        text::parse(text, Self::MAX_CHARS).map(Self)
    }

    /// An address that was accepted once, even where [`Self::parse`] would refuse it today.
    #[cfg(any(test, feature = "stored"))]
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        Self(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_take_the_letters_of_both_scripts() {
        let european = ["Müller", "José", "Łukasz", "Öz", "Nguyễn", "Þór", "Dvořák", "İnönü", "Straße"];
        let cyrillic = ["Иванов", "Ёжиков", "ёлка", "Ґалаґан", "Ӣ", "Пётр-Paul", "Ԩ"];
        for text in european.into_iter().chain(cyrillic).chain(["O", "Smith-Jones"]) {
            assert_eq!(PersonName::parse(text).unwrap().as_str(), text);
        }
        for text in [
            "",
            " ",
            "Anna Maria",
            "O'Neil",
            "Ivan1",
            "王",
            "Ω",
            "x\u{0300}",
            "\u{0482}",
            "\u{0483}",
            "ﬁ",
            "ª",
            "\u{3164}",
            "\u{115f}",
            "Ив\u{fe0f}ан",
            "Ａ",
        ] {
            assert!(PersonName::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn names_and_custom_ids_are_composed_before_they_are_checked() {
        for (text, composed) in
            [("Mu\u{308}ller", "Müller"), ("Nguye\u{302}\u{303}n", "Nguyễn"), ("Е\u{308}ж", "Ёж")]
        {
            assert_eq!(PersonName::parse(text).unwrap().as_str(), composed);
        }
        assert_eq!(CustomId::parse("И\u{306}-1").unwrap().as_str(), "Й-1");
        assert!(CustomId::parse("e\u{301}").is_err());
        assert!(PersonName::parse(&"e\u{301}".repeat(32)).is_ok(), "the composed letters are counted");
    }

    /// Every composed character that there is.
    #[test]
    fn custom_ids_hold_the_letters_of_two_blocks() {
        let letters = ['A'..='Z', 'a'..='z', '\u{0400}'..='\u{0481}', '\u{048A}'..='\u{04FF}', '0'..='9'];
        for character in '\0'..=char::MAX {
            let text = character.to_string();
            if text::nfc(&text) != text {
                continue; // composed to another one first, such as the Kelvin sign
            }
            let taken = letters.iter().any(|range| range.contains(&character)) || "-_".contains(character);
            assert_eq!(CustomId::parse(&text).is_ok(), taken, "{character:?}");
        }
    }

    #[test]
    fn lengths_count_characters() {
        assert!(PersonName::parse(&"Ж".repeat(32)).is_ok());
        assert!(PersonName::parse(&"Ж".repeat(33)).is_err());
        assert!(CustomId::parse(&"ы".repeat(64)).is_ok());
        assert!(CustomId::parse(&"ы".repeat(65)).is_err());
        assert!(Recipient::parse(&"ы".repeat(129)).is_err());
        assert!(DeliveryAddress::parse(&"ы".repeat(512)).is_ok());
    }

    #[test]
    fn custom_ids_take_digits_and_two_signs() {
        assert!(CustomId::parse("Таб_0-1x").is_ok());
        for text in ["", "a b", "a.b", "١", "№1"] {
            assert!(CustomId::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn phones_are_ten_ascii_digits() {
        assert_eq!(Phone::parse("0031234567").unwrap().as_number(), 31_234_567);
        for text in
            ["", "903123456", "90312345678", "+903123456", "903 123456", "９０３１２３４５６７", "١٢٣٤٥"]
        {
            assert!(Phone::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn emails_are_local_part_at_domain() {
        for text in ["p@example.ru", "a.b+c@sub.example.com", "почта@пример.рф"] {
            assert!(Email::parse(text).is_ok(), "{text}");
        }
        for text in [
            "",
            "p",
            "@example.ru",
            "p@",
            "p@@example.ru",
            "P <p@example.ru>",
            "p@exa mple.ru",
            " p@example.ru",
            "p\u{202e}@example.ru",
            "p@exam\u{200b}ple.ru",
            "\u{3164}@example.ru",
            "p@\u{115f}.ru",
        ] {
            assert!(Email::parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn debug_output_hides_the_person() {
        assert_eq!(format!("{:?}", PersonName::parse("Иванов").unwrap()), "PersonName(..)");
        assert_eq!(format!("{:?}", Phone::parse("9031234567").unwrap()), "Phone(..)");
    }

    proptest! {
        #[test]
        fn parsers_never_panic_and_change_nothing_but_the_composition_of_letters(text in ".*") {
            if let Ok(parsed) = Phone::parse(&text) { prop_assert_eq!(parsed.as_str(), &text); }
            if let Ok(parsed) = Email::parse(&text) { prop_assert_eq!(parsed.as_str(), &text); }
            let composed = text::nfc(&text);
            if let Ok(parsed) = CustomId::parse(&text) { prop_assert_eq!(parsed.as_str(), &composed); }
            if let Ok(parsed) = PersonName::parse(&text) { prop_assert_eq!(parsed.as_str(), &composed); }
            if let Ok(parsed) = Recipient::parse(&text) { prop_assert_eq!(parsed.as_str(), &composed); }
            if let Ok(parsed) = DeliveryAddress::parse(&text) { prop_assert_eq!(parsed.as_str(), &composed); }
        }

        /// Whatever is taken can be seen, and is one text alone: compatible forms of letters are others.
        #[test]
        fn names_and_identifiers_can_be_seen_and_stay_the_same(text in "[\\p{L}\\p{M}\\p{C}-]{1,8}") {
            use unicode_normalization::UnicodeNormalization as _;

            let parsed = [
                PersonName::parse(&text).map(|name| name.0),
                CustomId::parse(&text).map(|id| id.0),
            ];
            for taken in parsed.into_iter().flatten() {
                prop_assert!(!taken.chars().any(text::is_excluded));
                prop_assert_eq!(taken.nfkc().collect::<String>(), taken);
            }
        }

        #[test]
        fn every_allowed_name_is_taken(text in "[A-Za-zА-Яа-яЁё-]{1,32}") {
            prop_assert!(PersonName::parse(&text).is_ok());
            prop_assert!(CustomId::parse(&text).is_ok());
        }

        #[test]
        fn every_phone_of_ten_digits_is_taken(text in "[0-9]{10}") {
            let phone = Phone::parse(&text).unwrap();
            prop_assert_eq!(format!("{:010}", phone.as_number()), text);
        }
    }
}
