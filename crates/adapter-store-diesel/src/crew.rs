//! The threads of a store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use kopeck_port_store::{Access, ColumnCipher, StoreError};
use kopeck_port_system::Clock;

use crate::condition::Condition;
use crate::dialect::Manners;
use crate::error::OpenError;
use crate::hand::{Beats, Caller, Ends, Hand, Job, Task};
use crate::observer::Eye;
use crate::queue::{Queue, Refused};
use crate::store::AuditSettings;
use crate::threads;
use crate::transaction::DieselTransaction;

/// How many threads a place may have lost that have not come back.
const MOST_MISSING: usize = 4;

/// How long writes wait for the first writing thread before another takes them. Units of work that share a commit cost far
/// less than as many commits; sooner, mass work would take all processors of a small machine, and reads would wait.
const HELD_UP: Duration = Duration::from_millis(40);

/// What a thread does.
type Serve = fn(DieselTransaction, &Queue<Job>, Duration, &Manners, &Hand);

/// Threads with their queues.
pub(crate) struct Crew {
    url: String,
    clock: Arc<dyn Clock>,
    audit: AuditSettings,
    cipher: Arc<dyn ColumnCipher>,
    manners: Manners,
    beats: Beats,
    condition: Arc<Condition>,
    reads: Arc<Queue<Job>>,
    writes: Arc<Queue<Job>>,
    posts: Mutex<Posts>,
}

#[derive(Default)]
struct Posts {
    held: Vec<Post>,
    /// Threads that were replaced and have not come back.
    missing: Vec<Arc<Hand>>,
}

/// A place with the thread that holds it.
struct Post {
    access: Access,
    patience: Duration,
    hand: Arc<Hand>,
    thread: JoinHandle<()>,
}

impl Crew {
    /// Nobody yet. `queue`: how many units of work may wait, for readers and for writers each.
    pub(crate) fn new(
        url: &str,
        clock: Arc<dyn Clock>,
        audit: AuditSettings,
        cipher: Arc<dyn ColumnCipher>,
        manners: Manners,
        beats: Beats,
        condition: Arc<Condition>,
        queue: usize,
    ) -> Self {
        let queue = || Arc::new(Queue::new(queue));
        Self {
            url: url.to_owned(),
            clock,
            audit,
            cipher,
            manners,
            beats,
            condition,
            reads: queue(),
            writes: queue(),
            posts: Mutex::default(),
        }
    }

    /// A connection for one more.
    pub(crate) fn connect(&self, access: Access) -> Result<DieselTransaction, OpenError> {
        DieselTransaction::connect(&self.url, access, &self.clock, &self.audit, &self.cipher, &self.condition)
    }

    /// Adds a thread that works with `unit`. The first of its access takes work at once, the others once it has waited; all
    /// threads that read an embedded database take it at once.
    pub(crate) fn add(&self, unit: DieselTransaction) -> Result<(), OpenError> {
        let access = unit.access();
        let is_first = !self.posts().held.iter().any(|post| post.access == access);
        let patience = match access {
            _ if is_first => Duration::ZERO,
            Access::Read => self.manners.reads_wait,
            Access::Write => HELD_UP,
        };
        let post = self.post(access, patience, move |_| Ok(unit))?;
        self.posts().held.push(post);
        Ok(())
    }

    pub(crate) fn queue(&self, access: Access) -> &Arc<Queue<Job>> {
        match access {
            Access::Read => &self.reads,
            Access::Write => &self.writes,
        }
    }

    fn posts(&self) -> MutexGuard<'_, Posts> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread that gets its unit by itself.
    fn post(
        &self,
        access: Access,
        patience: Duration,
        unit: impl FnOnce(&Hand) -> Result<DieselTransaction, OpenError> + Send + 'static,
    ) -> Result<Post, OpenError> {
        let (name, serve): (_, Serve) = match access {
            Access::Read => ("store-read", threads::read),
            Access::Write => ("store-write", threads::write),
        };
        let hand = Arc::new(Hand::watched(self.beats.clone(), Eye::new(access, self.condition.observer())));
        let (ends, queue, manners) = (Ends(Arc::clone(&hand)), Arc::clone(self.queue(access)), self.manners);
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || match unit(&ends.0) {
            Ok(unit) => serve(unit, &queue, patience, &manners, &ends.0),
            Err(error) => log::warn!("a thread of the store could not be replaced yet: {error}"),
        })?;
        Ok(Post { access, patience, hand, thread })
    }

    /// Looks after the files, and after a failure finds out whether the database accepts changes. `is_away`: it is known
    /// not to answer.
    pub(crate) fn look_after_database(&self, beat: u64, is_away: bool) {
        self.condition.look_after_files(beat);
        if is_away || !self.condition.begin_probe(beat) {
            return;
        }
        let condition = Arc::clone(&self.condition);
        let caller = Caller::new(Box::new(move |outcome| condition.end_probe(&outcome)));
        let job = Job { task: Task::Probe, caller, since: beat };
        if let Err(Refused::Full(job) | Refused::Closed(job)) = self.writes.push(job) {
            job.caller.answer(Err(StoreError::Busy));
        }
    }

    /// Refuses what was submitted at this beat or before and still waits for its turn.
    pub(crate) fn refuse_overdue(&self, beat: u64) {
        for queue in [&self.reads, &self.writes] {
            for job in queue.take_first_while(|job| job.since <= beat && beat > 0) {
                job.caller.answer(Err(StoreError::Busy));
            }
        }
    }

    /// Refuses what waits, and answers for every thread that has something in hand.
    pub(crate) fn refuse_all(&self, error: &StoreError) {
        let waiting = [&self.reads, &self.writes].into_iter().flat_map(|queue| queue.take_waiting());
        let mut callers: Vec<_> = waiting.map(|job| job.caller).collect();
        // Answered without the lock: an answer may run anything.
        callers.extend(self.posts().held.iter().flat_map(|post| post.hand.give_up()));
        for caller in callers {
            caller.answer(Err(error.clone()));
        }
    }

    /// Lets every thread connect anew before it begins with anything.
    pub(crate) fn suspect_all(&self) {
        self.posts().held.iter().for_each(|post| post.hand.suspect());
    }

    /// Whether a thread has had the same in hand since this beat.
    pub(crate) fn is_any_busy_since(&self, beat: u64) -> bool {
        self.posts().held.iter().any(|post| post.hand.busy_since().is_some_and(|since| since <= beat))
    }

    /// Puts new threads with new connections in the place of those that were given up and have not come back, as long as
    /// not too many are missed: those that hang for ever must not add up.
    pub(crate) fn replace_given_up(&self) {
        let mut posts = self.posts();
        let Posts { held, missing } = &mut *posts;
        missing.retain(|hand| !hand.has_ended());
        let most = MOST_MISSING * held.len();
        for post in held.iter_mut().filter(|post| post.hand.is_given_up() || post.hand.has_ended()) {
            if missing.len() >= most {
                return;
            }
            let (url, access, clock) = (self.url.clone(), post.access, Arc::clone(&self.clock));
            let (audit, cipher) = (self.audit.clone(), Arc::clone(&self.cipher));
            let condition = Arc::clone(&self.condition);
            let replacement = self.post(access, post.patience, move |hand| {
                // So that it is missed in turn if the connection leads nowhere.
                hand.begin(Vec::new());
                let unit = DieselTransaction::connect(&url, access, &clock, &audit, &cipher, &condition)?;
                hand.end();
                Ok(unit)
            });
            match replacement {
                Ok(replacement) => {
                    log::warn!("a thread of the store did not come back and is replaced");
                    let gone = std::mem::replace(post, replacement);
                    gone.hand.replace();
                    missing.push(gone.hand);
                }
                Err(error) => log::warn!("a thread of the store could not be replaced yet: {error}"),
            }
        }
    }

    /// Takes no more work.
    pub(crate) fn close(&self) {
        self.reads.close();
        self.writes.close();
    }

    /// Waits until every thread has ended or was given up.
    pub(crate) fn join(&self) {
        // They keep their places meanwhile, where the watch finds them.
        let here = thread::current().id();
        // The last owner of the store may be a `done` that runs on one of its threads: it cannot wait for itself.
        let others = |post: &&Post| post.thread.thread().id() != here;
        let hands: Vec<_> =
            self.posts().held.iter().filter(others).map(|post| Arc::clone(&post.hand)).collect();
        for hand in hands {
            hand.wait_for_end();
        }
    }
}
