//! A process with workers. Each of its threads takes, calls and settles, one step at a time, and may stand still for
//! long between any two; all of them vanish with the process.

use std::collections::VecDeque;
use std::sync::Arc;

use kopeck_port_store::{Access, StoreError, transact};
use kopeck_service::worker::{Task, TaskResult, Worker, WorkerSettings};

use crate::chaos::survive;
use crate::violation::Violation;
use crate::world::World;

/// A process.
pub(crate) struct Process {
    name: String,
    /// Whether no other process works on the same store.
    alone: bool,
    settings: WorkerSettings,
    worker: Worker,
    threads: Vec<Thread>,
    /// After so many turns it starts again; `None` if it runs.
    down_for: Option<u32>,
}

/// What a worker's thread has in its hands.
#[derive(Default)]
struct Thread {
    tasks: VecDeque<Task>,
    result: Option<TaskResult>,
    /// For so many turns it stands still.
    paused_for: u32,
}

impl Thread {
    fn is_idle(&self) -> bool {
        self.tasks.is_empty() && self.result.is_none()
    }
}

impl Process {
    pub(crate) fn new(
        world: &World,
        name: String,
        threads: usize,
        alone: bool,
        settings: WorkerSettings,
    ) -> Self {
        let threads = (0..threads).map(|_| Thread::default()).collect();
        Self { name, alone, settings, worker: worker(world, settings), threads, down_for: None }
    }

    /// One thread does its next step, unless it pauses.
    pub(crate) fn step(&mut self, world: &World) -> Result<(), Violation> {
        match self.down_for {
            Some(0) => return self.start(world),
            Some(turns) => {
                self.down_for = Some(turns - 1);
                return Ok(());
            }
            None => {}
        }
        let number = self.next_thread(world);
        let Some(thread) = self.threads.get_mut(number) else { return Ok(()) };
        if thread.paused_for > 0 {
            thread.paused_for -= 1;
            return Ok(());
        }
        if world.dice.chance(80) {
            thread.paused_for = u32::try_from(world.dice.between(1, 12)).unwrap_or(1);
        }
        self.work(world, number)
    }

    /// Any of the threads, more often one with something in its hands.
    fn next_thread(&self, world: &World) -> usize {
        let weight = |thread: &Thread| if thread.is_idle() { 1 } else { 6 };
        let threads: Vec<(u32, usize)> = self.threads.iter().map(weight).zip(0..).collect();
        world.dice.weighted(&threads).unwrap_or(0)
    }

    /// Does all that it has in its hands and all that is due.
    pub(crate) fn conclude(&mut self, world: &World) -> Result<(), Violation> {
        self.down_for = None;
        for number in 0..self.threads.len() {
            loop {
                self.work(world, number)?;
                if self.threads.get(number).is_none_or(Thread::is_idle) {
                    break;
                }
            }
        }
        Ok(())
    }

    fn work(&mut self, world: &World, number: usize) -> Result<(), Violation> {
        let Self { name, worker, threads, .. } = self;
        let Some(thread) = threads.get_mut(number) else { return Ok(()) };
        match survive(|| step(world, name, worker, thread)) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => Violation::judge(&error),
            Err(_crashed) => {
                self.vanish(world);
                Ok(())
            }
        }
    }

    fn vanish(&mut self, world: &World) {
        world.trace.note(&self.name, || "vanishes".to_owned());
        self.threads.iter_mut().for_each(|thread| *thread = Thread::default());
        self.worker = worker(world, self.settings);
        self.down_for = Some(u32::try_from(world.dice.between(0, 8)).unwrap_or(0));
    }

    /// Starts the process again; one that is alone ends the leases of the one before it.
    fn start(&mut self, world: &World) -> Result<(), Violation> {
        if !self.alone {
            self.down_for = None;
            return Ok(());
        }
        let end = || transact(&*world.store, Access::Write, |unit| unit.jobs().end_all_leases());
        match survive(end) {
            Ok(Ok(())) => self.down_for = None,
            Ok(Err(error)) => Violation::judge(&error)?,
            Err(_crashed) => self.vanish(world),
        }
        Ok(())
    }
}

fn worker(world: &World, settings: WorkerSettings) -> Worker {
    Worker::new(Arc::clone(&world.store), Arc::clone(&world.gateway), Arc::clone(&world.env), settings)
}

/// Settles, calls, releases or claims, whichever is next.
fn step(world: &World, name: &str, worker: &Worker, thread: &mut Thread) -> Result<(), StoreError> {
    if let Some(result) = thread.result.take() {
        world.trace.note(name, || "settles".to_owned());
        return worker.settle(result);
    }
    let Some(task) = thread.tasks.pop_front() else {
        thread.tasks = worker.take()?.into();
        if !thread.tasks.is_empty() {
            world.trace.note(name, || format!("takes {}", thread.tasks.len()));
        }
        return Ok(());
    };
    if world.dice.chance(30) {
        world.trace.note(name, || "releases".to_owned());
        return worker.give_back(task);
    }
    world.trace.note(name, || "calls the bank".to_owned());
    thread.result = Some(worker.call(task));
    Ok(())
}
