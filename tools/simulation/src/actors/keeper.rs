//! What a process does beside its requests and its work: it refreshes accounts and sweeps away what has served its time.

use std::sync::Arc;

use kopeck_port_store::{Access, StoreError, transact};
use kopeck_service::accounts::{AccountRefresher, RefreshProgress};
use kopeck_service::housekeeping;

use super::judge;
use crate::Violation;
use crate::chaos::survive;
use crate::world::World;

/// The refresher and the sweeper.
pub(crate) struct Keeper {
    refresher: AccountRefresher,
}

impl Keeper {
    pub(crate) fn new(world: &World) -> Self {
        Self { refresher: refresher(world) }
    }

    pub(crate) fn step(&mut self, world: &World) -> Result<(), Violation> {
        let env = Arc::clone(&world.env);
        let kept = survive(|| {
            if world.dice.chance(200) {
                transact(&*world.store, Access::Write, move |unit| housekeeping::sweep(unit, &env)).map(drop)
            } else {
                self.refresher.run_once(&|| false).map(drop)
            }
        });
        match kept {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => judge(&error),
            Err(_crashed) => {
                self.refresher = refresher(world);
                Ok(())
            }
        }
    }

    /// Refreshes until nothing is due.
    ///
    /// # Errors
    /// [`StoreError`]: no store fails any more.
    pub(crate) fn conclude(&mut self, world: &World) -> Result<(), StoreError> {
        self.refresher = refresher(world);
        while self.refresher.run_once(&|| false)? == RefreshProgress::More {}
        Ok(())
    }
}

fn refresher(world: &World) -> AccountRefresher {
    AccountRefresher::new(Arc::clone(&world.store), Arc::clone(&world.gateway), Arc::clone(&world.env))
}
