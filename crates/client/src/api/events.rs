//! The feed of events.

use std::collections::VecDeque;
use std::time::Duration;

use kopeck_api::{Event, EventType, Feed, operations};

use crate::client::Client;
use crate::error::Error;
use crate::model::event::EventQuery;
use crate::request::Request;

/// How long a follower lets the service wait for an event.
const WAIT: Duration = Duration::from_secs(25);

/// Operations on the feed of events; see [`Client::events`].
#[derive(Debug, Clone, Copy)]
pub struct Events<'a> {
    client: &'a Client,
}

impl<'a> Events<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Reads a piece of the feed.
    ///
    /// # Errors
    ///
    /// 410 `events_expired` if events after that number are no longer kept, and `events_ahead` if no event has that number
    /// yet: it is another feed; see [`Error`].
    pub async fn list(&self, query: &EventQuery) -> Result<Feed, Error> {
        self.client.read(query.add_to(Request::of(&operations::EVENT_FEED))).await
    }

    /// Follows the feed from the events after this number on, without end: all events, or those of some types.
    pub fn follow(&self, after: i64, types: &[EventType]) -> EventFollower {
        self.follower(EventQuery { after, types: types.to_vec(), ..EventQuery::default() })
    }

    /// Follows the feed from now on, without end: the events that come after the first [`next`](EventFollower::next) was called.
    pub fn follow_from_now(&self, types: &[EventType]) -> EventFollower {
        self.follower(EventQuery { from_now: true, types: types.to_vec(), ..EventQuery::default() })
    }

    fn follower(&self, query: EventQuery) -> EventFollower {
        let query = EventQuery { wait: WAIT, ..query };
        EventFollower { client: self.client.clone(), query, ready: VecDeque::new() }
    }
}

/// Follows the feed of events.
///
/// ```no_run
/// use kopeck_client::{Client, Error, EventData};
///
/// async fn watch_deposits(client: &Client, mut last: i64) -> Result<(), Error> {
///     let mut events = client.events().follow(last, &[]);
///     loop {
///         let event = events.next().await?;
///         if let EventData::BalanceDeposited(deposit) = &event.data {
///             println!("{} kopecks arrived", deposit.amount);
///         }
///         // Store it together with what the event changed in your own data.
///         last = event.seq;
///     }
/// }
/// ```
#[derive(Debug)]
#[must_use = "nothing is read before `next`"]
pub struct EventFollower {
    client: Client,
    query: EventQuery,
    ready: VecDeque<Event>,
}

impl EventFollower {
    /// The next event, as soon as there is one. After an error it may be called again, and goes on where it was.
    ///
    /// # Errors
    ///
    /// 410 if the next events are no longer kept, or if the feed is another one than it was; see [`Events::list`].
    pub async fn next(&mut self) -> Result<Event, Error> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            let feed = self.client.events().list(&self.query).await?;
            (self.query.after, self.query.from_now) = (feed.next, false);
            self.ready.extend(feed.data);
        }
    }
}
