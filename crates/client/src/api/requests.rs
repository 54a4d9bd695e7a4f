//! Operations of orders and card batches alike: state, wait, cancellation and list.

use std::fmt;
use std::marker::PhantomData;

use kopeck_api::{Method, Operation, Page, Paging, RequestState, placeholders};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::request::{RequestFilter, RequestStatus};
use crate::records::Records;
use crate::request::Request;
use crate::wait::Wait;
use crate::write::Write;

/// Operations on requests of one kind, which is named by its record in lists: [`Orders`](crate::Orders),
/// [`Replenishments`](crate::Replenishments), [`Limits`](crate::Limits), [`Closings`](crate::Closings) and
/// [`Withdrawals`](crate::Withdrawals).
pub struct Requests<'a, R> {
    pub(super) client: &'a Client,
    kind: PhantomData<fn() -> R>,
}

/// A kind of request, by its record in lists.
pub trait RequestKind: sealed::RequestOperations + DeserializeOwned {}

impl<R: sealed::RequestOperations + DeserializeOwned> RequestKind for R {}

pub(super) mod sealed {
    use kopeck_api::Operation;
    use uuid::Uuid;

    pub trait RequestOperations {
        const STATUS: &'static Operation;
        const RESULT: &'static Operation;
        const CANCEL: &'static Operation;
        const LIST: &'static Operation;
        /// The field that identifies a request in a body.
        const IN_BODY: &'static str = "";

        fn id(&self) -> Uuid;
    }
}

impl<'a, R> Requests<'a, R> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client, kind: PhantomData }
    }
}

impl<R: RequestKind> Requests<'_, R> {
    /// Reads the state of a request.
    ///
    /// # Errors
    ///
    /// 404 if there is no such request; see [`Error`].
    pub async fn status(&self, id: Uuid) -> Result<RequestStatus, Error> {
        self.client.read(about::<R>(R::STATUS, id)).await
    }

    /// Waits until a request is processed, and reports each state to `on_progress`.
    ///
    /// # Errors
    ///
    /// [`Error::Unfinished`] if that takes too long.
    pub async fn wait(
        &self,
        id: Uuid,
        wait: Wait,
        on_progress: impl FnMut(&RequestState),
    ) -> Result<RequestState, Error> {
        let poll = async || self.status(id).await.map(|status| status.state);
        wait.until_final(poll, on_progress).await
    }

    /// Cancels a request that is still new. A closing of lost and stolen cards alone cannot be cancelled.
    pub fn cancel(&self, id: Uuid) -> Write<RequestStatus> {
        self.client.write(about::<R>(R::CANCEL, id))
    }

    /// Lists requests that fit the filter, the newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RequestFilter, paging: Paging) -> Result<Page<R>, Error> {
        self.all(filter).page(paging).await
    }

    /// All requests that fit the filter, the newest first, page by page on demand.
    pub fn all(&self, filter: &RequestFilter) -> Records<R> {
        let request = filter.add_to(Request::of(R::LIST));
        Records::new(self.client, request, |one| one.id().as_u128())
    }
}

/// The operation on one request, whose identifier stands in the path, in the query of a `GET`, or in the body.
pub(super) fn about<R: RequestKind>(operation: &Operation, id: Uuid) -> Request {
    let request = Request::of(operation);
    if placeholders(operation.path).next().is_some() {
        request.id(id)
    } else if operation.method == Method::Get {
        request.query("idReplenishment", Some(id.to_string()))
    } else {
        request.body(&serde_json::json!({ R::IN_BODY: id }))
    }
}

impl<R> Clone for Requests<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Requests<'_, R> {}

impl<R> fmt::Debug for Requests<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("client", self.client).finish()
    }
}
