//! What the actors of a run share.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use kopeck_adapter_store_diesel::testing::MemoryStore;
use kopeck_domain::calendar::Zone;
use kopeck_port_bank::BankGateway;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use kopeck_port_system::Clock;
use kopeck_port_system::fake::{FakeClock, SeededEntropy, SeededIds};
use kopeck_service::{Env, Settings};
use time::{Date, OffsetDateTime, UtcOffset};

use crate::bank::{Bank, Manners};
use crate::chaos::{Chaos, CrashingBank, FaultyStore, Rates};
use crate::sabotage::Sabotage;
use crate::store::{Database, START};
use crate::trace::Trace;
use kopeck_test_support::Random;

/// The ports, as they are and as the service sees them, and what decides and notes what happens.
pub(crate) struct World {
    pub(crate) clock: Arc<FakeClock>,
    pub(crate) dice: Arc<Random>,
    /// Decides which requests are sealed and copied. A sequence of its own, so that copies do not change what else a
    /// seed brings.
    pub(crate) copying: Random,
    pub(crate) trace: Arc<Trace>,
    pub(crate) chaos: Arc<Chaos>,
    pub(crate) env: Arc<Env>,
    /// What is stored, without faults.
    pub(crate) stored: Arc<MemoryStore>,
    /// What happened at the bank.
    pub(crate) bank: Arc<Bank>,
    /// The store as the service sees it.
    pub(crate) store: Arc<dyn Store>,
    /// The bank as the service sees it.
    pub(crate) gateway: Arc<dyn BankGateway>,
    marks: AtomicI64,
}

impl World {
    pub(crate) fn new(seed: u64, database: &Database, sabotage: Option<Sabotage>, traced: bool) -> Self {
        let (clock, stored) = (Arc::clone(&database.clock), Arc::clone(&database.store));
        let dice = Arc::new(Random::new(seed));
        let copying = Random::new(!seed);
        let trace = Arc::new(Trace::new(Arc::clone(&clock), traced));
        let (rates, manners) = (rates(&dice), manners(&dice));
        trace.note("world", || format!("{rates:?}, {manners:?}"));
        let chaos = Arc::new(Chaos::new(Arc::clone(&dice), Arc::clone(&trace), rates));
        let bank = Bank::new(manners, Arc::clone(&clock), Arc::clone(&dice), Arc::clone(&trace));
        let bank = Arc::new(bank);
        let store: Arc<dyn Store> =
            Arc::new(FaultyStore::new(Arc::clone(&stored) as Arc<dyn Store>, Arc::clone(&chaos)));
        let gateway: Arc<dyn BankGateway> =
            Arc::new(CrashingBank::new(Arc::clone(&bank) as Arc<dyn BankGateway>, Arc::clone(&chaos)));
        let (store, gateway) = match sabotage {
            Some(sabotage) => (sabotage.of_store(store, database), sabotage.of_bank(gateway)),
            None => (store, gateway),
        };
        let env = Env {
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            ids: Arc::new(SeededIds::new(seed)),
            entropy: Arc::new(SeededEntropy::new(seed)),
            settings: Settings { zone: Zone::new(UtcOffset::UTC), ..Settings::DEFAULT },
        };
        let marks = AtomicI64::new(1);
        Self { clock, dice, copying, trace, chaos, env: Arc::new(env), stored, bank, store, gateway, marks }
    }

    /// A number that nothing in this run had before, below a thousand in every run.
    pub(crate) fn mark(&self) -> i64 {
        self.marks.fetch_add(1, Ordering::Relaxed)
    }

    /// The day on which the run began.
    pub(crate) fn first_day(&self) -> Date {
        self.env.settings.zone.day(OffsetDateTime::UNIX_EPOCH + START)
    }

    /// Looks at what is stored, past all faults.
    pub(crate) fn look<T: Send + 'static>(
        &self,
        body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        transact(&*self.stored, Access::Read, body)
    }
}

/// In some runs much goes wrong, in some little, and in some only one kind of thing.
fn rates(dice: &Random) -> Rates {
    let rate = || dice.weighted(&[(3, 0), (4, 10), (3, 40), (1, 120)]).unwrap_or(0);
    Rates { crash: rate(), store_fails: rate(), answer_lost: rate(), run_again: rate() }
}

fn manners(dice: &Random) -> Manners {
    Manners {
        repeat_is_safe: dice.chance(750),
        declines: dice.weighted(&[(2, 0), (2, 100), (1, 400)]).unwrap_or(0),
        goes_wrong: dice.weighted(&[(1, 0), (3, 100), (3, 300), (1, 600)]).unwrap_or(0),
    }
}
