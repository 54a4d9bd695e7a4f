//! The query string, read strictly: what cannot be decoded is refused, not guessed.

use kopeck_domain::Faults;

/// What is faulty where no parameter can be named.
const QUERY: &str = "query";

/// Reads the parameters of a query string in the order in which they stand there.
///
/// # Errors
/// [`Faults`] naming each parameter that is not percent-encoded UTF-8 (or `query` where its name is not, or is missing),
/// and each that is given twice.
pub(crate) fn parse(query: &str) -> Result<Vec<(String, String)>, Faults> {
    let mut parameters: Vec<(String, String)> = Vec::new();
    let mut faults = Faults::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        match (decode(name), decode(value)) {
            (Some(name), _) if name.is_empty() => faults.push(QUERY, "holds a parameter without a name"),
            (Some(name), Some(_)) if parameters.iter().any(|(other, _)| *other == name) => {
                faults.push(name, "is given twice");
            }
            (Some(name), Some(value)) => parameters.push((name, value)),
            (Some(name), None) => faults.push(name, "must be percent-encoded UTF-8"),
            (None, _) => faults.push(QUERY, "must be percent-encoded UTF-8"),
        }
    }
    faults.check().map(|()| parameters)
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

    fn pairs(query: &str) -> Vec<(String, String)> {
        parse(query).unwrap()
    }

    fn faulty(query: &str) -> Vec<String> {
        parse(query).unwrap_err().as_slice().iter().map(|fault| fault.field.clone()).collect()
    }

    #[test]
    fn decodes_names_and_values() {
        let expected = [("page", "2"), ("q", "Ёж и я"), ("empty", ""), ("flag", "")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs("page=2&q=%D0%81%d0%b6+%D0%B8%20%D1%8F&&empty=&flag"), expected);
        assert!(pairs("").is_empty());
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
}
