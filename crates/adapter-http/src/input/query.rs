//! A strict parser of the query string.

use std::collections::BTreeSet;

use crate::input::faults::Faults;

/// The field name of a fault of the whole query.
pub(crate) const QUERY: &str = "query";

/// The most parameters and bytes of a query string.
pub(crate) const MAX_PARAMETERS: usize = 32;
pub(crate) const MAX_BYTES: usize = 4 * 1024;

/// Whether a query string is short enough.
pub(crate) fn is_within_limits(query: &str) -> bool {
    query.len() <= MAX_BYTES && pairs(query).count() <= MAX_PARAMETERS
}

/// The parameters of a query string in their order. `is_known` tells the names of the operation: a fault of another
/// parameter is reported as `query`, because its name is client text.
///
/// # Errors
/// [`Faults`] for parameters that are not percent-encoded UTF-8, or repeated.
pub(crate) fn parse(query: &str, is_known: impl Fn(&str) -> bool) -> Result<Vec<(String, String)>, Faults> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut faults = Faults::new();
    for pair in pairs(query) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (decode(name), decode(value));
        let field = name.as_deref().filter(|name| is_known(name)).unwrap_or(QUERY);
        match (&name, value) {
            (Some(name), _) if name.is_empty() => faults.push(QUERY, "holds a parameter without a name"),
            (Some(name), Some(_)) if names.contains(name) => faults.push(field, "is given twice"),
            (Some(name), Some(value)) => {
                names.insert(name.clone());
                parameters.push((name.clone(), value));
            }
            (Some(_) | None, _) => faults.push(field, "must be percent-encoded UTF-8"),
        }
    }
    faults.check().map(|()| parameters)
}

/// The parameters that are not empty.
fn pairs(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|pair| !pair.is_empty())
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => hex(rest.next()?)? << 4 | hex(rest.next()?)?,
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(query: &str) -> Vec<(String, String)> {
        parse(query, |_| true).unwrap()
    }

    fn faulty(query: &str) -> Vec<String> {
        let known = |name: &str| ["page", "q", "r"].contains(&name);
        parse(query, known).unwrap_err().as_slice().iter().map(|fault| fault.field.clone()).collect()
    }

    #[test]
    fn decodes_names_and_values() {
        let expected = [("page", "2"), ("q", "Ёж и я"), ("empty", ""), ("flag", "")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(read("page=2&q=%D0%81%d0%b6+%D0%B8%20%D1%8F&&empty=&flag"), expected);
        assert!(read("").is_empty());
    }

    #[test]
    fn refuses_what_cannot_be_decoded() {
        assert_eq!(faulty("page=%&q=%zz&r=%f"), ["page", "q", "r"]);
        assert_eq!(faulty("q=%FF"), ["q"]);
        assert_eq!(faulty("%FF=1"), ["query"]);
        assert_eq!(faulty("page=%+1"), ["page"]);
        assert_eq!(faulty("=1"), ["query"]);
    }

    #[test]
    fn refuses_a_parameter_given_twice() {
        assert_eq!(faulty("page=1&page=1"), ["page"]);
        assert_eq!(faulty("page=1&p%61ge=2"), ["page"]);
    }

    #[test]
    fn unknown_names_are_not_echoed() {
        assert_eq!(faulty("mine=1&mine=2&other=%ff&page=%ff"), ["query", "query", "page"]);
    }

    #[test]
    fn a_query_has_at_most_32_parameters_and_4_kib() {
        let parameters = |count: usize| (0..count).map(|n| format!("&&p{n}=1")).collect::<String>();
        assert!(is_within_limits(&parameters(32)) && !is_within_limits(&parameters(33)));
        let bytes = |count: usize| format!("q={}", "x".repeat(count - 2));
        assert!(is_within_limits(&bytes(4_096)) && !is_within_limits(&bytes(4_097)));
        assert!(is_within_limits(&"&".repeat(4_096)) && !is_within_limits(&"&".repeat(4_097)));
    }
}
