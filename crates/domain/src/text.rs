//! Free texts: names of categories and partners, addresses, recipients. One rule for all of them.

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization as _;

use crate::invalid::Invalid;

/// Makes the type of a name that a partner gives to something: 1..=128 characters after trimming, in NFC.
macro_rules! partner_name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(String);

        impl $name {
            /// The most characters, without the blanks around them.
            pub const MAX_CHARS: usize = 128;

            /// Reads a name, in NFC; blanks around it are cut off.
            ///
            /// # Errors
            /// [`Invalid`](crate::Invalid) with the rule that is broken.
            pub fn parse(text: &str) -> Result<Self, $crate::Invalid> {
                $crate::text::parse(text.trim(), Self::MAX_CHARS).map(Self)
            }

            /// A name that was accepted once. It is shown as it is stored, even where [`Self::parse`] would refuse it today.
            #[cfg(any(test, feature = "stored"))]
            #[must_use]
            pub fn from_stored(text: String) -> Self {
                Self(text)
            }

            /// The name as the partner spelt it, in NFC.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        $crate::invalid::from_text!(as_str: $name);
    };
}
pub(crate) use partner_name;

/// Normalization Form C, in which texts are stored and compared: `é` is one character, however it was typed.
#[must_use]
pub fn nfc(text: &str) -> String {
    text.nfc().collect()
}

/// The form in which texts are compared where letter case does not count: lower case, NFC.
#[must_use]
pub fn folded(text: &str) -> String {
    // Lower case first may leave letters that compose.
    nfc(&nfc(text).to_lowercase())
}

/// Reads a free text of 1 to `most` characters, not all of them blank. Returns it in NFC.
///
/// # Errors
/// [`Invalid`] with the rule that is broken.
pub fn parse(text: &str, most: usize) -> Result<String, Invalid> {
    let too_long = || Invalid::new(format!("must have at most {most} characters"));
    // NFC composes a character of four at most, so that a longer text is too long in NFC as well. It is not normalized.
    if text.chars().nth(4 * most).is_some() {
        return Err(too_long());
    }
    let text = nfc(text);
    if text.trim().is_empty() {
        return Err(Invalid::new("must not be empty"));
    }
    if text.chars().nth(most).is_some() {
        return Err(too_long());
    }
    let before = std::iter::once(None).chain(text.chars().map(Some));
    if before
        .zip(text.chars())
        .any(|(before, character)| is_excluded(character) && !is_style(before, character))
    {
        return Err(Invalid::new("must not hold control, format, invisible or unassigned characters"));
    }
    Ok(text)
}

/// Whether a character is invisible, ends a line, turns the direction of a text, or means nothing.
#[must_use]
pub fn is_excluded(character: char) -> bool {
    use GeneralCategory as Category;
    let is_among =
        |ranges: &[(char, char)]| ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
    is_among(INVISIBLE)
        || matches!(
            get_general_category(character),
            Category::Control
                | Category::Format
                | Category::Unassigned
                | Category::LineSeparator
                | Category::ParagraphSeparator
        )
}

/// Letters and marks that look like nothing: what Unicode calls *default ignorable* and no category above has, and the
/// blank of Braille.
const INVISIBLE: &[(char, char)] = &[
    ('\u{34F}', '\u{34F}'),
    ('\u{115F}', '\u{1160}'),
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{E0100}', '\u{E01EF}'),
];

/// Whether a character only makes the symbol before it an emoji, as phones type it, or plain.
fn is_style(before: Option<char>, character: char) -> bool {
    let is_symbol = |before| get_general_category(before) == GeneralCategory::OtherSymbol;
    matches!(character, '\u{FE0E}' | '\u{FE0F}') && before.is_some_and(is_symbol)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_are_composed_and_counted_in_nfc() {
        for (text, composed) in [("Cafe\u{301}", "Café"), ("Е\u{308}лка", "Ёлка"), ("И\u{306}од", "Йод")]
        {
            assert_eq!(parse(text, composed.chars().count()).as_deref(), Ok(composed));
        }
        assert_eq!(folded("КАФЕ\u{301} И\u{306}од"), folded("кафе\u{301} ЙОД"));
        for text in ["Склад № 1", "ООО «Ромашка»", "O'Neil & Sons", "倉庫", "🏭", "مخزن", "x\u{E000}"]
        {
            assert!(parse(text, 100).is_ok(), "{text:?}");
        }
    }

    /// Every character that Unicode's own tables call invisible, alone and between two letters.
    #[test]
    fn invisible_characters_are_no_letters() {
        use regex_syntax::hir::{Class, HirKind};

        let HirKind::Class(Class::Unicode(ignorable)) =
            regex_syntax::parse(r"[\p{Default_Ignorable_Code_Point}\u2800]").unwrap().into_kind()
        else {
            panic!("a class of characters");
        };
        let mut seen = 0;
        for range in ignorable.ranges() {
            for character in range.start()..=range.end() {
                for text in [character.to_string(), format!("a{character}b")] {
                    assert!(parse(&text, 100).is_err(), "{character:?}");
                }
                seen += 1;
            }
        }
        assert!(seen > 4_000, "{seen}");
        for (first, last) in INVISIBLE {
            let is_known = |character: char| {
                ignorable.ranges().iter().any(|range| (range.start()..=range.end()).contains(&character))
            };
            assert!(is_known(*first) && is_known(*last), "{first:?}");
        }
        assert_eq!(parse("Кафе ☕\u{fe0f}", 100).as_deref(), Ok("Кафе ☕\u{fe0f}"));
        for text in ["Кафе\u{fe0f}", "\u{fe0f}", "☕\u{fe0f}\u{fe0f}"] {
            assert!(parse(text, 100).is_err(), "{text:?}");
        }
    }

    #[test]
    fn invisible_texts_are_refused() {
        let hidden =
            ["\0", "\t", "\n", "\u{85}", "\u{ad}", "\u{61c}", "\u{200b}", "\u{200d}", "\u{200f}", "\u{2028}"];
        let more = [
            "\u{2029}",
            "\u{202e}",
            "\u{2066}",
            "\u{2069}",
            "\u{feff}",
            "\u{fff9}",
            "\u{e0041}",
            "\u{378}",
            "\u{fffff}",
        ];
        for text in hidden.into_iter().chain(more) {
            let reason = parse(&format!("a{text}b"), 100).unwrap_err().to_string();
            assert!(reason.contains("control, format, invisible or"), "{text:?}: {reason}");
        }
        for text in ["", "  ", "\u{3000}"] {
            assert_eq!(parse(text, 100).unwrap_err().to_string(), "must not be empty");
        }
        assert!(parse("abc", 2).is_err());
    }

    proptest! {
        #[test]
        fn parsing_twice_is_parsing_once(text in ".*") {
            if let Ok(parsed) = parse(&text, 100) {
                prop_assert_eq!(parse(&parsed, 100), Ok(parsed));
            }
        }

        #[test]
        fn folding_twice_is_folding_once(text in ".*") {
            let once = folded(&text);
            prop_assert_eq!(folded(&once), once);
        }
    }
}
