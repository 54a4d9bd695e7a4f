//! A month that is closed while faults strike, and whose report is read again and again.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kopeck_client::{Client, EventQuery, ReportFilter};
use kopeck_domain::calendar::{CalendarMonth, Zone};
use time::{Date, OffsetDateTime};
use tokio::time::Instant;

use super::call::Change;
use super::caller::perform;
use super::partner::Partner;
use crate::journal::Journal;
use kopeck_test_support::Random;

/// How long the processes may take to follow the service's clock.
const PATIENCE: Duration = Duration::from_secs(30);
/// Time between two looks whether they have.
const INTERVAL: Duration = Duration::from_millis(250);
/// The latest closing, in seconds after the first call.
const LATEST: u64 = 30;

/// The month of a partner's first event, and the one after it.
pub(crate) async fn months(client: &Client) -> anyhow::Result<[CalendarMonth; 2]> {
    let first = month(zone()?.day(first_event(client).await?))?;
    Ok([first, month(first.end())?])
}

/// When the partner got its deposit.
async fn first_event(client: &Client) -> anyhow::Result<OffsetDateTime> {
    let query = EventQuery { limit: Some(1), ..EventQuery::default() };
    let events = client.events().list(&query).await?.data;
    Ok(events.first().context("the partner has no event")?.created_at)
}

fn month(day: Date) -> anyhow::Result<CalendarMonth> {
    let text = format!("{:04}-{:02}", day.year(), u8::from(day.month()));
    CalendarMonth::parse(&text).map_err(|invalid| anyhow::anyhow!("{text} {invalid}"))
}

/// The service's.
fn zone() -> anyhow::Result<Zone> {
    Zone::parse("+03:00").map_err(|invalid| anyhow::anyhow!("the zone {invalid}"))
}

/// Moves the service's clock into the next month, and waits until every API process is there.
pub(crate) async fn end_month(partner: &Partner) -> anyhow::Result<()> {
    let (client, _) = partner.client(0).context("no client")?;
    let [first, next] = months(client).await?;
    let seconds = (zone()?.start_of(next.first_day()) - first_event(client).await?).whole_seconds();
    client.sandbox().advance_clock(u64::try_from(seconds)?).await?;
    let deadline = Instant::now() + PATIENCE;
    for client in &partner.clients {
        let (statements, filter) = (client.statements(), ReportFilter::default());
        while !matches!(statements.report(&first.text(), &filter).await, Ok(report) if report.complete) {
            anyhow::ensure!(Instant::now() < deadline, "a process does not follow the service's clock");
            tokio::time::sleep(INTERVAL).await;
        }
    }
    Ok(())
}

/// Closes the month that is over, at some time during the faults.
pub(crate) async fn close_month(
    partner: Arc<Partner>,
    journal: Arc<Journal>,
    month: CalendarMonth,
    random: Random,
) {
    tokio::time::sleep(Duration::from_millis(random.between(1_000, LATEST * 1_000))).await;
    let place = partner.book().begin(Change::CloseMonth { month: month.text() });
    perform(&partner, &journal, place, &random).await;
}
