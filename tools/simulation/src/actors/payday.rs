//! What makes the runs of programmes, in one process at a time.

use std::sync::Arc;

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;
use kopeck_service::Progress;
use kopeck_service::programmes::ProgrammeTimer;

use crate::chaos::survive;
use crate::invariants::paydays::Paydays;
use crate::violation::Violation;
use crate::world::World;

/// The timer, and what is known of the runs that it made.
pub(crate) struct Payday {
    timer: ProgrammeTimer,
    pub(crate) paydays: Paydays,
}

impl Payday {
    pub(crate) fn new(world: &World, partners: Vec<PartnerId>) -> Self {
        Self { timer: timer(world), paydays: Paydays::of(partners) }
    }

    /// One look at all partners, in which the process may vanish. Whatever came of it, the runs that are there now are the
    /// ones that had to be made.
    pub(crate) fn step(&mut self, world: &World) -> Result<(), Violation> {
        let before = self.paydays.look(world)?;
        let looked = survive(|| self.timer.run_once(&|| false));
        match looked {
            Ok(Ok(progress)) => world.trace.note("payday", || format!("looks: {progress:?}")),
            Ok(Err(error)) => Violation::judge(&error)?,
            Err(_crashed) => {
                world.trace.note("payday", || "vanishes".to_owned());
                self.timer = timer(world);
            }
        }
        self.paydays.check(world, &before)
    }

    /// Makes all that is due, as far as no run that is open has to end first. Whether there was anything to do.
    pub(crate) fn conclude(&mut self, world: &World) -> Result<bool, Violation> {
        let mut is_any = false;
        loop {
            let before = self.paydays.look(world)?;
            let looked: Result<Progress, StoreError> = self.timer.run_once(&|| false);
            self.paydays.check(world, &before)?;
            match looked.map_err(|error| Violation::failed(&error))? {
                Progress::Idle => return Ok(is_any),
                Progress::More => is_any = true,
                Progress::BankUnavailable => return Err(Violation::failed(&"the bank is away")),
            }
        }
    }
}

fn timer(world: &World) -> ProgrammeTimer {
    ProgrammeTimer::new(Arc::clone(&world.store), Arc::clone(&world.gateway), Arc::clone(&world.env))
}
