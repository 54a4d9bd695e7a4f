//! Runs: files of top-ups, and what programmes make. Once a run has ended, its request is one of the partner's like any other.

use std::time::Duration;

use anyhow::Context as _;
use kopeck_client::{CardWithdrawal, Client, Run, RunOutcome, RunRequestKind, TopUp, Uuid};

use super::call::{Answer, Change, RequestKind};
use super::partner::Partner;
use super::programmes::runs_of_programmes;
use super::tracked::TrackedRequest;
use crate::journal::Journal;

/// Time between two looks at a run.
const INTERVAL: Duration = Duration::from_millis(250);

/// A file of these top-ups.
pub(super) fn file(top_ups: &[TopUp]) -> String {
    let row = |top_up: &TopUp| {
        let card = top_up.card.id().unwrap_or_default();
        format!("{card};{}\r\n", top_up.amount_replenishment)
    };
    format!("idCard;amount\r\n{}", top_ups.iter().map(row).collect::<String>())
}

/// Once all runs have ended, compares each with its request, and has the request looked at as any other. Whether they have.
pub(crate) async fn conclude(partner: &Partner, journal: &Journal) -> anyhow::Result<bool> {
    let (client, _) = partner.client(0).context("no client")?;
    let mut ended = Vec::new();
    for id in made(partner) {
        let run = client.runs().get(id).await?;
        if !run.state.is_final() {
            tokio::time::sleep(INTERVAL).await;
            return Ok(false);
        }
        ended.push(run);
    }
    if partner.book().paydays.is_some() {
        ended.extend(runs_of_programmes(client).await?);
    }
    for run in ended {
        compare(partner, client, journal, &run).await?;
    }
    Ok(true)
}

/// The runs that were accepted.
fn made(partner: &Partner) -> Vec<Uuid> {
    let run = |answer: &Option<Answer>| match answer {
        Some(Answer::Run(id)) => Some(*id),
        _ => None,
    };
    partner.book().made.iter().filter_map(|made| run(&made.answer)).collect()
}

/// A run moves what its preview showed or less of it, by one request, and its items tell what the request says.
async fn compare(partner: &Partner, client: &Client, journal: &Journal, run: &Run) -> anyhow::Result<()> {
    let (name, id) = (&partner.name, run.id_run);
    journal.must(run.requests.len() <= 1, || format!("{name}: run {id} became {:?}", run.requests));
    let items = client.runs().result(id).await?;
    let undecided = items.iter().any(|item| item.outcome.is_none());
    journal.must(!undecided, || format!("{name}: run {id} has an item without an outcome"));
    let done = items.iter().filter(|item| item.outcome == Some(RunOutcome::Done));
    let told: i64 = done.filter_map(|item| item.amount).sum();
    let mut moved = 0;
    for request in &run.requests {
        let tracked = if request.kind == RunRequestKind::Withdrawal {
            let cards = client.withdrawals().result(request.id).await?;
            moved += cards.iter().map(|card| card.amount_withdrawn).sum::<i64>();
            let cards = cards.iter().map(|card| CardWithdrawal::new(card.id_card, card.amount_withdrawn));
            TrackedRequest::new(RequestKind::Withdrawal, Change::Withdraw(cards.collect()))
        } else {
            let cards = client.replenishments().result(request.id).await?;
            let done = cards.iter().filter(|card| card.result_replenishment);
            moved += done.map(|card| card.amount_replenishment).sum::<i64>();
            let cards = cards.iter().map(|card| TopUp::new(card.id_card, card.amount_replenishment));
            TrackedRequest::new(RequestKind::TopUp, Change::TopUp(cards.collect()))
        };
        partner.book().requests.insert(request.id, tracked);
    }
    journal.must(moved == told && moved <= run.amount, || {
        format!("{name}: run {id} showed {}, tells of {told}, moved {moved}", run.amount)
    });
    Ok(())
}
