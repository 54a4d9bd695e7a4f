//! What a movement belongs to, in the columns of its row: exactly one of them is set.

use diesel::prelude::*;
use kopeck_domain::ledger::Reference;
use kopeck_port_store::StoreError;

use crate::convert::{AsKey, corrupt, word};
use crate::schema::movements;
use crate::sql_types::Id;

/// The columns of a [`Reference`].
#[derive(Default, QueryableByName)]
#[diesel(table_name = movements)]
pub(super) struct ReferenceColumns {
    pub(super) transfer_reference: Option<String>,
    pub(super) order_id: Option<Id>,
    pub(super) replenishment_id: Option<Id>,
    pub(super) closing_id: Option<Id>,
    pub(super) withdrawal_id: Option<Id>,
}

impl ReferenceColumns {
    pub(super) fn of(reference: &Reference) -> Self {
        let none = Self::default();
        match reference {
            Reference::Transfer(reference) => {
                Self { transfer_reference: Some(reference.as_str().to_owned()), ..none }
            }
            Reference::Order(order) => Self { order_id: Some(order.key()), ..none },
            Reference::Replenishment(request) => Self { replenishment_id: Some(request.key()), ..none },
            Reference::Closing(request) => Self { closing_id: Some(request.key()), ..none },
            Reference::Withdrawal(request) => Self { withdrawal_id: Some(request.key()), ..none },
        }
    }

    pub(super) fn reference(self) -> Result<Reference, StoreError> {
        let ids = (self.order_id, self.replenishment_id, self.closing_id, self.withdrawal_id);
        match (self.transfer_reference, ids) {
            (Some(text), (None, None, None, None)) => {
                Ok(Reference::Transfer(word(&text, "movements.transfer_reference")?))
            }
            (None, (Some(id), None, None, None)) => Ok(Reference::Order(id.to())),
            (None, (None, Some(id), None, None)) => Ok(Reference::Replenishment(id.to())),
            (None, (None, None, Some(id), None)) => Ok(Reference::Closing(id.to())),
            (None, (None, None, None, Some(id))) => Ok(Reference::Withdrawal(id.to())),
            _ => Err(corrupt("movements.transfer_reference")),
        }
    }
}
