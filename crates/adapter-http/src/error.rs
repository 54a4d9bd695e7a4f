//! Errors of the API: the response body and the log line.

use std::borrow::Cow;

use crate::input::faults::{Fault, Faults};
use actix_web::http::StatusCode;
use kopeck_api::{self as api, Code};
use kopeck_domain::access::Forbidden;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, RunId};
use kopeck_port_security::SecurityError;
use kopeck_port_store::StoreError;
use serde::Serialize;

/// The detail of every value that does not open; the reason is in the log alone.
pub(crate) const SEAL_REFUSED: &str = "the sealed value was refused; check the sealing key and the clock";
/// The fault of a plaintext value that has to be sealed.
pub(crate) const MUST_BE_SEALED: &str = "must be sealed";

/// An error response. Partner and log see different things: a 500 shows only the request id, and the reason of
/// a refused sealed value is in the log alone.
#[derive(Debug)]
pub(crate) struct ApiError {
    status: StatusCode,
    body: ErrorBody,
    /// Seconds until a retry may succeed.
    retry_after: Option<u64>,
    /// The methods of the path.
    allow: Option<String>,
    /// Logged, and not sent.
    log: Option<String>,
}

/// The error bodies of the interface.
#[derive(Debug)]
enum ErrorBody {
    /// 422: the faulty fields.
    Fields(Faults),
    /// Any other status.
    Coded { code: Code, message: Cow<'static, str> },
    /// 404 and 409 of card batches: one object a faulty card.
    Cards(Vec<FaultyCard>),
    /// A 500.
    Internal,
    /// A reference that another run has.
    ReferenceTaken(RunId),
}

/// A card because of which a request for many cards is refused.
#[derive(Debug, Clone)]
pub(crate) struct FaultyCard {
    /// As the request names it.
    pub(crate) named: CardRef,
    /// The card, if the name leads to one.
    pub(crate) card: Option<CardId>,
    pub(crate) code: Code,
    pub(crate) message: &'static str,
}

impl ApiError {
    /// The [code](Self::code) of a request with a sealed value that does not open, or with a plaintext value
    /// that has to be sealed.
    pub(crate) const SEAL_REFUSED: &'static str = "sealed_value_refused";

    /// An error with a code, and a more specific message than that of the code.
    pub(crate) fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Self::with_body(status_of(code), ErrorBody::Coded { code, message: message.into() })
    }

    /// 422 for one field.
    pub(crate) fn field(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Faults::of(field, detail).into()
    }

    /// 409: `run` has the reference.
    pub(crate) fn reference_taken(run: RunId) -> Self {
        Self::with_body(status_of(Code::ReferenceTaken), ErrorBody::ReferenceTaken(run))
    }

    /// 404 or 409 of a card batch, by the code of its first card.
    pub(crate) fn cards(cards: Vec<FaultyCard>) -> Self {
        let status = cards.first().map_or(StatusCode::NOT_FOUND, |card| status_of(card.code));
        Self::with_body(status, ErrorBody::Cards(cards))
    }

    /// 500; the log gets `reason`.
    pub(crate) fn internal(reason: impl Into<String>) -> Self {
        Self {
            log: Some(reason.into()),
            ..Self::with_body(StatusCode::INTERNAL_SERVER_ERROR, ErrorBody::Internal)
        }
    }

    /// 503: nothing was done, and a retry may succeed. The log gets `reason`.
    pub(crate) fn busy(reason: impl Into<String>) -> Self {
        Self::unavailable("the service is busy, try again").because(reason)
    }

    /// 503 with `message`.
    pub(crate) fn unavailable(message: &'static str) -> Self {
        Self { status: StatusCode::SERVICE_UNAVAILABLE, ..Self::new(Code::Internal, message) }.retry_after(1)
    }

    /// Adds a reason for the log.
    pub(crate) fn because(self, reason: impl Into<String>) -> Self {
        Self { log: Some(reason.into()), ..self }
    }

    /// Adds `Retry-After`.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// Adds `Allow`.
    pub(crate) fn allow(self, methods: String) -> Self {
        Self { allow: Some(methods), ..self }
    }

    fn with_body(status: StatusCode, body: ErrorBody) -> Self {
        Self { status, body, retry_after: None, allow: None, log: None }
    }

    pub(crate) const fn status(&self) -> StatusCode {
        self.status
    }

    /// The error code; for bodies without one, a code for the audit log.
    pub(crate) fn code(&self) -> &'static str {
        match &self.body {
            ErrorBody::Fields(faults) if faults.as_slice().iter().any(is_refused_seal) => Self::SEAL_REFUSED,
            ErrorBody::Fields(_) => "incorrect_value",
            ErrorBody::Coded { code, .. } => code.as_str(),
            ErrorBody::ReferenceTaken(_) => Code::ReferenceTaken.as_str(),
            ErrorBody::Cards(cards) => cards.first().map_or("card_not_found", |card| card.code.as_str()),
            ErrorBody::Internal => Code::Internal.as_str(),
        }
    }

    /// The error code that the response shows, if it has one.
    pub(crate) fn shown_code(&self) -> Option<&'static str> {
        if matches!(self.body, ErrorBody::Fields(_)) { None } else { Some(self.code()) }
    }

    /// The names of the faulty fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        let faults = if let ErrorBody::Fields(faults) = &self.body { faults.as_slice() } else { &[] };
        faults.iter().map(|fault| fault.field.as_str())
    }

    /// The value of `Retry-After`.
    pub(crate) const fn retry_seconds(&self) -> Option<u64> {
        self.retry_after
    }

    /// The value of `Allow`.
    pub(crate) fn allowed_methods(&self) -> Option<&str> {
        self.allow.as_deref()
    }

    pub(crate) fn log_reason(&self) -> Option<&str> {
        self.log.as_deref()
    }

    /// The response body.
    pub(crate) fn body(&self, request_id: &str) -> Vec<u8> {
        match &self.body {
            ErrorBody::Fields(faults) => json(&api::FaultyFields {
                success: false,
                data: faults.as_slice().iter().map(faulty_field).collect(),
            }),
            ErrorBody::Coded { code, message } => coded(*code, message.as_ref().to_owned()),
            ErrorBody::ReferenceTaken(run) => json(&api::CodedError {
                success: false,
                code: Code::ReferenceTaken.as_str().into(),
                message: Code::ReferenceTaken.message().to_owned(),
                id_run: Some(run.uuid()),
            }),
            ErrorBody::Cards(cards) => json(&cards.iter().map(faulty_card).collect::<Vec<_>>()),
            ErrorBody::Internal => coded(Code::Internal, format!("internal error, request {request_id}")),
        }
    }
}

fn status_of(code: Code) -> StatusCode {
    StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn is_refused_seal(fault: &Fault) -> bool {
    [SEAL_REFUSED, MUST_BE_SEALED].contains(&fault.detail.as_str())
}

/// An error with the message of its code.
impl From<Code> for ApiError {
    fn from(code: Code) -> Self {
        Self::new(code, code.message())
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Busy | StoreError::Cancelled | StoreError::Rerun | StoreError::Unavailable(_) => {
                Self::busy(error.to_string())
            }
            // A use case has errors of its own for constraints that it expects; here it is a surprise.
            StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::Failed(_) => {
                Self::internal(error.to_string())
            }
        }
    }
}

/// 403, whatever there is and is not: the actor lacks a scope.
impl From<Forbidden> for ApiError {
    fn from(error: Forbidden) -> Self {
        Self::new(Code::Forbidden, error.to_string())
    }
}

impl From<SecurityError> for ApiError {
    fn from(error: SecurityError) -> Self {
        Self::internal(error.to_string())
    }
}

/// 422.
impl From<Faults> for ApiError {
    fn from(faults: Faults) -> Self {
        Self::with_body(StatusCode::UNPROCESSABLE_ENTITY, ErrorBody::Fields(faults))
    }
}

fn faulty_field(fault: &Fault) -> api::FaultyField {
    // The domain leaves the name empty for a fault of the whole body.
    let field = if fault.field.is_empty() { "body" } else { &fault.field };
    api::FaultyField {
        field: field.to_owned(),
        message: "incorrect value passed".to_owned(),
        detail: fault.detail.clone(),
    }
}

/// It holds the name that the request has for the card, and the card itself if it was found.
fn faulty_card(FaultyCard { named, card, code, message }: &FaultyCard) -> api::FaultyCard {
    let mut faulty = api::FaultyCard {
        message: (*message).to_owned(),
        code: code.as_str().into(),
        id_card: card.map(CardId::uuid),
        custom_id_card: None,
        id_employee: None,
        custom_id: None,
    };
    match named {
        CardRef::Id(id) => faulty.id_card = Some(id.uuid()),
        CardRef::Number(number) => faulty.custom_id_card = Some(number.to_string()),
        CardRef::Employee(id) => faulty.id_employee = Some(id.uuid()),
        CardRef::CustomId(id) => faulty.custom_id = Some(id.as_str().to_owned()),
    }
    faulty
}

fn coded(code: Code, message: String) -> Vec<u8> {
    json(&api::CodedError { success: false, code: code.as_str().into(), message, id_run: None })
}

/// The JSON text of an error body. Serialization fails only for maps with keys other than strings.
fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use kopeck_domain::ids::EmployeeId;
    use uuid::Uuid;

    use super::*;

    fn text(error: &ApiError) -> String {
        String::from_utf8(error.body("req-1")).unwrap()
    }

    #[test]
    fn faulty_fields_have_the_shape_of_the_interface() {
        let error = ApiError::field("cards[3].idCard", "must be a uuid");
        assert_eq!(error.status(), 422);
        assert_eq!(
            text(&error),
            r#"{"success":false,"data":[{"field":"cards[3].idCard","message":"incorrect value passed","detail":"must be a uuid"}]}"#
        );
    }

    #[test]
    fn other_refusals_have_a_code_and_a_message() {
        let error = ApiError::new(Code::CardNotFound, "no such card");
        assert_eq!(text(&error), r#"{"success":false,"code":"card_not_found","message":"no such card"}"#);
    }

    #[test]
    fn faulty_cards_are_a_list() {
        let card = CardId::new(Uuid::nil());
        let code = Code::CardNotMain;
        let of = |named, card| FaultyCard { named, card, code, message: code.message() };
        let one = of(card.into(), Some(card));
        assert_eq!(
            text(&ApiError::cards(vec![one])),
            r#"[{"message":"the card is not a main card; change its status and retry","code":"card_not_main","idCard":"00000000-0000-0000-0000-000000000000"}]"#
        );
        let missing = of(CardRef::Employee(EmployeeId::new(Uuid::nil())), None);
        assert_eq!(
            text(&ApiError::cards(vec![missing])),
            r#"[{"message":"the card is not a main card; change its status and retry","code":"card_not_main","idEmployee":"00000000-0000-0000-0000-000000000000"}]"#
        );
    }

    #[test]
    fn a_500_shows_the_request_and_nothing_else() {
        let error = ApiError::internal("the disk is full");
        assert_eq!(
            text(&error),
            r#"{"success":false,"code":"internal","message":"internal error, request req-1"}"#
        );
        assert_eq!(error.log_reason(), Some("the disk is full"));
    }
}
