//! A mutation before it is awaited.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;

use kopeck_api::{
    ClosingCreated, Employee, LimitChangeCreated, OrderCreated, ReplenishmentCreated, WithdrawalCreated,
};
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::idempotency::IdempotencyKey;
use crate::request::Request;

/// A mutation. Await it to send it.
///
/// It has a fresh [`IdempotencyKey`] for all its tries; a clone is the same request under the same key. It fails with
/// an [`Error`]: [`Error::Invalid`] for faulty values, [`Error::Api`] for other refusals, and one that
/// [is transient](Error::is_transient) if the network fails for longer than the client retries.
///
/// ```no_run
/// use kopeck_client::{Client, Error};
///
/// async fn create(client: &Client) -> Result<(), Error> {
///     let call = client.categories().create("Drivers");
///     let created = match call.clone().await {
///         // The same request once more: if it had its effect after all, this returns the recorded response.
///         Err(error) if error.is_transient() => call.await?,
///         other => other?,
///     };
///     println!("{}", created.id_category);
///     Ok(())
/// }
/// ```
#[must_use = "the request is sent when it is awaited"]
pub struct Write<T> {
    client: Client,
    request: Request,
    answer: PhantomData<fn() -> T>,
}

impl<T> Write<T> {
    pub(crate) const fn new(client: Client, request: Request) -> Self {
        Self { client, request, answer: PhantomData }
    }

    /// Sets the idempotency key.
    pub fn idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.request.key = Some(key);
        self
    }
}

impl Write<Employee> {
    /// Changes only the version that this [`etag`](crate::Tagged::etag) names, and fails with
    /// [`ErrorCode::PreconditionFailed`](crate::ErrorCode::PreconditionFailed) if the employee has changed since.
    pub fn if_match(mut self, etag: &str) -> Self {
        self.request.if_match = Some(etag.to_owned());
        self
    }
}

/// The answer to a request that may have a reference of the partner's own.
pub trait HasReference: sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! has_reference {
    ($($created:ty),*) => {$(
        impl sealed::Sealed for $created {}
        impl HasReference for $created {}
    )*};
}

has_reference!(OrderCreated, ReplenishmentCreated, LimitChangeCreated, ClosingCreated, WithdrawalCreated);

impl<T: HasReference> Write<T> {
    /// Sets what the partner calls the request, such as its number in the partner's books: 1 to 64 letters, digits,
    /// blanks and `-_./#`. It need not be unique.
    pub fn reference(mut self, reference: &str) -> Self {
        self.request = self.request.field("reference", reference);
        self
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for Write<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.client.call(&self.request).await })
    }
}

impl<T> Clone for Write<T> {
    fn clone(&self) -> Self {
        Self::new(self.client.clone(), self.request.clone())
    }
}

/// Shows the request without its body.
impl<T> fmt::Debug for Write<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Write")
            .field("method", &self.request.method)
            .field("path", &self.request.template)
            .field("key", &self.request.key)
            .finish_non_exhaustive()
    }
}
