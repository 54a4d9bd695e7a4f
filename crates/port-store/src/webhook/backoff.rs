//! Backoff for an endpoint: how long one that keeps failing is left alone, whatever waits for it.

use time::Duration;

use super::RETRY_DELAYS;

/// From this number of failed attempts in a row on, the endpoint gets one attempt at a time, with a pause after each.
pub const BACKOFF_AFTER: u32 = 10;

/// So many of the pauses take [`SHORTEST`].
const SHORT_PAUSES: u32 = 10;

const SHORTEST: Duration = Duration::SECOND;

/// An endpoint that works again is noticed within this time.
const LONGEST: Duration = Duration::HOUR;

/// How long an endpoint is left alone after so many failed attempts in a row: not at all, then for a second each, then for
/// the delays of a delivery's retries, an hour at most.
#[must_use]
pub fn endpoint_pause(failures: u32) -> Duration {
    let Some(pauses) = failures.checked_sub(BACKOFF_AFTER) else { return Duration::ZERO };
    let Some(long_pauses) = pauses.checked_sub(SHORT_PAUSES) else { return SHORTEST };
    let delay = usize::try_from(long_pauses).ok().and_then(|pauses| RETRY_DELAYS.get(pauses));
    delay.map_or(LONGEST, |delay| LONGEST.min(*delay))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_from_a_second_to_an_hour() {
        let pauses: Vec<i64> = (0..28).map(|failures| endpoint_pause(failures).whole_seconds()).collect();
        let grown = [5, 30, 120, 600, 3_600, 3_600, 3_600, 3_600];
        assert_eq!(pauses, [[0; 10].as_slice(), &[1; 10], &grown].concat());
        assert_eq!(endpoint_pause(u32::MAX), LONGEST);
    }
}
