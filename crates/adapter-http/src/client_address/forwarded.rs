//! The syntax of `Forwarded` (RFC 7239, section 4) and of `X-Forwarded-For`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The elements of a list from the last to the first; a separator inside a quoted string does not count.
///
/// It starts at the end, because the client may have written the beginning: an unclosed quotation mark there cannot
/// hide an element that a proxy has appended.
pub(super) fn from_the_end(list: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let list = rest?;
        let mut quoted = false;
        let end = (0..list.len()).rev().find(|at| {
            let (before, from) = list.split_at(*at);
            match from.first() {
                Some(b'"') if !ends_in_escape(before) => quoted = !quoted,
                Some(byte) if *byte == separator => return !quoted,
                _ => {}
            }
            false
        });
        let (before, element) = match end.map(|at| list.split_at(at)) {
            Some((before, element)) => (Some(before), element.get(1..).unwrap_or_default()),
            None => (None, list),
        };
        rest = before;
        Some(element)
    })
}

/// Whether the character behind `text` is escaped: an odd number of backslashes stands before it.
fn ends_in_escape(text: &[u8]) -> bool {
    text.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// The address that one element of `Forwarded` names by its parameter `for`.
pub(super) fn forwarded(element: &[u8]) -> Option<IpAddr> {
    let mut client = None;
    for pair in from_the_end(element, b';') {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let name = halves.next().unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"for") && client.replace(halves.next()?).is_some() {
            return None;
        }
    }
    x_forwarded_for(client?)
}

/// The address that one element of `X-Forwarded-For` names.
pub(super) fn x_forwarded_for(element: &[u8]) -> Option<IpAddr> {
    let element = element.trim_ascii();
    let unquoted = element.strip_prefix(b"\"").and_then(|inner| inner.strip_suffix(b"\""));
    node(std::str::from_utf8(unquoted.unwrap_or(element)).ok()?)
}

/// Parses an address with or without a port. `None` for `unknown` and obfuscated names such as `_hidden`.
fn node(text: &str) -> Option<IpAddr> {
    if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']')?;
        let is_complete = after.is_empty() || after.strip_prefix(':').is_some_and(is_port);
        return address.parse::<Ipv6Addr>().ok().filter(|_| is_complete).map(IpAddr::V6);
    }
    text.parse().ok().or_else(|| {
        let (address, port) = text.split_once(':')?;
        address.parse::<Ipv4Addr>().ok().filter(|_| is_port(port)).map(IpAddr::V4)
    })
}

/// Whether `text` is a port, or an obfuscated one such as `_80`.
fn is_port(text: &str) -> bool {
    let digits = |byte: u8| byte.is_ascii_digit();
    let obfuscated = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    match text.strip_prefix('_') {
        Some(name) => !name.is_empty() && name.bytes().all(obfuscated),
        None => (1..=5).contains(&text.len()) && text.bytes().all(digits),
    }
}
