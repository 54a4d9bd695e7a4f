//! Orders of cards: place, get, confirm, cancel, list. Workers do the rest.

use kopeck_domain::Invalid;
use kopeck_domain::event::{EventData, RequestStatus};
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_domain::ledger::{LedgerError, MovementKind, Reference};
use kopeck_domain::order::{Order, OrderKind, OrderLine, OrderState};
use kopeck_domain::request::{RequestReference, RequestState, TransitionError};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{OrderResultItem, RequestFilter, StoreError, Subject, UnitOfWork};
use time::OffsetDateTime;

use crate::money::{self, MoveError};
use crate::{Env, events};

/// Why an order was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceOrderError {
    /// The order as a whole is faulty: too many items or cards.
    #[error("invalid order: {0}")]
    Invalid(#[from] Invalid),
    /// The partner's balance does not cover it.
    #[error("insufficient balance")]
    InsufficientBalance,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an order was not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderError {
    /// The partner has no such order.
    #[error("no such order")]
    NotFound,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an order has no result to show.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OrderResultError {
    /// The partner has no such order.
    #[error("no such order")]
    NotFound,
    /// The partner cancelled it.
    #[error("the order is cancelled")]
    Cancelled,
    /// The bank refused it.
    #[error("the order is declined")]
    Declined,
    /// It is not done yet.
    #[error("the order is not processed yet")]
    NotProcessed,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an order was not confirmed or cancelled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeOrderError {
    /// The partner has no such order.
    #[error("no such order")]
    NotFound,
    /// Its state does not allow it.
    #[error("the order is {0}")]
    WrongState(OrderState),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The first cards of a finished order. Cards are never deleted and results never change, so the rest can be read later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderResult {
    /// The order.
    pub order: Order,
    /// Its first cards, in the order of its lines.
    pub items: Vec<OrderResultItem>,
}

/// Accepts an order, holds its cost, and schedules its job after the processing delay.
///
/// # Errors
/// [`PlaceOrderError`].
pub fn place(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    kind: OrderKind,
    lines: &[OrderLine],
    reference: Option<&RequestReference>,
) -> Result<Order, PlaceOrderError> {
    let order = Order::place(OrderId::new(env.ids.next_id()), kind, lines, env.now())?
        .with_reference(reference.cloned());
    // The order first: the ledger refers to it. A refused hold undoes it with the whole unit of work.
    unit.orders().insert(partner, &order, lines)?;
    // Its event stands before that of a balance that falls below the threshold.
    events::append(unit, env, partner, [status_event(&order)])?;
    let hold =
        money::book(unit, env, partner, MovementKind::Hold, Reference::Order(order.id()), order.cost());
    hold.map_err(|error| match error {
        MoveError::Ledger(LedgerError::Insufficient(_)) => PlaceOrderError::InsufficientBalance,
        MoveError::Ledger(LedgerError::NotPositive | LedgerError::Overflow(_)) | MoveError::Store(_) => {
            PlaceOrderError::Store(error.unexpected())
        }
    })?;
    unit.jobs().enqueue(partner, Subject::Order(order.id()), env.settings.processing_delay)?;
    Ok(order)
}

/// The state of an order.
///
/// # Errors
/// [`OrderError`].
pub fn status(unit: &mut dyn UnitOfWork, partner: PartnerId, id: OrderId) -> Result<Order, OrderError> {
    unit.orders().get(partner, id)?.ok_or(OrderError::NotFound)
}

/// A finished order with at most `limit` cards.
///
/// # Errors
/// [`OrderResultError`].
pub fn result(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: OrderId,
    limit: u32,
) -> Result<OrderResult, OrderResultError> {
    let order = unit.orders().get(partner, id)?.ok_or(OrderResultError::NotFound)?;
    match order.state() {
        OrderState::Success | OrderState::Confirmed => {
            let items = unit.orders().result(partner, id, 0, limit)?;
            Ok(OrderResult { order, items })
        }
        OrderState::Rejected => Err(OrderResultError::Cancelled),
        OrderState::Decline => Err(OrderResultError::Declined),
        OrderState::New | OrderState::InProcess => Err(OrderResultError::NotProcessed),
    }
}

/// More cards of a [`result`], from number `from` on, `limit` at most.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn more_of_result(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: OrderId,
    from: u32,
    limit: u32,
) -> Result<Vec<OrderResultItem>, StoreError> {
    unit.orders().result(partner, id, from, limit)
}

/// Confirms the receipt of an order's cards; confirming twice changes nothing.
///
/// # Errors
/// [`ChangeOrderError`].
pub fn confirm(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: OrderId,
) -> Result<Order, ChangeOrderError> {
    change(unit, env, partner, id, Order::confirm).map(|(_, order)| order)
}

/// Cancels an order that no worker has claimed, and releases its hold; cancelling twice changes nothing.
///
/// # Errors
/// [`ChangeOrderError`].
pub fn cancel(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: OrderId,
) -> Result<Order, ChangeOrderError> {
    let (before, order) = change(unit, env, partner, id, Order::cancel)?;
    if before.holds_money() {
        money::book(unit, env, partner, MovementKind::Release, Reference::Order(id), order.cost())
            .map_err(MoveError::unexpected)?;
    }
    unit.jobs().cancel(partner, Subject::Order(id))?;
    Ok(order)
}

/// A page of the partner's orders, newest first: those that fit `filter`, whose state no order may be able to have.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    filter: &RequestFilter<RequestState>,
    page: Page,
) -> Result<Listed<Order>, StoreError> {
    match filter.narrowed(OrderState::of) {
        Some(own) => unit.orders().list(partner, &own, page),
        None => Ok(Listed { items: Vec::new(), total: 0 }),
    }
}

/// Moves the order by `step`; answers it as it was and as it is.
fn change(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: OrderId,
    step: fn(Order, OffsetDateTime) -> Result<Order, TransitionError<OrderState>>,
) -> Result<(Order, Order), ChangeOrderError> {
    let before = unit.orders().get(partner, id)?.ok_or(ChangeOrderError::NotFound)?;
    let order =
        step(before.clone(), env.now()).map_err(|refusal| ChangeOrderError::WrongState(refusal.from))?;
    if order.state() != before.state() {
        set_state(unit, env, partner, &order)?;
    }
    Ok((before, order))
}

/// Stores the order's new state.
pub(crate) fn set_state(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    order: &Order,
) -> Result<(), StoreError> {
    unit.orders().set_state(partner, order)?;
    events::append(unit, env, partner, [status_event(order)])
}

fn status_event(order: &Order) -> EventData {
    EventData::OrderStatus(RequestStatus {
        id: order.id(),
        state: order.state(),
        reference: order.reference().cloned(),
    })
}

#[cfg(test)]
mod tests;
