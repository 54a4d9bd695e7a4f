//! One seed, one run.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_port_store::{Access, Credentials, StoreError, Subject, transact};
use kopeck_service::stuck::{self, StuckInstruction, StuckOutcome};
use kopeck_service::worker::WorkerSettings;
use time::Duration;
use uuid::Uuid;

use crate::actors::{Client, Deliverer, Endpoint, Keeper, Payday, Process};
use crate::invariants::{self, Watch};
use crate::sabotage::Sabotage;
use crate::store::{Database, UNTOUCHED};
use crate::violation::Violation;
use crate::world::World;

/// What came of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The first thing that did not hold, if any.
    pub violation: Option<Violation>,
    /// How many requests there were at the end, by their kind and the word of their state.
    pub requests: BTreeMap<String, u64>,
    /// What happened, line by line; empty unless asked for.
    pub trace: Vec<String>,
}

/// A database on which runs are played, one after the other.
pub struct Simulation {
    database: Database,
    sabotage: Option<Sabotage>,
}

impl Simulation {
    /// A simulation with a safety rule switched off, or with all of them.
    ///
    /// # Errors
    /// [`StoreError`] if the database cannot be made.
    pub fn open(sabotage: Option<Sabotage>) -> Result<Self, StoreError> {
        let database = Database::open()?;
        if let Some(trigger) = sabotage.and_then(Sabotage::trigger) {
            database.store.execute(trigger)?;
        }
        Ok(Self { database, sabotage })
    }

    /// Plays the run of `seed`, and notes what happens if `traced`.
    #[must_use]
    pub fn run(&self, seed: u64, traced: bool) -> Report {
        let begun = self.database.begin_again();
        let world = World::new(seed, &self.database, self.sabotage, traced);
        let mut stage = None;
        let play = || {
            begun.map_err(|error| Violation::failed(&error))?;
            stage.insert(Stage::new(&world)?).play()
        };
        let played = catch_unwind(AssertUnwindSafe(play));
        let panicked = || Violation { rule: "nothing panics", what: "see the panic above".to_owned() };
        let violation = played.unwrap_or_else(|_| Err(panicked())).err();
        let mut requests = stage.map(|stage| stage.watch.tally()).unwrap_or_default();
        let untouched = world.stored.answers(UNTOUCHED).map_or(0, |runs| runs.len() as u64);
        requests.insert("PREVIEW UNTOUCHED".to_owned(), untouched);
        requests.retain(|_, number| *number > 0);
        Report { violation, requests, trace: world.trace.lines() }
    }
}

/// The actors of a run.
struct Stage<'a> {
    world: &'a World,
    clients: Vec<Client>,
    partners: Vec<PartnerId>,
    processes: Vec<Process>,
    keeper: Keeper,
    payday: Payday,
    endpoints: Vec<Endpoint>,
    deliverers: Vec<Deliverer>,
    watch: Watch,
    /// How many days the clock may still jump, so that no response's retention ends within a run.
    days: u32,
}

/// Who has the next turn.
#[derive(Clone, Copy)]
enum Turn {
    Client,
    Process,
    Keeper,
    Payday,
    Deliverer,
    Bank,
    Clock,
}

const TURNS: [(u32, Turn); 7] = [
    (30, Turn::Client),
    (55, Turn::Process),
    (3, Turn::Keeper),
    (8, Turn::Payday),
    (12, Turn::Deliverer),
    (8, Turn::Bank),
    (4, Turn::Clock),
];

/// Longer than a worker waits at most before it asks the bank again.
const ROUND: Duration = Duration::seconds(11);
/// After so many rounds everything that can be decided is.
const ROUNDS: u32 = 60;

impl<'a> Stage<'a> {
    fn new(world: &'a World) -> Result<Self, Violation> {
        let dice = &world.dice;
        let (mut clients, mut endpoints) = (Vec::new(), Vec::new());
        for number in 0..dice.between(1, 3) {
            let partner = open_account(world, number).map_err(|error| Violation::failed(&error))?;
            clients.push(Client::new(format!("partner {number}"), partner));
            endpoints.push(Endpoint::open(world, partner).map_err(|error| Violation::failed(&error))?);
        }
        let small = |most| u32::try_from(dice.between(1, most)).unwrap_or(1);
        let settings = WorkerSettings { lease: Duration::seconds(30), batch: small(4), chunk: small(4) };
        let count = dice.weighted(&[(2, 1), (4, 2), (1, 3)]).unwrap_or(1);
        let process = |number: i64| {
            let threads = usize::try_from(dice.between(1, 2)).unwrap_or(1);
            Process::new(world, format!("process {number}"), threads, count == 1, settings)
        };
        let partners: Vec<PartnerId> = clients.iter().map(|client| client.partner).collect();
        Ok(Self {
            world,
            payday: Payday::new(world, partners.clone()),
            partners,
            clients,
            processes: (0..count).map(process).collect(),
            keeper: Keeper::new(world),
            endpoints,
            deliverers: (0..2).map(|_| Deliverer::new(world)).collect(),
            watch: Watch::default(),
            days: 3,
        })
    }

    fn play(&mut self) -> Result<(), Violation> {
        self.open()?;
        let turns = self.world.dice.between(80, 300);
        for _ in 0..turns {
            self.turn()?;
            self.world.clock.advance(Duration::milliseconds(self.world.dice.between(0, 400)));
            self.watch.look(self.world, &self.partners)?;
        }
        self.heal()?;
        self.go_on()?;
        self.pay_in_peace()?;
        self.check()
    }

    /// Every partner has staff with cards before anything goes wrong.
    fn open(&mut self) -> Result<(), Violation> {
        let world = self.world;
        for client in &mut self.clients {
            client.open(world)?;
            self.watch.look(world, &self.partners)?;
        }
        world.clock.advance(world.env.settings.processing_delay);
        self.work_all_off()?;
        for client in &mut self.clients {
            client.equip(world)?;
        }
        world.trace.note("world", || "faults begin".to_owned());
        world.chaos.begin();
        world.bank.fall_ill();
        Ok(())
    }

    fn turn(&mut self) -> Result<(), Violation> {
        let world = self.world;
        match world.dice.weighted(&TURNS) {
            Some(Turn::Client) => {
                let at = world.dice.place(self.clients.len());
                self.clients.get_mut(at).map_or(Ok(()), |client| client.step(world))
            }
            Some(Turn::Process) => {
                let at = world.dice.place(self.processes.len());
                self.processes.get_mut(at).map_or(Ok(()), |process| process.step(world))
            }
            Some(Turn::Keeper) => self.keeper.step(world),
            Some(Turn::Payday) => self.payday.step(world),
            Some(Turn::Deliverer) => {
                let at = world.dice.place(self.deliverers.len());
                let deliverer = self.deliverers.get_mut(at);
                deliverer.map_or(Ok(()), |deliverer| deliverer.step(world, &mut self.endpoints))
            }
            Some(Turn::Bank) => {
                world.bank.live();
                Ok(())
            }
            Some(Turn::Clock) | None => {
                self.jump();
                Ok(())
            }
        }
    }

    /// The clock jumps: often over the end of leases, now and then over days.
    fn jump(&mut self) {
        let dice = &self.world.dice;
        let by = if self.days > 0 && dice.chance(100) {
            self.days -= 1;
            Duration::DAY
        } else {
            Duration::seconds(dice.between(1, 60))
        };
        self.world.trace.note("clock", || format!("jumps by {by}"));
        self.world.clock.advance(by);
    }

    /// All faults end, every partner asks until it knows, and the workers work until nothing is left to do.
    fn heal(&mut self) -> Result<(), Violation> {
        let world = self.world;
        world.trace.note("world", || "all faults end".to_owned());
        world.chaos.end();
        world.bank.heal();
        for client in &mut self.clients {
            client.conclude(world)?;
        }
        self.work_all_off()?;
        for client in &mut self.clients {
            client.repeat_all(world)?;
        }
        self.watch.look(world, &self.partners)
    }

    /// Weeks in which partners do nothing, and programmes pay, while things go wrong as before. Then all faults end again.
    fn go_on(&mut self) -> Result<(), Violation> {
        let world = self.world;
        let left = world.stored.answers("SELECT state AS answer FROM programmes");
        if !left.map_err(|error| Violation::unreadable(&error))?.is_empty() {
            world.trace.note("world", || "weeks go by".to_owned());
            world.chaos.begin();
            world.bank.fall_ill();
            for _ in 0..world.dice.between(2, 7) {
                self.some_days()?;
            }
            world.chaos.end();
            world.bank.heal();
        }
        for _ in 0..ROUNDS {
            let is_any = self.payday.conclude(world)?;
            self.watch.look(world, &self.partners)?;
            self.work_all_off()?;
            if !is_any && !self.payday.conclude(world)? {
                break;
            }
        }
        self.watch.look(world, &self.partners)
    }

    /// Each partner pays by a run from whose preview to whose end nothing else happens to it.
    fn pay_in_peace(&mut self) -> Result<(), Violation> {
        let world = self.world;
        for client in &mut self.clients {
            client.pay_by_run(world)?;
        }
        self.work_all_off()?;
        self.watch.look(world, &self.partners)
    }

    /// The clock jumps, now and then for longer than a period can be made up for; then there are some turns.
    fn some_days(&mut self) -> Result<(), Violation> {
        let world = self.world;
        let hours = if world.dice.chance(150) { 9 * 24 } else { world.dice.between(1, 72) };
        world.trace.note("clock", || format!("jumps by {hours} hours"));
        world.clock.advance(Duration::hours(hours));
        for _ in 0..world.dice.between(5, 20) {
            match world.dice.weighted(&[(4, Turn::Payday), (8, Turn::Process), (1, Turn::Bank)]) {
                Some(Turn::Payday) => self.payday.step(world)?,
                Some(Turn::Bank) => world.bank.live(),
                _ => {
                    let at = world.dice.place(self.processes.len());
                    self.processes.get_mut(at).map_or(Ok(()), |process| process.step(world))?;
                }
            }
            world.clock.advance(Duration::milliseconds(world.dice.between(0, 2_000)));
            self.watch.look(world, &self.partners)?;
        }
        Ok(())
    }

    /// The workers work until nothing is left to do, or nothing that they can.
    fn work_all_off(&mut self) -> Result<(), Violation> {
        let world = self.world;
        for _ in 0..ROUNDS {
            for process in &mut self.processes {
                process.conclude(world)?;
                self.watch.look(world, &self.partners)?;
            }
            // A request that may have been sent before its card was blocked waits for the bank's confirmation.
            self.keeper.send_blocks().map_err(|error| Violation::failed(&error))?;
            let left = world.look(|unit| unit.jobs().count()).map_err(|error| Violation::failed(&error))?;
            if left == 0 {
                break;
            }
            self.settle_by_hand()?;
            world.clock.advance(ROUND);
        }
        Ok(())
    }

    /// A person settles what no worker may: what was sent once to a bank that would do it twice, and did not arrive.
    fn settle_by_hand(&self) -> Result<(), Violation> {
        let world = self.world;
        for request in world.look(stuck::list).map_err(|error| Violation::failed(&error))? {
            for StuckInstruction { key, card, .. } in request.instructions {
                // The workers find out by themselves what the bank knows.
                if world.bank.knows(&key) {
                    continue;
                }
                world.trace.note("person", || format!("{} never arrived", key.as_str()));
                let (env, id) = (Arc::clone(&world.env), id_of(request.subject));
                let card = card.map(|(card, _)| card);
                transact(&*world.stored, Access::Write, move |unit| {
                    stuck::settle(unit, &env, id, StuckOutcome::Refused, card)
                })
                .map_err(|error| Violation::failed(&error))?;
            }
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Violation> {
        let world = self.world;
        invariants::check(world, &self.clients, &self.payday.paydays.of_earlier_tries)?;
        world.clock.advance(Duration::DAY);
        self.keeper.conclude(world).map_err(|error| Violation::failed(&error))?;
        invariants::accounts_are_fresh(world, &self.clients)?;
        invariants::bank_agrees(world)?;
        let deliverer = self.deliverers.first_mut();
        deliverer.map_or(Ok(()), |deliverer| deliverer.conclude(world, &mut self.endpoints))
    }
}

fn id_of(subject: Subject) -> Uuid {
    match subject {
        Subject::Order(id) => id.uuid(),
        Subject::Replenishment(id) => id.uuid(),
        Subject::LimitChange(id) => id.uuid(),
        Subject::Closing(id) => id.uuid(),
        Subject::Withdrawal(id) => id.uuid(),
        Subject::Run(id) => id.uuid(),
    }
}

/// Makes a partner.
fn open_account(world: &World, number: i64) -> Result<PartnerId, StoreError> {
    let partner = Partner {
        id: PartnerId::new(world.env.ids.next_id()),
        name: format!("Partner {number}"),
        login: format!("partner-{number}"),
        status: PartnerStatus::Active,
        sealing: SealingPolicy::Required,
        created_at: world.env.now(),
    };
    let id = partner.id;
    let mut hash = [0; 32];
    hash.iter_mut().zip(id.uuid().as_bytes()).for_each(|(byte, of)| *byte = *of);
    let credentials = Credentials { partner, api_key_hash: hash, password_hash: String::new() };
    transact(&*world.stored, Access::Write, move |unit| unit.partners().insert(&credentials))?;
    Ok(id)
}
