//! Looks, every second and on demand, whether something has changed that may change while the service runs: files, and the
//! clock.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);

enum Message {
    Look,
    End,
}

/// Looks until it is dropped.
pub struct Reloader {
    sender: Sender<Message>,
    thread: Option<JoinHandle<()>>,
}

impl Reloader {
    /// Starts looking: `look` is called again and again.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(mut look: impl FnMut() + Send + 'static) -> anyhow::Result<Self> {
        let (sender, receiver) = channel();
        let run = move || {
            while let Ok(Message::Look) | Err(RecvTimeoutError::Timeout) = receiver.recv_timeout(EVERY) {
                look();
            }
        };
        let thread = std::thread::Builder::new().name("files".to_owned()).spawn(run);
        Ok(Self { sender, thread: Some(thread.context("the system gives no thread")?) })
    }

    /// What makes it look at once.
    pub fn trigger(&self) -> impl Fn() + Send + 'static {
        let sender = self.sender.clone();
        // After its end there is nothing to look at.
        move || drop(sender.send(Message::Look))
    }
}

impl Drop for Reloader {
    fn drop(&mut self) {
        drop(self.sender.send(Message::End));
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that looks after files panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_looks_on_demand_and_ends_though_a_trigger_is_left() {
        let (looked, looks) = channel();
        let reloader = Reloader::start(move || looked.send(()).unwrap()).unwrap();
        let trigger = reloader.trigger();
        trigger();
        looks.recv().unwrap();
        drop(reloader);
        trigger();
        assert!(looks.recv().is_err());
    }
}
