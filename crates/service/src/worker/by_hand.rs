//! Settling by a person what no worker can settle: the same booking from another source.

use kopeck_domain::card_batch::BatchItem;
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_bank::{DeclineReason, Verdict};
use kopeck_port_store::{Claim, StoreError, Subject, UnitOfWork};

use super::card_batch::{self, BatchVerdicts, Remaining, Strategy};
use super::next::{Next, conclude};
use super::order::{self, OrderFindings};
use crate::Env;
use crate::card_batches::ProcessedKind;
use crate::stuck::{StuckInstruction, StuckOutcome};

/// The instructions of a request whose outcome at the bank is unknown.
pub(crate) fn instructions(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    subject: Subject,
) -> Result<Vec<StuckInstruction>, StoreError> {
    match subject {
        Subject::Order(id) => {
            let cost = unit.orders().get(partner, id)?.map(|order| order.cost());
            Ok(vec![StuckInstruction { key: order::order_key(id), card: None, held: cost }])
        }
        Subject::Replenishment(id) => batch_instructions::<TopUps>(unit, partner, id),
        Subject::LimitChange(id) => batch_instructions::<LimitChanges>(unit, partner, id),
        Subject::Closing(id) => batch_instructions::<Closings>(unit, partner, id),
        Subject::Withdrawal(id) => batch_instructions::<Withdrawals>(unit, partner, id),
        // It sends the bank nothing.
        Subject::Run(_) => Ok(Vec::new()),
    }
}

/// Whether the instructions of a request bring money back, so that a person has to say how much.
pub(crate) const fn returns_money(subject: Subject) -> bool {
    match subject {
        Subject::Order(_) | Subject::Run(_) => false,
        Subject::Replenishment(_) => TopUps::RETURNS_MONEY,
        Subject::LimitChange(_) => LimitChanges::RETURNS_MONEY,
        Subject::Closing(_) => Closings::RETURNS_MONEY,
        Subject::Withdrawal(_) => Withdrawals::RETURNS_MONEY,
    }
}

fn batch_instructions<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: K::Id,
) -> Result<Vec<StuckInstruction>, StoreError> {
    let items = K::repository(unit).open_items(partner, id, u32::MAX)?;
    let instruction = |item: &BatchItem<K>| StuckInstruction {
        key: K::key(id, item),
        card: Some((item.card, item.number)),
        held: K::held(item),
    };
    Ok(items.iter().map(instruction).collect())
}

/// Books the outcome for `card`, or for all open cards of the request, under `claim`; answers for how many.
pub(crate) fn settle(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    outcome: StuckOutcome,
    card: Option<CardId>,
) -> Result<usize, StoreError> {
    let (settled, next) = match claim.subject {
        Subject::Order(_) => (1, order::settle(unit, env, claim, &OrderFindings::Declined)?),
        Subject::Replenishment(id) => settle_batch::<TopUps>(unit, env, claim, id, outcome, card)?,
        Subject::LimitChange(id) => settle_batch::<LimitChanges>(unit, env, claim, id, outcome, card)?,
        Subject::Closing(id) => settle_batch::<Closings>(unit, env, claim, id, outcome, card)?,
        Subject::Withdrawal(id) => settle_batch::<Withdrawals>(unit, env, claim, id, outcome, card)?,
        Subject::Run(_) => (0, Next::GoOn),
    };
    let next = match next {
        // The workers query on for the cards that are left, and must not send them.
        Next::GoOn => Next::LeaveToPerson,
        next => next,
    };
    conclude(unit, claim, next)?;
    Ok(settled)
}

fn settle_batch<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    id: K::Id,
    outcome: StuckOutcome,
    card: Option<CardId>,
) -> Result<(usize, Next), StoreError> {
    let verdict = match outcome {
        StuckOutcome::Applied => Verdict::Done,
        StuckOutcome::Returned(amount) => Verdict::Returned(amount),
        StuckOutcome::Refused => Verdict::Declined(DeclineReason::Refused),
    };
    let mut items = K::repository(unit).open_items(claim.partner, id, u32::MAX)?;
    items.retain(|item| card.is_none_or(|card| card == item.card));
    let items = items.into_iter().map(|item| (item, Ok(verdict))).collect();
    let verdicts = BatchVerdicts::<K> { id, strategy: Strategy::Query, items, rest: Remaining::Nothing };
    Ok((verdicts.items.len(), card_batch::settle(unit, env, claim, &verdicts)?))
}
