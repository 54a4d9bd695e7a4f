//! The check of the books: every balance and hold is worked out again from the entries and compared with what the
//! requests say. Nothing here trusts a stored balance.

use std::collections::HashMap;
use std::fmt;

use kopeck_domain::Kopecks;
use kopeck_domain::ids::{EmployeeId, LimitChangeId, PartnerId};
use kopeck_domain::ledger::{Account, Reference};
use kopeck_domain::request::RequestState;
use kopeck_port_store::{ItemCounts, OrderFacts, ReferenceSums, ReplenishmentFacts, StoreError, UnitOfWork};

/// An invariant of the books that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Discrepancy {
    /// The entries of a movement do not add up to zero.
    UnbalancedMovement(i64),
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
    /// A request's cards, items or work do not fit its state.
    WrongRequest {
        /// The request.
        reference: Reference,
        /// What does not fit.
        what: &'static str,
    },
    /// A limit change's items or work do not fit its state.
    WrongLimitChange {
        /// The request.
        id: LimitChangeId,
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
            Self::WrongBalance { account, stored, computed } => {
                write!(f, "account {account}: {stored} is stored, the entries add up to {computed}")
            }
            Self::WrongMoney { reference, what, booked, expected } => {
                write!(f, "{}: {booked} is {what}, the request says {expected}", Named(reference))
            }
            Self::WrongRequest { reference, what } => write!(f, "{}: {what}", Named(reference)),
            Self::WrongLimitChange { id, what } => write!(f, "limit change {id}: {what}"),
            Self::TwoMainCards(employee) => write!(f, "employee {employee}: more than one MAIN card"),
        }
    }
}

struct Named<'a>(&'a Reference);

impl fmt::Display for Named<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Reference::Deposit(reference) => write!(f, "deposit {}", reference.as_str()),
            Reference::Order(id) => write!(f, "order {id}"),
            Reference::Replenishment(id) => write!(f, "replenishment {id}"),
        }
    }
}

/// Checks the books of one partner; answers every discrepancy found.
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
    for request in unit.reconciliation().replenishments(partner)? {
        check_replenishment(&request, &mut discrepancies);
        expected.push(replenishment_money(&request));
    }
    for request in unit.reconciliation().limit_changes(partner)? {
        let cards = CardByCard {
            state: request.state,
            cards: request.cards,
            counts: request.counts,
            claimed: request.claimed_cards,
            has_work: request.has_work,
        };
        discrepancies
            .extend(cards.faults().map(|what| Discrepancy::WrongLimitChange { id: request.id, what }));
    }
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
        RequestState::New | RequestState::InProcess => (order.cost, Kopecks::ZERO),
        RequestState::Success | RequestState::PartSuccess | RequestState::Confirmed => {
            (Kopecks::ZERO, order.cost)
        }
        RequestState::Decline | RequestState::Rejected => (Kopecks::ZERO, Kopecks::ZERO),
    };
    ReferenceSums { reference: Reference::Order(order.id), held, spent }
}

fn replenishment_money(request: &ReplenishmentFacts) -> ReferenceSums {
    let held = match request.state {
        RequestState::InProcess => request.open_amount,
        RequestState::New
        | RequestState::Success
        | RequestState::PartSuccess
        | RequestState::Confirmed
        | RequestState::Decline
        | RequestState::Rejected => Kopecks::ZERO,
    };
    ReferenceSums { reference: Reference::Replenishment(request.id), held, spent: request.topped_up_amount }
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
    let mut discrepancy =
        |what| discrepancies.push(Discrepancy::WrongRequest { reference: Reference::Order(order.id), what });
    if order.state.is_open() != order.has_work {
        discrepancy("open requests have work, and only they");
    }
    match order.state {
        RequestState::Success | RequestState::Confirmed => {
            if order.stored_cards != order.cards {
                discrepancy("done, but its cards are not all there");
            }
        }
        RequestState::PartSuccess => discrepancy("an order is done as a whole or not at all"),
        RequestState::New | RequestState::Decline | RequestState::Rejected => {
            if order.stored_cards > 0 {
                discrepancy("has cards that were never issued");
            }
        }
        RequestState::InProcess => {}
    }
}

fn check_replenishment(request: &ReplenishmentFacts, discrepancies: &mut Vec<Discrepancy>) {
    let reference = Reference::Replenishment(request.id);
    let cards = CardByCard {
        state: request.state,
        cards: request.cards,
        counts: request.counts,
        claimed: request.claimed_cards,
        has_work: request.has_work,
    };
    let cards_sum = Kopecks::sum([request.open_amount, request.topped_up_amount, request.refused_amount]);
    let sum_fault = (cards_sum != Ok(request.amount)).then_some("the sum asked for is not that of its cards");
    let faults = cards.faults().chain(sum_fault);
    discrepancies.extend(faults.map(|what| Discrepancy::WrongRequest { reference: reference.clone(), what }));
}

/// A request that deals with each of its cards for itself, as the books have it.
struct CardByCard {
    state: RequestState,
    cards: u32,
    counts: ItemCounts,
    claimed: u32,
    has_work: bool,
}

impl CardByCard {
    /// What does not fit.
    fn faults(&self) -> impl Iterator<Item = &'static str> {
        let counts = self.counts;
        let is_open = self.state.is_open();
        let fits = match self.state {
            RequestState::New | RequestState::Rejected => counts.done + counts.refused == 0,
            RequestState::InProcess => true,
            RequestState::Success => counts.open + counts.refused == 0,
            RequestState::PartSuccess => counts.open == 0 && counts.refused > 0 && counts.done > 0,
            RequestState::Decline => counts.open + counts.done == 0,
            RequestState::Confirmed => false,
        };
        let complete = counts.open + counts.done + counts.refused == self.cards;
        let kept = if is_open { self.cards } else { 0 };
        [
            (complete, "its cards are not all there"),
            (is_open == self.has_work, "open requests have work, and only they"),
            (self.claimed == kept, "open requests keep their cards, and only they"),
            (fits, "the state does not fit what became of its cards"),
        ]
        .into_iter()
        .filter_map(|(holds, what)| (!holds).then_some(what))
    }
}

#[cfg(test)]
mod tests;
