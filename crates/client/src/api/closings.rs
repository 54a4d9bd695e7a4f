//! Closings of cards.

use kopeck_api::{Closing, ClosingCreated, ClosingResult, Data, Page, Paging, RequestState, operations};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::closing::CardClosing;
use crate::model::request::{RequestFilter, RequestStatus};
use crate::records::Records;
use crate::request::Request;
use crate::wait::Wait;
use crate::write::Write;

/// Operations on closings of cards; see [`Client::closings`].
#[derive(Debug, Clone, Copy)]
pub struct Closings<'a> {
    client: &'a Client,
}

impl<'a> Closings<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Asks to close 1 to 10,000 cards for good, each once. What is on them comes back to the balance.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way.
    pub fn create(&self, cards: &[CardClosing]) -> Write<ClosingCreated> {
        #[derive(Serialize)]
        struct Body<'a> {
            data: &'a [CardClosing],
        }
        self.client.write(Request::of(&operations::CLOSING_CREATE).body(&Body { data: cards }))
    }

    /// Reads the state of a closing.
    ///
    /// # Errors
    ///
    /// 404 if there is no such closing; see [`Error`].
    pub async fn status(&self, closing_id: Uuid) -> Result<RequestStatus, Error> {
        self.client.read(Request::of(&operations::CLOSING_STATUS).id(closing_id)).await
    }

    /// Waits until a closing is processed, and reports each state to `on_progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if that takes too long.
    pub async fn wait(
        &self,
        closing_id: Uuid,
        wait: Wait,
        on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error> {
        let poll = async || self.status(closing_id).await.map(|status| status.state);
        wait.until_final(poll, on_progress).await
    }

    /// Reads the result of each card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such closing, 409 if it is not processed yet or was cancelled; see [`Error`].
    pub async fn result(&self, closing_id: Uuid) -> Result<Vec<ClosingResult>, Error> {
        let request = Request::of(&operations::CLOSING_RESULT).id(closing_id);
        self.client.read(request).await.map(|Data { data }| data)
    }

    /// Cancels a closing that is still new. One of lost and stolen cards alone cannot be cancelled.
    pub fn cancel(&self, closing_id: Uuid) -> Write<RequestStatus> {
        self.client.write(Request::of(&operations::CLOSING_CANCEL).id(closing_id))
    }

    /// Lists closings that fit the filter, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RequestFilter, paging: Paging) -> Result<Page<Closing>, Error> {
        self.all(filter).page(paging).await
    }

    /// All closings that fit the filter, the newest first, page by page on demand.
    pub fn all(&self, filter: &RequestFilter) -> Records<Closing> {
        let request = filter.add_to(Request::of(&operations::CLOSING_LIST));
        Records::new(self.client, request, |one| one.closing_id.as_u128())
    }
}
