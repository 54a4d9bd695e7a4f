//! Requests and responses of handlers.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{ContentType, WWW_AUTHENTICATE};
use actix_web::web::{Bytes, Query};
use kopeck_bank_protocol::{ErrorBody, ErrorCode, ProtocolError};
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankError, FeedError, RegistryError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// An authenticated request with its body.
pub(super) struct BankRequest {
    /// The `{number}` of the path, if it has one.
    pub(super) number: Option<String>,
    pub(super) query: String,
    pub(super) body: Bytes,
}

impl BankRequest {
    /// The body. An error tells place and kind of a fault, and no value.
    pub(super) fn body<T: DeserializeOwned>(&self) -> Result<T, ErrorResponse> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let place = format!("line {}, column {}", error.line(), error.column());
            if error.is_data() {
                ErrorResponse::invalid(format!("the body is not of the form of this call: {place}"))
            } else {
                ErrorResponse::new(
                    StatusCode::BAD_REQUEST,
                    ErrorCode::Malformed,
                    format!("the body is no JSON: {place}"),
                )
            }
        })
    }

    /// The query string.
    pub(super) fn query<T: DeserializeOwned>(&self) -> Result<T, ErrorResponse> {
        let read = Query::<T>::from_query(&self.query);
        read.map(Query::into_inner)
            .map_err(|_| ErrorResponse::invalid("the query string is not of the form of this call"))
    }

    /// The number of the card in the path.
    pub(super) fn number(&self) -> Result<CardNumber, ErrorResponse> {
        let number = self.number.as_deref().unwrap_or_default();
        CardNumber::parse(number)
            .map_err(|invalid| ErrorResponse::invalid(format!("the card number {}", invalid.detail())))
    }
}

/// The JSON of a success.
pub(super) struct JsonResponse(Vec<u8>);

impl JsonResponse {
    pub(super) fn new(body: &impl Serialize) -> Result<Self, ErrorResponse> {
        serde_json::to_vec(body).map(Self).map_err(|error| ErrorResponse::internal(error.to_string()))
    }

    pub(super) fn response(self) -> HttpResponse {
        HttpResponse::Ok().content_type(ContentType::json()).body(self.0)
    }
}

#[derive(Debug)]
pub(super) struct ErrorResponse {
    pub(super) status: StatusCode,
    body: ErrorBody,
}

impl ErrorResponse {
    pub(super) fn new(status: StatusCode, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { status, body: ErrorBody { code, message: message.into(), left: None, oldest: None } }
    }

    /// Adds the refundable rest of a payment.
    pub(super) fn with_left(mut self, left: Kopecks) -> Self {
        self.body.left = Some(left);
        self
    }

    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Invalid, message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal, message)
    }

    pub(super) fn unauthorized() -> Self {
        let message = "the shared secret is missing or wrong";
        Self::new(StatusCode::UNAUTHORIZED, ErrorCode::Unauthorized, message)
    }

    /// The feed begins later.
    pub(super) fn forgotten(oldest: i64, message: String) -> Self {
        let mut response = Self::new(StatusCode::GONE, ErrorCode::Forgotten, message);
        response.body.oldest = Some(oldest);
        response
    }

    pub(super) fn no_such_path() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::NotFound, "there is no such path")
    }

    pub(super) fn unknown_card() -> Self {
        Self::new(StatusCode::NOT_FOUND, ErrorCode::UnknownCard, "the bank has no such card")
    }

    pub(super) fn method_not_allowed() -> Self {
        let message = "the path does not take this method";
        Self::new(StatusCode::METHOD_NOT_ALLOWED, ErrorCode::MethodNotAllowed, message)
    }

    pub(super) fn response(self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        if self.status == StatusCode::UNAUTHORIZED {
            response.insert_header((WWW_AUTHENTICATE, "Bearer"));
        }
        response.json(self.body)
    }
}

impl From<ProtocolError> for ErrorResponse {
    fn from(malformed: ProtocolError) -> Self {
        Self::invalid(malformed.to_string())
    }
}

impl From<FeedError> for ErrorResponse {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::NotSupported => Self::no_such_path(),
            FeedError::Forgotten { oldest } => Self::forgotten(oldest, error.to_string()),
            FeedError::Bank(error) => error.into(),
        }
    }
}

impl From<RegistryError> for ErrorResponse {
    fn from(error: RegistryError) -> Self {
        match error {
            RegistryError::NotSupported => Self::no_such_path(),
            RegistryError::Bank(error) => error.into(),
        }
    }
}

/// For reads; submissions report a result per instruction.
impl From<BankError> for ErrorResponse {
    fn from(error: BankError) -> Self {
        match error {
            BankError::Unavailable(reason) => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, ErrorCode::Unavailable, reason)
            }
            BankError::Unknown(reason) => Self::internal(reason),
        }
    }
}
