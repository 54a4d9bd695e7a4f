//! Without the rule that a card is marked before it is sent to a bank that would do it twice: nothing is marked.

use kopeck_domain::ids::{LimitChangeId, PartnerId, ReplenishmentId};
use kopeck_domain::limit_change::{self, LimitChange, LimitChangeItem};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{self, Replenishment, ReplenishmentItem};
use kopeck_domain::request::RequestState;
use kopeck_port_store::{ItemCounts, LimitChangeRepository, ReplenishmentRepository, StoreError};

use super::store::Sabotaged;

macro_rules! without_marks {
    ($repository:ident, $method:ident, $request:ident, $id:ident, $item:ident, $state:ty) => {
        impl $repository for Sabotaged<'_> {
            fn mark_sent(&mut self, _: PartnerId, _: $id, _: &[u32], _: bool) -> Result<(), StoreError> {
                Ok(())
            }

            without_marks! { @passed $method:
                insert(partner: PartnerId, request: &$request, items: &[$item]) -> ();
                get(partner: PartnerId, id: $id) -> Option<$request>;
                set_state(partner: PartnerId, request: &$request) -> ();
                items(partner: PartnerId, id: $id, from_ordinal: u32, limit: u32) -> Vec<$item>;
                open_items(partner: PartnerId, id: $id, limit: u32) -> Vec<$item>;
                unsent_items(partner: PartnerId, id: $id, limit: u32) -> Vec<$item>;
                settle_items(partner: PartnerId, id: $id, decided: &[(u32, $state)]) -> ();
                counts(partner: PartnerId, id: $id) -> ItemCounts;
                release_cards(partner: PartnerId, id: $id) -> ();
                list(partner: PartnerId, status: Option<RequestState>, page: Page) -> Listed<$request>;
            }
        }
    };
    (@passed $repository:ident: $($method:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {
        $(fn $method(&mut self, $($argument: $kind),*) -> Result<$result, StoreError> {
            self.unit.$repository().$method($($argument),*)
        })*
    };
}

without_marks! {
    ReplenishmentRepository, replenishments, Replenishment, ReplenishmentId, ReplenishmentItem, replenishment::ItemState
}
without_marks! {
    LimitChangeRepository, limit_changes, LimitChange, LimitChangeId, LimitChangeItem, limit_change::ItemState
}
