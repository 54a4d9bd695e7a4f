//! All that is stored of a partner.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_domain::closing::{Closing, ClosingItem, Closings};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::limit_change::{LimitChange, LimitChangeItem, LimitChanges};
use kopeck_domain::order::{Order, OrderLine};
use kopeck_domain::programme::Programme;
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUps};
use kopeck_domain::request::RequestState;
use kopeck_domain::run::{Run, RunItem};
use kopeck_domain::withdrawal::{Withdrawal, WithdrawalItem, Withdrawals};
use kopeck_port_store::page::Page;
use kopeck_port_store::{
    BalanceSheet, CardRecord, EmployeeFilter, FeedEvent, RequestFilter, RunFilter, RunRequest, StoreError,
    TransactionFilter, UnitOfWork,
};
use kopeck_service::{balance, card_batches, employees, orders};

pub(super) struct Holdings {
    pub(super) sheet: BalanceSheet,
    pub(super) employees: BTreeSet<String>,
    pub(super) cards: Vec<CardRecord>,
    pub(super) orders: Vec<(Order, Vec<OrderLine>)>,
    pub(super) top_ups: Vec<(Replenishment, Vec<ReplenishmentItem>)>,
    pub(super) limit_changes: Vec<(LimitChange, Vec<LimitChangeItem>)>,
    pub(super) closings: Vec<(Closing, Vec<ClosingItem>)>,
    pub(super) withdrawals: Vec<(Withdrawal, Vec<WithdrawalItem>)>,
    /// The transactions of all cards, by card and id.
    pub(super) transactions: BTreeSet<(CardId, i64)>,
    /// All events.
    pub(super) feed: Vec<FeedEvent>,
    /// Runs with their items and the requests that they became.
    pub(super) runs: Vec<(Run, Vec<RunItem>, Vec<RunRequest>)>,
    pub(super) programmes: Vec<Programme>,
    /// Every request by its identifier.
    pub(super) requests: BTreeMap<String, RequestState>,
}

pub(super) fn read(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Holdings, StoreError> {
    let Ok(page) = Page::new(1, Page::MAX_SIZE) else {
        return Err(StoreError::Failed("the first page is no page".to_owned()));
    };
    let staff = employees::list(unit, partner, &EmployeeFilter::default(), page)?.items;
    let mut has = Holdings {
        sheet: balance::get(unit, partner)?,
        employees: staff.into_iter().map(|employee| employee.id().to_string()).collect(),
        cards: Vec::new(),
        orders: Vec::new(),
        top_ups: Vec::new(),
        limit_changes: Vec::new(),
        closings: Vec::new(),
        withdrawals: Vec::new(),
        runs: Vec::new(),
        programmes: unit.programmes().list(partner, page)?.items,
        transactions: BTreeSet::new(),
        feed: unit.events().after(partner, 0, &[], u32::MAX)?,
        requests: BTreeMap::new(),
    };
    for order in orders::list(unit, partner, &RequestFilter::default(), page)?.items {
        for item in unit.orders().result(partner, order.id(), 0, order.cards())? {
            has.cards.extend(unit.cards().by_number(partner, item.number)?);
        }
        let lines = unit.orders().lines(partner, order.id())?;
        has.requests.insert(order.id().to_string(), order.state().into());
        has.orders.push((order, lines));
    }
    for card in has.cards.iter().map(|record| record.card.id()) {
        let made = unit.transactions().list(partner, card, TransactionFilter::default(), page)?;
        has.transactions.extend(made.items.iter().map(|made| (card, made.id)));
    }
    for request in card_batches::list::<TopUps>(unit, partner, &RequestFilter::default(), page)?.items {
        let items = unit.replenishments().items(partner, request.id(), 0, request.cards())?;
        has.requests.insert(request.id().to_string(), request.state().into());
        has.top_ups.push((request, items));
    }
    for request in card_batches::list::<LimitChanges>(unit, partner, &RequestFilter::default(), page)?.items {
        let items = unit.limit_changes().items(partner, request.id(), 0, request.cards())?;
        has.requests.insert(request.id().to_string(), request.state().into());
        has.limit_changes.push((request, items));
    }
    for request in card_batches::list::<Closings>(unit, partner, &RequestFilter::default(), page)?.items {
        let items = unit.closings().items(partner, request.id(), 0, request.cards())?;
        has.requests.insert(request.id().to_string(), request.state().into());
        has.closings.push((request, items));
    }
    for request in card_batches::list::<Withdrawals>(unit, partner, &RequestFilter::default(), page)?.items {
        let items = unit.withdrawals().items(partner, request.id(), 0, request.cards())?;
        has.requests.insert(request.id().to_string(), request.state().into());
        has.withdrawals.push((request, items));
    }
    for run in unit.runs().list(partner, &RunFilter::default(), page)?.items {
        let items = unit.runs().items(partner, run.id(), 0, u32::MAX)?;
        let requests = unit.runs().requests(partner, run.id())?;
        has.runs.push((run, items, requests));
    }
    Ok(has)
}
