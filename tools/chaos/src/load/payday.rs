//! A partner whom programmes pay on every day of the week, and the days that pass meanwhile.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kopeck_client::IdempotencyKey;
use tokio::time::Instant;

use super::call::Change;
use super::caller::{is_open, perform};
use super::partner::Partner;
use super::programmes::{DAYS, Paydays, SECONDS_OF_A_DAY, rules, runs_of_programmes};
use crate::journal::Journal;
use kopeck_test_support::Random;

/// Kopecks that the partner starts with: now and then they do not cover a payday.
pub(crate) const OPENING: i64 = 120_000;
/// Its people.
pub(crate) const PEOPLE: u16 = 40;
/// The most that it gets on a day.
const MOST_DEPOSITED: u64 = 50_000;
/// Pause before the clock is moved again, or a run is looked at again.
const PAUSE: Duration = Duration::from_millis(300);

/// Gives the partner its programmes, before the faults.
pub(crate) async fn create_programmes(partner: &Partner) -> anyhow::Result<()> {
    let (client, _) = partner.client(0).context("no client")?;
    let (mut programmes, created) = (Vec::new(), Instant::now());
    for terms in rules() {
        programmes.push(client.programmes().create(&terms).await.context("a programme")?);
    }
    partner.book().paydays = Some(Paydays { programmes, created });
    Ok(())
}

/// Lets days pass by the service's clock, and deposits something on some of them.
pub(crate) async fn pass_days(
    partner: Arc<Partner>,
    journal: Arc<Journal>,
    (start, duration): (Instant, Duration),
    random: Random,
) {
    for day in 1..=DAYS {
        tokio::time::sleep_until(start + duration * day / (DAYS + 1)).await;
        if random.percent(60) {
            let amount = i64::try_from(random.between(1, MOST_DEPOSITED)).unwrap_or(1);
            let place = partner.book().begin(Change::Deposit { amount });
            perform(&partner, &journal, place, &random).await;
        }
        let key = IdempotencyKey::fresh();
        for number in 0.. {
            let Some((client, _)) = partner.client(number) else { return };
            let moved = client.sandbox().advance_clock(SECONDS_OF_A_DAY.into());
            match moved.idempotency_key(key.clone()).await {
                Ok(_) => break,
                Err(error) if is_open(&error) => tokio::time::sleep(PAUSE).await,
                Err(error) => {
                    journal.wrong(format!("{}: the clock was not moved: {error}", partner.name));
                    return;
                }
            }
        }
    }
}

/// Once every period that came due has its run and all runs have ended, pauses the programmes: the checks move the clock, too.
/// Whether they have.
pub(crate) async fn conclude(partner: &Partner) -> anyhow::Result<bool> {
    let Some(paydays) = partner.book().paydays.clone() else { return Ok(true) };
    let (client, _) = partner.client(0).context("no client")?;
    let runs = runs_of_programmes(client).await?;
    let is_complete = paydays.programmes.iter().all(|programme| {
        let own = runs.iter().filter(|run| run.id_programme == Some(programme.id_programme));
        own.clone().count() >= paydays.due(programme).len() && own.clone().all(|run| run.state.is_final())
    });
    if !is_complete {
        tokio::time::sleep(PAUSE).await;
        return Ok(false);
    }
    for programme in &paydays.programmes {
        client.programmes().pause(programme.id_programme).await.context("pausing a programme")?;
    }
    Ok(true)
}
