//! The sandbox: what a partner can make happen where a simulator stands for the bank.

use std::time::Duration;

use actix_web::http::StatusCode;
use kopeck_domain::Faults;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::draft::Invalid;
use kopeck_domain::ids::CardId;
use kopeck_domain::ledger::DepositReference;
use kopeck_service::{balance, cards, partners};
use serde::Serialize;

use crate::dto::{BalanceDto, Done, PurchaseDto, RefundDto};
use crate::error::ApiError;
use crate::exchange::Exchange;
use crate::input::kinds::{Given, boolean, integer, positive, rate, text};
use crate::input::reader::Reader;
use crate::route::Outcome;
use crate::sandbox::{CommandKey, Misbehaviour, SandboxPower, SandboxPurchase, SandboxRefusal};

/// The most characters in a text about a merchant.
const LONGEST_TEXT: usize = 256;

/// The longest that the bank can be made to take for an answer: a minute.
const LONGEST_LATENCY_MS: i64 = 60_000;

/// The farthest that the clock moves at once: ten years.
const FARTHEST_SECONDS: i64 = 10 * 365 * 24 * 60 * 60;

pub(crate) async fn deposit(x: Exchange) -> Outcome {
    let amount = x.call.values(|r| r.body().required("amount", integer(positive)));
    x.mutate(StatusCode::OK, amount, |unit, env, partner, amount| {
        let reference = DepositReference::parse(&format!("sandbox-{}", env.ids.next_id()))
            .map_err(|error| ApiError::internal(error.to_string()))?;
        partners::deposit(unit, env, partner, *amount, &reference)?;
        let sheet = balance::get(unit, partner)?;
        BalanceDto::new(&sheet, env.settings.zone).map_err(|error| ApiError::internal(error.to_string()))
    })
    .await
}

pub(crate) async fn purchase(x: Exchange) -> Outcome {
    let zone = x.zone();
    let read = |r: &mut Reader<'_>| {
        let mut body = r.body();
        let amount = body.required("amount", integer(positive));
        let [place, mcc, merchant_id] =
            ["place", "mcc", "merchantId"].map(|name| body.optional(name, merchant_text));
        let at = body.optional("at", text(move |at| zone.parse_moment(at)));
        Some(SandboxPurchase { amount: amount?, place, mcc, merchant_id, at })
    };
    on_card(x, read, |power, card, purchase, key| power.purchase(card, &purchase, key).map(PurchaseDto::from))
        .await
}

pub(crate) async fn refund(x: Exchange) -> Outcome {
    let read = |r: &mut Reader<'_>| {
        let mut body = r.body();
        let transaction = body.required("transactionId", integer(Ok));
        let amount = body.required("amount", integer(positive));
        Some((transaction?, amount?))
    };
    on_card(x, read, |power, card, (transaction, amount), key| {
        power.refund(card, transaction, amount, key).map(RefundDto::new)
    })
    .await
}

pub(crate) async fn block(x: Exchange) -> Outcome {
    on_card(x, |_| Some(()), |power, card, (), _| power.block(card).map(|()| Done::new())).await
}

pub(crate) async fn unblock(x: Exchange) -> Outcome {
    on_card(x, |_| Some(()), |power, card, (), _| power.unblock(card).map(|()| Done::new())).await
}

pub(crate) async fn expire(x: Exchange) -> Outcome {
    on_card(x, |_| Some(()), |power, card, (), _| power.expire(card).map(|()| Done::new())).await
}

pub(crate) async fn activate(x: Exchange) -> Outcome {
    let read =
        |r: &mut Reader<'_>| Some(r.body().optional("activationCode", text(|code| Ok(code.to_owned()))));
    on_card(x, read, |power, card, code, _| power.activate(card, code.as_deref()).map(|()| Done::new())).await
}

/// What is not given is as it is with a bank in good order, so that an empty object ends all misbehaviour.
pub(crate) async fn bank(x: Exchange) -> Outcome {
    let misbehaviour = x.call.values(|r| {
        let mut body = r.body();
        let latency = body.optional("latencyMs", integer(latency)).unwrap_or_default();
        let [error_rate, lose_answer_rate, duplicate_rate] = ["errorRate", "loseAnswerRate", "duplicateRate"]
            .map(|name| body.optional(name, rate).unwrap_or_default());
        let down = body.optional("down", boolean).unwrap_or_default();
        Some(Misbehaviour { latency, error_rate, lose_answer_rate, duplicate_rate, down })
    });
    on_service(x, misbehaviour, |power, misbehaviour, _| power.misbehave(misbehaviour)).await
}

pub(crate) async fn advance_clock(x: Exchange) -> Outcome {
    let by = x.call.values(|r| r.body().required("seconds", integer(seconds)));
    on_service(x, by, |power, by, key| power.advance_clock(by, key)).await
}

/// Lets something happen to the card of the path, and brings the copy of the card up to date.
async fn on_card<V, T>(
    x: Exchange,
    read: impl FnOnce(&mut Reader<'_>) -> Option<V>,
    happen: impl FnOnce(&dyn SandboxPower, CardNumber, V, &CommandKey) -> Result<T, SandboxRefusal>
    + Send
    + 'static,
) -> Outcome
where
    V: Send + 'static,
    T: Clone + Serialize + Send + 'static,
{
    let values = x.call.values(|r| {
        let id = r.id::<CardId>("idCard");
        let values = read(r);
        Some((id?, values?))
    });
    let turn = x.turn().await?;
    if let Some(answer) = turn.replay().await? {
        return Ok(answer);
    }
    let (id, values) = values?;
    let (x, key) = (turn.exchange(), turn.command_key());
    let look = x.read(Ok(id), |unit, env, partner, id| cards::look(unit, env, partner, *id)).await?;
    let number = look.record.card.number;
    let happened = x.command(move |power| happen(power, number, values, &key)).await?;
    x.renew_card(id).await?;
    turn.once(StatusCode::OK, happened, |_, _, _, happened| Ok::<_, ApiError>(happened.clone())).await
}

/// Lets something happen to the bank or the clock as a whole.
async fn on_service<V: Send + 'static>(
    x: Exchange,
    values: Result<V, Faults>,
    happen: impl FnOnce(&dyn SandboxPower, V, &CommandKey) -> Result<(), SandboxRefusal> + Send + 'static,
) -> Outcome {
    let turn = x.turn().await?;
    if let Some(answer) = turn.replay().await? {
        return Ok(answer);
    }
    let (values, key) = (values?, turn.command_key());
    turn.exchange().command(move |power| happen(power, values, &key)).await?;
    turn.once(StatusCode::OK, (), |_, _, _, ()| Ok::<_, ApiError>(Done::new())).await
}

/// A text about a merchant, as the bank would print it.
fn merchant_text(given: Given<'_>) -> Result<String, Invalid> {
    text(|text| {
        if (1..=LONGEST_TEXT).contains(&text.chars().count()) {
            Ok(text.to_owned())
        } else {
            Err(Invalid::new(format!("must have 1 to {LONGEST_TEXT} characters")))
        }
    })(given)
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
