//! Entity tags of employees and the condition of an update, `If-Match`: a lost update is refused with 412.
//!
//! A tag is a digest of the employee's fields. Its key keeps who sees only headers from trying names and phones.

use std::sync::Arc;

use actix_web::http::header::{self, HeaderMap};
use kopeck_service::tokens::TokenService;
use serde::Serialize;

use crate::input::faults::Faults;
use crate::response::to_json;

/// The name of the condition.
pub(crate) const IF_MATCH: &str = "if-match";

/// Bytes of the digest in a tag.
const LENGTH: usize = 16;

/// Makes entity tags.
#[derive(Clone)]
pub(crate) struct EntityTags(pub(crate) Arc<TokenService>);

impl EntityTags {
    /// The tag of a value by its JSON, with its quotes.
    pub(crate) fn of_json(&self, json: &[u8]) -> String {
        let digest = self.0.fingerprint("entity-tag", json);
        let hex: String = digest.iter().take(LENGTH).map(|byte| format!("{byte:02x}")).collect();
        format!("\"{hex}\"")
    }

    /// The tag of a value; `None` if it has no JSON.
    pub(crate) fn of(&self, value: &impl Serialize) -> Option<String> {
        to_json(value).ok().map(|json| self.of_json(&json))
    }
}

/// The value of `If-Match`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// No condition, or `*`, which any present state meets.
    #[default]
    Anything,
    /// One of these tags, with their quotes. A weak tag meets nothing.
    OneOf(Vec<String>),
    /// Not of the header's form.
    Malformed,
}

impl IfMatch {
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut tags = Vec::new();
        for value in headers.get_all(header::IF_MATCH) {
            let Ok(list) = value.to_str() else { return Self::Malformed };
            for tag in list.split(',').map(str::trim).filter(|tag| !tag.is_empty()) {
                let opaque = tag.strip_prefix("W/").unwrap_or(tag);
                let quoted = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                match quoted {
                    Some(text) if !text.contains('"') => tags.push(tag.to_owned()),
                    None if tag == "*" => return Self::Anything,
                    Some(_) | None => return Self::Malformed,
                }
            }
        }
        let is_set = headers.contains_key(header::IF_MATCH);
        if is_set { Self::OneOf(tags) } else { Self::Anything }
    }

    /// Adds the fault of a malformed header.
    pub(crate) fn check(&self, faults: &mut Faults) {
        if *self == Self::Malformed {
            faults.push(IF_MATCH, "must be * or entity tags in their double quotes, as etag has them");
        }
    }

    /// Whether the present `tag` meets it.
    pub(crate) fn is_met_by(&self, tag: impl FnOnce() -> Option<String>) -> bool {
        match self {
            Self::Anything => true,
            Self::OneOf(tags) => tag().is_some_and(|tag| tags.contains(&tag)),
            Self::Malformed => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> IfMatch {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::IF_MATCH, value.parse().unwrap());
        }
        IfMatch::read(&headers)
    }

    #[test]
    fn a_condition_is_read_from_its_header() {
        let one_of = |tags: &[&str]| IfMatch::OneOf(tags.iter().map(|tag| (*tag).to_owned()).collect());
        for (values, expected) in [
            (&[][..], IfMatch::Anything),
            (&["*"], IfMatch::Anything),
            (&[" * "], IfMatch::Anything),
            (&["\"a\""], one_of(&["\"a\""])),
            (&["\"a\", W/\"b\"", "\"c\""], one_of(&["\"a\"", "W/\"b\"", "\"c\""])),
            (&[""], one_of(&[])),
            (&["a"], IfMatch::Malformed),
            (&["\"a"], IfMatch::Malformed),
            (&["\"a\" \"b\""], IfMatch::Malformed),
            (&["\"a\", b"], IfMatch::Malformed),
        ] {
            assert_eq!(read(values), expected, "{values:?}");
        }
    }

    #[test]
    fn only_a_strong_tag_of_the_present_state_meets_it() {
        let present = || Some("\"a\"".to_owned());
        assert!(read(&[]).is_met_by(|| None) && read(&["*"]).is_met_by(|| None));
        assert!(read(&["\"b\", \"a\""]).is_met_by(present));
        for other in ["\"b\"", "W/\"a\"", "", "a"] {
            assert!(!read(&[other]).is_met_by(present), "{other}");
        }
    }
}
