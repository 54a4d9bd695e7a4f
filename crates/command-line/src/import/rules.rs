//! The rules for employees, as far as the reference states them: for a dry run, which does not ask the service.

use std::str::FromStr as _;

use crate::csv_file::{Row, RowFault};

/// What is wrong with the values of a row.
pub(super) fn check(row: &Row, custom_id: &str) -> Vec<RowFault> {
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
    let allowed = |c: char| is_letter(c) || c.is_ascii_digit() || c == '-' || c == '_';
    too_long(text, 64).or_else(|| {
        (!text.chars().all(allowed))
            .then(|| "may hold Latin and Cyrillic letters, digits, '-' and '_' only".to_owned())
    })
}

fn name_fault(text: &str) -> Option<String> {
    too_long(text, 32).or_else(|| {
        (!text.chars().all(|c| is_letter(c) || c == '-'))
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
    text.chars().nth(most).map(|_| format!("must have at most {most} characters"))
}

/// Latin letters, and every letter of the Unicode block Cyrillic (`Ё` lies outside `А..я`).
fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || ('\u{0400}'..='\u{04FF}').contains(&c) && c.is_alphabetic()
}
