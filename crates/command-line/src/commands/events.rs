//! `kopeck call events …`.

use clap::{Args, Subcommand};
use kopeck_client::{Client, Event, EventQuery, EventType};
use serde_json::Value;

use crate::arguments::whole;
use crate::failure::Failure;
use crate::output::{Output, json_of, print_line};

/// Commands for the feed of events.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum EventsCommand {
    /// List events, the oldest first.
    List {
        #[command(flatten)]
        from: FeedArgs,
        /// The most events, 1 to 500.
        #[arg(long, default_value_t = 100, value_parser = whole(1, Some(500_u64)))]
        limit: u64,
    },
    /// Print events as they come, each on a line, until interrupted.
    Follow {
        #[command(flatten)]
        from: FeedArgs,
        /// End after this many events.
        #[arg(long, value_parser = whole(0, None::<u64>))]
        count: Option<u64>,
    },
}

/// The start in the feed, and the types.
#[derive(Debug, Clone, Args)]
pub(crate) struct FeedArgs {
    /// The number after which to begin: `seq` of the last event you have; 0 for the oldest that is kept.
    #[arg(long, default_value_t = 0, value_parser = whole(0, None::<i64>))]
    after: i64,
    /// Begin after the newest event.
    #[arg(long, conflicts_with = "after")]
    from_now: bool,
    /// Only these types, with commas between them, such as `order.status,card.issued`.
    #[arg(long, value_delimiter = ',')]
    types: Vec<String>,
}

impl FeedArgs {
    fn types(&self) -> Vec<EventType> {
        self.types.iter().map(|name| EventType::from(name.as_str())).collect()
    }
}

pub(super) async fn run(client: &Client, command: EventsCommand, json: bool) -> Result<Output, Failure> {
    match command {
        EventsCommand::List { from, limit } => {
            let query = EventQuery {
                after: from.after,
                from_now: from.from_now,
                limit: Some(limit),
                types: from.types(),
                ..EventQuery::default()
            };
            let feed = client.events().list(&query).await?;
            let lines = feed.data.iter().map(line).collect::<Result<Vec<_>, _>>()?;
            Ok(Output::new(json_of(&feed)?, lines.join("\n")))
        }
        EventsCommand::Follow { from, count } => {
            let mut events = if from.from_now {
                client.events().follow_from_now(&from.types())
            } else {
                client.events().follow(from.after, &from.types())
            };
            let mut left = count.unwrap_or(u64::MAX);
            while left > 0 {
                let event = events.next().await?;
                print_line(&if json { json_of(&event)?.to_string() } else { line(&event)? })?;
                left -= 1;
            }
            Ok(Output::nothing())
        }
    }
}

/// `7  2026-01-31T09:30:00Z  order.status  {"orderId":…}`.
fn line(event: &Event) -> Result<String, Failure> {
    let json = json_of(event)?;
    let text = |name: &str| json.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let data = json.get("data").cloned().unwrap_or_default();
    Ok(format!("{:>6}  {}  {:<20}  {data}", event.seq, text("createdAt"), text("type")))
}
