//! The forms of texts as regular expressions of JSON Schema.
//!
//! The parsers of the domain decide; a pattern lets through what they accept. Tests compare the two.

use kopeck_domain::person::PersonName;

/// A date, `DD.MM.YYYY`; its existence is not checked.
pub(crate) const DATE: &str = "^(0[1-9]|[12][0-9]|3[01])[.](0[1-9]|1[0-2])[.][0-9]{4}$";
/// A timestamp, `DD.MM.YYYY HH:MM`, 1970 to 2999.
pub(crate) const TIMESTAMP: &str =
    "^(0[1-9]|[12][0-9]|3[01])[.](0[1-9]|1[0-2])[.](19[7-9][0-9]|2[0-9]{3}) ([01][0-9]|2[0-3]):[0-5][0-9]$";
/// A month, `YYYY-MM`, 1970 to 2999.
pub(crate) const MONTH: &str = "^(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])$";
/// A time of the day, `HH:MM`.
pub(crate) const TIME: &str = "^([01][0-9]|2[0-3]):[0-5][0-9]$";
/// A merchant category code, or a range of them; that the first is not above the last is not checked.
pub(crate) const CATEGORY_RANGE: &str = "^[0-9]{4}(-[0-9]{4})?$";
/// A card number; its check digit is not checked.
pub(crate) const CARD_NUMBER: &str = "^[1-9]([0-9]{9}|[0-9]{12})$";
/// A partner's own identifier of an employee.
pub(crate) const CUSTOM_ID: &str = r"^[A-Za-z\u0400-\u0481\u048A-\u04FF0-9_-]+$";
/// A digest of 32 bytes.
pub(crate) const DIGEST: &str = "^[0-9A-Fa-f]{64}$";
/// A phone.
pub(crate) const PHONE: &str = "^[0-9]{10}$";

/// The characters that no free text holds, as the inside of a character class: control characters, line separators, and
/// the format characters of the Basic Multilingual Plane (bidirectional controls, zero-width characters). Other format
/// characters and unassigned ones are refused too; they are too many for a pattern.
const EXCLUDED: &str = r"\u0000-\u001F\u007F-\u009F\u00AD\u034F\u0600-\u0605\u061C\u06DD\u070F\u0890-\u0891\u08E2\u115F-\u1160\u17B4-\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u2800\u3164\uFE00-\uFE0D\uFEFF\uFFA0\uFFF0-\uFFFB";

/// A free text, not all of it blank.
pub(crate) fn free_text() -> String {
    format!(r"^[^{EXCLUDED}]*[^\s{EXCLUDED}][^{EXCLUDED}]*$")
}

/// A partner's reference of a request. Characters outside of ASCII are not distinguished: letters and digits
/// of all scripts are too many for a pattern.
pub(crate) fn reference() -> String {
    let inner = format!(r"[^\u0000-\u001F!-\u0022$-,:-@\[-\^`{{-\u00A0{EXCLUDED}]");
    let outer = inner.replacen("[^", "[^ ", 1);
    format!("^{outer}({inner}*{outer})?$")
}

/// A person's name. The letters are listed, since not every reader of the description understands `\p{…}`.
pub(crate) fn name() -> String {
    let range = |(first, last): &(char, char)| format!("{}-{}", escaped(*first), escaped(*last));
    format!("^[{}-]+$", PersonName::LETTERS.iter().map(range).collect::<String>())
}

/// Letters outside of the Basic Multilingual Plane stand for themselves: each dialect of regular expressions has another
/// escape for them.
fn escaped(letter: char) -> String {
    match u32::from(letter) {
        0..=0x7F | 0x1_0000.. => letter.to_string(),
        code => format!("\\u{code:04X}"),
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::category::CategoryName;
    use kopeck_domain::person::CustomId;
    use kopeck_domain::request::RequestReference;
    use regex_syntax::hir::{Class, ClassUnicode, HirKind};

    use super::*;

    fn class(pattern: &str) -> ClassUnicode {
        match regex_syntax::parse(pattern).unwrap().into_kind() {
            HirKind::Class(Class::Unicode(class)) => class,
            other => panic!("{other:?}"),
        }
    }

    fn holds(class: &ClassUnicode, character: char) -> bool {
        class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&character))
    }

    /// The class of a pattern of the form `^[…]+$`.
    fn repeated(pattern: &str) -> ClassUnicode {
        class(pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix("+$")).unwrap())
    }

    /// Every character, but for those that are composed to another one first, such as the Kelvin sign.
    fn composed() -> impl Iterator<Item = char> {
        ('\0'..=char::MAX).filter(|character| {
            let text = character.to_string();
            kopeck_domain::text::nfc(&text) == text
        })
    }

    #[test]
    fn names_and_custom_ids_match_what_their_parsers_accept() {
        let (names, custom_ids) = (repeated(&name()), repeated(CUSTOM_ID));
        for character in composed() {
            let text = character.to_string();
            assert_eq!(holds(&names, character), PersonName::parse(&text).is_ok(), "{character:?}");
            assert_eq!(holds(&custom_ids, character), CustomId::parse(&text).is_ok(), "{character:?}");
        }
    }

    #[test]
    fn references_match_what_their_parser_accepts_within_ascii() {
        let pattern = reference();
        let (outer, rest) = pattern.strip_prefix('^').and_then(|rest| rest.split_once('(')).unwrap();
        let (inner, _) = rest.split_once('*').unwrap();
        let (outer, inner) = (class(outer), class(inner));
        for character in composed() {
            let (alone, within) = (character.to_string(), format!("a{character}b"));
            let accepted = [&alone, &within].map(|text| RequestReference::parse(text).is_ok());
            let held = [holds(&outer, character), holds(&inner, character)];
            if character.is_ascii() {
                assert_eq!(accepted, held, "{character:?}");
            }
            assert!(accepted.iter().zip(held).all(|(accepted, held)| !accepted || held), "{character:?}");
        }
    }

    #[test]
    fn free_texts_match_what_their_parser_accepts_but_for_unassigned_characters() {
        let (excluded, unassigned) = (class(&format!("[{EXCLUDED}]")), class(r"\p{Unassigned}"));
        for character in composed().take_while(|character| *character <= '\u{ffff}') {
            let is_accepted = CategoryName::parse(&format!("a{character}b")).is_ok();
            // They are accepted behind a symbol.
            let is_style = matches!(character, '\u{fe0e}' | '\u{fe0f}');
            assert!(
                is_style || holds(&unassigned, character) || holds(&excluded, character) != is_accepted,
                "{character:?}"
            );
        }
    }
}
