//! The records of a whole list.

use std::collections::VecDeque;
use std::fmt;

use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::list_walk::ListWalk;
use crate::request::Request;
use kopeck_api::{Page, Paging};

/// The default number of records on a page.
const PER_PAGE: u64 = 100;

/// The records of a whole list, read page by page on demand. Nothing is sent before the first.
///
/// A record that is in the list the whole time comes exactly once, in order, whatever is added or removed meanwhile; a
/// record that is added or removed meanwhile comes once or not at all.
///
/// ```no_run
/// use kopeck_client::{Client, Error, RequestFilter};
///
/// async fn print_orders(client: &Client) -> Result<(), Error> {
///     let mut orders = client.orders().all(&RequestFilter::default());
///     while let Some(order) = orders.next().await? {
///         println!("{} {}", order.order_id, order.state);
///     }
///     Ok(())
/// }
/// ```
#[must_use = "nothing is read before `next`"]
pub struct Records<T> {
    client: Client,
    /// The request of the list, without a page.
    request: Request,
    identify: fn(&T) -> u128,
    walk: ListWalk,
    ready: VecDeque<T>,
}

impl<T: DeserializeOwned> Records<T> {
    pub(crate) fn new(client: &Client, request: Request, identify: fn(&T) -> u128) -> Self {
        Self {
            client: client.clone(),
            request,
            identify,
            walk: ListWalk::new(PER_PAGE),
            ready: VecDeque::new(),
        }
    }

    /// With pages of at most this many records, 20 to 500, instead of 100. Begins at the first record.
    pub fn per_page(self, per_page: u64) -> Self {
        Self { walk: ListWalk::new(per_page), ready: VecDeque::new(), ..self }
    }

    /// The next record; `None` after the last. After an error it may be called again, and goes on where it was.
    ///
    /// # Errors
    ///
    /// The errors of the list; see [`Error`].
    pub async fn next(&mut self) -> Result<Option<T>, Error> {
        while self.ready.is_empty() {
            let Some(paging) = self.walk.next_page() else { return Ok(None) };
            let page = self.page(paging).await?;
            self.ready.extend(self.walk.take(page, self.identify));
        }
        Ok(self.ready.pop_front())
    }

    /// All records that are left.
    ///
    /// # Errors
    ///
    /// The errors of the list; see [`Error`].
    pub async fn collect(mut self) -> Result<Vec<T>, Error> {
        let mut records = Vec::new();
        while let Some(record) = self.next().await? {
            records.push(record);
        }
        Ok(records)
    }

    /// One page of the list, by its number. The walk stays where it is.
    ///
    /// # Errors
    ///
    /// The errors of the list; see [`Error`].
    pub async fn page(&self, paging: Paging) -> Result<Page<T>, Error> {
        let Paging { page, per_page } = paging;
        self.client.read(self.request.clone().query("page", page).query("per_page", per_page)).await
    }
}

/// Shows the list without its records, which may be personal.
impl<T> fmt::Debug for Records<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").field("path", &self.request.template).finish_non_exhaustive()
    }
}
