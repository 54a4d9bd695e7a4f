//! Stores without the service's threads.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use kopeck_port_store::{Access, Disposition, Done, Store, StoreError, Work};

use super::known::Known;
use super::plain;
use super::unit::Unit;

/// Runs units of work at once, where they are submitted, on nothing.
pub(super) struct Nothing {
    known: Arc<Known>,
}

impl Nothing {
    pub(super) const fn new(known: Arc<Known>) -> Self {
        Self { known }
    }
}

impl Store for Nothing {
    fn submit(&self, _access: Access, mut work: Work, done: Done) {
        let mut unit = Unit { known: Arc::clone(&self.known), database: None };
        done(run(&mut work, &mut unit).map(drop));
    }
}

/// Runs each writing unit of work on a connection of its own.
pub(super) struct PlainConnections {
    nothing: Nothing,
    file: PathBuf,
    turn: Arc<Turn>,
}

/// Who may write. A plain program has one writer at a time, and waiting for one's turn costs less than finding the
/// database locked; connections are opened and closed meanwhile, so that seldom one is the last, which would have to tidy
/// the write-ahead log up.
type Turn = Mutex<()>;

impl PlainConnections {
    pub(super) fn new(known: Arc<Known>, file: &Path) -> Self {
        Self { nothing: Nothing::new(known), file: file.to_owned(), turn: Arc::default() }
    }
}

impl Store for PlainConnections {
    fn submit(&self, access: Access, mut work: Work, done: Done) {
        if access == Access::Read {
            return self.nothing.submit(access, work, done);
        }
        let (known, file, turn) =
            (Arc::clone(&self.nothing.known), self.file.clone(), Arc::clone(&self.turn));
        tokio::task::spawn_blocking(move || done(on_own_connection(&file, &turn, known, &mut work)));
    }
}

fn on_own_connection(file: &Path, turn: &Turn, known: Arc<Known>, work: &mut Work) -> Result<(), StoreError> {
    let mut unit = Unit { known, database: Some(plain::open(file)?) };
    let turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    unit.execute("BEGIN IMMEDIATE")?;
    let disposition = run(work, &mut unit)?;
    unit.execute(if disposition == Disposition::Commit { "COMMIT" } else { "ROLLBACK" })?;
    drop(turn);
    Ok(())
}

fn run(work: &mut Work, unit: &mut Unit) -> Result<Disposition, StoreError> {
    catch_unwind(AssertUnwindSafe(|| work(unit)))
        .map_err(|_| StoreError::Failed("a unit of work panicked".to_owned()))
}
