//! Threads for asynchronous jobs, the daily account refresh, and housekeeping.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;
use kopeck_port_store::{Access, Store, StoreError, transact};
use kopeck_service::accounts::AccountRefresher;
use kopeck_service::bank_feed::BankFeedFollower;
use kopeck_service::card_blocks::BlockSender;
use kopeck_service::leavers::LeaverTimer;
use kopeck_service::programmes::ProgrammeTimer;
use kopeck_service::runs::RunTimer;
use kopeck_service::worker::Worker;
use kopeck_service::{Env, Progress, housekeeping};

use crate::daily_reconciliation::DailyReconciliation;
use crate::deliveries::Deliverer;
use crate::failures::Failures;
use crate::liveness::{Heartbeat, LivenessRegistry};
use crate::stop::Stop;

/// How often an idle worker polls for due jobs.
const IDLE: Duration = Duration::from_millis(50);
/// The pause after a failure of the store.
const AFTER_FAILURE: Duration = Duration::from_secs(1);
/// How often the refresher polls for a new day.
const REFRESH_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// How often the sender of blocks looks for one: a stolen card should not pay for long.
const BLOCK_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// How often the bank's feed is read.
const FEED_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How often runs are looked for that are due.
const RUN_POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How often the clock that jobs are scheduled by is checked.
const CLOCK_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Clock checks between two housekeeping sweeps, so one sweep a minute.
const CLOCK_CHECKS_PER_SWEEP: u32 = 60;

/// Background work on separate threads.
pub struct BackgroundWork {
    /// Refreshes cards once a day.
    pub refresher: AccountRefresher,
    /// Notifies the bank of blocks.
    pub blocks: BlockSender,
    /// Follows the bank's feed.
    pub follower: BankFeedFollower,
    /// Starts scheduled runs, and ends the waiting of others.
    pub runs: RunTimer,
    /// Takes back what leavers have left on their cards, and closes these.
    pub leavers: LeaverTimer,
    /// Makes the runs of programmes.
    pub programmes: ProgrammeTimer,
    /// Delivers to webhooks.
    pub deliverer: Deliverer,
    /// Compares each day with the bank, if that is wanted.
    pub reconciliation: Option<DailyReconciliation>,
}

/// Running workers. Dropping them stops them too.
pub struct Workers {
    stop: Arc<Stop>,
    liveness: Arc<LivenessRegistry>,
    threads: Vec<JoinHandle<()>>,
}

impl Workers {
    /// Starts `count` workers, and one thread each for blocks of cards, runs that are due, leavers, programmes, webhooks, the bank's feed, accounts, the
    /// comparison with the bank if there is one, and the housekeeping. The latter calls `check_clock` every second.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(
        count: u8,
        store: &Arc<dyn Store>,
        env: &Arc<Env>,
        worker: &Arc<Worker>,
        background: BackgroundWork,
        check_clock: impl FnMut() -> Result<(), StoreError> + Send + 'static,
    ) -> anyhow::Result<Self> {
        let mut workers = Self { stop: Arc::default(), liveness: Arc::default(), threads: Vec::new() };
        for number in 0..count {
            let (store, worker) = (Arc::clone(store), Arc::clone(worker));
            workers.spawn(format!("worker-{number}"), move |stop, heartbeat| {
                repeat("jobs", IDLE, stop, heartbeat, |stopping| work(&*store, &worker, stopping));
            })?;
        }
        let BackgroundWork {
            mut refresher,
            mut blocks,
            mut follower,
            runs,
            leavers,
            mut programmes,
            deliverer,
            reconciliation,
        } = background;
        workers.spawn("card-blocks".to_owned(), move |stop, heartbeat| {
            repeat("card_blocks", BLOCK_POLL_INTERVAL, stop, heartbeat, |_| blocks.run_once());
        })?;
        workers.spawn("runs".to_owned(), move |stop, heartbeat| {
            repeat("runs", RUN_POLL_INTERVAL, stop, heartbeat, |_| runs.run_once());
        })?;
        workers.spawn("leavers".to_owned(), move |stop, heartbeat| {
            repeat("leavers", RUN_POLL_INTERVAL, stop, heartbeat, |_| leavers.run_once());
        })?;
        workers.spawn("programmes".to_owned(), move |stop, heartbeat| {
            repeat("programmes", RUN_POLL_INTERVAL, stop, heartbeat, |stopping| {
                programmes.run_once(stopping)
            });
        })?;
        workers.spawn("webhooks".to_owned(), move |stop, heartbeat| deliverer.run(stop, heartbeat))?;
        workers.spawn("bank-feed".to_owned(), move |stop, heartbeat| {
            repeat("bank_feed", FEED_POLL_INTERVAL, stop, heartbeat, |stopping| follower.run_once(stopping));
            if let Err(error) = follower.release() {
                log::debug!(error:% = error; "the lease of the bank's feed expires");
            }
        })?;
        workers.spawn("accounts".to_owned(), move |stop, heartbeat| {
            repeat("accounts", REFRESH_POLL_INTERVAL, stop, heartbeat, |stopping| {
                refresher.run_once(stopping)
            });
        })?;
        if let Some(reconciliation) = reconciliation {
            workers.spawn("reconciliation".to_owned(), move |stop, heartbeat| {
                reconciliation.run(stop, heartbeat);
            })?;
        }
        let (store, env) = (Arc::clone(store), Arc::clone(env));
        workers.spawn("housekeeping".to_owned(), move |stop, heartbeat| {
            run_housekeeping(&*store, &env, check_clock, stop, heartbeat);
        })?;
        Ok(workers)
    }

    /// The liveness of the threads.
    #[must_use]
    pub fn liveness(&self) -> Arc<LivenessRegistry> {
        Arc::clone(&self.liveness)
    }

    /// Lets workers settle their bank requests and release their other jobs, then joins the threads.
    pub fn stop(mut self) {
        self.join();
    }

    fn spawn(
        &mut self,
        name: String,
        run: impl FnOnce(&Stop, &Heartbeat) + Send + 'static,
    ) -> anyhow::Result<()> {
        let (stop, heartbeat) = (Arc::clone(&self.stop), self.liveness.register());
        let thread = std::thread::Builder::new().name(name).spawn(move || run(&stop, &heartbeat));
        self.threads.push(thread.context("the system gives no thread")?);
        Ok(())
    }

    fn join(&mut self) {
        self.stop.request();
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                log::error!("a worker panicked");
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.join();
    }
}

/// Records a heartbeat; returns whether the thread has to stop.
fn heartbeat_and_check_stop(stop: &Stop, heartbeat: &Heartbeat) -> bool {
    heartbeat.beat();
    stop.is_requested()
}

/// Runs rounds of the loop `name` until the stop. A round checks `stopping` before each bank request.
fn repeat(
    name: &str,
    idle: Duration,
    stop: &Stop,
    heartbeat: &Heartbeat,
    mut round: impl FnMut(&dyn Fn() -> bool) -> Result<Progress, StoreError>,
) {
    let mut failures = Failures::default();
    let stopping = || heartbeat_and_check_stop(stop, heartbeat);
    while !stopping() {
        let went = round(&stopping);
        failures.follow(name, &went);
        match went {
            Ok(Progress::More) => false,
            Ok(Progress::Idle) => stop.wait(idle),
            Ok(Progress::BankUnavailable) | Err(_) => stop.wait(AFTER_FAILURE),
        };
    }
}

/// Polls by a read, so that idle workers do not queue behind writers.
fn work(store: &dyn Store, worker: &Worker, stopping: &dyn Fn() -> bool) -> Result<Progress, StoreError> {
    let is_due = transact(store, Access::Read, |unit| unit.jobs().is_any_due())?;
    let done = if is_due { worker.run_once(stopping)? } else { 0 };
    Ok(if done == 0 { Progress::Idle } else { Progress::More })
}

fn run_housekeeping(
    store: &dyn Store,
    env: &Arc<Env>,
    mut check_clock: impl FnMut() -> Result<(), StoreError>,
    stop: &Stop,
    heartbeat: &Heartbeat,
) {
    let (mut failures, mut sweeps, mut looks) = (Failures::default(), Failures::default(), 0_u32);
    while !stop.wait(CLOCK_CHECK_INTERVAL) {
        heartbeat.beat();
        failures.follow("database_clock", &check_clock());
        looks = (looks + 1) % CLOCK_CHECKS_PER_SWEEP;
        if looks == 0 {
            while !heartbeat_and_check_stop(stop, heartbeat) && sweep(store, env, &mut sweeps) {}
        }
    }
}

/// Sweeps once; returns whether there may be more. Each sweep is a short unit of work, so that requests run in between.
fn sweep(store: &dyn Store, env: &Arc<Env>, failures: &mut Failures) -> bool {
    let env = Arc::clone(env);
    let swept = transact(store, Access::Write, move |unit| housekeeping::sweep(unit, &env));
    failures.follow("housekeeping", &swept);
    let rows = swept.unwrap_or(0);
    if rows > 0 {
        log::debug!(rows = rows; "swept");
    }
    rows > 0
}
