//! Runs a use case once for each fault that can happen to it, each time from the same beginning.

use std::sync::{Arc, LazyLock};

use kopeck_service::worker::WorkerSettings;
use time::Duration;

use super::ports::{Fault, Step, Watch};
use super::state::{anonymous, observe};
use crate::deployment::{Deployment, Plan, Snapshot};
use crate::raw_http::{RawResponse, Tokens, login, optional};
use crate::server::{START, TestPartner, TestServer};
use crate::world::Things;

/// How long a piece of work stays with a worker that is gone.
const LEASE: Duration = Duration::seconds(31);

/// How many cards of a request go to the bank at a time: so few that a small request has several chunks.
const CHUNK: u32 = 2;

/// A partner with one thing of each kind and requests that are about to be worked on.
pub static BEGINNING: LazyLock<Scene> = LazyLock::new(Scene::beginning);

/// The same without anything to work on.
pub static SETTLED: LazyLock<Scene> = LazyLock::new(|| BEGINNING.after(|server, _| server.run_jobs()));

/// The starting state of use cases.
pub struct Scene {
    snapshot: Snapshot,
    pub cast: Arc<Cast>,
}

/// The partner, its credentials and its objects.
pub struct Cast {
    pub partner: TestPartner,
    /// An access token that was used before.
    pub token: String,
    /// Tokens of another login that were not used yet.
    pub unused: Tokens,
    pub things: Things,
}

/// A use case that runs while one of its calls to the ports fails.
pub trait UseCase {
    /// Prepares the use case, without faults.
    fn prepare(&self, _server: &TestServer, _cast: &Cast) {}

    /// Does it once.
    fn once(&self, server: &TestServer, cast: &Cast) -> Option<RawResponse>;

    /// Repeats it until it is done, if it is not. `first` is the answer of the first time, unless there was none;
    /// `recorded` tells that it was lost after it was recorded. Returns what came of it in the end.
    fn complete(
        &self,
        server: &TestServer,
        cast: &Cast,
        first: Option<RawResponse>,
        recorded: bool,
    ) -> String;

    /// A token to look around with.
    fn token(&self, _server: &TestServer, cast: &Cast) -> String {
        cast.token.clone()
    }
}

/// Counts of runs.
#[derive(Debug, Default)]
pub struct Tally {
    pub use_cases: usize,
    pub steps: usize,
    pub faults: usize,
    pub kills: usize,
}

/// How a run went.
struct Ran {
    steps: Vec<Step>,
    seen: Vec<String>,
}

impl Scene {
    fn beginning() -> Self {
        let server = open(Arc::new(Deployment::new(START)), &Arc::default());
        let (partner, token) = optional(&server);
        let unused = login(&server, &partner);
        let things = Things::make(&server, &token, 1);
        Self { snapshot: server.leave(), cast: Arc::new(Cast { partner, token, unused, things }) }
    }

    /// The scene after further steps.
    pub fn after(&self, more: impl FnOnce(&TestServer, &Cast)) -> Self {
        let server = open(self.snapshot.restore(), &Arc::default());
        more(&server, &self.cast);
        Self { snapshot: server.leave(), cast: Arc::clone(&self.cast) }
    }

    /// Runs `case` without a fault, then once for each fault at each of the calls that it made to its ports, and compares.
    pub fn exhaust(&self, name: &str, case: &dyn UseCase, tally: &mut Tally) {
        let clean = self.run(case, None, false);
        assert!(!clean.steps.is_empty(), "{name} calls no port");
        let recording = clean.steps.iter().rposition(|step| step.what == "store write");
        for (place, step) in clean.steps.iter().enumerate() {
            for fault in Fault::of(*step) {
                println!("{name}: {fault:?} at call {place}, {}", step.what);
                let recorded = fault.is_late() && recording == Some(place);
                let ran = self.run(case, Some((place, *fault)), recorded);
                assert_eq!(ran.steps.get(..=place), clean.steps.get(..=place), "the fault was met");
                for (seen, expected) in ran.seen.iter().zip(&clean.seen) {
                    assert_eq!(seen, expected);
                }
                tally.faults += 1;
                tally.kills += usize::from(fault.kills());
            }
        }
        tally.use_cases += 1;
        tally.steps += clean.steps.len();
    }

    fn run(&self, case: &dyn UseCase, planned: Option<(usize, Fault)>, recorded: bool) -> Ran {
        let (watch, cast) = (Arc::new(Watch::default()), &*self.cast);
        let mut server = open(self.snapshot.restore(), &watch);
        case.prepare(&server, cast);
        watch.arm(planned);
        let mut first = case.once(&server, cast);
        let (steps, dead) = watch.disarm();
        if dead {
            first = None;
            server = open(server.die(), &Arc::default());
        }
        let answer = case.complete(&server, cast, first, recorded);
        rest(&server);
        let mut seen = observe(&server, &case.token(&server, cast), &cast.things);
        // Its end is checked above; its folder goes with it.
        drop(server.die());
        // The things seen come first, and name what is in the response.
        seen.push(answer);
        Ran { steps, seen: anonymous(seen) }
    }
}

/// Lets every lease end and does all work, until none is left; the ledger is right then.
fn rest(server: &TestServer) {
    for _ in 0..5 {
        server.clock.advance(LEASE);
        server.work_now();
        if server.check() == 0 {
            return;
        }
    }
    panic!("there is work that does not come to an end");
}

fn open(deployment: Arc<Deployment>, watch: &Arc<Watch>) -> TestServer {
    let watch = Arc::clone(watch);
    TestServer::open(
        deployment,
        Plan {
            worker: WorkerSettings { chunk: CHUNK, ..WorkerSettings::default() },
            ports: Box::new(move |ports| watch.over(ports)),
            ..Plan::default()
        },
    )
}
