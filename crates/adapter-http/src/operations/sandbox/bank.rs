//! Sets the faults of the bank.

use std::time::Duration;

use kopeck_domain::Invalid;
use kopeck_port_bank::sandbox::BankFaults;

use super::{NO_BANK, on_service};
use crate::input::field_types::{boolean, integer, rate};
use crate::operations::prelude::*;

/// The greatest latency of the bank: a minute.
const LONGEST_LATENCY_MS: i64 = 60_000;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_BANK, Needs::One(Scope::SandboxWrite), handler!(bank))
        .reads(reads!(read))
        .responds::<api::Done>(200)
        .refuses(NO_BANK);

/// Absent fields mean no fault, so an empty object ends all faults.
fn read(r: &mut Reader<'_>) -> Option<BankFaults> {
    let mut body = r.body();
    let latency = integer(latency).between(0, LONGEST_LATENCY_MS).about("Delays each response by this time.");
    let latency = body.optional("latencyMs", latency).unwrap_or_default();
    let [error_rate, lose_request_rate, lose_answer_rate, duplicate_rate] = [
        ("errorRate", "Fails that share of instructions and queries, before any effect."),
        ("loseRequestRate", "Loses that share of instructions before any effect, and sends no response."),
        ("loseAnswerRate", "Carries out that share of instructions and sends no response."),
        ("duplicateRate", "Carries out twice that share of the instructions that it gets twice."),
    ]
    .map(|(name, about)| body.optional(name, rate().about(about)).unwrap_or_default());
    let down = body.optional("down", boolean().about("Does not respond.")).unwrap_or_default();
    let about = "Leaves purchases and refunds out of its feed.";
    let silent_feed = body.optional("silentFeed", boolean().about(about)).unwrap_or_default();
    Some(BankFaults {
        latency,
        error_rate,
        lose_request_rate,
        lose_answer_rate,
        duplicate_rate,
        silent_feed,
        down,
    })
}

fn latency(milliseconds: i64) -> Result<Duration, Invalid> {
    u64::try_from(milliseconds)
        .ok()
        .filter(|_| milliseconds <= LONGEST_LATENCY_MS)
        .map(Duration::from_millis)
        .ok_or_else(|| Invalid::new(format!("must be an integer from 0 to {LONGEST_LATENCY_MS}")))
}

async fn bank(mut ctx: HandlerContext) -> HandlerResult {
    let faults = ctx.values(read);
    on_service(ctx, faults, |sandbox, faults, _| sandbox.bank.inject_faults(faults)).await
}
