//! What several response bodies share.

pub(crate) mod entry;
pub(crate) mod event;
mod page;
pub(crate) mod transaction;

pub(crate) use page::page;

use kopeck_domain::calendar::Zone;
use time::{OffsetDateTime, PrimitiveDateTime};

/// The date and time of the zone.
pub(crate) fn local(moment: OffsetDateTime, zone: Zone) -> PrimitiveDateTime {
    let local = moment.to_offset(zone.offset());
    PrimitiveDateTime::new(local.date(), local.time())
}
