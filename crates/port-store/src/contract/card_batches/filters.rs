//! What lists of batches are filtered by.

use kopeck_domain::card_batch::{BatchFields, BatchState, CardBatch};

use super::{SampleKind, batch, list_filtered, reference};
use crate::contract::support::{at, insert_batch, page, partner, some_cards};
use crate::page::Listed;
use crate::{BatchFilter, Store};

/// Together. The end of a period is not part of it.
pub fn the_list_filters_by_reference_and_time<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let mut batches = Vec::new();
    for (number, text) in (0..).zip([Some("A"), None, Some("B"), Some("A")]) {
        let (new, items) = batch::<K>(&some_cards(store, partner, 1));
        let new = CardBatch::from_stored(BatchFields {
            created_at: at(100 * number),
            reference: text.map(reference),
            ..new.into_fields()
        });
        insert_batch(store, partner, &new, &items).unwrap();
        batches.push(new);
    }
    let listed = |filter| list_filtered::<K>(store, partner, filter, page(1, 10));
    let expected = |places: &[usize]| Listed {
        items: places.iter().map(|place| batches[*place].clone()).collect(),
        total: places.len() as u64,
    };
    let all = BatchFilter::default();
    let named = BatchFilter { reference: Some(reference("A")), ..all.clone() };
    assert_eq!(listed(named.clone()), expected(&[3, 0]));
    assert_eq!(listed(BatchFilter { from: Some(at(200)), ..all.clone() }), expected(&[3, 2]));
    assert_eq!(listed(BatchFilter { before: Some(at(200)), ..all }), expected(&[1, 0]));
    assert_eq!(listed(BatchFilter { from: Some(at(1)), ..named.clone() }), expected(&[3]));
    assert_eq!(listed(BatchFilter { state: Some(BatchState::Success), ..named }), expected(&[]));
}
