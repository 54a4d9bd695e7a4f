//! The calls by which a sandbox rules the simulator. None of them misbehaves.

use std::time::Duration;

use actix_web::http::StatusCode;
use kopeck_bank_protocol::ErrorCode;
use kopeck_bank_protocol::simulator::{
    ActivateRequest, AdvanceRequest, BehaviourDto, ClockAnswer, Empty, OnceDto, PurchaseAnswer as WireAnswer,
    PurchaseRequest, RefundAnswer, RefundRequest,
};
use kopeck_domain::card_number::CardNumber;

use super::call::{Answer, Call, Refusal};
use super::{ClockRefusal, Desk};
use crate::behaviour::{Behaviour, BehaviourError};
use crate::commands::Once;
use crate::purchases::{Purchase, PurchaseAnswer, Refund};
use crate::sandbox::SandboxError;
use crate::simulator::Simulator;

pub(super) fn purchase(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let PurchaseRequest { amount, place, mcc, merchant_id, at, once } = call.body()?;
    let purchase = Purchase {
        amount,
        place: place.as_deref(),
        mcc: mcc.as_deref(),
        merchant_id: merchant_id.as_deref(),
        at,
        once: once.as_ref().map(name),
    };
    Answer::new(&match desk.bank.purchase(call.number()?, &purchase)? {
        PurchaseAnswer::Approved { transaction } => WireAnswer::Approved { transaction },
        PurchaseAnswer::Refused(refusal) => WireAnswer::Refused { reason: refusal.into() },
    })
}

pub(super) fn refund(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let RefundRequest { payment, amount, once } = call.body()?;
    let refund = Refund { payment, amount, once: once.as_ref().map(name) };
    Answer::new(&RefundAnswer { transaction: desk.bank.refund(call.number()?, &refund)? })
}

pub(super) fn activate(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let ActivateRequest { code } = call.body()?;
    desk.bank.activate(call.number()?, code.as_deref())?;
    Answer::new(&Empty {})
}

pub(super) fn block(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    on_card(desk, call, Simulator::block)
}

pub(super) fn unblock(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    on_card(desk, call, Simulator::unblock)
}

pub(super) fn expire(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    on_card(desk, call, Simulator::expire)
}

fn on_card(
    desk: &Desk,
    call: &Call,
    happen: fn(&Simulator, CardNumber) -> Result<(), SandboxError>,
) -> Result<Answer, Refusal> {
    happen(&desk.bank, call.number()?)?;
    Answer::new(&Empty {})
}

pub(super) fn behave(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let BehaviourDto { latency_ms, error_rate, lose_answer_rate, duplicate_rate, down } = call.body()?;
    let behaviour = Behaviour { latency_ms, error_rate, lose_answer_rate, duplicate_rate, down };
    desk.bank
        .set_behaviour(behaviour)
        .map_err(|error: BehaviourError| Refusal::invalid(error.to_string()))?;
    Answer::new(&Empty {})
}

pub(super) fn clock(desk: &Desk, _: &Call) -> Result<Answer, Refusal> {
    Answer::new(&ClockAnswer { offset_micros: desk.clock.offset_micros() })
}

pub(super) fn advance(desk: &Desk, call: &Call) -> Result<Answer, Refusal> {
    let AdvanceRequest { seconds, once } = call.body()?;
    let moved = desk.clock.advance(Duration::from_secs(seconds), &once.key, once.since);
    moved.map_err(|refusal| match refusal {
        ClockRefusal::TooFar => {
            Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, ErrorCode::ClockTooFar, refusal.to_string())
        }
        ClockRefusal::Failed(_) => Refusal::internal(refusal.to_string()),
    })?;
    clock(desk, call)
}

fn name(once: &OnceDto) -> Once<'_> {
    Once { key: &once.key, since: once.since }
}

impl From<SandboxError> for Refusal {
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
            SandboxError::Books(_) => (StatusCode::INTERNAL_SERVER_ERROR, ErrorCode::Internal),
        };
        Self::new(status, code, error.to_string())
    }
}
