//! One run from its start to its tables.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::faults::{self, Scene};
use crate::fleet::Fleet;
use crate::journal::Journal;
use crate::load::{self, Partner};
use crate::settings::Settings;
use crate::{checks, person, table};
use kopeck_test_support::Random;

/// Kopecks that each partner starts with.
const DEPOSIT: i64 = 100_000_000_000;
/// How long after the faults the last request may end.
const END: Duration = Duration::from_secs(120);
/// How long what was on its way when the faults ended may take to arrive.
const GRACE: Duration = Duration::from_secs(3);

/// Everything of a run that its tasks share.
struct Stage {
    fleet: Arc<Fleet>,
    journal: Arc<Journal>,
    partners: Vec<Arc<Partner>>,
    random: Random,
}

/// Plays a run; returns whether nothing was wrong.
pub(crate) async fn run(settings: &Settings) -> anyhow::Result<bool> {
    println!("seed {}, {} min", settings.seed, settings.minutes);
    let stage = Stage::new(settings).await?;
    let mut watching = JoinSet::new();
    for partner in &stage.partners {
        watching.spawn(load::watch(Arc::clone(partner), Arc::clone(&stage.journal)));
        watching.spawn(load::follow(Arc::clone(partner), Arc::clone(&stage.journal)));
    }
    let mut supervising = JoinSet::new();
    supervising.spawn(supervise(Arc::clone(&stage.fleet), Arc::clone(&stage.journal)));
    println!("\nfaults:");
    stage.play(settings).await?;
    stage.settle().await?;
    watching.shutdown().await;
    supervising.shutdown().await;
    if let Err(error) = checks::check(&stage.fleet, &stage.partners, &stage.journal).await {
        stage.journal.wrong(format!("the checks could not go on: {error:#}"));
    }
    for badly in stage.fleet.stop().await? {
        stage.journal.wrong(badly);
    }
    table::show(settings, &stage.journal, &stage.partners);
    Ok(stage.journal.notes().wrongs.is_empty())
}

impl Stage {
    /// Starts all processes and gives the partners what they need.
    async fn new(settings: &Settings) -> anyhow::Result<Self> {
        let (fleet, journal) = (Arc::new(Fleet::new(settings)?), Arc::new(Journal::default()));
        let random = Random::new(settings.seed);
        fleet.start().await?;
        println!("{} API processes, {} workers, one bank", fleet.apis(), fleet.workers());
        let others = (0..settings.partners).map(|number| (format!("partner-{number}"), DEPOSIT));
        let names = others.chain([("payday".to_owned(), load::OPENING)]);
        let partners: Vec<Arc<Partner>> = stream::iter(names)
            .then(async |(name, deposit)| {
                let secrets = fleet.installation.create_partner(&name, deposit).await?;
                let mut partner = Partner::new(name, deposit, &secrets, &fleet)?;
                partner.endpoints =
                    load::create_endpoints(&partner, &secrets.sealing_key, &fleet.receiver).await?;
                anyhow::Ok(Arc::new(partner))
            })
            .try_collect()
            .await?;
        let start = Instant::now();
        let set_up = partners.iter().enumerate().map(|(number, partner)| {
            let is_payday = number + 1 == partners.len();
            let cards = u32::from(if is_payday { load::PEOPLE } else { settings.cards });
            load::set_up(partner, &journal, cards, random.part(100 + number as u64))
        });
        stream::iter(set_up).buffer_unordered(4).try_collect::<()>().await.context("before the faults")?;
        let first = partners.first().context("no partner")?;
        load::end_month(first).await.context("the end of the first month")?;
        load::create_programmes(partners.last().context("no partner")?).await?;
        println!(
            "{} partners have {} main cards each, and one has {} with programmes, after {:.1} s",
            settings.partners,
            settings.cards,
            load::PEOPLE,
            start.elapsed().as_secs_f64()
        );
        Ok(Self { fleet, journal, partners, random })
    }

    /// Calls and faults, until the time is over and every fault is undone.
    async fn play(&self, settings: &Settings) -> anyhow::Result<()> {
        let start = Instant::now();
        let end = start + settings.duration();
        let mut calling = JoinSet::new();
        for (number, partner) in self.partners.iter().enumerate() {
            let (client, _) = partner.client(0).context("no client")?;
            let [month, _] = load::months(client).await?;
            let random = self.random.part(20_000 + number as u64);
            calling.spawn(load::close_month(Arc::clone(partner), Arc::clone(&self.journal), month, random));
            for caller in 0..usize::from(settings.callers) {
                let random = self.random.part(10_000 + (number * 100 + caller) as u64);
                calling.spawn(load::call_until(end, Arc::clone(partner), Arc::clone(&self.journal), random));
            }
        }
        let payday = self.partners.last().context("no partner")?;
        let (partner, journal) = (Arc::clone(payday), Arc::clone(&self.journal));
        let span = (start, settings.duration());
        calling.spawn(load::pass_days(partner, journal, span, self.random.part(30_000)));
        let scene = Scene {
            apis: self.fleet.apis(),
            workers: self.fleet.workers(),
            has_database: self.fleet.to_database.is_some(),
            bank_doubles: settings.bank_doubles,
        };
        let mut striking = JoinSet::new();
        for fault in faults::plan(scene, settings.seed, settings.duration()) {
            let (fleet, journal) = (Arc::clone(&self.fleet), Arc::clone(&self.journal));
            striking.spawn(faults::carry_out(fault, start, fleet, journal));
        }
        while let Some(struck) = striking.join_next().await {
            if let Err(error) = struck? {
                self.journal.wrong(format!("a fault could not be carried out: {error:#}"));
            }
        }
        while let Some(called) = calling.join_next().await {
            called?;
        }
        Ok(())
    }

    /// Waits until everything that was begun has its end.
    async fn settle(&self) -> anyhow::Result<()> {
        println!("\nthe faults are over; waiting for the end of everything");
        let start = Instant::now();
        tokio::time::sleep(GRACE).await;
        let deadline = start + END;
        for partner in &self.partners {
            load::answer_all(partner, &self.journal, deadline).await;
        }
        while !load::all_ended(&self.partners, Instant::now() + GRACE).await {
            if Instant::now() > deadline {
                self.journal.wrong(format!("requests are open {} s after the faults", END.as_secs()));
                break;
            }
            if self.fleet.installation.bank_doubles {
                person::settle(&self.fleet.installation).await?;
            }
        }
        for partner in &self.partners {
            while !load::conclude_programmes(partner).await? {
                if Instant::now() > deadline {
                    self.journal.wrong(format!("{}: a period has no run that has ended", partner.name));
                    break;
                }
                if self.fleet.installation.bank_doubles {
                    person::settle(&self.fleet.installation).await?;
                }
            }
            while !load::conclude_runs(partner, &self.journal).await? {
                if Instant::now() > deadline {
                    self.journal.wrong(format!("{}: a run has not ended", partner.name));
                    break;
                }
                if self.fleet.installation.bank_doubles {
                    person::settle(&self.fleet.installation).await?;
                }
            }
        }
        println!("everything has ended {:.1} s after the faults", start.elapsed().as_secs_f64());
        Ok(())
    }
}

/// No process may end unless it is killed; one that does is noted and started again.
async fn supervise(fleet: Arc<Fleet>, journal: Arc<Journal>) {
    loop {
        match fleet.raise_the_dead().await {
            Ok(dead) => dead.into_iter().for_each(|name| journal.wrong(name)),
            Err(error) => journal.wrong(format!("{error:#}")),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
