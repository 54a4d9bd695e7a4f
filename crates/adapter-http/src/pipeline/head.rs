//! The head of a request: everything known before its body is read.

use crate::input::faults::Faults;
use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderName};
use kopeck_api::Code;
use kopeck_sealing::{bound_path, valid_nonce};

use crate::body::too_large;
use crate::entity_tag::IfMatch;
use crate::error::ApiError;
use crate::file_format::FileFormat;
use crate::idempotency::{self, RequestKey};
use crate::local_request::LocalRequest;
use crate::operation::{Effect, Operation};
use crate::wording::Language;

/// The media type of sealed bodies.
pub(crate) const SEALED_JSON: &str = "application/sealed+json";
pub(crate) const JSON: &str = "application/json";
// Parsed once instead of at each access.
static NONCE: HeaderName = HeaderName::from_static("x-nonce");
static IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static(idempotency::HEADER);
static API_KEY: HeaderName = HeaderName::from_static("x-api-key");
static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The rule of [`valid_nonce`]: number of characters, and regular expression.
pub(crate) const NONCE_CHARS: (usize, usize) = (16, 64);
pub(crate) const NONCE_PATTERN: &str = "^[A-Za-z0-9._~+/=-]+$";
/// The least and most characters of an idempotency key: visible ASCII.
pub(crate) const KEY_CHARS: (usize, usize) = (1, 255);
pub(crate) const KEY_PATTERN: &str = "^[!-~]+$";
/// The least and most characters of a request id.
const REQUEST_ID_CHARS: (usize, usize) = (1, 64);
pub(crate) const REQUEST_ID_PATTERN: &str = "^[A-Za-z0-9._-]+$";

/// The head of a request.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) method: Method,
    /// The path that sealed values are bound to.
    pub(crate) path: String,
    pub(crate) query: String,
    /// The identifiers of the path by their placeholder, unparsed.
    pub(crate) ids: Vec<(&'static str, String)>,
    /// The form of a file that `Accept` asks for.
    pub(crate) file: Option<FileFormat>,
    /// `If-Match`.
    pub(crate) if_match: IfMatch,
    /// The language that `Accept-Language` prefers.
    pub(crate) language: Language,
    /// `None` for a media type that the service does not read.
    pub(crate) body_type: Option<BodyType>,
    /// `x-api-key`.
    pub(crate) api_key: Option<String>,
    /// The token in `Authorization`.
    pub(crate) token: Option<String>,
    /// `x-nonce`, if it is there and well-formed.
    nonce: Option<String>,
    /// `Idempotency-Key`: `None` without one, an error if it is malformed.
    idempotency_key: Option<Result<String, ()>>,
}

/// The media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyType {
    /// `application/json`: plaintext, or sealed as a whole or in part.
    Json,
    /// `application/sealed+json`: sealed as a whole.
    SealedJson,
    /// A file, whose content tells its form. It stands in the place of an object, whose fields are in the query.
    File,
}

/// The value of a header; `Err` if it is repeated or not visible ASCII.
fn single<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, ()> {
    let mut values = headers.get_all(name);
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| ()),
        (Some(_), Some(_)) => Err(()),
    }
}

/// Whether the length of an ASCII text is in range.
fn within(text: &str, (least, most): (usize, usize)) -> bool {
    (least..=most).contains(&text.len())
}

/// The client's request id, if it is well-formed.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    let id = single(headers, &REQUEST_ID).ok().flatten()?;
    (within(id, REQUEST_ID_CHARS) && id.bytes().all(allowed)).then(|| id.to_owned())
}

/// Whether `Accept` lists sealed JSON.
pub(crate) fn wants_sealed(headers: &HeaderMap) -> bool {
    accepts(headers, &header::ACCEPT, SEALED_JSON)
}

/// The form of a file, if `Accept` lists its media type before any form of JSON. Of the forms that the operation has.
pub(crate) fn wanted_file(headers: &HeaderMap, forms: &[FileFormat]) -> Option<FileFormat> {
    let ranges = headers.get_all(&header::ACCEPT).filter_map(|value| value.to_str().ok());
    let mut named = ranges
        .flat_map(|list| list.split(','))
        .filter(|range| !range.split(';').skip(1).map(str::trim).any(is_zero));
    named.find_map(|range| match FileFormat::asked_for(range).filter(|format| forms.contains(format)) {
        Some(format) => Some(Some(format)),
        None => is_json(range).then_some(None),
    })?
}

/// Whether a media range is a form of JSON.
fn is_json(range: &str) -> bool {
    let name = range.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    name == JSON || name == SEALED_JSON
}

/// Whether a parameter of a media range says that it is refused.
fn is_zero(parameter: &str) -> bool {
    matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
}

/// The language that `Accept-Language` prefers.
pub(crate) fn language(headers: &HeaderMap) -> Language {
    let ranges: Vec<&str> =
        headers.get_all(&header::ACCEPT_LANGUAGE).filter_map(|value| value.to_str().ok()).collect();
    Language::preferred(&ranges.join(","))
}

/// Whether `Accept-Encoding` lists gzip.
pub(crate) fn accepts_gzip(headers: &HeaderMap) -> bool {
    accepts(headers, &header::ACCEPT_ENCODING, "gzip")
}

/// Whether a list header has `wanted`, and not with the quality 0.
fn accepts(headers: &HeaderMap, name: &HeaderName, wanted: &str) -> bool {
    headers.get_all(name).filter_map(|value| value.to_str().ok()).flat_map(|list| list.split(',')).any(
        |range| {
            let mut parts = range.split(';').map(str::trim);
            let named = parts.next().is_some_and(|range| range.eq_ignore_ascii_case(wanted));
            named && !parts.any(is_zero)
        },
    )
}

fn body_type(headers: &HeaderMap, uploads: &[FileFormat]) -> Option<BodyType> {
    let mut parts = single(headers, &header::CONTENT_TYPE).ok()??.split(';').map(str::trim);
    let media = parts.next()?;
    if uploads.iter().any(|form| media.eq_ignore_ascii_case(form.media_type())) {
        return Some(BodyType::File);
    }
    let utf8 = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    };
    if !parts.all(utf8) {
        return None;
    }
    if media.eq_ignore_ascii_case(JSON) {
        Some(BodyType::Json)
    } else if media.eq_ignore_ascii_case(SEALED_JSON) {
        Some(BodyType::SealedJson)
    } else {
        None
    }
}

/// `Bearer <token>`, the scheme in any letter case, or the bare token.
fn token(headers: &HeaderMap) -> Option<String> {
    let value = single(headers, &header::AUTHORIZATION).ok()??.trim();
    let token = match value.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim_start(),
        Some(_) => return None,
        None => value,
    };
    (!token.is_empty()).then(|| token.to_owned())
}

fn idempotency_key(headers: &HeaderMap) -> Option<Result<String, ()>> {
    let checked = single(headers, &IDEMPOTENCY_KEY).transpose()?.and_then(|key| {
        let well_formed = within(key, KEY_CHARS) && key.bytes().all(|byte| byte.is_ascii_graphic());
        if well_formed { Ok(key.to_owned()) } else { Err(()) }
    });
    Some(checked)
}

impl Head {
    /// Reads the head of a request with these identifiers in its path.
    pub(crate) fn read(
        ids: Vec<(&'static str, String)>,
        operation: &Operation,
        request: &HttpRequest,
    ) -> Self {
        let headers = request.headers();
        let text = |name| single(headers, name).ok().flatten().map(str::to_owned);
        Self {
            method: request.method().clone(),
            path: bound_path(request.uri().path()).into_owned(),
            query: request.uri().query().unwrap_or_default().to_owned(),
            ids,
            file: wanted_file(headers, operation.files),
            language: language(headers),
            if_match: IfMatch::read(headers),
            body_type: body_type(headers, operation.uploads),
            api_key: text(&API_KEY),
            token: token(headers),
            nonce: text(&NONCE).filter(|nonce| valid_nonce(nonce)),
            idempotency_key: idempotency_key(headers),
        }
    }

    /// The head of a request within this process. The nonce only satisfies the checks: nothing is sealed.
    pub(crate) fn local(operation: &Operation, request: LocalRequest, nonce: &str) -> Self {
        let LocalRequest { ids, query, key, file, language, .. } = request;
        Self {
            method: operation.method.clone(),
            path: operation.path.to_owned(),
            query,
            ids: operation.placeholders().zip(ids).collect(),
            file,
            language,
            if_match: IfMatch::Anything,
            body_type: Some(BodyType::Json),
            api_key: None,
            token: None,
            nonce: Some(nonce.to_owned()),
            idempotency_key: key.map(Ok),
        }
    }

    /// `x-nonce`, if it is there and well-formed.
    pub(crate) fn nonce(&self) -> Option<&str> {
        self.nonce.as_deref()
    }

    /// The nonce, and the idempotency key of a mutation.
    ///
    /// # Errors
    /// 422 for missing or malformed headers.
    pub(crate) fn nonce_and_key(&self, effect: Effect) -> Result<(&str, Option<RequestKey>), ApiError> {
        let mut faults = Faults::new();
        if self.nonce.is_none() {
            faults.push(NONCE.as_str(), "is required: 16 to 64 of A-Z a-z 0-9 . _ ~ + / = -");
        }
        let key = match (effect, &self.idempotency_key) {
            (Effect::Login | Effect::Refresh | Effect::Read(_), _) => None,
            (Effect::Mutate(_), Some(Ok(key))) => {
                Some(RequestKey { key: key.clone(), header: idempotency::HEADER })
            }
            (Effect::Mutate(_), Some(Err(()))) => {
                faults.push(idempotency::HEADER, "must have 1 to 255 visible ASCII characters");
                None
            }
            (Effect::Mutate(_), None) => {
                self.nonce.clone().map(|nonce| RequestKey { key: nonce, header: NONCE.as_str() })
            }
        };
        faults.check()?;
        Ok((self.nonce.as_deref().unwrap_or_default(), key))
    }
}

/// `Content-Length`, 0 without one. A length beyond `usize` is the greatest length.
pub(crate) fn announced_length(headers: &HeaderMap) -> usize {
    let length =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    usize::try_from(length.unwrap_or(0)).unwrap_or(usize::MAX)
}

/// Checks size and type of a body by its headers, for an operation that takes files of these forms too.
///
/// # Errors
/// 413 or 415.
pub(crate) fn check_body_head(
    headers: &HeaderMap,
    uploads: &[FileFormat],
    body_limit: usize,
) -> Result<(), ApiError> {
    if headers.contains_key(header::CONTENT_ENCODING) {
        let message = "a body must not be encoded: content-encoding is not supported";
        return Err(ApiError::new(Code::UnsupportedMediaType, message));
    }
    let length = announced_length(headers);
    if length > body_limit {
        return Err(too_large(body_limit));
    }
    let announced = length > 0 || headers.contains_key(header::TRANSFER_ENCODING);
    if announced && body_type(headers, uploads).is_none() { Err(wrong_type()) } else { Ok(()) }
}

/// 415.
pub(crate) fn wrong_type() -> ApiError {
    Code::UnsupportedMediaType.into()
}

#[cfg(test)]
mod tests;
