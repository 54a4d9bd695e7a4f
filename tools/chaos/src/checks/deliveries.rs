//! Each event arrived at each webhook that wants it and whose endpoint is up in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use anyhow::Context as _;
use kopeck_client::{Event, Uuid};
use tokio::time::Instant;

use super::Account;
use crate::fleet::Fleet;
use crate::journal::Journal;
use crate::load::{Endpoint, Partner};

/// How long the retries may take.
const PATIENCE: Duration = Duration::from_secs(90);
/// Time between two looks at what is missing.
const INTERVAL: Duration = Duration::from_millis(500);
/// After so many looks the service's clock is moved on, so that the next retries are due.
const LOOKS: usize = 20;
/// By how many seconds it is moved: leases end, and a delivery that failed four times is due.
const STEP: u64 = 900;

/// Waits for the deliveries, and compares them with the feed. The feed has to be read to its end.
pub(super) async fn check(fleet: &Fleet, accounts: &[Account<'_>], journal: &Journal) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    for look in 0.. {
        let missing = missing(fleet, accounts).await?;
        if missing.is_empty() {
            break;
        }
        if Instant::now() > deadline {
            missing.into_iter().for_each(|what| journal.wrong(what));
            break;
        }
        if look % LOOKS == 0 {
            let (client, _) = accounts.first().and_then(|one| one.partner.client(0)).context("no client")?;
            client.sandbox().advance_clock(STEP).await?;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    let (mut events, mut arrived, mut again) = (0, 0, 0);
    for Account { partner, .. } in accounts {
        let feed: BTreeMap<Uuid, Event> =
            partner.book().feed.iter().map(|event| (event.id, event.clone())).collect();
        events += feed.len();
        for endpoint in &partner.endpoints {
            let (distinct, all) = check_arrivals(fleet, partner, endpoint, &feed, journal);
            if !endpoint.is_silent() {
                arrived += distinct;
                again += all - distinct;
            }
        }
        check_silent(partner, journal).await?;
    }
    println!("{events} events; {arrived} deliveries to webhooks, and {again} repeated ones");
    Ok(())
}

/// Webhooks that wait for something, each with what it waits for.
async fn missing(fleet: &Fleet, accounts: &[Account<'_>]) -> anyhow::Result<Vec<String>> {
    let mut missing = Vec::new();
    for Account { partner, .. } in accounts {
        let (client, _) = partner.client(0).context("no client")?;
        for endpoint in partner.endpoints.iter().filter(|endpoint| !endpoint.is_silent()) {
            let webhook = client.webhooks().get(endpoint.id).await?;
            let arrivals = fleet.receiver.arrivals(&endpoint.path);
            let arrived: BTreeSet<&str> = arrivals
                .iter()
                .filter_map(|arrival| arrival.headers.get("webhook-id").map(String::as_str))
                .collect();
            let lost = {
                let book = partner.book();
                let wanted = book.feed.iter().filter(|event| endpoint.wants(event));
                wanted.filter(|event| !arrived.contains(event.id.to_string().as_str())).count()
            };
            if lost > 0 || webhook.pending > 0 || !webhook.enabled {
                let path = &endpoint.path;
                missing.push(format!(
                    "{path}: {lost} events did not arrive, {} deliveries are pending, enabled: {}",
                    webhook.pending, webhook.enabled
                ));
            }
        }
    }
    Ok(missing)
}

/// Every delivery is signed, of a subscribed type, and equals the event of the feed. Returns the numbers of events and
/// deliveries.
fn check_arrivals(
    fleet: &Fleet,
    partner: &Partner,
    endpoint: &Endpoint,
    feed: &BTreeMap<Uuid, Event>,
    journal: &Journal,
) -> (usize, usize) {
    let arrivals = fleet.receiver.arrivals(&endpoint.path);
    let mut ids = BTreeSet::new();
    let (name, path) = (&partner.name, &endpoint.path);
    for arrival in &arrivals {
        match endpoint.verify(arrival) {
            Ok(event) => {
                let is_right = feed.get(&event.id) == Some(&event) && endpoint.wants(&event);
                journal.must(is_right, || format!("{path}: the feed of {name} does not have {event:?}"));
                ids.insert(event.id);
            }
            Err(error) => journal.wrong(format!("{path}: a delivery cannot be verified: {error:#}")),
        }
    }
    (ids.len(), arrivals.len())
}

/// An endpoint that never responds gets no event delivered, and its webhook is disabled after three days.
async fn check_silent(partner: &Partner, journal: &Journal) -> anyhow::Result<()> {
    let (client, _) = partner.client(0).context("no client")?;
    for endpoint in partner.endpoints.iter().filter(|endpoint| endpoint.is_silent()) {
        let webhook = client.webhooks().get(endpoint.id).await?;
        let is_right = !webhook.enabled && webhook.last_success_at.is_none() && webhook.pending == 0;
        journal.must(is_right, || format!("{}: never responds, but: {webhook:?}", endpoint.path));
    }
    Ok(())
}
