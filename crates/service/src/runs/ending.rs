//! What the end of a run brings: another try, if its programme wants it as a whole, and the next step of a leaver.

use kopeck_domain::access::Actor;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::programme::next_try;
use kopeck_domain::replenishment::TopUpRefusal;
use kopeck_domain::run::{Run, RunKind, RunProgramme, RunState};
use kopeck_port_store::{StoreError, UnitOfWork};

use crate::Env;

/// Items of a large run that are read at a time, so that memory stays small.
pub(super) const ITEMS_AT_ONCE: u32 = 1_000;

/// The run that has ended, with its next try if its programme wants one: if no person got anything, since the balance was short.
pub(crate) fn after_decline(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: Run,
) -> Result<Run, StoreError> {
    let is_whole = run.programme().is_some_and(RunProgramme::is_all_or_nothing);
    if !is_whole || run.kind() != RunKind::TopUp || run.state() != RunState::Decline {
        return Ok(run);
    }
    let short = TopUpRefusal::NotEnoughBalance.text();
    let (mut from, mut was_short) = (0, false);
    while from < run.totals().number && !was_short {
        let items = unit.runs().items(partner, run.id(), from, ITEMS_AT_ONCE)?;
        was_short = items.iter().any(|item| item.reason.as_deref() == Some(short));
        from += ITEMS_AT_ONCE;
    }
    let next = was_short.then(|| next_try(run.created_at(), env.now(), env.settings.zone)).flatten();
    Ok(run.with_retry(next))
}

/// Makes the next step of a leaver due if this run, which has ended, takes back what was left on their cards.
pub(super) fn wake_leaver(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    run: &Run,
) -> Result<(), StoreError> {
    if run.kind() == RunKind::Withdraw && *run.created_by() == Actor::Service {
        unit.leavers().wake(partner, run.id(), env.now())?;
    }
    Ok(())
}
