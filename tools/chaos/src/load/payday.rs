//! A partner whom programmes pay on every day of the week, and the days that pass meanwhile.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use kopeck_client::{
    Client, Error, IdempotencyKey, OnShortage, PrimitiveDateTime, Programme, ProgrammeAmount,
    ProgrammePeriod, ProgrammeTerms, Run, RunFilter,
};
use tokio::time::Instant;

use super::call::Change;
use super::caller::{is_open, perform};
use super::partner::{Book, Partner};
use crate::journal::Journal;
use kopeck_test_support::Random;

/// Kopecks that the partner starts with: now and then they do not cover a payday.
pub(crate) const OPENING: i64 = 120_000;
/// Its people.
pub(crate) const PEOPLE: u16 = 40;
/// Days that pass during the faults.
const DAYS: u32 = 15;
const SECONDS_OF_A_DAY: u32 = 86_400;
/// The most that it gets on a day.
const MOST_DEPOSITED: u64 = 50_000;
/// Pause before the clock is moved again, or a run is looked at again.
const PAUSE: Duration = Duration::from_millis(300);
/// Runs of a page.
const PER_PAGE: u64 = 100;

/// The programmes of a partner, and since when it has them.
#[derive(Clone)]
pub(crate) struct Paydays {
    pub(crate) programmes: Vec<Programme>,
    created: Instant,
}

/// A rule for each day of the week; Wednesday has two at the same time.
fn rules() -> Vec<ProgrammeTerms> {
    let fixed = |amount, cap| ProgrammeAmount { fixed: Some(amount), cap, ..ProgrammeAmount::default() };
    let up_to = |amount| ProgrammeAmount { up_to: Some(amount), ..ProgrammeAmount::default() };
    let down_to = ProgrammeAmount { down_to: Some(2_500), ..ProgrammeAmount::default() };
    let rules = [
        (1, fixed(1_000, None), OnShortage::Nothing),
        (2, fixed(700, Some(3_000)), OnShortage::Part),
        (3, up_to(4_000), OnShortage::Nothing),
        (3, fixed(300, None), OnShortage::Part),
        (4, down_to, OnShortage::Nothing),
        (5, fixed(500, None), OnShortage::Part),
        (6, up_to(3_500), OnShortage::Part),
        (7, fixed(900, None), OnShortage::Nothing),
    ];
    let terms = |(number, (day, amount, on_shortage))| ProgrammeTerms {
        on_shortage,
        ..ProgrammeTerms::new(format!("rule {number}"), amount, ProgrammePeriod::Week, day)
    };
    (1..).zip(rules).map(terms).collect()
}

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

/// What a partner does whom programmes pay: its people pay with their cards. Nothing else moves money of these.
pub(super) fn choose(book: &Book, random: &Random) -> Option<Change> {
    let card = random.pick(&book.cards)?.id;
    let amount = 1 + i64::try_from(random.below(200)).unwrap_or(0);
    Some(Change::Purchase { card, amount })
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

/// The runs that programmes made, the oldest first.
pub(crate) async fn runs_of_programmes(client: &Client) -> Result<Vec<Run>, Error> {
    let mut runs = client.runs().all(&RunFilter::default()).per_page(PER_PAGE).collect().await?;
    runs.retain(|run| run.id_programme.is_some());
    runs.reverse();
    Ok(runs)
}

impl Paydays {
    /// The names of the periods that came due since a programme was created, day by day.
    pub(crate) fn due(&self, programme: &Programme) -> Vec<String> {
        let passed = time::Duration::seconds((DAYS * SECONDS_OF_A_DAY).into()) + self.created.elapsed();
        due(programme.terms.day, programme.created_at, programme.created_at + passed)
    }
}

/// The weeks of which this day, at 09:00, lies between two times.
fn due(day: i64, since: PrimitiveDateTime, until: PrimitiveDateTime) -> Vec<String> {
    let mut dates = std::iter::successors(Some(since.date()), |date| date.next_day());
    let dates = dates.by_ref().take_while(|date| *date <= until.date());
    let at = |date: time::Date| date.midnight() + time::Duration::hours(9);
    dates
        .filter(|date| i64::from(date.weekday().number_from_monday()) == day)
        .filter(|date| since < at(*date) && at(*date) <= until)
        .map(|date| {
            let (year, week, _) = date.to_iso_week_date();
            format!("{year}-W{week:02}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_week_is_due_on_its_day_at_nine() {
        let (since, until) = (datetime!(2026-12-21 09:00), datetime!(2027-01-04 08:59));
        assert_eq!(due(1, since, until), ["2026-W53"]);
        assert_eq!(due(1, datetime!(2026-12-21 08:59), datetime!(2027-01-04 09:00)).len(), 3);
        assert_eq!(due(7, since, until), ["2026-W52", "2026-W53"]);
    }
}
