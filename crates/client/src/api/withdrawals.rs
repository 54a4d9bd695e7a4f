//! Withdrawals: money back from cards.

use kopeck_api::{
    Data, Page, Paging, RequestState, Withdrawal, WithdrawalCreated, WithdrawalResult, operations,
};
use serde::Serialize;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::request::{RequestFilter, RequestStatus};
use crate::model::withdrawal::CardWithdrawal;
use crate::records::Records;
use crate::request::Request;
use crate::wait::Wait;
use crate::write::Write;

/// Operations on withdrawals from cards; see [`Client::withdrawals`].
#[derive(Debug, Clone, Copy)]
pub struct Withdrawals<'a> {
    client: &'a Client,
}

impl<'a> Withdrawals<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Asks for money back from 1 to 10,000 cards, each once.
    ///
    /// Fails with [`Error::Cards`] if some of them stand in the way.
    pub fn create(&self, cards: &[CardWithdrawal]) -> Write<WithdrawalCreated> {
        #[derive(Serialize)]
        struct Body<'a> {
            data: &'a [CardWithdrawal],
        }
        self.client.write(Request::of(&operations::WITHDRAWAL_CREATE).body(&Body { data: cards }))
    }

    /// Reads the state of a withdrawal.
    ///
    /// # Errors
    ///
    /// 404 if there is no such withdrawal; see [`Error`].
    pub async fn status(&self, withdrawal_id: Uuid) -> Result<RequestStatus, Error> {
        self.client.read(Request::of(&operations::WITHDRAWAL_STATUS).id(withdrawal_id)).await
    }

    /// Waits until a withdrawal is processed, and reports each state to `on_progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if that takes too long.
    pub async fn wait(
        &self,
        withdrawal_id: Uuid,
        wait: Wait,
        on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error> {
        let poll = async || self.status(withdrawal_id).await.map(|status| status.state);
        wait.until_final(poll, on_progress).await
    }

    /// Reads the result of each card.
    ///
    /// # Errors
    ///
    /// 404 if there is no such withdrawal, 409 if it is not processed yet or was cancelled; see [`Error`].
    pub async fn result(&self, withdrawal_id: Uuid) -> Result<Vec<WithdrawalResult>, Error> {
        let request = Request::of(&operations::WITHDRAWAL_RESULT).id(withdrawal_id);
        self.client.read(request).await.map(|Data { data }| data)
    }

    /// Cancels a withdrawal that is still new.
    pub fn cancel(&self, withdrawal_id: Uuid) -> Write<RequestStatus> {
        self.client.write(Request::of(&operations::WITHDRAWAL_CANCEL).id(withdrawal_id))
    }

    /// Lists withdrawals that fit the filter, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RequestFilter, paging: Paging) -> Result<Page<Withdrawal>, Error> {
        self.all(filter).page(paging).await
    }

    /// All withdrawals that fit the filter, the newest first, page by page on demand.
    pub fn all(&self, filter: &RequestFilter) -> Records<Withdrawal> {
        let request = filter.add_to(Request::of(&operations::WITHDRAWAL_LIST));
        Records::new(self.client, request, |one| one.withdrawal_id.as_u128())
    }
}
