//! Forgets what has served its time. Every sweep removes a bounded number of rows.

use kopeck_domain::throttle::WINDOW;
use kopeck_port_store::{StoreError, UnitOfWork};
use time::Duration;

use crate::Env;

/// Rows removed at most from each table in one sweep.
const SWEEP: u32 = 1_000;

/// Token pairs are kept for a day past their end, so that a late token is still told from one never issued.
const PAIR_GRACE: Duration = Duration::DAY;

/// Removes answers past their retention, failures and nonces past their window, and token pairs past their end.
/// Answers how many rows went.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn sweep(unit: &mut dyn UnitOfWork, env: &Env) -> Result<u64, StoreError> {
    let now = env.now();
    let answers = unit.idempotency().forget_before(now - env.settings.idempotency_retention, SWEEP)?;
    let failures = unit.throttle().forget_before(now - WINDOW, SWEEP)?;
    let pairs = unit.sessions().forget_expired(now - PAIR_GRACE, SWEEP)?;
    Ok(answers + failures + pairs)
}
