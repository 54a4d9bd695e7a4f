//! The worker's part of a replenishment: hold the money, top up the cards chunk by chunk, settle each.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::{PartnerId, ReplenishmentId};
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::replenishment::{
    ItemState, Replenishment, ReplenishmentItem, TopUpRefusal, conclusion, cover,
};
use kopeck_domain::request::{RequestEvent, RequestState};
use kopeck_port_bank::{BankGateway, BankKey, DeclineReason, Instruction, Submission, Verdict};
use kopeck_port_store::{Claim, ItemCounts, StoreError, Subject, UnitOfWork};

use super::chunk::{self, Chunk, Findings, OpenCards};
use super::{Next, Tactics};
use crate::Env;
use crate::money::{self, MoveError};

/// What the bank has to be told of a chunk of a replenishment's cards.
#[derive(Debug, Clone)]
pub(super) struct TopUpErrand {
    request: ReplenishmentId,
    chunk: Chunk<ReplenishmentItem>,
}

/// What the bank said of each card of the chunk.
#[derive(Debug, Clone)]
pub(super) struct TopUpReport {
    pub(super) findings: Findings<ReplenishmentItem>,
}

/// Starts the request if it is new, which holds its money, and gathers its next cards.
pub(super) fn prepare(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: ReplenishmentId,
    tactics: Tactics,
) -> Result<Option<TopUpErrand>, StoreError> {
    let mut request = load(unit, claim, id)?;
    if !request.state.is_open() {
        unit.jobs().complete(claim)?;
        return Ok(None);
    }
    if request.state == RequestState::New {
        request = start(unit, env, claim, request)?;
    }
    let mut cards = TopUps { unit, partner: claim.partner, request: id };
    let chunk = chunk::gather(&mut cards, claim, tactics)?;
    if chunk.cards.is_empty() {
        let counts = unit.replenishments().counts(claim.partner, id)?;
        finish(unit, env, claim, request, counts)?;
        unit.jobs().complete(claim)?;
        return Ok(None);
    }
    Ok(Some(TopUpErrand { request: id, chunk }))
}

impl TopUpErrand {
    /// Tops up every card of the chunk, or finds out what became of it.
    pub(super) fn call(self, bank: &dyn BankGateway) -> TopUpReport {
        let Self { request, chunk } = self;
        let findings = chunk::tell(bank, chunk, |item| Submission {
            key: key_of(request, item),
            instruction: Instruction::TopUp { card: item.number, amount: item.amount },
        });
        TopUpReport { findings }
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
        let mut cards = TopUps { unit, partner: claim.partner, request: self.request };
        self.chunk.take_back(&mut cards)
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
    let mut decided = Vec::with_capacity(report.findings.cards.len());
    let mut changed = Vec::new();
    let (mut captured, mut released) = (Kopecks::ZERO, Kopecks::ZERO);
    for (item, finding) in &report.findings.cards {
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
            Err(_) => {}
        }
    }
    let partner = claim.partner;
    unit.replenishments().settle_items(partner, id, &decided)?;
    if !changed.is_empty() {
        // Whoever asks after the end of the request sees the new balance, whatever the copy's age.
        unit.cards().outdate_bank_view(partner, &changed, env.too_old_at())?;
    }
    for (kind, amount) in [(MovementKind::Capture, captured), (MovementKind::Release, released)] {
        money::book(unit, partner, kind, Reference::Replenishment(id), amount, env.now())
            .map_err(MoveError::unexpected)?;
    }
    let mut cards = TopUps { unit, partner, request: id };
    if let Some(next) = chunk::next_without_verdict(&mut cards, &report.findings)? {
        return Ok(next);
    }
    let request = load(unit, claim, id)?;
    if chunk::is_followed::<TopUps<'_>>(&report.findings, request.cards) {
        return Ok(Next::GoOn);
    }
    let counts = unit.replenishments().counts(partner, id)?;
    if counts.open > 0 {
        return Ok(Next::GoOn);
    }
    finish(unit, env, claim, request, counts)?;
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
    let sheet = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?;
    let available = sheet.balances.available;
    let (held, uncovered) = if request.amount <= available {
        (request.amount, Vec::new())
    } else {
        let items = unit.replenishments().items(partner, request.id, 0, request.cards)?;
        cover(&items, available).map_err(overflow)?
    };
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
    counts: ItemCounts,
) -> Result<(), StoreError> {
    let id = request.id;
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

/// The undecided cards of one request in the store.
struct TopUps<'a> {
    unit: &'a mut dyn UnitOfWork,
    partner: PartnerId,
    request: ReplenishmentId,
}

impl OpenCards for TopUps<'_> {
    type Card = ReplenishmentItem;

    fn ordinal(card: &ReplenishmentItem) -> u32 {
        card.ordinal
    }

    fn open(&mut self, limit: u32) -> Result<Vec<ReplenishmentItem>, StoreError> {
        self.unit.replenishments().open_items(self.partner, self.request, limit)
    }

    fn unsent(&mut self, limit: u32) -> Result<Vec<ReplenishmentItem>, StoreError> {
        self.unit.replenishments().unsent_items(self.partner, self.request, limit)
    }

    fn mark_sent(&mut self, ordinals: &[u32], sent: bool) -> Result<(), StoreError> {
        self.unit.replenishments().mark_sent(self.partner, self.request, ordinals, sent)
    }
}

fn load(unit: &mut dyn UnitOfWork, claim: &Claim, id: ReplenishmentId) -> Result<Replenishment, StoreError> {
    let request = unit.replenishments().get(claim.partner, id)?;
    request.ok_or_else(|| StoreError::Corrupt("work: there is no such replenishment".to_owned()))
}

/// One key a card of a request, for ever.
pub(super) fn key_of(request: ReplenishmentId, item: &ReplenishmentItem) -> BankKey {
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
