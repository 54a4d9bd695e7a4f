//! Reads the feed of events.

use std::time::Duration;

use kopeck_domain::calendar::Zone;
use kopeck_domain::draft::Invalid;
use kopeck_domain::event::EventType;
use kopeck_service::events::{self, FeedError, FeedPage, FeedQuery};
use tokio::time::Instant;

use crate::dto::event;
use crate::input::field_types::{integer_from, text};
use crate::json::{Json, object};
use crate::operations::prelude::*;
use crate::schema::{Components, HasSchema};

/// The most events of a response.
const MOST: i64 = 500;
/// The events of a response by default.
const LIMIT: i64 = 100;
/// The longest wait, seconds.
const LONGEST_WAIT: i64 = 30;
/// Requests of a partner that wait at once.
const MOST_WAITERS: usize = 100;
const TOO_MANY_WAITERS: &str = "too many of your requests wait for events, try again later";

pub(super) static OPERATION: Operation = Operation::of(&operations::EVENT_FEED, handler!(feed))
    .reads(reads!(read))
    .responds::<api::Feed>(200)
    .refuses(&[Code::EventsExpired]);

fn read(r: &mut Reader<'_>) -> Option<(FeedQuery, Duration)> {
    let number = |least, most| integer_from(least, most).may_be_clear();
    let after = r
        .param("after", number(0, i64::MAX).about("The number after which to begin. Default 0: the oldest."));
    let limit = r.param("limit", number(1, MOST).about("The most events. Default 100."));
    let types = r.param(
        "types",
        text(event_types).may_be_clear().about("Only these types, with commas between them."),
    );
    let wait = r.param(
        "wait",
        number(0, LONGEST_WAIT).about("How many seconds to wait for an event if there is none. Default 0."),
    );
    let query = FeedQuery {
        after: after.unwrap_or(0),
        types: types.map(|EventTypes(types)| types).unwrap_or_default(),
        limit: limit.unwrap_or(LIMIT).try_into().ok()?,
    };
    Some((query, Duration::from_secs(wait.unwrap_or(0).try_into().ok()?)))
}

/// Types of events, each once, with commas between them.
struct EventTypes(Vec<EventType>);

impl HasSchema for EventTypes {
    fn schema(_: &mut Components) -> Json {
        object! {"type": "string", "examples": Json::list(["order.status,card.issued"])}
    }
}

pub(super) fn event_type(name: &str) -> Result<EventType, Invalid> {
    name.parse().map_err(|_| Invalid::new("names an unknown type of event"))
}

fn event_types(names: &str) -> Result<EventTypes, Invalid> {
    let mut types = Vec::new();
    for name in names.split(',') {
        let event_type = event_type(name.trim())?;
        if !types.contains(&event_type) {
            types.push(event_type);
        }
    }
    Ok(EventTypes(types))
}

async fn feed(mut ctx: HandlerContext) -> HandlerResult {
    let (query, wait) = ctx.values(read)?;
    if wait.is_zero() {
        let page = page(&mut ctx, &query).await?;
        return ctx.respond(&body(&page, ctx.zone()));
    }
    let until = Instant::now() + wait;
    let appended = ctx.shared.parts.feed_waiters.subscribe(ctx.partner, MOST_WAITERS);
    let too_many = || ApiError::new(Code::TooManyRequests, TOO_MANY_WAITERS).retry_after(1);
    let mut appended = appended.ok_or_else(too_many)?;
    loop {
        // Events from here on are noticed, even if they come between this reading and the wait.
        appended.mark_unchanged();
        let page = page(&mut ctx, &query).await?;
        if !page.events.is_empty() || until <= Instant::now() {
            return ctx.respond(&body(&page, ctx.zone()));
        }
        ctx.pause();
        tokio::select! {
            _ = appended.changed() => {}
            () = tokio::time::sleep_until(until) => {}
            // A client that is answered now closes its connection before the server does.
            () = ctx.shared.connections.draining() => return ctx.respond(&body(&page, ctx.zone())),
        }
        ctx.resume().await?;
    }
}

async fn page(ctx: &mut HandlerContext, query: &FeedQuery) -> Result<FeedPage, ApiError> {
    ctx.read(Ok(query.clone()), |unit, _env, partner, query| events::feed(unit, partner, query)).await
}

fn body(page: &FeedPage, zone: Zone) -> api::Feed {
    let data = page.events.iter().map(|appended| event::body(appended, zone)).collect();
    api::Feed { data, next: page.next, oldest: page.oldest }
}

impl From<FeedError> for ApiError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Expired { .. } => Self::new(Code::EventsExpired, error.to_string()),
            FeedError::Store(error) => error.into(),
        }
    }
}
