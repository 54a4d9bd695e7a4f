//! Removes expired rows. Every sweep removes a bounded number.

use crate::tokens::throttle::WINDOW;
use kopeck_port_store::{StoreError, UnitOfWork};
use time::{Duration, UtcOffset};

use crate::Env;
use crate::idempotency::SEALED_NONCE_LIFE;
use crate::request_log;

/// Rows removed at most from each table in one sweep.
const SWEEP: u32 = 1_000;

/// Token pairs are kept for a day past their end, so that a late token is still distinguished from one never issued.
const PAIR_GRACE: Duration = Duration::DAY;

/// Removes responses past their retention, failures and nonces past their window, token pairs, users' sessions and their
/// uploads past their end, activation codes past their validity, events, deliveries and logged requests past their retention. Returns the number
/// of rows.
///
/// A response outlives the nonces that it was given to, and a delivery its event, so that a redelivery of an expired event is
/// refused as such. A clock that is ahead by mistake expires nothing: see [`Env::settled`].
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn sweep(unit: &mut dyn UnitOfWork, env: &Env) -> Result<u64, StoreError> {
    let now = env.settled();
    let answers_end = now - env.settings.idempotency_retention - SEALED_NONCE_LIFE;
    let answers = unit.idempotency().forget_before(answers_end, SWEEP)?;
    let nonces = unit.sealed_nonces().forget_before(now - SEALED_NONCE_LIFE, SWEEP)?;
    let failures = unit.throttle().forget_before(now - WINDOW, SWEEP)?;
    let sessions = unit.users().forget_expired(now, SWEEP)?;
    let pairs = unit.sessions().forget_expired(now - PAIR_GRACE, SWEEP)?;
    // The day of UTC is never ahead of the bank's.
    let codes = unit.cards().forget_activation_codes(now.to_offset(UtcOffset::UTC).date(), SWEEP)?;
    let events = unit.events().forget_before(now - env.settings.event_retention, SWEEP)?;
    let deliveries = unit.webhooks().forget_before(now - 2 * env.settings.event_retention, SWEEP)?;
    let requests = unit.request_log().forget_before(now - request_log::RETENTION, SWEEP)?;
    Ok(answers + nonces + failures + sessions + pairs + codes + events + deliveries + requests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use kopeck_port_store::mock::MockUnit;
    use time::{Date, OffsetDateTime};

    #[test]
    fn each_kind_is_kept_for_its_own_time() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.idempotency
            .expect_forget_before()
            .withf(|moment, limit| {
                (*moment, *limit) == (START - Duration::days(7) - Duration::minutes(20), 1_000)
            })
            .times(1)
            .returning(|_, _| Ok(1));
        unit.sealed_nonces
            .expect_forget_before()
            .withf(|moment, limit| (*moment, *limit) == (START - Duration::minutes(20), 1_000))
            .times(1)
            .returning(|_, _| Ok(4_000));
        unit.throttle
            .expect_forget_before()
            .withf(|moment, limit| (*moment, *limit) == (START - Duration::minutes(15), 1_000))
            .times(1)
            .returning(|_, _| Ok(20));
        unit.users
            .expect_forget_expired()
            .withf(|moment, limit| (*moment, *limit) == (START, 1_000))
            .times(1)
            .returning(|_, _| Ok(7_000_000));
        unit.sessions
            .expect_forget_expired()
            .withf(|moment, limit| (*moment, *limit) == (START - Duration::days(1), 1_000))
            .times(1)
            .returning(|_, _| Ok(300));
        unit.cards
            .expect_forget_activation_codes()
            .withf(|day, limit| (*day, *limit) == (START.date(), 1_000))
            .times(1)
            .returning(|_, _| Ok(50_000));
        unit.webhooks
            .expect_forget_before()
            .withf(|moment, limit| (*moment, *limit) == (START - Duration::days(60), 1_000))
            .times(1)
            .returning(|_, _| Ok(600_000));
        unit.request_log
            .expect_forget_before()
            .withf(|moment, limit| (*moment, *limit) == (START - Duration::days(14), 1_000))
            .times(1)
            .returning(|_, _| Ok(80_000_000));
        assert_eq!(sweep(&mut unit, &bench), Ok(87_654_321));
        assert_eq!(unit.events.forgotten_before, Some(START - Duration::days(30)));
    }

    #[test]
    fn a_clock_that_is_set_ahead_makes_nothing_forgotten() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let is_old = |moment: &OffsetDateTime| *moment < START;
        unit.idempotency.expect_forget_before().withf(move |at, _| is_old(at)).returning(|_, _| Ok(0));
        unit.sealed_nonces.expect_forget_before().withf(move |at, _| is_old(at)).returning(|_, _| Ok(0));
        unit.throttle.expect_forget_before().withf(move |at, _| is_old(at)).returning(|_, _| Ok(0));
        unit.users.expect_forget_expired().withf(|at, _| *at <= START).returning(|_, _| Ok(0));
        unit.sessions.expect_forget_expired().withf(move |at, _| is_old(at)).returning(|_, _| Ok(0));
        let is_today = |day: &Date| *day == START.date();
        unit.cards
            .expect_forget_activation_codes()
            .withf(move |day, _| is_today(day))
            .returning(|_, _| Ok(0));
        unit.webhooks.expect_forget_before().withf(move |at, _| is_old(at)).returning(|_, _| Ok(0));
        unit.request_log.expect_forget_before().withf(move |at, _| is_old(at)).returning(|_, _| Ok(0));
        bench.clock.step(Duration::days(1_100));
        assert_eq!(sweep(&mut unit, &bench), Ok(0));
        assert!(unit.events.forgotten_before.is_some_and(|moment| moment < START));
    }

    /// A nonce that were forgotten while it counts could be used again.
    #[test]
    fn no_nonce_is_forgotten_while_it_is_spent() {
        assert!(crate::tokens::NONCE_LIFE <= WINDOW);
    }
}
