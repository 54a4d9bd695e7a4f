//! A thread that checks files and the clock for changes, every second and on demand.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;

/// How often it checks.
const INTERVAL: Duration = Duration::from_secs(1);

enum Message {
    Check,
    End,
}

/// Checks until it is dropped.
pub struct PeriodicCheck {
    sender: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl PeriodicCheck {
    /// Calls `check` every second.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(mut check: impl FnMut() + Send + 'static) -> anyhow::Result<Self> {
        let (sender, receiver) = channel();
        let run = move || {
            while let Ok(Message::Check) | Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(INTERVAL) {
                check();
            }
        };
        let thread = std::thread::Builder::new().name("files".to_owned()).spawn(run);
        Ok(Self { sender, thread: Some(thread.context("the system gives no thread")?) })
    }

    /// A function that triggers a check at once.
    pub fn trigger(&self) -> impl Fn() + Send + 'static {
        let sender = self.sender.clone();
        // After its end there is nothing to check.
        move || drop(sender.send(Message::Check))
    }
}

impl Drop for PeriodicCheck {
    fn drop(&mut self) {
        drop(self.sender.send(Message::End));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that checks files panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_checks_on_demand_and_ends_though_a_trigger_is_left() {
        let (checked, checks) = channel();
        let periodic_check = PeriodicCheck::start(move || checked.send(()).unwrap()).unwrap();
        let trigger = periodic_check.trigger();
        trigger();
        checks.recv().unwrap();
        drop(periodic_check);
        trigger();
        assert!(checks.recv().is_err());
    }
}
