//! The check of the ledger: every balance and hold is worked out again from the entries and compared with what the
//! requests say. Nothing here trusts a stored balance.

use std::collections::HashMap;
use std::fmt;

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchKind, BatchState};
use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::ledger::{Account, Reference};
use kopeck_domain::limit_change::LimitChanges;
use kopeck_domain::order::OrderState;
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::withdrawal::Withdrawals;
use kopeck_port_store::{BatchFacts, OrderFacts, ReferenceSums, StoreError, Subject, UnitOfWork};

use crate::card_batches::ProcessedKind;

/// An invariant of the ledger that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discrepancy {
    /// The entries of a movement do not add up to zero.
    UnbalancedMovement(i64),
    /// The balances stored with a movement are not the sums of the entries up to it.
    WrongBalanceAfter(i64),
    /// A stored balance is not the sum of its entries.
    WrongBalance {
        /// The account.
        account: Account,
        /// What is stored.
        stored: Kopecks,
        /// What the entries add up to.
        computed: Kopecks,
    },
    /// The ledger holds or spent something else than a request says.
    WrongMoney {
        /// The request.
        reference: Reference,
        /// `held` or `spent`.
        what: &'static str,
        /// What the ledger has.
        booked: Kopecks,
        /// What the request says.
        expected: Kopecks,
    },
    /// A request's cards, items or job do not fit its state.
    WrongRequest {
        /// The request.
        subject: Subject,
        /// What does not fit.
        what: &'static str,
    },
    /// An employee with more than one MAIN card.
    TwoMainCards(EmployeeId),
}

impl fmt::Display for Discrepancy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnbalancedMovement(number) => {
                write!(f, "movement {number}: its entries do not add up to zero")
            }
            Self::WrongBalanceAfter(number) => {
                write!(f, "movement {number}: other balances are stored after it than the entries add up to")
            }
            Self::WrongBalance { account, stored, computed } => {
                write!(f, "account {account}: {stored} is stored, the entries add up to {computed}")
            }
            Self::WrongMoney { reference, what, booked, expected } => {
                write!(f, "{}: {booked} is {what}, the request says {expected}", ReferenceName(reference))
            }
            Self::WrongRequest { subject, what } => {
                let (name, id) = match subject {
                    Subject::Order(id) => ("order", id.uuid()),
                    Subject::Replenishment(id) => (TopUps::NAME, id.uuid()),
                    Subject::LimitChange(id) => (LimitChanges::NAME, id.uuid()),
                    Subject::Closing(id) => (Closings::NAME, id.uuid()),
                    Subject::Withdrawal(id) => (Withdrawals::NAME, id.uuid()),
                    Subject::Run(id) => ("run", id.uuid()),
                };
                write!(f, "{name} {id}: {what}")
            }
            Self::TwoMainCards(employee) => write!(f, "employee {employee}: more than one MAIN card"),
        }
    }
}

struct ReferenceName<'a>(&'a Reference);

impl fmt::Display for ReferenceName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reference::Transfer(reference) => write!(f, "transfer {}", reference.as_str()),
            Reference::Order(id) => write!(f, "order {id}"),
            Reference::Replenishment(id) => write!(f, "replenishment {id}"),
            Reference::Closing(id) => write!(f, "closing {id}"),
            Reference::Withdrawal(id) => write!(f, "withdrawal {id}"),
        }
    }
}

/// Checks the ledger of one partner; returns every discrepancy found.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn check(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Vec<Discrepancy>, StoreError> {
    let mut discrepancies = check_accounts(unit, partner)?;
    let sums: HashMap<Reference, ReferenceSums> = unit
        .reconciliation()
        .reference_sums(partner)?
        .into_iter()
        .map(|sums| (sums.reference.clone(), sums))
        .collect();
    let mut expected = Vec::new();
    for order in unit.reconciliation().orders(partner)? {
        check_order(&order, &mut discrepancies);
        expected.push(order_money(&order));
    }
    check_batches::<TopUps>(unit, partner, &mut expected, &mut discrepancies)?;
    check_batches::<LimitChanges>(unit, partner, &mut expected, &mut discrepancies)?;
    check_batches::<Closings>(unit, partner, &mut expected, &mut discrepancies)?;
    check_batches::<Withdrawals>(unit, partner, &mut expected, &mut discrepancies)?;
    compare_money(sums, expected, &mut discrepancies);
    discrepancies.extend(
        unit.reconciliation()
            .employees_with_two_main_cards(partner)?
            .into_iter()
            .map(Discrepancy::TwoMainCards),
    );
    Ok(discrepancies)
}

fn check_accounts(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Vec<Discrepancy>, StoreError> {
    let mut discrepancies: Vec<Discrepancy> = unit
        .reconciliation()
        .unbalanced_movements(partner)?
        .into_iter()
        .map(Discrepancy::UnbalancedMovement)
        .collect();
    let wrong = unit.reconciliation().wrong_balances_after(partner)?;
    discrepancies.extend(wrong.into_iter().map(Discrepancy::WrongBalanceAfter));
    let computed = unit.reconciliation().entry_sums(partner)?;
    let stored = unit.ledger().sheet(partner)?.ok_or_else(crate::money::no_accounts)?.balances;
    for &account in Account::ALL {
        let (stored, computed) = (stored.on(account), computed.on(account));
        if stored != computed {
            discrepancies.push(Discrepancy::WrongBalance { account, stored, computed });
        }
    }
    Ok(discrepancies)
}

/// What the ledger should hold and have spent for a request.
fn order_money(order: &OrderFacts) -> ReferenceSums {
    let (held, spent) = match order.state {
        OrderState::New | OrderState::InProcess => (order.cost, Kopecks::ZERO),
        OrderState::Success | OrderState::Confirmed => (Kopecks::ZERO, order.cost),
        OrderState::Decline | OrderState::Rejected => (Kopecks::ZERO, Kopecks::ZERO),
    };
    ReferenceSums { reference: Reference::Order(order.id), held, spent }
}

fn check_batches<K: ProcessedKind>(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    expected: &mut Vec<ReferenceSums>,
    discrepancies: &mut Vec<Discrepancy>,
) -> Result<(), StoreError> {
    for batch in K::repository(unit).facts(partner)? {
        let subject = K::subject(batch.id);
        discrepancies.extend(batch_faults(&batch).map(|what| Discrepancy::WrongRequest { subject, what }));
        expected.extend(K::reference(batch.id).map(|reference| match batch.state {
            _ if K::RETURNS_MONEY => {
                // An amount that came back is never below zero, so it has an opposite.
                let spent = Kopecks::new(-batch.amounts.returned_by_cards.get());
                ReferenceSums { reference, held: Kopecks::ZERO, spent }
            }
            BatchState::InProcess => {
                ReferenceSums { reference, held: batch.amounts.open, spent: batch.amounts.done }
            }
            _ => ReferenceSums { reference, held: Kopecks::ZERO, spent: batch.amounts.done },
        }));
    }
    Ok(())
}

/// What does not fit in a card batch.
fn batch_faults<K: BatchKind>(batch: &BatchFacts<K>) -> impl Iterator<Item = &'static str> + use<K> {
    let BatchFacts { counts, amounts, .. } = batch;
    let is_open = batch.state.is_open();
    let fits = match batch.state {
        BatchState::New | BatchState::Rejected => counts.done + counts.refused == 0,
        BatchState::InProcess => true,
        BatchState::Success => counts.open + counts.refused == 0,
        BatchState::PartSuccess => counts.open == 0 && counts.refused > 0 && counts.done > 0,
        BatchState::Decline => counts.open + counts.done == 0,
    };
    let complete = counts.open + counts.done + counts.refused == batch.cards;
    let kept = if is_open { batch.cards } else { 0 };
    let sum = Kopecks::sum([amounts.open, amounts.done, amounts.refused]);
    [
        (complete, "its cards are not all there"),
        (is_open == batch.has_job, "open requests have work, and only they"),
        (batch.claimed_cards == kept, "open requests keep their cards, and only they"),
        (fits, "the state does not fit what became of its cards"),
        (amounts.asked.is_none_or(|asked| sum == Ok(asked)), "the sum asked for is not that of its cards"),
        (amounts.returned == amounts.returned_by_cards, "the sum that came back is not that of its cards"),
    ]
    .into_iter()
    .filter_map(|(holds, what)| (!holds).then_some(what))
}

fn compare_money(
    mut booked: HashMap<Reference, ReferenceSums>,
    expected: Vec<ReferenceSums>,
    discrepancies: &mut Vec<Discrepancy>,
) {
    let mut compare = |reference: &Reference, booked: (Kopecks, Kopecks), expected: (Kopecks, Kopecks)| {
        for (what, booked, expected) in [("held", booked.0, expected.0), ("spent", booked.1, expected.1)] {
            if booked != expected {
                discrepancies.push(Discrepancy::WrongMoney {
                    reference: reference.clone(),
                    what,
                    booked,
                    expected,
                });
            }
        }
    };
    for request in expected {
        let found = booked.remove(&request.reference);
        let sums = found.map_or((Kopecks::ZERO, Kopecks::ZERO), |sums| (sums.held, sums.spent));
        compare(&request.reference, sums, (request.held, request.spent));
    }
    for (reference, sums) in booked {
        compare(&reference, (sums.held, sums.spent), (Kopecks::ZERO, Kopecks::ZERO));
    }
}

fn check_order(order: &OrderFacts, discrepancies: &mut Vec<Discrepancy>) {
    let subject = Subject::Order(order.id);
    let mut discrepancy = |what| discrepancies.push(Discrepancy::WrongRequest { subject, what });
    if order.state.is_open() != order.has_job {
        discrepancy("open requests have work, and only they");
    }
    match order.state {
        OrderState::Success | OrderState::Confirmed => {
            if order.stored_cards != order.cards {
                discrepancy("done, but its cards are not all there");
            }
        }
        OrderState::New | OrderState::Decline | OrderState::Rejected => {
            if order.stored_cards > 0 {
                discrepancy("has cards that were never issued");
            }
        }
        OrderState::InProcess => {}
    }
}

#[cfg(test)]
mod tests;
