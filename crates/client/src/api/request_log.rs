//! The request log.

use std::collections::VecDeque;
use std::time::Duration;

use kopeck_api::{LoggedRequest, RequestFeed, operations};

use crate::client::Client;
use crate::error::Error;
use crate::model::request_log::RequestLogQuery;
use crate::request::Request;

/// The pause between two looks of a follower.
const INTERVAL: Duration = Duration::from_secs(2);

/// Operations on the request log, the partner's own requests of the last 14 days; see [`Client::request_log`].
#[derive(Debug, Clone, Copy)]
pub struct RequestLog<'a> {
    client: &'a Client,
}

impl<'a> RequestLog<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Reads a piece of the log. With a filter it may be empty although more follow: read on while `next` grows.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, query: &RequestLogQuery) -> Result<RequestFeed, Error> {
        self.client.read(query.add_to(Request::of(&operations::REQUEST_LIST))).await
    }

    /// Follows the log from the requests after the query's number on, without end.
    pub fn follow(&self, query: &RequestLogQuery) -> RequestFollower {
        RequestFollower {
            client: self.client.clone(),
            query: query.clone(),
            ready: VecDeque::new(),
            is_at_end: false,
        }
    }
}

/// Follows the request log; see [`RequestLog::follow`].
#[derive(Debug)]
#[must_use = "nothing is read before `next`"]
pub struct RequestFollower {
    client: Client,
    query: RequestLogQuery,
    ready: VecDeque<LoggedRequest>,
    is_at_end: bool,
}

impl RequestFollower {
    /// The next request, as soon as there is one. After an error it may be called again, and goes on where it was.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn next(&mut self) -> Result<LoggedRequest, Error> {
        loop {
            if let Some(request) = self.ready.pop_front() {
                return Ok(request);
            }
            if self.is_at_end {
                tokio::time::sleep(INTERVAL).await;
            }
            let page = self.client.request_log().list(&self.query).await?;
            self.is_at_end = page.next == self.query.after;
            self.query.after = page.next;
            self.ready.extend(page.data);
        }
    }
}
