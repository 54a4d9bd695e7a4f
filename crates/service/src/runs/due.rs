//! Starts scheduled runs when their time has come, and ends the waiting of drafts and approvals. By the service's clock,
//! which a sandbox moves; the jobs of workers go by that of the store.

use std::sync::Arc;

use kopeck_domain::ids::{PartnerId, RunId};
use kopeck_domain::run::RunState;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};

use super::set_state;
use crate::{Env, Progress};

/// Runs of a round.
const BATCH: u32 = 100;

/// Looks for runs that are due.
pub struct RunTimer {
    store: Arc<dyn Store>,
    env: Arc<Env>,
}

impl RunTimer {
    /// A timer over these ports.
    #[must_use]
    pub fn new(store: Arc<dyn Store>, env: Arc<Env>) -> Self {
        Self { store, env }
    }

    /// Starts or ends the runs that are due, each in a unit of work of its own.
    ///
    /// # Errors
    /// [`StoreError`]; what was done by then stays.
    pub fn run_once(&self) -> Result<Progress, StoreError> {
        let now = self.env.now();
        let due = transact(&*self.store, Access::Read, move |unit| unit.runs().due(now, BATCH))?;
        let mut is_any = false;
        for (partner, id) in due {
            let env = Arc::clone(&self.env);
            let step = move |unit: &mut dyn UnitOfWork| advance(unit, &env, partner, id);
            is_any |= transact(&*self.store, Access::Write, step)?;
        }
        Ok(if is_any { Progress::More } else { Progress::Idle })
    }
}

/// Whether the run was due.
fn advance(unit: &mut dyn UnitOfWork, env: &Env, partner: PartnerId, id: RunId) -> Result<bool, StoreError> {
    let Some(before) = unit.runs().get(partner, id)? else { return Ok(false) };
    let (state, now) = (before.state(), env.now());
    let run = if state == RunState::Scheduled && before.at().is_none_or(|at| at <= now) {
        before.start(now).map_err(|error| StoreError::Corrupt(format!("runs.state: {error}")))?
    } else {
        before.expire(now)
    };
    if run.state() == state {
        return Ok(false);
    }
    set_state(unit, env, partner, &run)?;
    Ok(true)
}
