//! The worker's part of a card batch: start it, submit its cards chunk by chunk, settle each.
//!
//! Each card goes to the bank under its own key. Where the bank does twice what it is sent twice, each card is marked as
//! sent before it is, for ever: after that the bank is only queried for it, and a card that it does not know then is left
//! for a person.

use std::iter;

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::request::TransitionError;
use kopeck_port_bank::{BankError, BankGateway, BankKey, Submission, Verdict};
use kopeck_port_store::{Claim, ItemCounts, Reschedule, StoreError, UnitOfWork};
use time::Duration;

use super::blocks::{self, DecidedItem, ReadBlocks, UnsentItems};
use super::next::Next;
use crate::Env;
use crate::card_batches::{self, BatchDecision, ProcessedKind};
use crate::money;

/// How the cards of a batch are submitted.
#[derive(Debug, Clone, Copy)]
pub(super) struct SubmissionPolicy {
    /// How many at a time.
    pub(super) chunk: u32,
    /// Whether the bank does once only what it is sent twice under one key.
    pub(super) repeat_is_safe: bool,
}

/// The pause of a batch that waits for others that have its cards.
const WAITING_PAUSE: Duration = Duration::milliseconds(500);

/// How cards are submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Nothing can have been sent: send all.
    Send,
    /// As `Send`, for cards that are marked as sent.
    SendOnce,
    /// Some may have been sent: query first, send what the bank does not know.
    QueryThenSend,
    /// All may have been sent and must not be sent again: query only.
    Query,
}

/// Why there is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoVerdict {
    /// It did not reach the bank.
    #[error("not sent: {0}")]
    NotSent(String),
    /// It may have reached the bank.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// It was sent before, must not be sent again, and the bank does not know it.
    #[error("sent before, and the bank does not know it")]
    NotKnown,
    /// The bank says something that this kind of instruction cannot come to.
    #[error("the verdict does not fit the instruction")]
    Misfit,
    /// More money came back than the partner ever spent. The bank must have put money of its own on the card, which the
    /// ledger knows nothing of.
    #[error("{0} came back, more than the partner has spent")]
    NotCovered(Kopecks),
    /// It may have reached the bank before the partner blocked the card, of which the bank does not know yet.
    #[error("the bank has not confirmed the block of the card yet")]
    BlockUnconfirmed,
    /// The bank has it, and decides later: maybe after days.
    #[error("the bank has not decided yet")]
    Pending,
}

impl NoVerdict {
    /// Whether only a person can go on from here.
    const fn needs_person(&self) -> bool {
        match self {
            Self::NotKnown | Self::Misfit | Self::NotCovered(_) => true,
            Self::NotSent(_) | Self::NoAnswer(_) | Self::BlockUnconfirmed | Self::Pending => false,
        }
    }
}

/// Cards of a batch to submit next.
#[derive(Debug, Clone)]
pub(super) struct BatchTask<K: ProcessedKind> {
    pub(super) id: K::Id,
    pub(super) terms: K::Terms,
    pub(super) strategy: Strategy,
    pub(super) items: Vec<BatchItem<K>>,
    /// Whether these are all that the batch has left.
    pub(super) is_rest: bool,
}

/// The bank's verdict on each card of a task.
#[derive(Debug, Clone)]
pub(super) struct BatchVerdicts<K: ProcessedKind> {
    pub(super) id: K::Id,
    pub(super) strategy: Strategy,
    pub(super) items: Vec<DecidedItem<K>>,
    /// What is left of the batch beside these, as far as it is known.
    pub(super) rest: Remaining,
}

/// What is left of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Remaining {
    /// No card lies behind these; the store knows which are open.
    Nothing,
    /// Verdicts of further cards are known to the bank, and are fetched next.
    Verdicts,
    /// The ordinals tell whether there may be more.
    ByOrdinal,
}

/// Starts the batch if it is new, and gathers its next cards: a chunk if they are to be sent, all that are left if they
/// are not. `None` if it needs nothing more and is settled with that, or if it has to wait for other batches.
pub(super) fn prepare<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: K::Id,
    policy: SubmissionPolicy,
) -> Result<Option<BatchTask<K>>, StoreError> {
    let partner = claim.partner;
    let mut batch = load::<K>(unit, claim, id)?;
    if !batch.state().is_open() {
        unit.jobs().complete(claim)?;
        return Ok(None);
    }
    if batch.state() == BatchState::New && K::has_to_wait(unit, partner, &batch)? {
        let terms = Reschedule { delay: WAITING_PAUSE, failures: 0, may_have_sent: false };
        unit.jobs().reschedule(claim, terms)?;
        return Ok(None);
    }
    if batch.state() == BatchState::New {
        batch = batch.start(env.now()).map_err(impossible)?;
        card_batches::set_state(unit, env, partner, &batch)?;
        K::start(unit, env, partner, &batch)?;
    }
    let (strategy, items, is_rest) = gather::<K>(unit, claim, id, policy)?;
    if items.is_empty() {
        let counts = K::repository(unit).counts(partner, id)?;
        conclude(unit, env, claim, batch, counts)?;
        unit.jobs().complete(claim)?;
        return Ok(None);
    }
    Ok(Some(BatchTask { id, terms: batch.into_fields().terms, strategy, items, is_rest }))
}

/// The next cards, how they are submitted, and whether they are all that is left.
///
/// On what brings money back the bank may have no verdict for days. So that such cards hold up no others, each card is sent
/// once before any is queried, where a repeat is safe too.
fn gather<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    claim: &Claim,
    id: K::Id,
    policy: SubmissionPolicy,
) -> Result<(Strategy, Vec<BatchItem<K>>, bool), StoreError> {
    let (partner, batches) = (claim.partner, K::repository(unit));
    let chunk = policy.chunk.min(K::CHUNK);
    if policy.repeat_is_safe && !K::RETURNS_MONEY {
        let strategy = if claim.may_have_sent { Strategy::QueryThenSend } else { Strategy::Send };
        return Ok((strategy, batches.open_items(partner, id, chunk)?, false));
    }
    let unsent = batches.unsent_items(partner, id, chunk)?;
    if unsent.is_empty() {
        let strategy = if policy.repeat_is_safe { Strategy::QueryThenSend } else { Strategy::Query };
        return Ok((strategy, batches.open_items(partner, id, u32::MAX)?, true));
    }
    let ordinals: Vec<u32> = unsent.iter().map(|item| item.ordinal).collect();
    batches.mark_sent(partner, id, &ordinals, true)?;
    Ok((Strategy::SendOnce, unsent, false))
}

impl<K: ProcessedKind> BatchTask<K> {
    /// Submits every card, or finds out its verdict.
    pub(super) fn call(self, bank: &dyn BankGateway, blocks: ReadBlocks<'_>) -> BatchVerdicts<K> {
        let Self { id, terms, strategy, items, is_rest } = self;
        let submission =
            |item| Submission { key: K::key(id, item), instruction: K::instruction(&terms, item) };
        let submissions: Vec<Submission> = items.iter().map(submission).collect();
        let known = match strategy {
            Strategy::Send | Strategy::SendOnce => Ok(vec![None; submissions.len()]),
            Strategy::QueryThenSend | Strategy::Query => query(bank, &submissions),
        };
        let mut items = match known {
            Ok(known) => send_unknown(bank, blocks, strategy, items.into_iter().zip(submissions).zip(known)),
            Err(error) => {
                let no_answer = NoVerdict::NoAnswer(error.to_string());
                items.into_iter().map(|item| (item, Err(no_answer.clone()))).collect()
            }
        };
        let count = items.len();
        keep_verdicts(&mut items, K::CHUNK);
        let rest = if items.len() < count {
            Remaining::Verdicts
        } else if is_rest {
            Remaining::Nothing
        } else {
            Remaining::ByOrdinal
        };
        BatchVerdicts { id, strategy, items, rest }
    }

    /// Whether its cards are marked as sent already.
    pub(super) fn is_marked(&self) -> bool {
        self.strategy == Strategy::SendOnce
    }

    /// Takes the marks off cards that were not sent after all.
    pub(super) fn unmark(&self, unit: &mut dyn UnitOfWork, claim: &Claim) -> Result<(), StoreError> {
        mark_unsent(unit, claim, self.id, self.items.iter())
    }
}

/// Stores what the bank said and what follows from it; what is unknown stays open.
pub(super) fn settle<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    verdicts: &BatchVerdicts<K>,
) -> Result<Next, StoreError> {
    let (partner, id) = (claim.partner, verdicts.id);
    if claim.subject != K::subject(id) {
        return Err(StoreError::Corrupt(format!("jobs: verdicts on a {} for another subject", K::NAME)));
    }
    let batch = load::<K>(unit, claim, id)?;
    let (decided, missing) = decide(unit, claim, verdicts)?;
    let states: Vec<_> = decided.iter().map(|item| (item.ordinal, item.state)).collect();
    K::repository(unit).settle_items(partner, id, &states)?;
    let returned = Kopecks::sum(decided.iter().filter_map(|item| item.state.returned()));
    let returned =
        returned.map_err(|error| StoreError::Corrupt(format!("card_batches.returned: {error}")))?;
    if returned.is_positive() {
        K::repository(unit).add_returned(partner, id, returned)?;
    }
    // The event of the batch comes before those of its cards.
    let next = advance(unit, env, claim, &batch, verdicts, &missing)?;
    let is_refused = |item: &&BatchItem<K>| item.state.refusal().is_some();
    let (refused, done) = decided.iter().partition(is_refused);
    K::apply(unit, env, partner, &batch, &BatchDecision { done, refused })?;
    Ok(next)
}

/// Cards without a verdict that can be booked.
type Missing<'a, K> = Vec<(&'a BatchItem<K>, NoVerdict)>;

/// The cards that are decided, in their new states, and those that are not.
fn decide<'a, K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    claim: &Claim,
    verdicts: &'a BatchVerdicts<K>,
) -> Result<(Vec<BatchItem<K>>, Missing<'a, K>), StoreError> {
    let mut spent = Kopecks::ZERO;
    if verdicts.items.iter().any(|(_, verdict)| matches!(verdict, Ok(Verdict::Returned(_)))) {
        let sheet = unit.ledger().sheet(claim.partner)?.ok_or_else(money::no_accounts)?;
        spent = sheet.balances.spent;
    }
    let (mut decided, mut missing) = (Vec::new(), Vec::new());
    for (item, verdict) in &verdicts.items {
        let state = match verdict {
            Ok(Verdict::Done) if !K::RETURNS_MONEY => Ok(ItemState::Done),
            Ok(Verdict::Returned(amount)) if K::RETURNS_MONEY && !amount.is_negative() => {
                match spent.minus(*amount) {
                    Ok(left) if !left.is_negative() => {
                        spent = left;
                        Ok(ItemState::Returned(*amount))
                    }
                    _ => Err(NoVerdict::NotCovered(*amount)),
                }
            }
            Ok(Verdict::Done | Verdict::Returned(_)) => Err(NoVerdict::Misfit),
            Ok(Verdict::Declined(reason)) => Ok(ItemState::Refused(K::refusal(*reason))),
            Ok(Verdict::Pending) => Err(NoVerdict::Pending),
            Err(reason) => Err(reason.clone()),
        };
        match state {
            Ok(state) => decided.push(BatchItem { state, ..item.clone() }),
            Err(reason) => missing.push((item, reason)),
        }
    }
    Ok((decided, missing))
}

/// What comes next for the batch, which ends if nothing is left of it.
fn advance<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    batch: &CardBatch<K>,
    verdicts: &BatchVerdicts<K>,
    missing: &Missing<'_, K>,
) -> Result<Next, StoreError> {
    let is_followed = is_followed(verdicts, batch.cards());
    if let Some(next) = next_without_verdict(unit, claim, verdicts, missing, is_followed)? {
        return Ok(next);
    }
    if is_followed {
        return Ok(Next::GoOn);
    }
    let counts = K::repository(unit).counts(claim.partner, batch.id())?;
    if counts.open > 0 {
        return Ok(Next::GoOn);
    }
    conclude(unit, env, claim, batch.clone(), counts)?;
    Ok(Next::Finished)
}

fn conclude<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    batch: CardBatch<K>,
    counts: ItemCounts,
) -> Result<(), StoreError> {
    let batch = batch.conclude(counts.done, counts.refused, env.now()).map_err(impossible)?;
    card_batches::set_state(unit, env, claim.partner, &batch)?;
    K::repository(unit).release_cards(claim.partner, batch.id())
}

/// What comes next if some cards have no verdict; `None` if all have.
///
/// A batch is left to a person only if nothing of it is left to be sent: what a person says is then of cards that the
/// bank had.
fn next_without_verdict<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    claim: &Claim,
    verdicts: &BatchVerdicts<K>,
    missing: &Missing<'_, K>,
    is_followed: bool,
) -> Result<Option<Next>, StoreError> {
    let Some((_, reason)) = missing.first() else { return Ok(None) };
    for (item, reason) in
        missing.iter().filter(|(_, reason)| matches!(reason, NoVerdict::Misfit | NoVerdict::NotCovered(_)))
    {
        log::error!(card:% = item.card, reason:% = reason; "the bank's verdict on a card cannot be booked");
    }
    // The gateway logs an outage of the bank.
    let level = match reason {
        NoVerdict::NotSent(_) | NoVerdict::NoAnswer(_) => log::Level::Debug,
        _ => log::Level::Warn,
    };
    log::log!(level, reason:% = reason; "cards have no response from the bank yet");
    if verdicts.rest == Remaining::Verdicts {
        return Ok(Some(Next::GoOn));
    }
    if verdicts.strategy == Strategy::SendOnce {
        let not_sent = missing.iter().filter(|(_, reason)| matches!(reason, NoVerdict::NotSent(_)));
        mark_unsent(unit, claim, verdicts.id, not_sent.map(|(item, _)| *item))?;
        // A bank that responded for some cards is there: cards without a verdict do not hold up the others.
        let is_silent = |reason: &NoVerdict| matches!(reason, NoVerdict::NotSent(_) | NoVerdict::NoAnswer(_));
        let silent = missing.iter().filter(|(_, reason)| is_silent(reason)).count();
        if silent < verdicts.items.len() {
            return Ok(Some(Next::GoOn));
        }
    }
    let is_sent = verdicts.strategy == Strategy::SendOnce;
    let stuck = !is_sent && !is_followed && missing.iter().all(|(_, reason)| reason.needs_person());
    if stuck {
        return Ok(Some(Next::LeaveToPerson));
    }
    // A first try of which nothing reached the bank leaves nothing to query.
    let is_unsent = |(_, reason): &(_, NoVerdict)| matches!(reason, NoVerdict::NotSent(_));
    let may_have_sent = verdicts.strategy != Strategy::Send || !missing.iter().all(is_unsent);
    Ok(Some(Next::Later { may_have_sent }))
}

/// Whether cards of the batch, which has so many, lie behind those that were sent. They are looked for next, and it does
/// no harm if they turn out to be decided; to count all cards after each chunk would cost a large batch the square of
/// its size.
fn is_followed<K: ProcessedKind>(verdicts: &BatchVerdicts<K>, cards: u32) -> bool {
    let last = || verdicts.items.iter().map(|(item, _)| item.ordinal).max();
    match verdicts.rest {
        Remaining::Nothing => false,
        Remaining::Verdicts => true,
        Remaining::ByOrdinal => last().is_some_and(|last| last.saturating_add(1) < cards),
    }
}

/// Keeps the first `most` verdicts: they are booked in one unit of work. The bank keeps the others.
fn keep_verdicts<K: ProcessedKind>(items: &mut Vec<DecidedItem<K>>, most: u32) {
    let mut kept = 0_u32;
    items.retain(|(_, verdict)| {
        let is_final = verdict.as_ref().is_ok_and(|verdict| *verdict != Verdict::Pending);
        if is_final {
            kept = kept.saturating_add(1);
        }
        !is_final || kept <= most
    });
}

fn mark_unsent<'a, K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    claim: &Claim,
    id: K::Id,
    items: impl Iterator<Item = &'a BatchItem<K>>,
) -> Result<(), StoreError> {
    let ordinals: Vec<u32> = items.map(|item| item.ordinal).collect();
    if ordinals.is_empty() {
        return Ok(());
    }
    K::repository(unit).mark_sent(claim.partner, id, &ordinals, false)
}

type QueriedItem<K> = ((BatchItem<K>, Submission), Option<Verdict>);

fn send_unknown<K: ProcessedKind>(
    bank: &dyn BankGateway,
    blocks: ReadBlocks<'_>,
    strategy: Strategy,
    items: impl Iterator<Item = QueriedItem<K>>,
) -> Vec<DecidedItem<K>> {
    let (mut verdicts, mut unsent) = (Vec::new(), Vec::new());
    for ((item, submission), verdict) in items {
        match verdict {
            Some(verdict) => verdicts.push((item, Ok(verdict))),
            None if strategy == Strategy::Query => verdicts.push((item, Err(NoVerdict::NotKnown))),
            None => unsent.push((item, submission)),
        }
    }
    let at_a_time = if K::HEEDS_BLOCKS { blocks::AT_A_TIME } else { unsent.len() };
    let mut is_silent = false;
    while !unsent.is_empty() {
        let rest = unsent.split_off(unsent.len().min(at_a_time));
        let some = std::mem::replace(&mut unsent, rest);
        if is_silent {
            // Each further request might take as long to fail, and the lease does not wait.
            let not_sent = || Err(NoVerdict::NotSent("the call before it failed".to_owned()));
            verdicts.extend(some.into_iter().map(|(item, _)| (item, not_sent())));
            continue;
        }
        let (some, kept_back) = blocks::divide(blocks, strategy, some);
        let sent = send(bank, some);
        is_silent = !sent.is_empty() && sent.iter().all(|(_, verdict)| verdict.is_err());
        verdicts.extend(kept_back.into_iter().chain(sent));
    }
    verdicts
}

/// Sends cards, and says what the bank answered for each.
fn send<K: ProcessedKind>(bank: &dyn BankGateway, unsent: UnsentItems<K>) -> Vec<DecidedItem<K>> {
    if unsent.is_empty() {
        return Vec::new();
    }
    let (items, submissions): (Vec<_>, Vec<_>) = unsent.into_iter().unzip();
    let answers = bank.submit(&submissions).into_iter().map(|answer| {
        answer.map_err(|error| match error {
            BankError::Unavailable(_) => NoVerdict::NotSent(error.to_string()),
            BankError::Unknown(_) => NoVerdict::NoAnswer(error.to_string()),
        })
    });
    // A gateway that answers for fewer than it was sent has said nothing of the rest.
    let no_answer = || Err(NoVerdict::NoAnswer("the bank gave no answer".to_owned()));
    items.into_iter().zip(answers.chain(iter::repeat_with(no_answer))).collect()
}

/// What the bank knows of each submission.
fn query(bank: &dyn BankGateway, submissions: &[Submission]) -> Result<Vec<Option<Verdict>>, BankError> {
    let keys: Vec<BankKey> = submissions.iter().map(|submission| submission.key.clone()).collect();
    let verdicts = bank.query(&keys)?;
    if verdicts.len() == keys.len() {
        Ok(verdicts)
    } else {
        Err(BankError::Unknown("the bank did not answer for every key".to_owned()))
    }
}

fn load<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    claim: &Claim,
    id: K::Id,
) -> Result<CardBatch<K>, StoreError> {
    let batch = K::repository(unit).get(claim.partner, id)?;
    batch.ok_or_else(|| StoreError::Corrupt(format!("jobs: there is no such {}", K::NAME)))
}

fn impossible(error: TransitionError<BatchState>) -> StoreError {
    StoreError::Corrupt(format!("state of a card batch: {error}"))
}

#[cfg(test)]
mod tests;
