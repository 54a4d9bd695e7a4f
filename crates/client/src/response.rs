//! A response of the service: its head, and the error in its body.

use std::time::{Duration, UNIX_EPOCH};

use kopeck_api::ErrorCode;
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, DATE, ETAG, HeaderMap, RETRY_AFTER};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

use crate::error::{CardFault, Error, FieldFault};
use crate::seal::SEALED_JSON;

/// The most characters of a foreign error page that are kept as its message.
const MAX_FOREIGN_MESSAGE: usize = 200;

/// From how many seconds on a clock's offset is named beside a refusal. The service refuses sealed values from 300 on.
const NOTABLE_OFFSET: u64 = 240;

#[derive(Debug)]
pub(crate) struct ResponseHead {
    pub(crate) status: StatusCode,
    pub(crate) sealed: bool,
    request_id: Option<String>,
    retry_after: Option<Duration>,
    /// The entity tag, with its quotes.
    tag: Option<String>,
    /// The service's clock, in Unix seconds.
    date: Option<u64>,
}

impl ResponseHead {
    pub(crate) fn new(status: StatusCode, headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            status,
            sealed: text(CONTENT_TYPE.as_str())
                .is_some_and(|content_type| content_type.starts_with(SEALED_JSON)),
            request_id: text("x-request-id").map(str::to_owned),
            tag: text(ETAG.as_str()).map(str::to_owned),
            retry_after: text(RETRY_AFTER.as_str())
                .and_then(|value| value.trim().parse().ok())
                .map(Duration::from_secs),
            date: text(DATE.as_str())
                .and_then(|value| httpdate::parse_http_date(value).ok())
                .and_then(|moment| moment.duration_since(UNIX_EPOCH).ok())
                .map(|since_1970| since_1970.as_secs()),
        }
    }

    /// That the clocks of client and service differ, if by so much that it may be why a sealed value was refused.
    pub(crate) fn clock_note(&self, now: u64) -> Option<String> {
        let service = self.date?;
        let (offset, direction) = (now.abs_diff(service), if now > service { "ahead of" } else { "behind" });
        (offset >= NOTABLE_OFFSET).then(|| format!("your clock is {offset} s {direction} the service's"))
    }

    /// The error of a response other than 2xx. `note` is the client's own explanation of faulty values.
    pub(crate) fn error(self, body: &str, note: Option<String>) -> Error {
        let status = self.status.as_u16();
        if status == 422
            && let Ok(Faults { data }) = serde_json::from_str(body)
        {
            return Error::Invalid { faults: data, note, request_id: self.request_id };
        }
        if let Ok(faults) = serde_json::from_str::<Vec<CardFault>>(body) {
            return Error::Cards { status, faults, request_id: self.request_id };
        }
        let ErrorBody { code, message } =
            serde_json::from_str(body).unwrap_or_else(|_| ErrorBody::foreign(body));
        Error::Api { status, code, message, request_id: self.request_id, retry_after: self.retry_after }
    }
}

/// The body of a successful response, and its entity tag.
pub(crate) struct ResponseBody {
    text: Zeroizing<String>,
    pub(crate) tag: Option<String>,
}

impl ResponseBody {
    pub(crate) fn new(text: Zeroizing<String>, head: ResponseHead) -> Self {
        Self { text, tag: head.tag }
    }

    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, Error> {
        // A response without a body reads as `null`.
        let text = if self.text.is_empty() { "null" } else { self.text.as_str() };
        serde_json::from_str(text).map_err(|error| Error::Decode(Box::new(error)))
    }
}

#[derive(Deserialize)]
struct Faults {
    data: Vec<FieldFault>,
}

#[derive(Deserialize)]
struct ErrorBody {
    #[serde(default)]
    code: Option<ErrorCode>,
    message: String,
}

impl ErrorBody {
    /// A response of another server, such as the error page of a proxy.
    fn foreign(body: &str) -> Self {
        Self { code: None, message: body.trim().chars().take(MAX_FOREIGN_MESSAGE).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, body: &str) -> Error {
        let mut headers = HeaderMap::new();
        headers.insert("x-request-id", "r-1".parse().unwrap());
        headers.insert(RETRY_AFTER, "7".parse().unwrap());
        ResponseHead::new(StatusCode::from_u16(status).unwrap(), &headers).error(body, None)
    }

    #[test]
    fn faulty_fields_are_listed() {
        let body = r#"{"success":false,"data":[
            {"field":"phone","message":"incorrect value passed","detail":"not 10 digits"},
            {"field":"email","message":"incorrect value passed"}]}"#;
        let error = error(422, body);
        assert_eq!(error.to_string(), "faulty values: phone: not 10 digits; email: incorrect value passed");
        assert_eq!((error.status(), error.request_id()), (Some(422), Some("r-1")));
        assert!(!error.is_transient());
    }

    #[test]
    fn faulty_cards_are_listed() {
        let body = r#"[
            {"message":"card not found","code":"card_not_found","idCard":"0f8fad5b-d9cb-469f-a165-70867728950e"},
            {"message":"unknown"}]"#;
        let error = error(404, body);
        assert_eq!(error.code(), Some(&ErrorCode::CardNotFound));
        assert_eq!(
            error.to_string(),
            "status 404, faulty cards: 0f8fad5b-d9cb-469f-a165-70867728950e: card not found; unknown"
        );
    }

    #[test]
    fn clocks_that_differ_by_minutes_are_noted() {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, "Tue, 03 Mar 2026 09:30:00 GMT".parse().unwrap());
        let head = ResponseHead::new(StatusCode::OK, &headers);
        let service = 1_772_530_200;
        let note = |now| head.clock_note(now);
        assert_eq!(note(service + 1_000).as_deref(), Some("your clock is 1000 s ahead of the service's"));
        assert_eq!(note(service - 240).as_deref(), Some("your clock is 240 s behind the service's"));
        assert_eq!((note(service + 239), note(service - 239)), (None, None));
        headers.insert(DATE, "yesterday".parse().unwrap());
        assert_eq!(ResponseHead::new(StatusCode::OK, &headers).clock_note(0), None);
    }

    #[test]
    fn a_refusal_has_code_and_message() {
        let error = error(503, r#"{"success":false,"code":"bank_unavailable","message":"try later"}"#);
        assert_eq!(error.to_string(), "status 503 bank_unavailable: try later");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
        assert!(error.is_transient());
    }

    #[test]
    fn unknown_codes_and_foreign_pages_are_errors_of_the_service_too() {
        let newer = error(409, r#"{"code":"moon_phase","message":"wait"}"#);
        assert_eq!(newer.code(), Some(&ErrorCode::Unknown("moon_phase".to_owned())));
        assert_eq!(error(400, r#"{"message":"no"}"#).to_string(), "status 400: no");
        assert_eq!(error(502, "<h1>Bad gateway</h1>\n").to_string(), "status 502: <h1>Bad gateway</h1>");
        assert_eq!(error(422, "nonsense").status(), Some(422));
    }
}
