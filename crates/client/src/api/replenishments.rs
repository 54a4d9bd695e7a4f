//! Top-ups of cards.

use reqwest::Method;
use serde::Serialize;
use uuid::Uuid;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::model::page::{Data, Page, Paging};
use crate::model::replenishment::{Replenishment, ReplenishmentCreated, ReplenishmentResult, TopUp};
use crate::model::request::{RequestState, RequestStatus};
use crate::wait::Wait;
use crate::write::Write;

/// Calls about top-ups of cards; see [`Client::replenishments`].
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
        self.client.write(Call::write(Method::POST, "/v1/replenishment").body(&Body { cards }))
    }

    /// Reads the state of a request.
    ///
    /// # Errors
    ///
    /// 404 if there is no such request; see [`Error`].
    pub async fn status(&self, replenishment_id: Uuid) -> Result<RequestStatus, Error> {
        self.client.read(by_query("/v1/replenishment/status/", replenishment_id)).await
    }

    /// Waits until a request is processed, and tells `on_progress` each state seen.
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

    /// Reads what became of each card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such request, 409 if it is not processed yet or was cancelled; see [`Error`].
    pub async fn result(&self, replenishment_id: Uuid) -> Result<Vec<ReplenishmentResult>, Error> {
        let call = by_query("/v1/replenishment/result/", replenishment_id);
        self.client.read(call).await.map(|Data { data }| data)
    }

    /// Cancels a request that is still new.
    pub fn cancel(&self, replenishment_id: Uuid) -> Write<RequestStatus> {
        let call = Call::write(Method::DELETE, "/v1/replenishment/{replenishmentId}").id(replenishment_id);
        self.client.write(call)
    }

    /// Lists requests, in one state or in any, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(
        &self,
        status: Option<&RequestState>,
        paging: Paging,
    ) -> Result<Page<Replenishment>, Error> {
        let call =
            Call::read(Method::GET, "/v1/replenishments").query("status", status.map(RequestState::as_str));
        self.client.read(paging.add_to(call)).await
    }
}

fn by_query(path: &'static str, replenishment_id: Uuid) -> Call {
    Call::read(Method::GET, path).query("idReplenishment", Some(replenishment_id.to_string()))
}
