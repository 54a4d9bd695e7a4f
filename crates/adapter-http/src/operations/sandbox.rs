//! The sandbox: control of the simulator that stands in for the bank.

mod activate;
mod bank;
mod block;
mod clock;
mod deposit;
mod expire;
mod purchase;
mod refund;
mod unblock;

use crate::input::faults::Faults;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::CardId;
use kopeck_port_bank::sandbox::{CommandKey, FaultRate, Sandbox, SandboxControl, SandboxError};
use kopeck_service::cards;
use serde::Serialize;

use crate::operations::cards::{bank_unavailable, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 9] = [
    &deposit::OPERATION,
    &purchase::OPERATION,
    &refund::OPERATION,
    &block::OPERATION,
    &unblock::OPERATION,
    &expire::OPERATION,
    &activate::OPERATION,
    &bank::OPERATION,
    &clock::OPERATION,
];

const NO_BANK: &[Code] = &[Code::BankUnavailable];

/// Reads the card of the path before the inputs of `read`: the inputs of a command on a card.
fn with_card<V>(r: &mut Reader<'_>, read: impl FnOnce(&mut Reader<'_>) -> Option<V>) -> Option<(CardId, V)> {
    let id = read_id(r);
    let values = read(r);
    Some((id?, values?))
}

/// Runs a command on the card of the path, and refreshes the copy of the card.
async fn on_card<V, T>(
    mut ctx: HandlerContext,
    read: impl FnOnce(&mut Reader<'_>) -> Option<V>,
    happen: impl FnOnce(&Sandbox, CardNumber, V, &CommandKey) -> Result<T, SandboxError> + Send + 'static,
) -> HandlerResult
where
    V: Send + 'static,
    T: Clone + Serialize + Send + 'static,
{
    let values = ctx.values(|r| with_card(r, read));
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let (id, values) = values?;
    let ctx = mutation.context();
    let look = ctx.read(Ok(id), |unit, env, partner, id| cards::get(unit, env, partner, *id)).await?;
    let number = look.record.card.number();
    let happened = mutation.command(move |sandbox, key| happen(sandbox, number, values, key)).await?;
    ctx.renew_card(id).await?;
    mutation.once(happened, |_, _, _, happened| Ok::<_, ApiError>(happened.clone())).await
}

/// A command on the card of the path that has no other input and no result.
async fn plain_command(
    ctx: HandlerContext,
    command: fn(&dyn SandboxControl, CardNumber) -> Result<(), SandboxError>,
) -> HandlerResult {
    let happen = move |sandbox: &Sandbox, card, (), _: &CommandKey| {
        command(&*sandbox.bank, card).map(|()| api::Done { success: true })
    };
    on_card(ctx, |_| Some(()), happen).await
}

/// Runs a command on the bank or the clock.
async fn on_service<V: Send + 'static>(
    ctx: HandlerContext,
    values: Result<V, Faults>,
    happen: impl FnOnce(&Sandbox, V, &CommandKey) -> Result<(), SandboxError> + Send + 'static,
) -> HandlerResult {
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    mutation.command(move |sandbox, key| happen(sandbox, values, key)).await?;
    mutation.once((), |_, _, _, ()| Ok::<_, ApiError>(api::Done { success: true })).await
}

impl From<SandboxError> for ApiError {
    fn from(error: SandboxError) -> Self {
        match error {
            SandboxError::UnknownCard => Code::CardNotFound.into(),
            SandboxError::WrongCode => Self::field("activationCode", "the activation code is not the card's"),
            SandboxError::CodeExpired => Self::field("activationCode", error.to_string()),
            SandboxError::UnknownPayment => Self::field("transactionId", "is no payment of the card"),
            SandboxError::OverPayment(left) => {
                let left = left.get();
                let detail =
                    format!("is more than the {left} kopecks of the payment that can still be given back");
                Self::field("amount", detail)
            }
            SandboxError::ClockTooFar => Self::field("seconds", "takes the clock beyond the year 2900"),
            SandboxError::Rate(rate) => {
                let field = match rate {
                    FaultRate::Error => "errorRate",
                    FaultRate::LoseRequest => "loseRequestRate",
                    FaultRate::LoseAnswer => "loseAnswerRate",
                    FaultRate::Duplicate => "duplicateRate",
                };
                Self::field(field, "must lie between 0 and 1")
            }
            SandboxError::Unreachable(reason) => bank_unavailable().because(reason),
            // The operations accept positive amounts only.
            SandboxError::Amount | SandboxError::NotASimulator(_) | SandboxError::Failed(_) => {
                Self::internal(error.to_string())
            }
        }
    }
}
