//! Orders of cards.

use kopeck_api::{Data, Operation, Order, OrderCreated, operations};
use uuid::Uuid;

use super::requests::sealed::{self, RequestOperations as _};
use super::requests::{Requests, about};
use crate::error::Error;
use crate::model::order::{OrderResult, PlasticItem, VirtualItem};
use crate::model::request::RequestStatus;
use crate::request::Request;
use crate::write::Write;

/// Operations on orders of cards; see [`Client::orders`](crate::Client::orders).
pub type Orders<'a> = Requests<'a, Order>;

impl Requests<'_, Order> {
    /// Orders plastic cards; 1 to 100 items.
    pub fn plastic(&self, items: &[PlasticItem]) -> Write<OrderCreated> {
        self.client.write(Request::of(&operations::ORDER_PLASTIC).body(&Data { data: items }))
    }

    /// Orders virtual cards; 1 to 100 items. Their first top-ups are taken from the partner's balance.
    pub fn virtual_cards(&self, items: &[VirtualItem]) -> Write<OrderCreated> {
        self.client.write(Request::of(&operations::ORDER_VIRTUAL).body(&Data { data: items }))
    }

    /// Reads the cards that an order brought.
    ///
    /// # Errors
    ///
    /// 404 if there is no such order, or no result yet; see [`Error::code`].
    pub async fn result(&self, order_id: Uuid) -> Result<OrderResult, Error> {
        self.client.read(about::<Order>(Order::RESULT, order_id)).await
    }

    /// Confirms the receipt of an order that is done, and so closes it.
    pub fn confirm(&self, order_id: Uuid) -> Write<RequestStatus> {
        self.client.write(about::<Order>(&operations::ORDER_CONFIRM, order_id))
    }
}

impl sealed::RequestOperations for Order {
    const STATUS: &'static Operation = &operations::ORDER_STATUS;
    const RESULT: &'static Operation = &operations::ORDER_RESULT;
    const CANCEL: &'static Operation = &operations::ORDER_CANCEL;
    const LIST: &'static Operation = &operations::ORDER_LIST;
    const IN_BODY: &'static str = "orderId";

    fn id(&self) -> Uuid {
        self.order_id
    }
}
