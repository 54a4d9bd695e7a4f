//! The rate limit of partners: requests per second, and a burst.
//!
//! Each process counts for itself. A refused request does not count.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as _;
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use kopeck_domain::ids::PartnerId;
use kopeck_port_system::Clock;

/// The headers of `draft-ietf-httpapi-ratelimit-headers`, and their patterns.
pub(crate) const RATE_LIMIT_POLICY: &str = "ratelimit-policy";
pub(crate) const RATE_LIMIT_POLICY_PATTERN: &str = "^\"partner\";q=[0-9]+;w=[0-9]+$";
pub(crate) const RATE_LIMIT: &str = "ratelimit";
pub(crate) const RATE_LIMIT_PATTERN: &str = "^\"partner\";r=[0-9]+;t=[0-9]+$";

/// The rate limit of a partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// Requests a second in the long run.
    pub per_second: NonZeroU32,
    /// Requests at once after a pause.
    pub burst: NonZeroU32,
}

/// The rest of a partner's quota after a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RemainingQuota {
    limit: RateLimit,
    remaining: u32,
}

/// A request beyond the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimitExceeded {
    /// The rest: nothing.
    pub(crate) quota: RemainingQuota,
    /// Seconds until the next request is admitted; at least one.
    pub(crate) retry_after: u64,
}

pub(crate) struct PartnerRateLimiter {
    limit: RateLimit,
    limiter: RateLimiter<PartnerId, HashMapStateStore<PartnerId>, SteadyTime, StateInformationMiddleware>,
}

/// The machine's steady clock: quotas do not change when a sandbox moves the service's clock, or when an administrator
/// sets the machine's.
#[derive(Clone)]
struct SteadyTime(Arc<dyn Clock>);

impl governor::clock::Clock for SteadyTime {
    type Instant = Duration;

    fn now(&self) -> Duration {
        // It is never negative.
        Duration::try_from(self.0.steady()).unwrap_or_default()
    }
}

impl PartnerRateLimiter {
    /// A limiter without requests so far.
    pub(crate) fn new(limit: RateLimit, wall: Arc<dyn Clock>) -> Self {
        let quota = Quota::per_second(limit.per_second).allow_burst(limit.burst);
        let limiter = RateLimiter::hashmap_with_clock(quota, SteadyTime(wall)).with_middleware();
        Self { limit, limiter }
    }

    /// Counts a request of `partner`.
    ///
    /// # Errors
    /// [`RateLimitExceeded`] beyond the limit.
    pub(crate) fn count(&self, partner: PartnerId) -> Result<RemainingQuota, RateLimitExceeded> {
        let quota = |remaining| RemainingQuota { limit: self.limit, remaining };
        match self.limiter.check_key(&partner) {
            Ok(state) => Ok(quota(state.remaining_burst_capacity())),
            Err(refused) => {
                let wait = refused.wait_time_from(self.limiter.clock().now());
                let started = u64::from(wait.subsec_nanos() > 0);
                Err(RateLimitExceeded { quota: quota(0), retry_after: (wait.as_secs() + started).max(1) })
            }
        }
    }
}

impl RemainingQuota {
    /// `RateLimit-Policy`, a structured field: the quota, and the seconds to refill it.
    pub(crate) fn policy(&self) -> String {
        let RateLimit { burst, .. } = self.limit;
        format!("\"partner\";q={burst};w={}", self.seconds_for(burst.get()))
    }

    /// `RateLimit`, a structured field: the rest, and the seconds until all is back.
    pub(crate) fn rate(&self) -> String {
        let gone = self.limit.burst.get().saturating_sub(self.remaining);
        format!("\"partner\";r={};t={}", self.remaining, self.seconds_for(gone))
    }

    /// The seconds to refill so many requests.
    fn seconds_for(&self, calls: u32) -> u32 {
        calls.div_ceil(self.limit.per_second.get())
    }
}

#[cfg(test)]
mod tests {
    use kopeck_port_system::fake::FakeClock;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use super::*;

    fn partner(number: u128) -> PartnerId {
        PartnerId::new(Uuid::from_u128(number))
    }

    fn rates(per_second: u32, burst: u32) -> (PartnerRateLimiter, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::starting_at(OffsetDateTime::UNIX_EPOCH + time::Duration::days(1)));
        let limit = RateLimit {
            per_second: NonZeroU32::new(per_second).unwrap(),
            burst: NonZeroU32::new(burst).unwrap(),
        };
        (PartnerRateLimiter::new(limit, Arc::clone(&clock) as Arc<dyn Clock>), clock)
    }

    #[test]
    fn a_quiet_partner_has_its_burst_and_then_its_rate() {
        let (rates, clock) = rates(2, 4);
        let remaining: Vec<_> = (0..4).map(|_| rates.count(partner(1)).unwrap().remaining).collect();
        assert_eq!(remaining, [3, 2, 1, 0]);
        assert_eq!(rates.count(partner(1)).unwrap_err().retry_after, 1);
        clock.advance(time::Duration::milliseconds(499));
        assert!(rates.count(partner(1)).is_err());
        clock.advance(time::Duration::milliseconds(1));
        assert_eq!(rates.count(partner(1)).unwrap().remaining, 0);
        assert!(rates.count(partner(1)).is_err(), "a refused call was not counted, this one was");
        clock.advance(time::Duration::seconds(60));
        assert_eq!(rates.count(partner(1)).unwrap().remaining, 3, "no more than the burst is saved up");
    }

    #[test]
    fn setting_the_clock_neither_gives_nor_takes_calls() {
        for step in [time::Duration::days(1_100), time::Duration::hours(-5)] {
            let (rates, clock) = rates(1, 1);
            assert!(rates.count(partner(1)).is_ok());
            clock.step(step);
            assert_eq!(rates.count(partner(1)).unwrap_err().retry_after, 1, "{step}");
            clock.advance(time::Duration::SECOND);
            assert!(rates.count(partner(1)).is_ok(), "{step}");
        }
    }

    #[test]
    fn partners_do_not_share() {
        let (rates, _) = rates(1, 1);
        assert!(rates.count(partner(1)).is_ok());
        assert!(rates.count(partner(1)).is_err());
        assert!(rates.count(partner(2)).is_ok());
    }

    #[test]
    fn the_headers_are_structured_fields() {
        let (rates, _) = rates(3, 10);
        let quota = rates.count(partner(1)).unwrap();
        assert_eq!(quota.policy(), "\"partner\";q=10;w=4");
        assert_eq!(quota.rate(), "\"partner\";r=9;t=1");
        let none = RemainingQuota { remaining: 0, ..quota };
        assert_eq!(none.rate(), "\"partner\";r=0;t=4");
    }
}
