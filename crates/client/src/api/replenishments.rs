//! Top-ups of cards.

use kopeck_api::{
    Data, Operation, Page, Paging, Replenishment, ReplenishmentCreated, ReplenishmentResult, RequestState,
    operations,
};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::replenishment::TopUp;
use crate::model::request::{RequestFilter, RequestStatus};
use crate::records::Records;
use crate::request::Request;
use crate::wait::Wait;
use crate::write::Write;

/// Operations on top-ups of cards; see [`Client::replenishments`].
#[derive(Debug, Clone, Copy)]
pub struct Replenishments<'a> {
    client: &'a Client,
}

impl<'a> Replenishments<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Asks for top-ups of 1 to 10,000 cards, each once.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way.
    pub fn create(&self, cards: &[TopUp]) -> Write<ReplenishmentCreated> {
        #[derive(Serialize)]
        struct Body<'a> {
            cards: &'a [TopUp],
        }
        self.client.write(Request::of(&operations::REPLENISHMENT_CREATE).body(&Body { cards }))
    }

    /// Reads the state of a request.
    ///
    /// # Errors
    ///
    /// 404 if there is no such request; see [`Error`].
    pub async fn status(&self, replenishment_id: Uuid) -> Result<RequestStatus, Error> {
        self.client.read(by_query(&operations::REPLENISHMENT_STATUS, replenishment_id)).await
    }

    /// Waits until a request is processed, and reports each state to `on_progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if that takes too long.
    pub async fn wait(
        &self,
        replenishment_id: Uuid,
        wait: Wait,
        on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error> {
        let poll = async || self.status(replenishment_id).await.map(|status| status.state);
        wait.until_final(poll, on_progress).await
    }

    /// Reads the result of each card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such request, 409 if it is not processed yet or was cancelled; see [`Error`].
    pub async fn result(&self, replenishment_id: Uuid) -> Result<Vec<ReplenishmentResult>, Error> {
        let request = by_query(&operations::REPLENISHMENT_RESULT, replenishment_id);
        self.client.read(request).await.map(|Data { data }| data)
    }

    /// Cancels a request that is still new.
    pub fn cancel(&self, replenishment_id: Uuid) -> Write<RequestStatus> {
        let request = Request::of(&operations::REPLENISHMENT_CANCEL).id(replenishment_id);
        self.client.write(request)
    }

    /// Lists requests that fit the filter, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RequestFilter, paging: Paging) -> Result<Page<Replenishment>, Error> {
        self.all(filter).page(paging).await
    }

    /// All requests that fit the filter, the newest first, page by page on demand.
    pub fn all(&self, filter: &RequestFilter) -> Records<Replenishment> {
        let request = filter.add_to(Request::of(&operations::REPLENISHMENT_LIST));
        Records::new(self.client, request, |one| one.replenishment_id.as_u128())
    }
}

fn by_query(operation: &Operation, replenishment_id: Uuid) -> Request {
    Request::of(operation).query("idReplenishment", Some(replenishment_id.to_string()))
}
