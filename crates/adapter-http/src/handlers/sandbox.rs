//! The sandbox: control of the simulator that stands in for the bank.

use std::time::Duration;

use actix_web::http::StatusCode;
use kopeck_domain::calendar::Zone;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::draft::Invalid;
use kopeck_domain::ids::CardId;
use kopeck_domain::ledger::DepositReference;
use kopeck_domain::{Faults, Kopecks};
use kopeck_service::{balance, cards, partners};
use serde::Serialize;

use crate::dto::{BalanceDto, PurchaseDto, RefundDto, SuccessDto};
use crate::error::ApiError;
use crate::handler_context::HandlerContext;
use crate::input::field_types::{FieldType, InputValue, amount, boolean, integer, rate, text};
use crate::input::reader::Reader;
use crate::openapi::schema::chars;
use crate::route::HandlerResult;
use crate::sandbox::{CommandKey, SandboxControl, SandboxFaults, SandboxPurchase, SandboxRefusal};

/// The most characters of a text about a merchant.
const LONGEST_TEXT: usize = 256;

/// The greatest latency of the bank: a minute.
const LONGEST_LATENCY_MS: i64 = 60_000;

/// The farthest that the clock moves in one step: ten years.
const FARTHEST_SECONDS: i64 = 10 * 365 * 24 * 60 * 60;

pub(crate) async fn deposit(ctx: HandlerContext) -> HandlerResult {
    let amount = ctx.input.values(read_deposit);
    ctx.mutate(StatusCode::OK, amount, |unit, env, partner, amount| {
        let reference = DepositReference::parse(&format!("sandbox-{}", env.ids.next_id()))
            .map_err(|error| ApiError::internal(error.to_string()))?;
        partners::deposit(unit, env, partner, *amount, &reference)?;
        let sheet = balance::get(unit, partner)?;
        BalanceDto::new(&sheet, env.settings.zone).map_err(|error| ApiError::internal(error.to_string()))
    })
    .await
}

pub(crate) async fn purchase(ctx: HandlerContext) -> HandlerResult {
    let zone = ctx.zone();
    on_card(
        ctx,
        |r| read_purchase(r, zone),
        |sandbox, card, purchase, key| sandbox.purchase(card, &purchase, key).map(PurchaseDto::from),
    )
    .await
}

pub(crate) async fn refund(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, read_refund, |sandbox, card, (transaction, amount), key| {
        sandbox.refund(card, transaction, amount, key).map(RefundDto::new)
    })
    .await
}

pub(crate) async fn block(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, |_| Some(()), |sandbox, card, (), _| sandbox.block(card).map(|()| SuccessDto::new())).await
}

pub(crate) async fn unblock(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, |_| Some(()), |sandbox, card, (), _| sandbox.unblock(card).map(|()| SuccessDto::new())).await
}

pub(crate) async fn expire(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, |_| Some(()), |sandbox, card, (), _| sandbox.expire(card).map(|()| SuccessDto::new())).await
}

pub(crate) async fn activate(ctx: HandlerContext) -> HandlerResult {
    on_card(ctx, read_activation, |sandbox, card, code, _| {
        sandbox.activate(card, code.as_deref()).map(|()| SuccessDto::new())
    })
    .await
}

/// Absent fields mean no fault, so an empty object ends all faults.
pub(crate) async fn bank(ctx: HandlerContext) -> HandlerResult {
    let faults = ctx.input.values(read_fault_injection);
    on_service(ctx, faults, |sandbox, faults, _| sandbox.inject_faults(faults)).await
}

pub(crate) async fn advance_clock(ctx: HandlerContext) -> HandlerResult {
    let by = ctx.input.values(read_seconds);
    on_service(ctx, by, |sandbox, by, key| sandbox.advance_clock(by, key)).await
}

/// Runs a command on the card of the path, and refreshes the copy of the card.
async fn on_card<V, T>(
    ctx: HandlerContext,
    read: impl FnOnce(&mut Reader<'_>) -> Option<V>,
    happen: impl FnOnce(&dyn SandboxControl, CardNumber, V, &CommandKey) -> Result<T, SandboxRefusal>
    + Send
    + 'static,
) -> HandlerResult
where
    V: Send + 'static,
    T: Clone + Serialize + Send + 'static,
{
    let values = ctx.input.values(|r| {
        let id = read_card(r);
        let values = read(r);
        Some((id?, values?))
    });
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let (id, values) = values?;
    let ctx = mutation.context();
    let look = ctx.read(Ok(id), |unit, env, partner, id| cards::get(unit, env, partner, *id)).await?;
    let number = look.record.card.number;
    let happened = mutation.command(move |sandbox, key| happen(sandbox, number, values, key)).await?;
    ctx.renew_card(id).await?;
    mutation.once(StatusCode::OK, happened, |_, _, _, happened| Ok::<_, ApiError>(happened.clone())).await
}

/// Runs a command on the bank or the clock.
async fn on_service<V: Send + 'static>(
    ctx: HandlerContext,
    values: Result<V, Faults>,
    happen: impl FnOnce(&dyn SandboxControl, V, &CommandKey) -> Result<(), SandboxRefusal> + Send + 'static,
) -> HandlerResult {
    let mutation = ctx.begin_mutation().await?;
    if let Some(answer) = mutation.replay().await? {
        return Ok(answer);
    }
    let values = values?;
    mutation.command(move |sandbox, key| happen(sandbox, values, key)).await?;
    mutation.once(StatusCode::OK, (), |_, _, _, ()| Ok::<_, ApiError>(SuccessDto::new())).await
}

/// The card of the path, for commands without other inputs.
pub(crate) fn read_card(r: &mut Reader<'_>) -> Option<CardId> {
    r.id("idCard")
}

pub(crate) fn read_deposit(r: &mut Reader<'_>) -> Option<Kopecks> {
    r.body().required("amount", amount().about("Kopecks."))
}

pub(crate) fn read_purchase(r: &mut Reader<'_>, zone: Zone) -> Option<SandboxPurchase> {
    let mut body = r.body();
    let amount = body.required("amount", amount().about("Kopecks."));
    let [place, mcc, merchant_id] =
        ["place", "mcc", "merchantId"].map(|name| body.optional(name, merchant_text()));
    let about = "When it happens, in the past or in the future; now, if absent.";
    let at = body.optional("at", text(move |at| zone.parse_moment(at)).about(about));
    Some(SandboxPurchase { amount: amount?, place, mcc, merchant_id, at })
}

pub(crate) fn read_refund(r: &mut Reader<'_>) -> Option<(i64, Kopecks)> {
    let mut body = r.body();
    let transaction = body.required("transactionId", integer(Ok).about("A `PAYMENT` of this card."));
    let about = "Kopecks, up to what earlier refunds have left of the payment.";
    let amount = body.required("amount", amount().about(about));
    Some((transaction?, amount?))
}

pub(crate) fn read_activation(r: &mut Reader<'_>) -> Option<Option<String>> {
    let about = "The code from the result of its order; without one the bank activates the card by itself.";
    Some(r.body().optional("activationCode", text(|code| Ok(code.to_owned())).about(about)))
}

pub(crate) fn read_fault_injection(r: &mut Reader<'_>) -> Option<SandboxFaults> {
    let mut body = r.body();
    let latency = integer(latency).between(0, LONGEST_LATENCY_MS).about("Answers that much later.");
    let latency = body.optional("latencyMs", latency).unwrap_or_default();
    let [error_rate, lose_answer_rate, duplicate_rate] = [
        ("errorRate", "Fails for that share of what it is told or asked, before any effect."),
        ("loseAnswerRate", "Does that share of what it is told and gives no answer."),
        ("duplicateRate", "Does that share of what it is told twice two times."),
    ]
    .map(|(name, about)| body.optional(name, rate().about(about)).unwrap_or_default());
    let down = body.optional("down", boolean().about("Answers nothing at all.")).unwrap_or_default();
    Some(SandboxFaults { latency, error_rate, lose_answer_rate, duplicate_rate, down })
}

pub(crate) fn read_seconds(r: &mut Reader<'_>) -> Option<Duration> {
    r.body().required("seconds", integer(seconds).between(1, FARTHEST_SECONDS))
}

/// A text about a merchant, as the bank would print it.
fn merchant_text() -> FieldType<impl Fn(InputValue<'_>) -> Result<String, Invalid>> {
    let read = |text: &str| {
        if (1..=LONGEST_TEXT).contains(&text.chars().count()) {
            Ok(text.to_owned())
        } else {
            Err(Invalid::new(format!("must have 1 to {LONGEST_TEXT} characters")))
        }
    };
    text(read).looks_like(|_| chars(1, LONGEST_TEXT)).about("Shown in the card's transactions.")
}

fn latency(milliseconds: i64) -> Result<Duration, Invalid> {
    u64::try_from(milliseconds)
        .ok()
        .filter(|_| milliseconds <= LONGEST_LATENCY_MS)
        .map(Duration::from_millis)
        .ok_or_else(|| Invalid::new(format!("must be an integer from 0 to {LONGEST_LATENCY_MS}")))
}

fn seconds(seconds: i64) -> Result<Duration, Invalid> {
    u64::try_from(seconds)
        .ok()
        .filter(|_| (1..=FARTHEST_SECONDS).contains(&seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| Invalid::new(format!("must be an integer from 1 to {FARTHEST_SECONDS}")))
}
