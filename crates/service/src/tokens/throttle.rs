//! The throttle of failed logins.

use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_port_store::{StoreError, UnitOfWork};
use time::{Duration, OffsetDateTime};

/// Failures within [`WINDOW`] after which further attempts are refused.
pub const MAX_FAILURES: usize = 10;

/// How long a failure counts.
pub const WINDOW: Duration = Duration::minutes(15);

/// How long a login or address is locked, given the moments of its latest failures in any order; `None` if it is
/// not. The lock ends when the tenth-last failure leaves the window. Failures that lie too far in the future do not count:
/// a clock that was set back does not lock logins until it has caught up.
#[must_use]
pub fn locked_for(failures: &[OffsetDateTime], now: OffsetDateTime) -> Option<Duration> {
    locked_after(MAX_FAILURES, failures, now)
}

/// The same after `most` failures.
fn locked_after(most: usize, failures: &[OffsetDateTime], now: OffsetDateTime) -> Option<Duration> {
    let counts = |at: &OffsetDateTime| *at + WINDOW > now && *at <= now + CLOCK_SKEW;
    let mut recent: Vec<OffsetDateTime> = failures.iter().copied().filter(counts).collect();
    recent.sort_unstable_by(|a, b| b.cmp(a));
    recent.get(most - 1).map(|last_that_locks| *last_that_locks + WINDOW - now)
}

/// How long one of these subjects is still locked after `most` failures; `None` if none of them is.
pub(crate) fn locked_subject(
    unit: &mut dyn UnitOfWork,
    subjects: &[[u8; 32]],
    most: usize,
    now: OffsetDateTime,
) -> Result<Option<Duration>, StoreError> {
    let limit = u32::try_from(most).unwrap_or(u32::MAX);
    for subject in subjects {
        let failures = unit.throttle().failures(subject, now - WINDOW, limit)?;
        if let Some(retry_after) = locked_after(most, &failures, now) {
            return Ok(Some(retry_after));
        }
    }
    Ok(None)
}

/// Records a failure of each of these subjects.
pub(crate) fn record(
    unit: &mut dyn UnitOfWork,
    subjects: &[[u8; 32]],
    now: OffsetDateTime,
) -> Result<(), StoreError> {
    subjects.iter().try_for_each(|subject| unit.throttle().record_failure(subject, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_failures_lock_until_the_first_of_them_is_old() {
        let start = OffsetDateTime::UNIX_EPOCH;
        let failures: Vec<_> = (0..10).map(|minute| start + Duration::minutes(minute)).collect();
        let now = start + Duration::minutes(9);
        assert_eq!(locked_for(&failures[..9], now), None);
        assert_eq!(locked_for(&failures, now), Some(Duration::minutes(6)));
        assert_eq!(locked_for(&failures, start + WINDOW - Duration::SECOND), Some(Duration::SECOND));
        assert_eq!(locked_for(&failures, start + WINDOW), None);
    }

    /// Of another server, whose clock may be ahead; but none of a clock that was set back since.
    #[test]
    fn failures_count_as_far_ahead_as_clocks_may_differ() {
        let now = OffsetDateTime::UNIX_EPOCH;
        assert_eq!(locked_for(&[now + CLOCK_SKEW; 10], now), Some(WINDOW + CLOCK_SKEW));
        assert_eq!(locked_for(&[now + CLOCK_SKEW + Duration::MICROSECOND; 10], now), None);
    }

    #[test]
    fn more_failures_lock_for_longer() {
        let start = OffsetDateTime::UNIX_EPOCH;
        let failures: Vec<_> = (0..12).map(|minute| start + Duration::minutes(minute)).collect();
        assert_eq!(locked_for(&failures, start + Duration::minutes(11)), Some(Duration::minutes(6)));
    }
}
