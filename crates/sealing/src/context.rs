//! The context of a sealed value: its request, and its place in it.

use std::borrow::Cow;
use std::fmt;

use crate::pae;
use crate::seal::looks_sealed;

/// Longest sealed identifier of a path and longest sealed query parameter, in characters.
pub const MAX_PARAMETER_CHARS: usize = 512;

/// Longest sealed query, in characters.
pub const MAX_QUERY_CHARS: usize = 2_048;

const DOMAIN: &[u8] = b"pcs1";

/// The place of a sealed value in a request. `Display` is the slot's text, such as `path:idCard`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Slot<'a> {
    /// The whole body.
    Body,
    /// All query parameters, as one JSON object.
    Query,
    /// An identifier in the path, by the name of its placeholder: `idCard`.
    Path(&'a str),
    /// One query parameter, by its name: `page`.
    QueryParameter(&'a str),
    /// One field of a body, by its name at the top level: `statusCard`.
    Field(&'a str),
}

impl Slot<'_> {
    /// The maximum length of a sealed value here, in characters. `None` in a body, whose size is limited elsewhere.
    #[must_use]
    pub const fn max_chars(&self) -> Option<usize> {
        match self {
            Self::Body | Self::Field(_) => None,
            Self::Query => Some(MAX_QUERY_CHARS),
            Self::Path(_) | Self::QueryParameter(_) => Some(MAX_PARAMETER_CHARS),
        }
    }
}

impl fmt::Display for Slot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Body => f.write_str("body"),
            Self::Query => f.write_str("query"),
            Self::Path(name) => write!(f, "path:{name}"),
            Self::QueryParameter(name) => write!(f, "query:{name}"),
            // A JSON pointer: `~` and `/` of a name are escaped.
            Self::Field(name) => write!(f, "field:/{}", name.replace('~', "~0").replace('/', "~1")),
        }
    }
}

/// The plaintext neighbours of a sealed value: every unsealed query parameter or body field beside it. They are bound
/// in the order of their slots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clear<'a> {
    /// Sorted by the text of the slot.
    neighbours: Vec<(String, Cow<'a, str>)>,
}

impl<'a> Clear<'a> {
    /// An empty list to add to.
    #[must_use]
    pub const fn new() -> Self {
        Self { neighbours: Vec::new() }
    }

    /// No neighbours: what is sealed is the whole body, the whole query, or an identifier in the path.
    #[must_use]
    pub fn none() -> &'static Clear<'static> {
        static NONE: Clear<'static> = Clear::new();
        &NONE
    }

    /// Adds a neighbour by its slot and value. A query parameter's value is its text after percent-decoding, a
    /// field's its JSON text, strings without their quotes.
    pub fn add(&mut self, slot: Slot<'_>, value: impl Into<Cow<'a, str>>) {
        let slot = slot.to_string();
        let place = self.neighbours.partition_point(|(name, _)| *name <= slot);
        self.neighbours.insert(place, (slot, value.into()));
    }

    /// Slot and value of each neighbour, in the order in which they are bound.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.neighbours.iter().map(|(slot, value)| (slot.as_str(), value.as_ref()))
    }
}

/// The request of a sealed value, and its place in it.
#[derive(Debug, Clone, Copy)]
pub struct RequestContext<'a> {
    /// The method in upper case.
    pub method: &'a str,
    /// The path as [`bound_path`] makes it: sealed segments are `*`, no query, no final slash.
    pub path: &'a str,
    /// The request's `x-nonce`; see [`valid_nonce`].
    pub nonce: &'a str,
    /// The place of the value.
    pub slot: Slot<'a>,
    /// The plaintext parameters beside it.
    pub clear: &'a Clear<'a>,
}

/// The request of a sealed response, which is always sealed as a whole.
#[derive(Debug, Clone, Copy)]
pub struct ResponseContext<'a> {
    /// The method of the request in upper case.
    pub method: &'a str,
    /// The path of the request as [`bound_path`] makes it.
    pub path: &'a str,
    /// The `x-nonce` of the request.
    pub nonce: &'a str,
    /// The status code of the response.
    pub status: u16,
}

/// The event that a sealed `data` belongs to. Its slot is the body, and it is bound to `POST /` whatever the URL of the
/// webhook is, so a receiver behind a proxy that rewrites paths can open it.
#[derive(Debug, Clone, Copy)]
pub struct EventContext<'a> {
    /// The event's `id`, which the header `webhook-id` carries too.
    pub id: &'a str,
}

/// The path as it is bound: from the version prefix on, without query and final slash, each sealed segment
/// written `*`.
#[must_use]
pub fn bound_path(called: &str) -> Cow<'_, str> {
    let path = called.split_once('?').map_or(called, |(path, _)| path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if !path.split('/').any(looks_sealed) {
        return Cow::Borrowed(path);
    }
    let segments: Vec<&str> =
        path.split('/').map(|segment| if looks_sealed(segment) { "*" } else { segment }).collect();
    Cow::Owned(segments.join("/"))
}

/// Whether a text can be an `x-nonce`: 16 to 64 of `A-Z a-z 0-9 . _ ~ + / = -`.
#[must_use]
pub fn valid_nonce(text: &str) -> bool {
    (16..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte))
}

/// The direction of a sealed value, with the inputs of key derivation and cipher.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Context<'a> {
    Request(&'a RequestContext<'a>),
    Response(&'a ResponseContext<'a>),
    Event(&'a EventContext<'a>),
}

impl Context<'_> {
    pub(crate) fn nonce(&self) -> &str {
        match self {
            Self::Request(request) => request.nonce,
            Self::Response(response) => response.nonce,
            Self::Event(event) => event.id,
        }
    }

    pub(crate) fn slot(&self) -> Slot<'_> {
        match self {
            Self::Request(request) => request.slot,
            Self::Response(_) | Self::Event(_) => Slot::Body,
        }
    }

    /// The HKDF info.
    pub(crate) fn info(&self) -> Vec<u8> {
        let direction: &[u8] = match self {
            Self::Request(_) => b"req",
            Self::Response(_) => b"res",
            Self::Event(_) => b"evt",
        };
        let slot = self.slot().to_string();
        pae::encode(&[DOMAIN, direction, self.nonce().as_bytes(), slot.as_bytes()])
    }

    /// The associated data.
    pub(crate) fn associated_data(&self, header: &[u8]) -> Vec<u8> {
        match self {
            Self::Request(request) => {
                let mut pieces = vec![DOMAIN, header, request.method.as_bytes(), request.path.as_bytes()];
                for (slot, value) in request.clear.iter() {
                    pieces.push(slot.as_bytes());
                    pieces.push(value.as_bytes());
                }
                pae::encode(&pieces)
            }
            Self::Response(response) => {
                let status = response.status.to_string();
                pae::encode(&[
                    DOMAIN,
                    header,
                    response.method.as_bytes(),
                    response.path.as_bytes(),
                    status.as_bytes(),
                ])
            }
            Self::Event(_) => pae::encode(&[DOMAIN, header, b"POST", b"/"]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_written_as_the_format_says() {
        let texts = [
            (Slot::Body, "body"),
            (Slot::Query, "query"),
            (Slot::Path("idCard"), "path:idCard"),
            (Slot::QueryParameter("page"), "query:page"),
            (Slot::Field("statusCard"), "field:/statusCard"),
            (Slot::Field("a/b~c"), "field:/a~1b~0c"),
        ];
        for (slot, text) in texts {
            assert_eq!(slot.to_string(), text);
        }
    }

    #[test]
    fn neighbours_sort_themselves() {
        let mut clear = Clear::new();
        clear.add(Slot::QueryParameter("per_page"), "50");
        clear.add(Slot::QueryParameter("from"), "01.02.2026".to_owned());
        clear.add(Slot::Field("idCard"), "x");
        let slots: Vec<_> = clear.iter().map(|(slot, _)| slot).collect();
        assert_eq!(slots, ["field:/idCard", "query:from", "query:per_page"]);
        assert_eq!(Clear::none().iter().count(), 0);
    }

    #[test]
    fn paths_are_bound_without_query_slash_and_sealed_segments() {
        let paths = [
            ("/v1/employees", "/v1/employees"),
            ("/v1/order/confirm/", "/v1/order/confirm"),
            ("/v1/replenishment/status/?idReplenishment=s1.abc", "/v1/replenishment/status"),
            ("/v1/card/s1.AaGy/transactions?page=2", "/v1/card/*/transactions"),
            ("/v1/employee/s1.AaGy/", "/v1/employee/*"),
            (
                "/v1/card/0f8fad5b-d9cb-469f-a165-70867728950e",
                "/v1/card/0f8fad5b-d9cb-469f-a165-70867728950e",
            ),
        ];
        for (called, bound) in paths {
            assert_eq!(bound_path(called), bound);
        }
    }

    #[test]
    fn nonces_have_an_alphabet_and_a_length() {
        assert!(valid_nonce("3f2a9c51e7d84b0fa6c2d1e45b907788"));
        assert!(valid_nonce("Zm9vYmFyLXJhbmRvbS1ub25jZQ=="));
        assert!(valid_nonce("~._-+/=0AZaz9xyz"));
        assert!(valid_nonce(&"a".repeat(64)));
        for bad in ["", "short", "0123456789 abcdef", "0123456789abcdef\r\n", "нонснонснонснонс"]
        {
            assert!(!valid_nonce(bad), "{bad:?}");
        }
        assert!(!valid_nonce(&"a".repeat(65)));
        assert!(!valid_nonce(&"a".repeat(15)));
    }
}
