//! A progress bar on standard error, if that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use kopeck_client::RequestState;

/// A progress bar. Removed when it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Something of `total` parts.
    pub(crate) fn of(label: &'static str, total: usize) -> Self {
        let bar = ProgressBar::new(u64::try_from(total).unwrap_or(u64::MAX));
        Self::start(bar, label, "{prefix} {bar:30} {pos}/{len} {elapsed}")
    }

    /// A task of unknown length.
    pub(crate) fn unknown(label: &'static str) -> Self {
        Self::start(ProgressBar::no_length(), label, "{spinner} {prefix} {pos} {elapsed}")
    }

    /// A request that the service works on.
    pub(crate) fn request() -> Self {
        Self::start(ProgressBar::new(STAGES), "request", "{prefix} {bar:30} {msg} {elapsed}")
    }

    /// One more part is done.
    pub(crate) fn step(&self) {
        self.0.inc(1);
    }

    pub(crate) fn state(&self, state: &RequestState) {
        self.0.set_position(stage(state));
        self.0.set_message(state.to_string());
    }

    fn start(bar: ProgressBar, label: &'static str, template: &str) -> Self {
        let bar = bar.with_prefix(label);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self(bar)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// `NEW`, `IN_PROCESS`, done.
const STAGES: u64 = 3;

const fn stage(state: &RequestState) -> u64 {
    match state {
        RequestState::New => 1,
        state if state.is_final() => STAGES,
        _ => 2,
    }
}
