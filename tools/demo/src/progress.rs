//! How far things are: a bar on a terminal, a few plain lines elsewhere. Both go to standard error.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kopeck_client::RequestState;

/// How far something is.
pub(crate) struct Progress {
    label: &'static str,
    bar: ProgressBar,
    /// The last position for which a plain line was written.
    told: AtomicU64,
}

impl Progress {
    /// Something of `total` parts.
    pub(crate) fn of(label: &'static str, total: usize) -> Self {
        let bar = ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX)).with_prefix(label);
        if let Ok(style) = ProgressStyle::with_template("{prefix:<28} {bar:30} {pos}/{len} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { label, bar, told: AtomicU64::new(0) }
    }

    /// A request that the service works on.
    pub(crate) fn request(label: &'static str) -> Self {
        Self::of(label, STAGES)
    }

    /// One more part is done.
    pub(crate) fn step(&self) {
        self.bar.inc(1);
        let (position, total) = (self.bar.position(), self.bar.length().unwrap_or(0));
        if position == total || position.is_multiple_of((total / 4).max(1)) {
            self.tell(position, &format!("{position} of {total}"));
        }
    }

    /// The request is in this state.
    pub(crate) fn state(&self, state: &RequestState) {
        let stage = stage(state);
        self.bar.set_position(stage);
        self.bar.set_message(state.to_string());
        self.tell(stage, state.as_str());
        if state.is_final() {
            self.done();
        }
    }

    /// Ends the progress bar.
    pub(crate) fn done(&self) {
        self.bar.finish();
    }

    fn tell(&self, position: u64, words: &str) {
        if self.bar.is_hidden() && self.told.fetch_max(position, Ordering::Relaxed) < position {
            eprintln!("{}: {words}", self.label);
        }
    }
}

/// `NEW`, `IN_PROCESS`, done.
const STAGES: usize = 3;

const fn stage(state: &RequestState) -> u64 {
    match state {
        RequestState::New => 1,
        state if state.is_final() => 3,
        _ => 2,
    }
}
