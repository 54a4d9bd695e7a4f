//! Settling by the word of a person what no worker can settle: the same booking, by another source.

use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_bank::{DeclineReason, Verdict};
use kopeck_port_store::{Claim, StoreError, Subject, UnitOfWork};

use super::chunk::{Approach, Findings};
use super::limit_change::{self, LimitReport};
use super::order::{self, OrderReport};
use super::replenishment::{self, TopUpReport};
use super::{Next, conclude};
use crate::Env;
use crate::stuck::{Outcome, StuckInstruction};

/// What a request still waits for at the bank.
pub(crate) fn instructions(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    subject: Subject,
) -> Result<Vec<StuckInstruction>, StoreError> {
    match subject {
        Subject::Order(id) => {
            let cost = unit.orders().get(partner, id)?.map(|order| order.cost);
            Ok(vec![StuckInstruction { key: order::key_of(id), card: None, held: cost }])
        }
        Subject::Replenishment(id) => {
            let items = unit.replenishments().open_items(partner, id, u32::MAX)?;
            let instruction = |item| StuckInstruction {
                key: replenishment::key_of(id, &item),
                card: Some((item.card, item.number)),
                held: Some(item.amount),
            };
            Ok(items.into_iter().map(instruction).collect())
        }
        Subject::LimitChange(id) => {
            let items = unit.limit_changes().open_items(partner, id, u32::MAX)?;
            let instruction = |item| StuckInstruction {
                key: limit_change::key_of(id, &item),
                card: Some((item.card, item.number)),
                held: None,
            };
            Ok(items.into_iter().map(instruction).collect())
        }
    }
}

/// Books the outcome for `card`, or for all that the request waits for, under `claim`; answers for how many.
pub(crate) fn settle(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    claim: &Claim,
    outcome: Outcome,
    card: Option<CardId>,
) -> Result<usize, StoreError> {
    let verdict = match outcome {
        Outcome::Applied => Verdict::Done,
        Outcome::Refused => Verdict::Declined(DeclineReason::Refused),
    };
    let partner = claim.partner;
    let is_meant = |item: CardId| card.is_none_or(|card| card == item);
    let (settled, next) = match claim.subject {
        Subject::Order(_) => (1, order::settle(unit, env, claim, &OrderReport::Declined)?),
        Subject::Replenishment(id) => {
            let mut items = unit.replenishments().open_items(partner, id, u32::MAX)?;
            items.retain(|item| is_meant(item.card));
            let report = TopUpReport { findings: said(items, verdict) };
            (report.findings.cards.len(), replenishment::settle(unit, env, claim, &report)?)
        }
        Subject::LimitChange(id) => {
            let mut items = unit.limit_changes().open_items(partner, id, u32::MAX)?;
            items.retain(|item| is_meant(item.card));
            let report = LimitReport { findings: said(items, verdict) };
            (report.findings.cards.len(), limit_change::settle(unit, env, claim, &report)?)
        }
    };
    let next = match next {
        // The workers ask on for the cards that are left, and must not send them.
        Next::GoOn => Next::LeaveToPerson,
        next => next,
    };
    conclude(unit, claim, next)?;
    Ok(settled)
}

fn said<T>(items: Vec<T>, verdict: Verdict) -> Findings<T> {
    let cards = items.into_iter().map(|item| (item, Ok(verdict))).collect();
    Findings { approach: Approach::Ask, cards }
}
