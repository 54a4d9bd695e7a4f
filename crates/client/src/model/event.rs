//! Which events to read.

use std::time::Duration;

use kopeck_api::EventType;

use crate::request::Request;

/// The word for the number of the newest event.
const NEWEST: &str = "newest";

/// Which events to read. The default reads the oldest, and does not wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventQuery {
    /// The number after which to begin: `next` of the last response.
    pub after: i64,
    /// Whether to begin after the newest event instead: from now on.
    pub from_now: bool,
    /// The most events, 1 to 500. Default: 100.
    pub limit: Option<u64>,
    /// Only events of these types; of all types if empty.
    pub types: Vec<EventType>,
    /// How long the service waits for the first event, up to 30 s, in whole seconds.
    pub wait: Duration,
}

impl EventQuery {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        let types: Vec<&str> = self.types.iter().map(EventType::as_str).collect();
        let seconds = self.wait.as_secs();
        request
            .wait(Duration::from_secs(seconds))
            .query("after", Some(if self.from_now { NEWEST.to_owned() } else { self.after.to_string() }))
            .query("limit", self.limit)
            .query("types", (!types.is_empty()).then(|| types.join(",")))
            .query("wait", (seconds > 0).then_some(seconds))
    }
}
