//! The letters of people's names: every letter of the Unicode scripts Latin and Cyrillic in its composed form.
//!
//! A table, so that a user can make a pattern of it where `\p{…}` is not understood. A test compares it with Unicode's own
//! data.

/// First and last letter of each range, ascending: the letters of the two scripts (Unicode 16) that are their own
/// compatibility composition (NFKC). `ﬁ`, `ª` and full-width letters are not: another text means the same.
pub(super) const NAME_LETTERS: &[(char, char)] = &[
    ('A', 'Z'),
    ('a', 'z'),
    ('\u{C0}', '\u{D6}'),
    ('\u{D8}', '\u{F6}'),
    ('\u{F8}', '\u{131}'),
    ('\u{134}', '\u{13E}'),
    ('\u{141}', '\u{148}'),
    ('\u{14A}', '\u{17E}'),
    ('\u{180}', '\u{1C3}'),
    ('\u{1CD}', '\u{1F0}'),
    ('\u{1F4}', '\u{2AF}'),
    ('\u{400}', '\u{481}'),
    ('\u{48A}', '\u{52F}'),
    ('\u{1C80}', '\u{1C8A}'),
    ('\u{1D00}', '\u{1D25}'),
    ('\u{1D2B}', '\u{1D2B}'),
    ('\u{1D2F}', '\u{1D2F}'),
    ('\u{1D3B}', '\u{1D3B}'),
    ('\u{1D4E}', '\u{1D4E}'),
    ('\u{1D6B}', '\u{1D77}'),
    ('\u{1D79}', '\u{1D9A}'),
    ('\u{1E00}', '\u{1E99}'),
    ('\u{1E9C}', '\u{1EFF}'),
    ('\u{2132}', '\u{2132}'),
    ('\u{214E}', '\u{214E}'),
    ('\u{2183}', '\u{2184}'),
    ('\u{2C60}', '\u{2C7B}'),
    ('\u{2C7E}', '\u{2C7F}'),
    ('\u{A640}', '\u{A66E}'),
    ('\u{A67F}', '\u{A69B}'),
    ('\u{A722}', '\u{A76F}'),
    ('\u{A771}', '\u{A787}'),
    ('\u{A78B}', '\u{A7CD}'),
    ('\u{A7D0}', '\u{A7D1}'),
    ('\u{A7D3}', '\u{A7D3}'),
    ('\u{A7D5}', '\u{A7DC}'),
    ('\u{A7F5}', '\u{A7F7}'),
    ('\u{A7FA}', '\u{A7FF}'),
    ('\u{AB30}', '\u{AB5A}'),
    ('\u{AB60}', '\u{AB64}'),
    ('\u{AB66}', '\u{AB68}'),
    ('\u{10780}', '\u{10780}'),
    ('\u{1DF00}', '\u{1DF1E}'),
    ('\u{1DF25}', '\u{1DF2A}'),
];

/// Whether a character is a letter of a name.
pub(super) fn is_name_letter(character: char) -> bool {
    let after = NAME_LETTERS.partition_point(|(first, _)| *first <= character);
    after.checked_sub(1).and_then(|at| NAME_LETTERS.get(at)).is_some_and(|(_, last)| character <= *last)
}

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{Class, HirKind};
    use unicode_normalization::UnicodeNormalization as _;

    use super::*;

    /// The characters of a class, by the tables of Unicode that `regex-syntax` has.
    fn class(pattern: &str) -> Vec<(char, char)> {
        match regex_syntax::parse(pattern).unwrap().into_kind() {
            HirKind::Class(Class::Unicode(class)) => {
                class.ranges().iter().map(|range| (range.start(), range.end())).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_table_has_every_letter_of_both_scripts_and_no_other_character() {
        let letters = class(r"[[\p{Script=Latin}\p{Script=Cyrillic}]&&\p{Letter}]");
        for character in '\0'..=char::MAX {
            let of_scripts = letters.iter().any(|(first, last)| (*first..=*last).contains(&character));
            let composed = [character].into_iter().nfkc().eq([character]);
            assert_eq!(is_name_letter(character), of_scripts && composed, "{character:?}");
        }
    }
}
