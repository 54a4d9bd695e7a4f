//! A request of a browser, and the response to it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;

use futures_util::stream;
use kopeck_domain::ids::{PartnerId, UserId};
use multer::bytes::Bytes;
use sha2::{Digest as _, Sha256};

use crate::host::Chunks;
use crate::texts::{Language, Text};
use crate::view::Form;

/// A request under the console's path.
#[derive(Clone, Default)]
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
    /// `Content-Type`.
    pub content_type: String,
    /// The body: a form. As long as the request has it, it counts for the memory of bodies.
    pub body: Bytes,
    /// The status code that refuses a body which could not be read, such as 413.
    pub refused: Option<u16>,
    /// The language that the browser prefers.
    pub language: Language,
}

/// Cookies, paths and bodies hold secrets and personal data.
impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("is_post", &self.is_post).finish_non_exhaustive()
    }
}

/// The most fields of a form. The largest of the console chooses among 500 categories.
const MAX_FIELDS: usize = 1_000;

/// The type of forms without a file.
const FORM: &str = "application/x-www-form-urlencoded";

impl Request {
    /// Whether the console reads bodies of this type: forms, with files or without.
    #[must_use]
    pub fn takes(content_type: &str) -> bool {
        content_type == FORM || multer::parse_boundary(content_type).is_ok()
    }

    /// What the form says.
    ///
    /// # Errors
    /// Why it is not read: it is no whole form, or has too many fields, each of which takes memory of its own.
    pub(crate) async fn form(&self) -> Result<SentForm, Text> {
        if self.content_type == FORM || self.body.is_empty() {
            if self.body.iter().filter(|byte| **byte == b'&').count() >= MAX_FIELDS {
                return Err(Text::FORM_TOO_LARGE);
            }
            return Ok(SentForm { fields: Pairs::parse(&self.body), file: None });
        }
        let form = self.form_with_file().await.ok_or(Text::FORM_INCOMPLETE)?;
        if form.fields.0.len() > MAX_FIELDS { Err(Text::FORM_TOO_LARGE) } else { Ok(form) }
    }

    /// The parts of the form, up to one too many.
    async fn form_with_file(&self) -> Option<SentForm> {
        let boundary = multer::parse_boundary(&self.content_type).ok()?;
        let body = stream::iter([Ok::<_, Infallible>(self.body.clone())]);
        let mut parts = multer::Multipart::new(body, boundary);
        let mut form = SentForm::default();
        while form.fields.0.len() <= MAX_FIELDS
            && let Some(part) = parts.next_field().await.ok()?
        {
            let (name, is_file) = (part.name()?.to_owned(), part.file_name().is_some());
            let value = part.bytes().await.ok()?;
            if is_file {
                // A browser sends an empty part where no file was chosen.
                form.file = Some(value.to_vec()).filter(|file| !file.is_empty()).or(form.file);
            } else {
                form.fields.0.push((name, String::from_utf8(value.to_vec()).ok()?));
            }
        }
        Some(form)
    }
}

/// A form as it was sent.
#[derive(Default)]
pub(crate) struct SentForm {
    pub(crate) fields: Pairs,
    /// The file that was chosen.
    pub(crate) file: Option<Vec<u8>>,
}

/// The response to a request.
#[derive(Default)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, with those that keep browsers safe.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty if it comes in chunks.
    pub body: Vec<u8>,
    /// The body of a file that is made while it is sent.
    pub chunks: Option<Chunks>,
    /// Who sent the request, for the log.
    pub visitor: Visitor,
}

/// The user of a session, if there is one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Visitor {
    /// The user's partner; operators have none.
    pub partner: Option<PartnerId>,
    /// The user.
    pub user: Option<UserId>,
}

/// Names and values of a query or a form, in their order.
#[derive(Clone, Default)]
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

    /// The first value of each name, without blanks around it.
    pub(crate) fn by_name(&self) -> HashMap<&str, &str> {
        self.0.iter().rev().map(|(name, value)| (name.as_str(), value.trim())).collect()
    }

    /// The values of all pairs of this name, without blanks around them.
    pub(crate) fn all<'p>(&'p self, name: &'p str) -> impl Iterator<Item = &'p str> {
        self.0.iter().filter(move |(other, _)| other == name).map(|(_, value)| value.trim())
    }

    /// The value as it was sent, for passwords.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.iter().find(|(other, _)| other == name).map_or("", |(_, value)| value.as_str())
    }

    /// All names with their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
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

    /// The form with the values of these names as they are, hidden.
    pub(crate) fn hidden(&self, mut form: Form, names: &[&'static str]) -> Form {
        for name in names {
            for value in self.all(name).filter(|value| !value.is_empty()) {
                form = form.hide(*name, value);
            }
        }
        form
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

impl<'n> FromIterator<(&'n str, String)> for Pairs {
    fn from_iter<T: IntoIterator<Item = (&'n str, String)>>(pairs: T) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Pairs {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn read(content_type: &str, body: &str) -> Option<(String, Option<Vec<u8>>)> {
        let request = Request {
            content_type: content_type.to_owned(),
            body: body.replace('\n', "\r\n").into(),
            ..Request::default()
        };
        // Everything is there, so nothing waits.
        let form = request.form().now_or_never().unwrap().ok()?;
        Some((form.fields.query(), form.file))
    }

    #[test]
    fn a_form_with_a_file_is_read() {
        let part =
            |head: &str, body: &str| format!("--x\nContent-Disposition: form-data; {head}\n\n{body}\n");
        let (kind, end) = (part("name=\"kind\"", "ТОП"), "--x--\n");
        let file = part("name=\"file\"; filename=\"a;b.csv\"", "A;B\n1;2");
        let none = part("name=\"file\"; filename=\"\"", "");
        let multipart = "multipart/form-data; boundary=x";
        let kind_alone = "kind=%D0%A2%D0%9E%D0%9F".to_owned();
        let with_file = Some((kind_alone.clone(), Some(b"A;B\r\n1;2".to_vec())));
        assert_eq!(read(multipart, &format!("{kind}{file}{end}")), with_file);
        assert_eq!(read(multipart, &format!("{kind}{none}{end}")), Some((kind_alone.clone(), None)));
        assert_eq!(read(FORM, "kind=%D0%A2%D0%9E%D0%9F"), Some((kind_alone, None)));
        for cut in [format!("{kind}{file}"), kind.replace("name=", "other="), "nothing".to_owned()] {
            assert_eq!(read(multipart, &cut), None, "{cut}");
        }
        assert!(Request::takes(multipart) && Request::takes(FORM));
        assert!(!Request::takes("text/csv") && !Request::takes("multipart/form-data") && !Request::takes(""));
    }

    #[test]
    fn a_form_has_a_thousand_fields_at_most() {
        let part = "--x\nContent-Disposition: form-data; name=\"\"\n\n\n";
        let with_parts = |fields: usize| format!("{}--x--\n", part.repeat(fields));
        for (kind, most, more) in [
            (FORM, "=&".repeat(MAX_FIELDS - 1) + "=", "=&".repeat(MAX_FIELDS) + "="),
            ("multipart/form-data; boundary=x", with_parts(MAX_FIELDS), with_parts(MAX_FIELDS + 1)),
        ] {
            assert!(read(kind, &most).is_some() && read(kind, &more).is_none(), "{kind}");
        }
    }

    #[test]
    fn debug_shows_neither_cookies_nor_a_body() {
        let secret = || "sesame".to_owned();
        let request =
            Request { cookies: secret(), body: secret().into(), path: secret(), ..Request::default() };
        assert!(!format!("{request:?}").contains("sesame"));
    }

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
