//! Requests that only a person can finish.
//!
//! A bank that does twice what it is sent twice is sent everything once. If its answer was lost and it does not know the
//! key, the service cannot tell what became of the instruction: the money stays held, the workers query on, and a person
//! finds out at the bank. The same holds for an order whose cards are not those that were ordered, and for money that
//! came back from cards to a partner who never spent as much: the bank must have put some of its own on a card. A
//! person then books what the partner had spent, and deposits the rest.

use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_bank::BankKey;
use kopeck_port_store::{StoreError, StuckJob, Subject, UnitOfWork};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;

use crate::worker::by_hand;
use crate::{Env, money};

/// The lease under which a person's outcome is booked. It is one unit of work.
const LEASE: Duration = Duration::seconds(30);

/// What a person found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StuckOutcome {
    /// The bank carried it out.
    Applied,
    /// The bank carried it out, and the card returned this amount, kopecks.
    Returned(Kopecks),
    /// The bank did not, and never will.
    Refused,
}

/// A request that needs a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckRequest {
    /// Whose it is.
    pub partner: PartnerId,
    /// The request.
    pub subject: Subject,
    /// Since when.
    pub since: OffsetDateTime,
    /// The instructions to ask the bank about.
    pub instructions: Vec<StuckInstruction>,
}

/// An instruction whose outcome is unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StuckInstruction {
    /// The bank's key of the instruction.
    pub key: BankKey,
    /// The card that it is about; none in an order.
    pub card: Option<(CardId, CardNumber)>,
    /// The money that is held for it, if any is.
    pub held: Option<Kopecks>,
}

/// Why an outcome was not booked.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum StuckError {
    /// No request with this identifier needs a person.
    #[error("no request {0} waits for a person")]
    NotStuck(Uuid),
    /// The request does not wait for this card.
    #[error("the request does not wait for the card {0}")]
    NotItsCard(CardId),
    /// An order is applied by its cards, which only the bank can name.
    #[error(
        "an order that the bank carried out ends by itself once the bank answers for its key: only then are its cards known"
    )]
    OrderApplied,
    /// An order has no cards yet.
    #[error("an order is settled as a whole: leave the card out")]
    OrderCard,
    /// The bank has issued cards of the order, so it was not refused.
    #[error(
        "cards of the order are stored, so it was not refused: it ends once the bank answers for all of its cards"
    )]
    OrderHasCards,
    /// The request brings money back, and this was not said, or not for one card.
    #[error("say for one card at a time how many kopecks came back from it")]
    AmountNeeded,
    /// The request brings no money back.
    #[error("no money comes back by this request: leave the amount out")]
    NoAmount,
    /// More money would come back than the partner ever spent.
    #[error(
        "the partner has spent {0} kopecks: book these as returned, and what the bank gave beyond them as a deposit"
    )]
    MoreThanSpent(i64),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Every request that needs an operator, the oldest first, with its bank keys.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(unit: &mut dyn UnitOfWork) -> Result<Vec<StuckRequest>, StoreError> {
    let stuck = unit.jobs().stuck()?;
    stuck
        .into_iter()
        .map(|StuckJob { partner, subject, since }| {
            let instructions = by_hand::instructions(unit, partner, subject)?;
            Ok(StuckRequest { partner, subject, since, instructions })
        })
        .collect()
}

/// Books what a person found out about the request with this identifier: about one of its cards, or about all that it
/// still waits for. Returns how many instructions that settled.
///
/// # Errors
/// [`StuckError`]; then nothing was booked.
pub fn settle(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    request: Uuid,
    outcome: StuckOutcome,
    card: Option<CardId>,
) -> Result<usize, StuckError> {
    let stuck = unit.jobs().stuck()?.into_iter().find(|stuck| id_of(stuck.subject) == request);
    let StuckJob { partner, subject, .. } = stuck.ok_or(StuckError::NotStuck(request))?;
    if let Subject::Order(id) = subject {
        if card.is_some() {
            return Err(StuckError::OrderCard);
        }
        if outcome == StuckOutcome::Applied {
            return Err(StuckError::OrderApplied);
        }
        if unit.orders().stored_cards(partner, id)? > 0 {
            return Err(StuckError::OrderHasCards);
        }
    }
    check_amount(unit, partner, subject, outcome, card)?;
    // By a new attempt, so that a worker's findings no longer count.
    let claim = unit.jobs().force_claim(partner, subject, LEASE)?.ok_or(StuckError::NotStuck(request))?;
    let settled = by_hand::settle(unit, env, &claim, outcome, card)?;
    match card {
        Some(card) if settled == 0 => Err(StuckError::NotItsCard(card)),
        Some(_) | None => Ok(settled),
    }
}

/// Whether an outcome says what came back, as far as it has to, and the ledger can book it.
fn check_amount(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    subject: Subject,
    outcome: StuckOutcome,
    card: Option<CardId>,
) -> Result<(), StuckError> {
    match (outcome, by_hand::returns_money(subject)) {
        (StuckOutcome::Refused, _) | (StuckOutcome::Applied, false) => Ok(()),
        (StuckOutcome::Returned(_), false) => Err(StuckError::NoAmount),
        (StuckOutcome::Applied, true) => Err(StuckError::AmountNeeded),
        (StuckOutcome::Returned(_), true) if card.is_none() => Err(StuckError::AmountNeeded),
        (StuckOutcome::Returned(amount), true) => {
            let sheet = unit.ledger().sheet(partner)?.ok_or_else(money::no_accounts)?;
            let spent = sheet.balances.spent;
            if amount > spent { Err(StuckError::MoreThanSpent(spent.get())) } else { Ok(()) }
        }
    }
}

fn id_of(subject: Subject) -> Uuid {
    match subject {
        Subject::Order(id) => id.uuid(),
        Subject::Replenishment(id) => id.uuid(),
        Subject::LimitChange(id) => id.uuid(),
        Subject::Closing(id) => id.uuid(),
        Subject::Withdrawal(id) => id.uuid(),
        Subject::Run(id) => id.uuid(),
    }
}

#[cfg(test)]
mod tests;
