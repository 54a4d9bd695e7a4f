//! Moves the clock forward.

use std::time::Duration;

use kopeck_domain::Invalid;

use super::{NO_BANK, on_service};
use crate::input::field_types::integer;
use crate::operations::prelude::*;

/// The farthest that the clock moves in one step: ten years.
const FARTHEST_SECONDS: i64 = 10 * 365 * 24 * 60 * 60;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::SANDBOX_CLOCK, Needs::One(Scope::SandboxWrite), handler!(advance_clock))
        .reads(reads!(read))
        .responds::<api::Done>(200)
        .refuses(NO_BANK);

fn read(r: &mut Reader<'_>) -> Option<Duration> {
    r.body().required("seconds", integer(seconds).between(1, FARTHEST_SECONDS))
}

fn seconds(seconds: i64) -> Result<Duration, Invalid> {
    u64::try_from(seconds)
        .ok()
        .filter(|_| (1..=FARTHEST_SECONDS).contains(&seconds))
        .map(Duration::from_secs)
        .ok_or_else(|| Invalid::new(format!("must be an integer from 1 to {FARTHEST_SECONDS}")))
}

async fn advance_clock(mut ctx: HandlerContext) -> HandlerResult {
    let by = ctx.values(read);
    on_service(ctx, by, |sandbox, by, key| sandbox.clock.advance(by, key).map(drop)).await
}
