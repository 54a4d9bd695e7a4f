//! Reads the feed of events.

use std::time::Duration;

use kopeck_domain::Invalid;
use kopeck_domain::calendar::Zone;
use kopeck_domain::event::EventType;
use kopeck_service::events::{self, FeedError, FeedPage, FeedQuery};
use tokio::time::Instant;

use crate::input::field_types::{FieldEncoding, FieldType, InputValue, integer_from, text};
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

pub(super) static OPERATION: Operation =
    Operation::of(&operations::EVENT_FEED, Needs::One(Scope::EventsRead), handler!(feed))
        .reads(reads!(read))
        .responds::<api::Feed>(200)
        .refuses(&[Code::EventsExpired, Code::EventsAhead]);

fn read(r: &mut Reader<'_>) -> Option<(FeedQuery, Duration)> {
    let number = |least, most| integer_from(least, most).may_be_clear();
    let about = "The number after which to begin, or `newest` to begin from now on. Default 0: the oldest.";
    let after = r.param("after", start().may_be_clear().about(about));
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
        after: after.map_or(Some(0), |start| start.after),
        types: types.map(|EventTypes(types)| types).unwrap_or_default(),
        limit: limit.unwrap_or(LIMIT).try_into().ok()?,
    };
    Some((query, Duration::from_secs(wait.unwrap_or(0).try_into().ok()?)))
}

/// The start of a reader: after a number, or after the newest event.
#[derive(Clone, Copy)]
struct FeedStart {
    after: Option<i64>,
}

/// The word for the newest event.
const NEWEST: &str = "newest";

fn start() -> FieldType<impl Fn(InputValue<'_>) -> Result<FeedStart, Invalid>> {
    let number = integer_from(0, i64::MAX);
    FieldType::new(FeedStart::schema, FieldEncoding::Json, move |given: InputValue<'_>| {
        if given.as_text().as_deref() == Some(NEWEST) {
            return Ok(FeedStart { after: None });
        }
        let read = (number.read)(given)
            .map_err(|_| Invalid::new(format!("must be an integer from 0 to {}, or {NEWEST}", i64::MAX)));
        Ok(FeedStart { after: Some(read?) })
    })
}

impl HasSchema for FeedStart {
    fn schema(_: &mut Components) -> Json {
        object! {"type": ["integer", "string"], "pattern": "^([0-9]+|newest)$", "x-form": "a number, or newest", "minimum": 0, "examples": Json::list([0])}
    }
}

/// Types of events, each once, with commas between them.
struct EventTypes(Vec<EventType>);

impl HasSchema for EventTypes {
    fn schema(_: &mut Components) -> Json {
        object! {"type": "string", "examples": Json::list(["order.status,card.issued"])}
    }
}

pub(super) fn event_type(name: &str) -> Result<EventType, Invalid> {
    name.parse().map_err(|_| unknown_type(name))
}

/// Names the text as far as it could be meant as a type, and the nearest type.
fn unknown_type(text: &str) -> Invalid {
    let is_name = |c: &char| c.is_ascii_alphanumeric() || "._-".contains(*c);
    let name: String = text.chars().take(LONGEST_TYPE).filter(is_name).collect();
    let distance = |known: &&str| strsim::levenshtein(&name, known);
    let nearest = EventType::ALL.iter().map(|known| known.as_str()).min_by_key(distance).unwrap_or_default();
    Invalid::new(format!("{name:?} is no type of event; the nearest is {nearest:?}"))
}

/// No type has a longer name.
const LONGEST_TYPE: usize = 40;

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
    let (mut query, wait) = ctx.values(read)?;
    if wait.is_zero() {
        let page = page(&mut ctx, &query).await?;
        return ctx.respond(&body(&page, ctx.zone()));
    }
    let until = Instant::now() + wait;
    let appended = ctx.shared.parts.feed_waiters.subscribe(ctx.partner(), MOST_WAITERS);
    let too_many = || ApiError::new(Code::TooManyRequests, TOO_MANY_WAITERS).retry_after(1);
    let mut appended = appended.ok_or_else(too_many)?;
    loop {
        // Events from here on are noticed, even if they come between this reading and the wait.
        appended.mark_unchanged();
        let page = page(&mut ctx, &query).await?;
        // The newest event changes with each new one, so the walk continues by its number.
        query.after = Some(page.next);
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
        match ctx.resume().await {
            // The time to wait is over: the empty page is as true as another one would be.
            Err(_) if until <= Instant::now() => return ctx.respond(&body(&page, ctx.zone())),
            resumed => resumed?,
        }
    }
}

async fn page(ctx: &mut HandlerContext, query: &FeedQuery) -> Result<FeedPage, ApiError> {
    ctx.read(Ok(query.clone()), |unit, _env, partner, query| events::feed(unit, partner, query)).await
}

fn body(page: &FeedPage, zone: Zone) -> api::Feed {
    let data =
        page.events.iter().map(|appended| api::Event::of(appended.seq, &appended.event, zone)).collect();
    api::Feed { data, next: page.next, oldest: page.oldest, newest: Some(page.newest) }
}

impl From<FeedError> for ApiError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Expired { .. } => Self::new(Code::EventsExpired, error.to_string()),
            FeedError::Ahead { .. } => Self::new(Code::EventsAhead, error.to_string()),
            FeedError::Store(error) => error.into(),
        }
    }
}
