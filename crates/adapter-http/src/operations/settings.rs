//! Settings of a partner.

mod get;
mod update;

use kopeck_domain::leaver::LeaverRules;

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 2] = [&get::OPERATION, &update::OPERATION];

fn body(leavers: LeaverRules) -> api::PartnerSettings {
    api::PartnerSettings {
        leavers: api::LeaverSettings {
            freeze: leavers.freeze(),
            take_back_after_days: leavers.take_back_after_days().map(i64::from),
            close: leavers.close(),
        },
    }
}
