//! Calls that failed, and what that means for their effect.

use std::time::Duration;

use kopeck_bank_protocol::ErrorBody;
use kopeck_port_bank::BankError;

/// The statuses of a call that had no effect for certain.
const TURNED_AWAY: [u16; 16] =
    [400, 401, 403, 404, 405, 406, 407, 410, 411, 413, 414, 415, 421, 422, 429, 431];

/// Why a call has no answer that can be used. No text of it comes from the call or from an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It was not even tried.
    Barred(&'static str),
    /// There was no connection to send it over.
    NotSent(String),
    /// The bank refused the call as a whole.
    Refused { status: u16, body: Option<ErrorBody> },
    /// It was sent, or may have been, and took too long.
    Late(Duration),
    /// It was sent, or may have been, and what came back is no answer.
    Lost(String),
}

impl Failure {
    /// Of an error before the head of an answer was there.
    pub(crate) fn of(error: &reqwest::Error, timeout: Duration) -> Self {
        // Connecting is over before the first byte of a call is sent.
        if error.is_connect() || error.is_builder() {
            Self::NotSent(format!("no connection: {}", root_cause(error)))
        } else if error.is_timeout() {
            Self::Late(timeout)
        } else {
            Self::Lost(format!("the connection broke: {}", root_cause(error)))
        }
    }

    /// Of an answer whose status is not 200.
    ///
    /// Those of [`TURNED_AWAY`] say that the call went no further than a door, the bank's or one before it. Of a 408 or a
    /// 409, a redirection, or a 5xx, who knows how far it had come.
    pub(crate) fn of_status(status: u16, body: &[u8]) -> Self {
        if TURNED_AWAY.contains(&status) {
            Self::Refused { status, body: serde_json::from_slice(body).ok() }
        } else {
            Self::Lost(format!("status {status}"))
        }
    }

    /// Whether the bank is in trouble: this counts towards taking a rest from it.
    pub(crate) const fn is_trouble(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::Late(_) | Self::Lost(_) => true,
            Self::Barred(_) | Self::Refused { .. } => false,
        }
    }

    /// Whether a read may be tried again at once. One that took all of its time is not given twice of it.
    pub(crate) const fn may_pass(&self) -> bool {
        match self {
            Self::NotSent(_) | Self::Lost(_) => true,
            Self::Barred(_) | Self::Refused { .. } | Self::Late(_) => false,
        }
    }
}

impl From<Failure> for BankError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Barred(why) => Self::Unavailable(why.to_owned()),
            Failure::NotSent(why) => Self::Unavailable(why),
            Failure::Refused { status, body } => Self::Unavailable(match body {
                Some(body) => format!("the bank refused the call: {status} {:?}", body.code),
                None => format!("the bank refused the call: {status}"),
            }),
            Failure::Late(timeout) => Self::Unknown(format!("no answer within {timeout:?}")),
            Failure::Lost(why) => Self::Unknown(why),
        }
    }
}

/// The innermost error, which is the one that says something: `Connection refused (os error 111)`.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    match cause.downcast_ref::<reqwest::Error>() {
        // Its text would hold the URL, which may hold a card number.
        Some(_) => "the request failed".to_owned(),
        None => cause.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kopeck_bank_protocol::ErrorCode;

    #[test]
    fn only_what_was_turned_away_had_no_effect_for_certain() {
        let is_certain =
            |status| matches!(BankError::from(Failure::of_status(status, b"")), BankError::Unavailable(_));
        assert!([400, 401, 404, 413, 422, 429].into_iter().all(is_certain));
        assert!(![201, 204, 301, 307, 408, 409, 425, 499, 500, 502, 503, 504].into_iter().any(is_certain));
    }

    #[test]
    fn a_refusal_is_told_by_its_code_and_never_by_its_text() {
        let body = br#"{"code":"unauthorized","message":"Anna Petrova"}"#;
        let refused = Failure::of_status(401, body);
        let code = match &refused {
            Failure::Refused { body: Some(body), .. } => body.code,
            other => panic!("{other:?}"),
        };
        assert_eq!(code, ErrorCode::Unauthorized);
        assert_eq!(
            BankError::from(refused),
            BankError::Unavailable("the bank refused the call: 401 Unauthorized".to_owned())
        );
    }
}
