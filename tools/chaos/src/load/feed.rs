//! Reads the feed of a partner by its cursor, while events are appended to it and after.

use std::sync::Arc;
use std::time::Duration;

use kopeck_client::{Error, EventQuery};
use tokio::time::Instant;

use super::partner::Partner;
use super::reads::{judge, outcome};
use crate::journal::Journal;

/// How long the service waits for an event.
const WAIT: Duration = Duration::from_secs(2);
/// Pause after a failure.
const PAUSE: Duration = Duration::from_millis(250);
/// Events of a page.
const PAGE: u64 = 500;

/// Reads on for ever, from one API process after the other.
pub(crate) async fn follow(partner: Arc<Partner>, journal: Arc<Journal>) {
    let mut round = 0_usize;
    loop {
        let start = Instant::now();
        let read = read_on(&partner, round, WAIT).await;
        let took = start.elapsed();
        round = round.wrapping_add(1);
        match read {
            Ok(_) => journal.call("feed", "200".to_owned(), took),
            Err(error) => {
                journal.call("feed", outcome(&error), took);
                judge(&journal, &format!("{}: feed", partner.name), &error);
                let passes = error.is_transient() || matches!(error.status(), Some(401 | 408));
                journal.must(passes, || format!("{}: the feed was refused: {error}", partner.name));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Reads what comes after the last event that the partner has; returns whether there was something.
pub(crate) async fn read_on(partner: &Partner, number: usize, wait: Duration) -> Result<bool, Error> {
    let Some((client, _)) = partner.client(number) else { return Ok(false) };
    let query = EventQuery { after: partner.book().cursor, limit: Some(PAGE), wait, ..EventQuery::default() };
    let page = client.events().list(&query).await?;
    let mut book = partner.book();
    book.cursor = page.next;
    let has_events = !page.data.is_empty();
    book.feed.extend(page.data);
    Ok(has_events)
}
