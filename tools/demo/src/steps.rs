//! The steps of the day, in their order.

pub(crate) mod bank;
pub(crate) mod links;
pub(crate) mod orders;
pub(crate) mod staff;
pub(crate) mod top_ups;
pub(crate) mod verify;

use std::time::Duration;

use kopeck_client::Wait;

/// How long to wait for what the service works on.
pub(crate) fn patience() -> Wait {
    Wait::up_to(Duration::from_mins(2)).intervals(Duration::from_millis(200), Duration::from_millis(500))
}
