//! The worker's part of a limit change: set the limits of the cards chunk by chunk, settle each. No money moves.

use kopeck_domain::ids::LimitChangeId;
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::{ItemState, LimitChange, LimitChangeItem, LimitChangeRefusal, conclusion};
use kopeck_domain::request::{RequestEvent, RequestState};
use kopeck_port_bank::{BankGateway, BankKey, DeclineReason, Instruction, Submission, Verdict};
use kopeck_port_store::{Claim, StoreError, Subject, UnitOfWork};

use super::Next;
use super::chunk::{self, Findings};
use crate::Env;

/// What the bank has to be told of a chunk of a limit change's cards.
#[derive(Debug, Clone)]
pub(super) struct LimitErrand {
    request: LimitChangeId,
    limit: Limit,
    items: Vec<LimitChangeItem>,
}

/// What the bank said of each card of the chunk.
#[derive(Debug, Clone)]
pub(super) struct LimitReport {
    findings: Findings<LimitChangeItem>,
}

/// Starts the request if it is new, and gathers its next cards.
pub(super) fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: LimitChangeId,
    chunk: u32,
) -> Result<Option<LimitErrand>, StoreError> {
    let mut request = load(unit, claim, id)?;
    if !request.state.is_open() {
        unit.work().finish(claim)?;
        return Ok(None);
    }
    if request.state == RequestState::New {
        request = advance(unit, env, claim, request, RequestEvent::Start)?;
    }
    let items = unit.limit_changes().open_items(claim.partner, id, chunk)?;
    Ok(Some(LimitErrand { request: id, limit: request.limit, items }))
}

impl LimitErrand {
    /// Sets the limit of every card of the chunk, or finds out what became of it.
    pub(super) fn call(self, bank: &dyn BankGateway, claim: &Claim) -> LimitReport {
        let Self { request, limit, items } = self;
        let findings = chunk::tell(bank, claim, items, |item| Submission {
            key: key_of(request, item),
            instruction: Instruction::SetLimit { card: item.number, limit: limit.clone() },
        });
        LimitReport { findings }
    }
}

/// Stores what the bank said: the new limit of the cards that have it; what is unknown stays open.
pub(super) fn settle(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    report: &LimitReport,
) -> Result<Next, StoreError> {
    let Subject::LimitChange(id) = claim.subject else {
        return Err(StoreError::Corrupt("work: a limit change's report for another subject".to_owned()));
    };
    let mut decided = Vec::with_capacity(report.findings.len());
    let mut changed = Vec::new();
    let mut silence = None;
    for (item, finding) in &report.findings {
        match finding {
            Ok(Verdict::Done) => {
                changed.push(item.card);
                decided.push((item.ordinal, ItemState::Done));
            }
            Ok(Verdict::Declined(reason)) => {
                decided.push((item.ordinal, ItemState::Refused(refusal(*reason))));
            }
            Err(error) => silence = Some(error),
        }
    }
    let partner = claim.partner;
    let request = load(unit, claim, id)?;
    unit.limit_changes().settle_items(partner, id, &decided)?;
    if !changed.is_empty() {
        unit.cards().set_limit(partner, &changed, &request.limit)?;
    }
    if let Some(error) = silence {
        log::warn!(reason:% = error; "limit changes wait for the bank");
        return Ok(Next::AskLater);
    }
    let counts = unit.limit_changes().counts(partner, id)?;
    if counts.open > 0 {
        return Ok(Next::GoOn);
    }
    advance(unit, env, claim, request, conclusion(counts.done, counts.refused))?;
    unit.limit_changes().release_cards(partner, id)?;
    Ok(Next::Finished)
}

fn advance(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    request: LimitChange,
    event: RequestEvent,
) -> Result<LimitChange, StoreError> {
    let request = request
        .on(event, env.now())
        .map_err(|error| StoreError::Corrupt(format!("limit_changes.state: {error}")))?;
    unit.limit_changes().set_state(claim.partner, &request)?;
    Ok(request)
}

fn load(unit: &mut dyn UnitOfWork, claim: &Claim, id: LimitChangeId) -> Result<LimitChange, StoreError> {
    let request = unit.limit_changes().get(claim.partner, id)?;
    request.ok_or_else(|| StoreError::Corrupt("work: there is no such limit change".to_owned()))
}

/// One key a card of a request, for ever.
fn key_of(request: LimitChangeId, item: &LimitChangeItem) -> BankKey {
    BankKey::new(format!("limit/{request}/{}", item.ordinal))
}

const fn refusal(reason: DeclineReason) -> LimitChangeRefusal {
    match reason {
        DeclineReason::Blocked => LimitChangeRefusal::Blocked,
        DeclineReason::Expired => LimitChangeRefusal::Expired,
        DeclineReason::NotActivated => LimitChangeRefusal::NotActivated,
        // No money is put on the card, so that a bank that speaks of too much of it means something else.
        DeclineReason::OverCardLimit | DeclineReason::Refused => LimitChangeRefusal::RefusedByBank,
    }
}

#[cfg(test)]
mod tests;
