//! The worker's part of a replenishment: hold the money, top up the cards chunk by chunk, settle each.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::ReplenishmentId;
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::replenishment::{
    ItemState, Replenishment, ReplenishmentItem, TopUpRefusal, conclusion, cover,
};
use kopeck_domain::request::{RequestEvent, RequestState};
use kopeck_port_bank::{BankGateway, BankKey, DeclineReason, Instruction, Submission, Verdict};
use kopeck_port_store::{Claim, StoreError, Subject, UnitOfWork};

use super::Next;
use super::chunk::{self, Findings};
use crate::Env;
use crate::money::{self, MoveError};

/// What the bank has to be told of a chunk of a replenishment's cards.
#[derive(Debug, Clone)]
pub(super) struct TopUpErrand {
    request: ReplenishmentId,
    items: Vec<ReplenishmentItem>,
}

/// What the bank said of each card of the chunk.
#[derive(Debug, Clone)]
pub(super) struct TopUpReport {
    findings: Findings<ReplenishmentItem>,
}

/// Starts the request if it is new, which holds its money, and gathers its next cards.
pub(super) fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: ReplenishmentId,
    chunk: u32,
) -> Result<Option<TopUpErrand>, StoreError> {
    let mut request = load(unit, claim, id)?;
    if !request.state.is_open() {
        unit.work().finish(claim)?;
        return Ok(None);
    }
    if request.state == RequestState::New {
        request = start(unit, env, claim, request)?;
    }
    let items = unit.replenishments().open_items(claim.partner, id, chunk)?;
    if items.is_empty() {
        finish(unit, env, claim, request)?;
        unit.work().finish(claim)?;
        return Ok(None);
    }
    Ok(Some(TopUpErrand { request: id, items }))
}

impl TopUpErrand {
    /// Tops up every card of the chunk, or finds out what became of it.
    pub(super) fn call(self, bank: &dyn BankGateway, claim: &Claim) -> TopUpReport {
        let Self { request, items } = self;
        let findings = chunk::tell(bank, claim, items, |item| Submission {
            key: key_of(request, item),
            instruction: Instruction::TopUp { card: item.number, amount: item.amount },
        });
        TopUpReport { findings }
    }
}

/// Books what the bank said: debits what was topped up, frees what was refused, leaves what is unknown.
pub(super) fn settle(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    report: &TopUpReport,
) -> Result<Next, StoreError> {
    let Subject::Replenishment(id) = claim.subject else {
        return Err(StoreError::Corrupt("work: a replenishment's report for another subject".to_owned()));
    };
    let mut decided = Vec::with_capacity(report.findings.len());
    let mut changed = Vec::new();
    let (mut captured, mut released) = (Kopecks::ZERO, Kopecks::ZERO);
    let mut silence = None;
    for (item, finding) in &report.findings {
        match finding {
            Ok(Verdict::Done) => {
                captured = plus(captured, item.amount)?;
                decided.push((item.ordinal, ItemState::ToppedUp));
                changed.push(item.card);
            }
            Ok(Verdict::Declined(reason)) => {
                released = plus(released, item.amount)?;
                decided.push((item.ordinal, ItemState::Refused(refusal(*reason))));
            }
            Err(error) => silence = Some(error),
        }
    }
    let partner = claim.partner;
    unit.replenishments().settle_items(partner, id, &decided)?;
    if !changed.is_empty() {
        // Whoever asks after the end of the request sees the new balance, whatever the copy's age.
        unit.cards().outdate_bank_view(partner, &changed)?;
    }
    for (kind, amount) in [(MovementKind::Capture, captured), (MovementKind::Release, released)] {
        money::book(unit, partner, kind, Reference::Replenishment(id), amount, env.now())
            .map_err(MoveError::unexpected)?;
    }
    if let Some(error) = silence {
        log::warn!(reason:% = error; "top-ups wait for the bank");
        return Ok(Next::AskLater);
    }
    if unit.replenishments().counts(partner, id)?.open > 0 {
        return Ok(Next::GoOn);
    }
    let request = load(unit, claim, id)?;
    finish(unit, env, claim, request)?;
    Ok(Next::Finished)
}

/// Holds what the partner's balance covers, and refuses the other cards.
fn start(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    request: Replenishment,
) -> Result<Replenishment, StoreError> {
    let partner = claim.partner;
    let items = unit.replenishments().items(partner, request.id, 0, request.cards)?;
    let sheet = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?;
    let (held, uncovered) = cover(&items, sheet.balances.available).map_err(overflow)?;
    let refused: Vec<(u32, ItemState)> = uncovered
        .into_iter()
        .map(|ordinal| (ordinal, ItemState::Refused(TopUpRefusal::NotEnoughBalance)))
        .collect();
    if !refused.is_empty() {
        unit.replenishments().settle_items(partner, request.id, &refused)?;
    }
    money::book(unit, partner, MovementKind::Hold, Reference::Replenishment(request.id), held, env.now())
        .map_err(MoveError::unexpected)?;
    advance(unit, env, claim, request, RequestEvent::Start)
}

fn finish(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    request: Replenishment,
) -> Result<(), StoreError> {
    let id = request.id;
    let counts = unit.replenishments().counts(claim.partner, id)?;
    advance(unit, env, claim, request, conclusion(counts.done, counts.refused))?;
    unit.replenishments().release_cards(claim.partner, id)
}

fn advance(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    request: Replenishment,
    event: RequestEvent,
) -> Result<Replenishment, StoreError> {
    let request = request
        .on(event, env.now())
        .map_err(|error| StoreError::Corrupt(format!("replenishments.state: {error}")))?;
    unit.replenishments().set_state(claim.partner, &request)?;
    Ok(request)
}

fn load(unit: &mut dyn UnitOfWork, claim: &Claim, id: ReplenishmentId) -> Result<Replenishment, StoreError> {
    let request = unit.replenishments().get(claim.partner, id)?;
    request.ok_or_else(|| StoreError::Corrupt("work: there is no such replenishment".to_owned()))
}

/// One key a card of a request, for ever.
fn key_of(request: ReplenishmentId, item: &ReplenishmentItem) -> BankKey {
    BankKey::new(format!("replenishment/{request}/{}", item.ordinal))
}

const fn refusal(reason: DeclineReason) -> TopUpRefusal {
    match reason {
        DeclineReason::OverCardLimit => TopUpRefusal::OverCardLimit,
        DeclineReason::Blocked => TopUpRefusal::Blocked,
        DeclineReason::Expired => TopUpRefusal::Expired,
        DeclineReason::NotActivated => TopUpRefusal::NotActivated,
        DeclineReason::Refused => TopUpRefusal::RefusedByBank,
    }
}

fn plus(sum: Kopecks, amount: Kopecks) -> Result<Kopecks, StoreError> {
    sum.plus(amount).map_err(overflow)
}

fn overflow(error: kopeck_domain::money::AmountOverflow) -> StoreError {
    StoreError::Corrupt(format!("replenishment_items.amount: {error}"))
}

#[cfg(test)]
mod tests;
