//! When calls of an open loop should be sent.

use std::time::Duration;

/// A steady rate, whatever becomes of the requests.
#[derive(Debug)]
pub(crate) struct Pace {
    interval: Duration,
    issued: u32,
}

impl Pace {
    /// `rate` calls a second, above zero.
    pub(crate) fn new(rate: f64) -> Self {
        Self { interval: Duration::from_secs_f64(1.0 / rate), issued: 0 }
    }

    /// The time between two requests.
    pub(crate) const fn interval(&self) -> Duration {
        self.interval
    }

    /// When the next request should be sent, from the start on, if that is not after `now`. Each is returned once,
    /// however late this is called.
    pub(crate) fn due(&mut self, now: Duration) -> Option<Duration> {
        let due = self.interval * self.issued;
        if due > now {
            return None;
        }
        self.issued += 1;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_due_at_a_steady_rate() {
        let mut pace = Pace::new(1_000.0);
        let ms = Duration::from_millis;
        assert_eq!(pace.due(ms(0)), Some(ms(0)));
        assert_eq!(pace.due(ms(0)), None);
        assert_eq!(pace.due(ms(1)), Some(ms(1)));
    }

    #[test]
    fn a_stall_drops_no_due_request() {
        let mut pace = Pace::new(1_000.0);
        let ms = Duration::from_millis;
        let late: Vec<_> = std::iter::from_fn(|| pace.due(ms(3))).collect();
        assert_eq!(late, [ms(0), ms(1), ms(2), ms(3)]);
    }
}
