//! Looks, every second, whether files that may change while the service runs have changed.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Context;

use crate::stop::Stop;

/// How often it looks.
const EVERY: Duration = Duration::from_secs(1);

/// Looks until it is dropped.
pub struct Reloader {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<()>>,
}

impl Reloader {
    /// Starts looking: `look` is called again and again.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(mut look: impl FnMut() + Send + 'static) -> anyhow::Result<Self> {
        let stop = Arc::new(Stop::default());
        let told = Arc::clone(&stop);
        let run = move || {
            while !told.wait(EVERY) {
                look();
            }
        };
        let thread = std::thread::Builder::new().name("files".to_owned()).spawn(run);
        Ok(Self { stop, thread: Some(thread.context("the system gives no thread")?) })
    }
}

impl Drop for Reloader {
    fn drop(&mut self) {
        self.stop.tell();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error!("the thread that looks after files panicked");
        }
    }
}
