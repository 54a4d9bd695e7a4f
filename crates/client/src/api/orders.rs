//! Orders of cards.

use kopeck_api::{Data, Order, OrderCreated, Page, Paging, RequestState, operations};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::order::{OrderResult, PlasticItem, VirtualItem};
use crate::model::request::{RequestFilter, RequestStatus};
use crate::records::Records;
use crate::request::Request;
use crate::wait::Wait;
use crate::write::Write;

/// Operations on orders of cards; see [`Client::orders`].
#[derive(Debug, Clone, Copy)]
pub struct Orders<'a> {
    client: &'a Client,
}

impl<'a> Orders<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Orders plastic cards; 1 to 100 items.
    pub fn plastic(&self, items: &[PlasticItem]) -> Write<OrderCreated> {
        self.client.write(Request::of(&operations::ORDER_PLASTIC).body(&Data { data: items }))
    }

    /// Orders virtual cards; 1 to 100 items. Their first top-ups are taken from the partner's balance.
    pub fn virtual_cards(&self, items: &[VirtualItem]) -> Write<OrderCreated> {
        self.client.write(Request::of(&operations::ORDER_VIRTUAL).body(&Data { data: items }))
    }

    /// Reads the state of an order.
    ///
    /// # Errors
    ///
    /// 404 if there is no such order; see [`Error`].
    pub async fn status(&self, order_id: Uuid) -> Result<RequestStatus, Error> {
        self.client.read(Request::of(&operations::ORDER_STATUS).id(order_id)).await
    }

    /// Waits until an order is processed, and reports each state to `on_progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if that takes too long.
    pub async fn wait(
        &self,
        order_id: Uuid,
        wait: Wait,
        on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error> {
        let poll = async || self.status(order_id).await.map(|status| status.state);
        wait.until_final(poll, on_progress).await
    }

    /// Reads the cards that an order brought.
    ///
    /// # Errors
    ///
    /// 404 if there is no such order, or no result yet; see [`Error::code`].
    pub async fn result(&self, order_id: Uuid) -> Result<OrderResult, Error> {
        self.client.read(Request::of(&operations::ORDER_RESULT).id(order_id)).await
    }

    /// Confirms the receipt of an order that is done, and so closes it.
    pub fn confirm(&self, order_id: Uuid) -> Write<RequestStatus> {
        self.client.write(Request::of(&operations::ORDER_CONFIRM).body(&Body { order_id }))
    }

    /// Cancels an order that is still new.
    pub fn cancel(&self, order_id: Uuid) -> Write<RequestStatus> {
        self.client.write(Request::of(&operations::ORDER_CANCEL).body(&Body { order_id }))
    }

    /// Lists orders that fit the filter, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RequestFilter, paging: Paging) -> Result<Page<Order>, Error> {
        self.all(filter).page(paging).await
    }

    /// All orders that fit the filter, the newest first, page by page on demand.
    pub fn all(&self, filter: &RequestFilter) -> Records<Order> {
        let request = filter.add_to(Request::of(&operations::ORDER_LIST));
        Records::new(self.client, request, |one| one.order_id.as_u128())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    order_id: Uuid,
}
