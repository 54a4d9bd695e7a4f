//! A request of a browser, and the response to it.

use sha2::{Digest as _, Sha256};

use crate::host::Chunks;
use crate::texts::Language;

/// A request under the console's path.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Whether it is a `POST`; otherwise it only reads.
    pub is_post: bool,
    /// The path below the console's.
    pub path: String,
    /// The query string.
    pub query: String,
    /// The values of `Cookie`, joined by `; `.
    pub cookies: String,
    /// `Host`.
    pub host: String,
    /// `Origin`.
    pub origin: Option<String>,
    /// `Sec-Fetch-Site`.
    pub fetch_site: Option<String>,
    /// The body: a form.
    pub body: Vec<u8>,
    /// The language that the browser prefers.
    pub language: Language,
}

/// The response to a request.
#[derive(Debug, Default)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, with those that keep browsers safe.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty if it comes in chunks.
    pub body: Vec<u8>,
    /// The body of a file that is made while it is sent.
    pub chunks: Option<Chunks>,
}

/// Names and values of a query or a form, in their order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pairs(Vec<(String, String)>);

impl Pairs {
    /// Of `application/x-www-form-urlencoded` text.
    pub(crate) fn parse(text: &[u8]) -> Self {
        Self(form_urlencoded::parse(text).into_owned().collect())
    }

    /// The value of the first pair of this name, without blanks around it; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.trim())
    }

    /// The value as it was sent, for passwords.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str())
    }

    /// The value, unless it is empty.
    pub(crate) fn given(&self, name: &str) -> Option<&str> {
        Some(self.get(name)).filter(|value| !value.is_empty())
    }

    /// The same with another value for one name.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let others = self.0.iter().filter(|(other, _)| other != name).cloned();
        Self(others.chain([(name.to_owned(), value.to_owned())]).collect())
    }

    /// SHA-256 over the path and all pairs but those of these names.
    pub(crate) fn digest(&self, path: &str, without: &[&str]) -> [u8; 32] {
        let mut hash = Sha256::new();
        let values = self.0.iter().filter(|(name, _)| !without.contains(&&**name));
        for part in values.flat_map(|(name, value)| [&**name, &**value]).chain([path]) {
            hash.update(part.len().to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }

    /// As a query string, without empty values.
    pub(crate) fn query(&self) -> String {
        let given = self.0.iter().filter(|(_, value)| !value.is_empty());
        form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Pairs {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_one_of_path_and_values() {
        let of = |text: &str| Pairs::parse(text.as_bytes()).digest("/a", &["key"]);
        let all = [of("a=bc"), of("ab=c"), of("a=b&c="), of(""), Pairs::default().digest("/b", &[])];
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one), "{at}");
        }
        assert_eq!(of("a=bc&key=1"), of("key=2&a=bc"));
    }

    #[test]
    fn a_form_is_read_and_a_query_is_written() {
        let pairs = Pairs::parse("q=+%D0%98%D0%B2%D0%B0%D0%BD+&q=other&page=3&empty=".as_bytes());
        assert_eq!((pairs.get("q"), pairs.raw("q")), ("Иван", " Иван "));
        assert_eq!((pairs.given("empty"), pairs.given("none"), pairs.get("none")), (None, None, ""));
        let next = Pairs::from([("q", "a b&c"), ("page", "1"), ("empty", "")]).with("page", "2");
        assert_eq!(next.query(), "q=a+b%26c&page=2");
        assert_eq!(Pairs::parse(next.query().as_bytes()).get("q"), "a b&c");
    }
}
