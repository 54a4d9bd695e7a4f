//! Entries of the balance on the wire.

use kopeck_api as api;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ledger::EntryType;
use kopeck_port_store::{BookedMovement, StoreError};
use kopeck_service::entries;

use crate::dto::local;

/// The body of an entry.
///
/// # Errors
/// [`StoreError::Corrupt`] if the balance after it does not fit.
pub(crate) fn body(booked: &BookedMovement, zone: Zone) -> Result<api::BalanceEntry, StoreError> {
    let movement = &booked.movement;
    Ok(api::BalanceEntry {
        seq: booked.number,
        at: local(booked.booked_at, zone),
        entry_type: EntryType::from(movement.kind()).as_str().into(),
        amount: movement.change_of_available().get(),
        balance: entries::balance_of(booked)?.get(),
        hold: booked.held.get(),
        of: api::EntrySource {
            kind: movement.source().as_str().into(),
            id: movement.reference().request(),
            reference: entries::reference_of(booked).map(str::to_owned),
        },
    })
}
