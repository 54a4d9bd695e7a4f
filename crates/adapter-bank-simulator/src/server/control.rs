//! The handlers of the sandbox's control.

use std::time::Duration;

use actix_web::http::StatusCode;
use kopeck_bank_protocol::ErrorCode;
use kopeck_bank_protocol::simulator::{
    ActivateRequest, AdvanceRequest, BehaviourDto, ClockResponse, Empty, PurchaseRequest, PurchaseResponse,
    RefundRequest, RefundResponse,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::sandbox::{SandboxControl, SandboxError};

use super::Context;
use super::request::{BankRequest, ErrorResponse, JsonResponse};
use crate::simulator::Simulator;

pub(super) fn purchase(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let request: PurchaseRequest = call.body()?;
    JsonResponse::new(&PurchaseResponse::from(context.bank.purchase(call.number()?, &request.into())?))
}

pub(super) fn refund(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let request: RefundRequest = call.body()?;
    JsonResponse::new(&RefundResponse { transaction: context.bank.refund(call.number()?, &request.into())? })
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
    command: fn(&Simulator, CardNumber) -> Result<(), SandboxError>,
) -> Result<JsonResponse, ErrorResponse> {
    command(&context.bank, call.number()?)?;
    JsonResponse::new(&Empty {})
}

pub(super) fn set_behaviour(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let behaviour: BehaviourDto = call.body()?;
    context.bank.inject_faults(behaviour.into())?;
    JsonResponse::new(&Empty {})
}

pub(super) fn clock(context: &Context, _: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    JsonResponse::new(&ClockResponse { offset_micros: context.clock.offset_micros()? })
}

pub(super) fn advance(context: &Context, call: &BankRequest) -> Result<JsonResponse, ErrorResponse> {
    let AdvanceRequest { seconds, once } = call.body()?;
    let offset_micros = context.clock.advance(Duration::from_secs(seconds), &once.into())?;
    JsonResponse::new(&ClockResponse { offset_micros })
}

impl From<SandboxError> for ErrorResponse {
    fn from(error: SandboxError) -> Self {
        let (status, code) = match error {
            SandboxError::UnknownCard => return Self::unknown_card(),
            SandboxError::UnknownPayment => (StatusCode::NOT_FOUND, ErrorCode::UnknownPayment),
            SandboxError::Amount | SandboxError::Rate(_) => {
                (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::Invalid)
            }
            SandboxError::OverPayment(left) => {
                let refusal =
                    Self::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::OverPayment, error.to_string());
                return refusal.with_left(left);
            }
            SandboxError::WrongCode => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::WrongCode),
            SandboxError::CodeExpired => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::CodeExpired),
            SandboxError::ClockTooFar => (StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::ClockTooFar),
            SandboxError::NotASimulator(_) | SandboxError::Unreachable(_) | SandboxError::Failed(_) => {
                (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal)
            }
        };
        Self::new(status, code, error.to_string())
    }
}
