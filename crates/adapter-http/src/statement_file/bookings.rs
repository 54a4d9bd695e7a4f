//! The bookings of an account statement: entries that change the balance.
//!
//! What is held and released is no booking. Money that comes back from the cards of one request is one booking a day where
//! its entries follow each other, so that no booking is about one person.

use kopeck_domain::calendar::Zone;
use kopeck_domain::ledger::{EntrySource, EntryType};
use kopeck_port_store::{BookedMovement, StoreError};
use kopeck_service::entries;
use time::Date;
use uuid::Uuid;

use crate::dto::entry;

/// A booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Booking {
    /// The number of its first entry.
    pub(super) number: i64,
    pub(super) day: Date,
    pub(super) entry_type: EntryType,
    pub(super) source: EntrySource,
    /// The request.
    pub(super) id: Option<Uuid>,
    pub(super) reference: Option<String>,
    /// By how much it changes the balance, kopecks: below zero if money leaves it.
    pub(super) change: i64,
}

/// Makes bookings of entries.
pub(super) struct Bookings {
    zone: Zone,
    /// The one to which the next entry may belong.
    open: Option<Booking>,
}

impl Bookings {
    pub(super) const fn new(zone: Zone) -> Self {
        Self { zone, open: None }
    }

    /// Takes the next entry; returns a booking that is complete with that.
    pub(super) fn add(&mut self, booked: &BookedMovement) -> Result<Option<Booking>, StoreError> {
        let change = entry::body(booked, self.zone)?.balance_change;
        if change == 0 {
            return Ok(None);
        }
        let movement = &booked.movement;
        let next = Booking {
            number: booked.number,
            day: self.zone.day(booked.booked_at),
            entry_type: EntryType::from(movement.kind()),
            source: movement.source(),
            id: movement.reference().request(),
            reference: entries::reference_of(booked).map(str::to_owned),
            change,
        };
        let key = |of: &Booking| (of.day, of.entry_type, of.id);
        match &mut self.open {
            Some(open) if next.entry_type == EntryType::Return && key(open) == key(&next) => {
                let overflow = || StoreError::Corrupt("entries.amount: a sum does not fit".to_owned());
                open.change = open.change.checked_add(change).ok_or_else(overflow)?;
                Ok(None)
            }
            open => Ok(open.replace(next)),
        }
    }

    /// The last booking.
    pub(super) const fn end(&mut self) -> Option<Booking> {
        self.open.take()
    }
}
