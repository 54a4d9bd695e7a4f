//! The rules for employees from the reference: a dry run does not ask the service.

use std::str::FromStr as _;

use unicode_normalization::UnicodeNormalization as _;

use crate::csv_file::{CsvRow, RowFault};

/// The faults of a row.
pub(super) fn check(row: &CsvRow, custom_id: &str) -> Vec<RowFault> {
    let texts = [
        ("customId", custom_id_fault as fn(&str) -> Option<String>),
        ("surname", name_fault),
        ("name", name_fault),
        ("patronymic", name_fault),
        ("phone", phone_fault),
        ("email", email_fault),
        ("status", status_fault),
    ];
    let fault = |(column, rule): (&str, fn(&str) -> Option<String>)| {
        row.get(column).and_then(rule).map(|reason| row.fault(custom_id, column, reason))
    };
    texts.into_iter().filter_map(fault).collect()
}

fn custom_id_fault(text: &str) -> Option<String> {
    let is_letter =
        |c: char| c.is_ascii_alphabetic() || matches!(c, '\u{400}'..='\u{4FF}') && c.is_alphabetic();
    let allowed = |c: char| is_letter(c) || c.is_ascii_digit() || c == '-' || c == '_';
    too_long(text, 64).or_else(|| {
        (!text.nfc().all(allowed))
            .then(|| "may hold Latin and Cyrillic letters, digits, '-' and '_' only".to_owned())
    })
}

fn name_fault(text: &str) -> Option<String> {
    too_long(text, 32).or_else(|| {
        (!text.nfc().all(|c| is_name_letter(c) || c == '-'))
            .then(|| "may hold Latin and Cyrillic letters and '-' only".to_owned())
    })
}

fn phone_fault(text: &str) -> Option<String> {
    let good = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    (!good).then(|| "must be exactly 10 digits without a country code".to_owned())
}

fn email_fault(text: &str) -> Option<String> {
    let good = || email_address::EmailAddress::from_str(text).is_ok() && !text.contains('<');
    too_long(text, 254).or_else(|| (!good()).then(|| "must be of the form local-part@domain".to_owned()))
}

fn status_fault(text: &str) -> Option<String> {
    (!["WORK", "VACATION", "MEDICAL", "DONT_WORK"].contains(&text))
        .then(|| "must be one of WORK, VACATION, MEDICAL, DONT_WORK".to_owned())
}

fn too_long(text: &str, most: usize) -> Option<String> {
    text.nfc().nth(most).map(|_| format!("must have at most {most} characters"))
}

/// The letters of the Unicode blocks of Latin and Cyrillic. The service takes these but for a few that no name is
/// written with, such as ligatures.
fn is_name_letter(c: char) -> bool {
    let latin = matches!(c, 'A'..='z' | '\u{C0}'..='\u{24F}' | '\u{250}'..='\u{2AF}' | '\u{1D00}'..='\u{1DBF}')
        || matches!(c, '\u{1E00}'..='\u{1EFF}' | '\u{2C60}'..='\u{2C7F}' | '\u{A720}'..='\u{A7FF}')
        || matches!(c, '\u{AB30}'..='\u{AB6F}');
    let cyrillic = matches!(c, '\u{400}'..='\u{52F}' | '\u{1C80}'..='\u{1C8F}' | '\u{A640}'..='\u{A69F}');
    (latin || cyrillic) && c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_latin_and_cyrillic_letters() {
        for text in
            ["Müller", "Mu\u{308}ller", "José", "Łukasz", "Nguyễn", "Ёлкина", "Ґалаґан", "Ԩ", "Smith-Jones"]
        {
            assert_eq!(name_fault(text), None, "{text}");
        }
        for text in ["O'Neil", "Anna Lee", "Ivan1", "王", "Ω", "x\u{301}", "a_b"] {
            assert!(name_fault(text).is_some(), "{text}");
        }
        assert_eq!(name_fault(&"e\u{301}".repeat(32)), None);
        assert!(custom_id_fault("é").is_some());
        assert_eq!(custom_id_fault("И\u{306}_1-a"), None);
    }
}
