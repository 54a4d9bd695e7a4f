//! Without the rule that a card is marked before it is sent to a bank that would do it twice: nothing is marked.

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchItem, CardBatch, ItemState};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    BatchFacts, BatchFilter, BatchTarget, CardBatchRepository, ItemCounts, StoreError, StoredKind,
};

use super::store::SabotagedUnit;

macro_rules! passed_on {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $method(&mut self, $($argument: $type),*) -> Result<$result, StoreError> {
            K::repository(self.unit).$method($($argument),*)
        })*
    };
}

impl<K: StoredKind> CardBatchRepository<K> for SabotagedUnit<'_> {
    fn mark_sent(&mut self, _: PartnerId, _: K::Id, _: &[u32], _: bool) -> Result<(), StoreError> {
        Ok(())
    }

    passed_on! {
        targets(partner: PartnerId, cards: &[CardId]) -> Vec<BatchTarget>;
        insert(partner: PartnerId, batch: &CardBatch<K>, items: &[BatchItem<K>]) -> ();
        get(partner: PartnerId, id: K::Id) -> Option<CardBatch<K>>;
        set_state(partner: PartnerId, batch: &CardBatch<K>) -> ();
        items(partner: PartnerId, id: K::Id, from_ordinal: u32, limit: u32) -> Vec<BatchItem<K>>;
        open_items(partner: PartnerId, id: K::Id, limit: u32) -> Vec<BatchItem<K>>;
        unsent_items(partner: PartnerId, id: K::Id, limit: u32) -> Vec<BatchItem<K>>;
        settle_items(partner: PartnerId, id: K::Id, decided: &[(u32, ItemState<K::Refusal>)]) -> ();
        add_returned(partner: PartnerId, id: K::Id, amount: Kopecks) -> ();
        counts(partner: PartnerId, id: K::Id) -> ItemCounts;
        release_cards(partner: PartnerId, id: K::Id) -> ();
        list(partner: PartnerId, filter: &BatchFilter, page: Page) -> Listed<CardBatch<K>>;
        facts(partner: PartnerId) -> Vec<BatchFacts<K>>;
    }
}
