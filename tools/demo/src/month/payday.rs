//! Payday: a rule tops up the cards, by one run for its period.

use std::time::Duration;

use anyhow::ensure;
use kopeck_client::{Client, Date, ProgrammeAmount, ProgrammePeriod, ProgrammeTerms, Run, RunState, Uuid};
use tokio::time::Instant;

/// How long the service may take from the moment that a run is due.
const PATIENCE: Duration = Duration::from_mins(10);
/// Between two looks at the run.
const PAUSE: Duration = Duration::from_millis(200);

/// The rule: each card gets so much on this day of the month.
pub(super) async fn promise(client: &Client, day: Date, fixed: i64) -> anyhow::Result<Uuid> {
    let amount = ProgrammeAmount { fixed: Some(fixed), ..ProgrammeAmount::default() };
    let terms = ProgrammeTerms::new("Lunches", amount, ProgrammePeriod::Month, i64::from(day.day()));
    let programme = client.programmes().create(&terms).await?.id_programme;
    for row in client.programmes().forecast(day).await? {
        println!("  foretold for {}: {} people, short {}", row.period, row.people, row.short);
    }
    Ok(programme)
}

/// Waits for the end of the programme's one run.
pub(super) async fn paid(client: &Client, programme: Uuid) -> anyhow::Result<Run> {
    let begun = Instant::now();
    loop {
        let runs = client.programmes().runs(programme).collect().await?;
        ensure!(runs.len() <= 1, "there are {} runs of one period", runs.len());
        if let Some(run) = runs.into_iter().find(|run| run.state.is_final()) {
            ensure!(run.state == RunState::Success, "the run of payday ended as {}", run.state);
            return Ok(run);
        }
        ensure!(begun.elapsed() < PATIENCE, "payday has no run that ended");
        tokio::time::sleep(PAUSE).await;
    }
}
