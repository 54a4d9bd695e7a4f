//! What a process does beside its requests and its work: it follows the bank's feed, notifies the bank of blocks,
//! refreshes accounts and sweeps away what has served its time.

use std::sync::Arc;

use kopeck_port_store::{Access, StoreError, transact};
use kopeck_service::accounts::AccountRefresher;
use kopeck_service::bank_feed::BankFeedFollower;
use kopeck_service::card_blocks::BlockSender;
use kopeck_service::{Progress, housekeeping};
use time::Duration;

use crate::chaos::survive;
use crate::violation::Violation;
use crate::world::World;

/// The follower, the sender of blocks, the refresher and the sweeper.
pub(crate) struct Keeper {
    refresher: AccountRefresher,
    follower: BankFeedFollower,
    blocks: BlockSender,
}

impl Keeper {
    pub(crate) fn new(world: &World) -> Self {
        Self { refresher: refresher(world), follower: follower(world), blocks: blocks(world) }
    }

    pub(crate) fn step(&mut self, world: &World) -> Result<(), Violation> {
        let env = Arc::clone(&world.env);
        let kept = survive(|| {
            if world.dice.chance(200) {
                transact(&*world.store, Access::Write, move |unit| housekeeping::sweep(unit, &env)).map(drop)
            } else if world.dice.chance(300) {
                self.blocks.run_once().map(drop)
            } else if world.dice.chance(500) {
                self.follower.run_once(&|| false).map(drop)
            } else {
                self.refresher.run_once(&|| false).map(drop)
            }
        });
        match kept {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Violation::judge(&error),
            Err(_crashed) => {
                *self = Self::new(world);
                Ok(())
            }
        }
    }

    /// Notifies the bank of all blocks.
    ///
    /// # Errors
    /// [`StoreError`]: no store fails any more.
    pub(crate) fn send_blocks(&mut self) -> Result<(), StoreError> {
        while self.blocks.run_once()? != Progress::Idle {}
        Ok(())
    }

    /// Notifies the bank of all blocks, follows the feed to its end, and refreshes until nothing is due.
    ///
    /// # Errors
    /// [`StoreError`]: no store fails any more.
    pub(crate) fn conclude(&mut self, world: &World) -> Result<(), StoreError> {
        *self = Self::new(world);
        // A process that crashed may have left its lease behind.
        world.clock.advance(Duration::minutes(1));
        self.send_blocks()?;
        while self.follower.run_once(&|| false)? == Progress::More {}
        while self.refresher.run_once(&|| false)? == Progress::More {}
        Ok(())
    }
}

fn blocks(world: &World) -> BlockSender {
    BlockSender::new(Arc::clone(&world.store), Arc::clone(&world.gateway), Arc::clone(&world.env))
}

fn follower(world: &World) -> BankFeedFollower {
    let process = world.env.ids.next_id();
    BankFeedFollower::new(
        Arc::clone(&world.store),
        Arc::clone(&world.gateway),
        Arc::clone(&world.env),
        process,
    )
}

fn refresher(world: &World) -> AccountRefresher {
    AccountRefresher::new(Arc::clone(&world.store), Arc::clone(&world.gateway), Arc::clone(&world.env))
}
