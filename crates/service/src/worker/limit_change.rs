//! The worker's part of a limit change: set the limits of the cards chunk by chunk, settle each. No money moves.

use kopeck_domain::ids::{LimitChangeId, PartnerId};
use kopeck_domain::limit::Limit;
use kopeck_domain::limit_change::{ItemState, LimitChange, LimitChangeItem, LimitChangeRefusal, conclusion};
use kopeck_domain::request::{RequestEvent, RequestState};
use kopeck_port_bank::{BankGateway, BankKey, DeclineReason, Instruction, Submission, Verdict};
use kopeck_port_store::{Claim, StoreError, Subject, UnitOfWork};

use super::chunk::{self, Chunk, Findings, OpenCards};
use super::{Next, Tactics};
use crate::Env;

/// What the bank has to be told of a chunk of a limit change's cards.
#[derive(Debug, Clone)]
pub(super) struct LimitErrand {
    request: LimitChangeId,
    limit: Limit,
    chunk: Chunk<LimitChangeItem>,
}

/// What the bank said of each card of the chunk.
#[derive(Debug, Clone)]
pub(super) struct LimitReport {
    pub(super) findings: Findings<LimitChangeItem>,
}

/// Starts the request if it is new, and gathers its next cards.
pub(super) fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: LimitChangeId,
    tactics: Tactics,
) -> Result<Option<LimitErrand>, StoreError> {
    let mut request = load(unit, claim, id)?;
    if !request.state.is_open() {
        unit.jobs().complete(claim)?;
        return Ok(None);
    }
    if request.state == RequestState::New {
        request = advance(unit, env, claim, request, RequestEvent::Start)?;
    }
    let mut cards = LimitCards { unit, partner: claim.partner, request: id };
    let chunk = chunk::gather(&mut cards, claim, tactics)?;
    Ok(Some(LimitErrand { request: id, limit: request.limit, chunk }))
}

impl LimitErrand {
    /// Sets the limit of every card of the chunk, or finds out what became of it.
    pub(super) fn call(self, bank: &dyn BankGateway) -> LimitReport {
        let Self { request, limit, chunk } = self;
        let findings = chunk::tell(bank, chunk, |item| Submission {
            key: key_of(request, item),
            instruction: Instruction::SetLimit { card: item.number, limit: limit.clone() },
        });
        LimitReport { findings }
    }

    /// How many cards the bank is told of.
    pub(super) fn cards(&self) -> u32 {
        self.chunk.len()
    }

    /// Whether its cards are marked as sent already.
    pub(super) fn is_marked(&self) -> bool {
        self.chunk.is_marked()
    }

    /// Notes that marked cards were not sent after all.
    pub(super) fn take_back(&self, unit: &mut dyn UnitOfWork, claim: &Claim) -> Result<(), StoreError> {
        let mut cards = LimitCards { unit, partner: claim.partner, request: self.request };
        self.chunk.take_back(&mut cards)
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
    let mut decided = Vec::with_capacity(report.findings.cards.len());
    let mut changed = Vec::new();
    for (item, finding) in &report.findings.cards {
        match finding {
            Ok(Verdict::Done) => {
                changed.push(item.card);
                decided.push((item.ordinal, ItemState::Done));
            }
            Ok(Verdict::Declined(reason)) => {
                decided.push((item.ordinal, ItemState::Refused(refusal(*reason))));
            }
            Err(_) => {}
        }
    }
    let partner = claim.partner;
    let request = load(unit, claim, id)?;
    unit.limit_changes().settle_items(partner, id, &decided)?;
    if !changed.is_empty() {
        unit.cards().set_limit(partner, &changed, &request.limit)?;
    }
    let mut cards = LimitCards { unit, partner, request: id };
    if let Some(next) = chunk::next_without_verdict(&mut cards, &report.findings)? {
        return Ok(next);
    }
    if chunk::is_followed::<LimitCards<'_>>(&report.findings, request.cards) {
        return Ok(Next::GoOn);
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

/// The undecided cards of one request in the store.
struct LimitCards<'a> {
    unit: &'a mut dyn UnitOfWork,
    partner: PartnerId,
    request: LimitChangeId,
}

impl OpenCards for LimitCards<'_> {
    type Card = LimitChangeItem;

    fn ordinal(card: &LimitChangeItem) -> u32 {
        card.ordinal
    }

    fn open(&mut self, limit: u32) -> Result<Vec<LimitChangeItem>, StoreError> {
        self.unit.limit_changes().open_items(self.partner, self.request, limit)
    }

    fn unsent(&mut self, limit: u32) -> Result<Vec<LimitChangeItem>, StoreError> {
        self.unit.limit_changes().unsent_items(self.partner, self.request, limit)
    }

    fn mark_sent(&mut self, ordinals: &[u32], sent: bool) -> Result<(), StoreError> {
        self.unit.limit_changes().mark_sent(self.partner, self.request, ordinals, sent)
    }
}

fn load(unit: &mut dyn UnitOfWork, claim: &Claim, id: LimitChangeId) -> Result<LimitChange, StoreError> {
    let request = unit.limit_changes().get(claim.partner, id)?;
    request.ok_or_else(|| StoreError::Corrupt("work: there is no such limit change".to_owned()))
}

/// One key a card of a request, for ever.
pub(super) fn key_of(request: LimitChangeId, item: &LimitChangeItem) -> BankKey {
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
