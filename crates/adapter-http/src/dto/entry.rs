//! Entries of the balance on the wire.

use kopeck_api as api;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ledger::EntryType;
use kopeck_port_store::{BookedMovement, StoreError};
use kopeck_service::entries::{self, BalanceParts};

use crate::dto::local;

/// The body of an entry.
///
/// # Errors
/// [`StoreError::Corrupt`] if the balance after it does not fit.
pub(crate) fn body(booked: &BookedMovement, zone: Zone) -> Result<api::BalanceEntry, StoreError> {
    let movement = &booked.movement;
    let (after, change) =
        (BalanceParts::after(booked)?, BalanceParts::change_by(movement.kind(), movement.amount())?);
    Ok(api::BalanceEntry {
        seq: booked.number,
        at: local(booked.booked_at, zone),
        entry_type: EntryType::from(movement.kind()).as_str().into(),
        amount: change.available.get(),
        balance: after.balance.get(),
        hold: after.hold.get(),
        available: after.available.get(),
        balance_change: change.balance.get(),
        hold_change: change.hold.get(),
        of: api::EntrySource {
            kind: movement.source().as_str().into(),
            id: movement.reference().request(),
            reference: entries::reference_of(booked).map(str::to_owned),
        },
    })
}
