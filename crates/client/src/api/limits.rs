//! Changes of cards' limits.

use kopeck_api::{
    CardLimit, Data, LimitChange, LimitChangeCreated, LimitResult, Page, Paging, RequestState, operations,
};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::request::{RequestFilter, RequestStatus};
use crate::records::Records;
use crate::request::Request;
use crate::wait::Wait;
use crate::write::Write;

/// Operations on changes of cards' limits; see [`Client::limits`].
#[derive(Debug, Clone, Copy)]
pub struct Limits<'a> {
    client: &'a Client,
}

impl<'a> Limits<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Asks to give the same limits to 1 to 10,000 cards, each named once.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way, and with 409 if the limits contradict each other.
    pub fn set(&self, cards: &[Uuid], limit: &CardLimit) -> Write<LimitChangeCreated> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Card {
            id_card: Uuid,
        }
        #[derive(Serialize)]
        struct Body<'a> {
            data: Vec<Card>,
            limit: &'a CardLimit,
        }
        let data = cards.iter().map(|&id_card| Card { id_card }).collect();
        self.client.write(Request::of(&operations::LIMITS_SET).body(&Body { data, limit }))
    }

    /// Reads the state of a change.
    ///
    /// # Errors
    ///
    /// 404 if there is no such change; see [`Error`].
    pub async fn status(&self, set_limits_cards_id: Uuid) -> Result<RequestStatus, Error> {
        let request = Request::of(&operations::LIMITS_STATUS);
        self.client.read(request.body(&Body { set_limits_cards_id })).await
    }

    /// Waits until a change is processed, and reports each state to `on_progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if that takes too long.
    pub async fn wait(
        &self,
        set_limits_cards_id: Uuid,
        wait: Wait,
        on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error> {
        let poll = async || self.status(set_limits_cards_id).await.map(|status| status.state);
        wait.until_final(poll, on_progress).await
    }

    /// Cancels a change that is still new.
    pub fn cancel(&self, set_limits_cards_id: Uuid) -> Write<RequestStatus> {
        let request = Request::of(&operations::LIMITS_CANCEL);
        self.client.write(request.body(&Body { set_limits_cards_id }))
    }

    /// Reads the result of each card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such change, 409 if it is not processed yet or was cancelled; see [`Error`].
    pub async fn result(&self, set_limits_cards_id: Uuid) -> Result<Vec<LimitResult>, Error> {
        let request = Request::of(&operations::LIMITS_RESULT).id(set_limits_cards_id);
        self.client.read(request).await.map(|Data { data }| data)
    }

    /// Lists changes that fit the filter, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RequestFilter, paging: Paging) -> Result<Page<LimitChange>, Error> {
        self.all(filter).page(paging).await
    }

    /// All changes that fit the filter, the newest first, page by page on demand.
    pub fn all(&self, filter: &RequestFilter) -> Records<LimitChange> {
        let request = filter.add_to(Request::of(&operations::LIMITS_LIST));
        Records::new(self.client, request, |one| one.set_limits_cards_id.as_u128())
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    set_limits_cards_id: Uuid,
}
