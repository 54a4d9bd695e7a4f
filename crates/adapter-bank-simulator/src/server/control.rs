//! The handlers of the sandbox's control. Injected faults do not affect them.

use std::time::Duration;

use actix_web::http::StatusCode;
use kopeck_bank_protocol::ErrorCode;
use kopeck_bank_protocol::simulator::{
    ActivateRequest, AdvanceRequest, BehaviourDto, ClockResponse, Empty, IdempotencyKeyDto, PurchaseRequest,
    PurchaseResponse, RefundRequest, RefundResponse,
};
use kopeck_domain::card_number::CardNumber;

use super::request::{BankRequest, ErrorResponse, JsonResponse};
use super::{ClockRefusal, Context};
use crate::behaviour::{Behaviour, BehaviourError};
use crate::idempotency::CommandRetry;
use crate::purchases::{Purchase, PurchaseDecision, Refund};
use crate::sandbox::SandboxError;
use crate::simulator::Simulator;

pub(super) fn purchase(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let PurchaseRequest { amount, place, mcc, merchant_id, at, once } = call.body()?;
    let purchase = Purchase {
        amount,
        place: place.as_deref(),
        mcc: mcc.as_deref(),
        merchant_id: merchant_id.as_deref(),
        at,
        once: once.as_ref().map(name),
    };
    JsonResponse::new(&match context.bank.purchase(call.number()?, &purchase)? {
        PurchaseDecision::Approved { transaction } => PurchaseResponse::Approved { transaction },
        PurchaseDecision::Refused(refusal) => PurchaseResponse::Refused { reason: refusal.into() },
    })
}

pub(super) fn refund(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let RefundRequest { payment, amount, once } = call.body()?;
    let refund = Refund { payment, amount, once: once.as_ref().map(name) };
    JsonResponse::new(&RefundResponse { transaction: context.bank.refund(call.number()?, &refund)? })
}

pub(super) fn activate(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let ActivateRequest { code } = call.body()?;
    context.bank.activate(call.number()?, code.as_deref())?;
    JsonResponse::new(&Empty {})
}

pub(super) fn block(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    on_card(context, call, Simulator::block)
}

pub(super) fn unblock(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    on_card(context, call, Simulator::unblock)
}

pub(super) fn expire(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    on_card(context, call, Simulator::expire)
}

fn on_card(
    context: &Context,
    call: &BankRequest,
    happen: fn(&Simulator, CardNumber) -> Result<(), SandboxError>,
) -> Result<JsonResponse, ErrorResponse> {
    happen(&context.bank, call.number()?)?;
    JsonResponse::new(&Empty {})
}

pub(super) fn set_behaviour(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let BehaviourDto { latency_ms, error_rate, lose_answer_rate, duplicate_rate, down } = call.body()?;
    let behaviour = Behaviour { latency_ms, error_rate, lose_answer_rate, duplicate_rate, down };
    context
        .bank
        .set_behaviour(behaviour)
        .map_err(|error: BehaviourError| ErrorResponse::invalid(error.to_string()))?;
    JsonResponse::new(&Empty {})
}

pub(super) fn clock(context: &Context, _: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    JsonResponse::new(&ClockResponse { offset_micros: context.clock.offset_micros() })
}

pub(super) fn advance(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let AdvanceRequest { seconds, once } = call.body()?;
    let moved = context.clock.advance(Duration::from_secs(seconds), &once.key, once.since);
    moved.map_err(|refusal| match refusal {
        ClockRefusal::TooFar => {
            ErrorResponse::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::ClockTooFar, refusal.to_string())
        }
        ClockRefusal::Failed(_) => ErrorResponse::internal(refusal.to_string()),
    })?;
    clock(context, call)
}

fn name(once: &IdempotencyKeyDto) -> CommandRetry<'_> {
    CommandRetry { key: &once.key, since: once.since }
}

impl From<SandboxError> for ErrorResponse {
    fn from(error: SandboxError) -> Self {
        let (status, code) = match error {
            SandboxError::UnknownCard => return Self::unknown_card(),
            SandboxError::UnknownPayment => (StatusCode::NOT_FOUND, ErrorCode::UnknownPayment),
            SandboxError::Amount => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Invalid),
            SandboxError::OverPayment { left } => {
                let refusal =
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::OverPayment, error.to_string());
                return refusal.with_left(left);
            }
            SandboxError::WrongCode => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::WrongCode),
            SandboxError::CodeExpired => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::CodeExpired),
            SandboxError::Database(_) => (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal),
        };
        Self::new(status, code, error.to_string())
    }
}
