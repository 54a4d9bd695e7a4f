//! A call that changes something, before it is awaited.

use std::fmt;
use std::future::IntoFuture;
use std::marker::PhantomData;
use std::pin::Pin;

use serde::de::DeserializeOwned;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::idempotency::IdempotencyKey;

/// A call that changes something. Await it to send it.
///
/// It has a fresh [`IdempotencyKey`], which all its tries carry; a clone is the same call under the same key.
#[must_use = "the call is sent when it is awaited"]
pub struct Write<T> {
    client: Client,
    call: Call,
    answer: PhantomData<fn() -> T>,
}

impl<T> Write<T> {
    pub(crate) const fn new(client: Client, call: Call) -> Self {
        Self { client, call, answer: PhantomData }
    }

    /// Sends the call under a key of the caller's.
    pub fn idempotency_key(mut self, key: IdempotencyKey) -> Self {
        self.call.key = Some(key);
        self
    }
}

impl<T: DeserializeOwned + 'static> IntoFuture for Write<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move { self.client.call(&self.call).await })
    }
}

impl<T> Clone for Write<T> {
    fn clone(&self) -> Self {
        Self::new(self.client.clone(), self.call.clone())
    }
}

/// Shows the call without its body.
impl<T> fmt::Debug for Write<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Write")
            .field("method", &self.call.method)
            .field("path", &self.call.template)
            .field("key", &self.call.key)
            .finish_non_exhaustive()
    }
}
