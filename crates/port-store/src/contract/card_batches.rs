//! Card batches. Every case is run for each kind.

mod filters;
mod kinds;
mod particular;

use std::collections::HashMap;
use std::fmt::Debug;
use std::ops::Range;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{Card, CardFields, CardStatus, Standing};
use kopeck_domain::card_batch::{BatchFields, BatchItem, BatchState, CardBatch, ItemState};
use kopeck_domain::closing::ClosingTerms;
pub use kopeck_domain::closing::Closings;
use kopeck_domain::ids::{CardId, ClosingId, PartnerId, ReplenishmentId, WithdrawalId};
pub use kopeck_domain::limit_change::LimitChanges;
pub use kopeck_domain::replenishment::TopUps;
use kopeck_domain::request::RequestReference;
pub use kopeck_domain::withdrawal::Withdrawals;
use time::Duration;

pub use self::filters::the_list_filters_by_reference_and_time;
pub use self::kinds::SampleKind;
pub use self::particular::*;
use super::support::{
    at, id, insert_batch, link, page, partner, read, sample_limits, some_cards, some_employee, write,
};
use crate::page::{Listed, Page};
use crate::{
    BatchAmounts, BatchFacts, BatchFilter, BatchTarget, CardBatchRepository, CardClaims, ItemCounts, Rule,
    Store, StoreError,
};

/// A new batch of `cards`.
fn batch<K: SampleKind>(cards: &[Card]) -> (CardBatch<K>, Vec<BatchItem<K>>) {
    let item = |(ordinal, card): (u32, &Card)| {
        let (terms, state) = (K::item_terms(ordinal), ItemState::Open);
        BatchItem { ordinal, card: card.id(), number: card.number(), terms, state }
    };
    let count = u32::try_from(cards.len()).unwrap();
    (CardBatch::new(id(), count, K::terms(count), at(0)), (0..).zip(cards).map(item).collect())
}

fn reference(text: &str) -> RequestReference {
    RequestReference::from_stored(text.to_owned())
}

/// One batch that is stored, and short ways to its repository.
struct Stored<'a, K: SampleKind> {
    store: &'a dyn Store,
    partner: PartnerId,
    id: K::Id,
}

impl<'a, K: SampleKind> Stored<'a, K> {
    fn new(store: &'a dyn Store, partner: PartnerId, cards: &[Card]) -> Self {
        let (batch, items) = batch::<K>(cards);
        insert_batch(store, partner, &batch, &items).unwrap();
        Self { store, partner, id: batch.id() }
    }

    /// The same batch as another partner would ask for it.
    const fn of(&self, partner: PartnerId) -> Self {
        Self { store: self.store, partner, id: self.id }
    }

    fn read<T: Debug + Send + 'static>(
        &self,
        body: impl Fn(&mut dyn CardBatchRepository<K>, PartnerId, K::Id) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        let (partner, id) = (self.partner, self.id);
        read(self.store, move |unit| body(K::repository(unit), partner, id))
    }

    fn write<F>(&self, body: F)
    where
        F: Fn(&mut dyn CardBatchRepository<K>, PartnerId, K::Id) -> Result<(), StoreError> + Send + 'static,
    {
        let (partner, id) = (self.partner, self.id);
        write(self.store, move |unit| body(K::repository(unit), partner, id)).unwrap();
    }

    fn get(&self) -> Option<CardBatch<K>> {
        self.read(|batches, partner, id| batches.get(partner, id))
    }

    fn set_state(&self, batch: &CardBatch<K>) {
        let batch = batch.clone();
        self.write(move |batches, partner, _| batches.set_state(partner, &batch));
    }

    fn items(&self, from: u32, limit: u32) -> Vec<BatchItem<K>> {
        self.read(move |batches, partner, id| batches.items(partner, id, from, limit))
    }

    fn states(&self) -> Vec<ItemState<K::Refusal>> {
        self.items(0, u32::MAX).iter().map(|item| item.state).collect()
    }

    /// The ordinals of its open items.
    fn open(&self, limit: u32) -> Vec<u32> {
        ordinals(&self.read(move |batches, partner, id| batches.open_items(partner, id, limit)))
    }

    /// The ordinals of its unsent items.
    fn unsent(&self, limit: u32) -> Vec<u32> {
        ordinals(&self.read(move |batches, partner, id| batches.unsent_items(partner, id, limit)))
    }

    fn mark_sent(&self, ordinals: &[u32], sent: bool) {
        let ordinals = ordinals.to_vec();
        self.write(move |batches, partner, id| batches.mark_sent(partner, id, &ordinals, sent));
    }

    fn settle(&self, decided: &[(u32, ItemState<K::Refusal>)]) {
        let decided = decided.to_vec();
        self.write(move |batches, partner, id| batches.settle_items(partner, id, &decided));
    }

    fn add_returned(&self, amount: i64) {
        self.write(move |batches, partner, id| batches.add_returned(partner, id, Kopecks::new(amount)));
    }

    fn counts(&self) -> ItemCounts {
        self.read(|batches, partner, id| batches.counts(partner, id))
    }

    fn release(&self) {
        self.write(|batches, partner, id| batches.release_cards(partner, id));
    }
}

/// A replenishment of one card that is stored.
pub(super) fn some_replenishment(store: &dyn Store, partner: PartnerId) -> ReplenishmentId {
    Stored::<TopUps>::new(store, partner, &some_cards(store, partner, 1)).id
}

/// A closing and a withdrawal of one card each that are stored.
pub(super) fn some_returns(store: &dyn Store, partner: PartnerId) -> (ClosingId, WithdrawalId) {
    let closing = Stored::<Closings>::new(store, partner, &some_cards(store, partner, 1));
    (closing.id, Stored::<Withdrawals>::new(store, partner, &some_cards(store, partner, 1)).id)
}

fn ordinals<K: SampleKind>(items: &[BatchItem<K>]) -> Vec<u32> {
    items.iter().map(|item| item.ordinal).collect()
}

/// A new batch of `cards`, as far as the store lets it in.
fn try_insert<K: SampleKind>(
    store: &dyn Store,
    partner: PartnerId,
    cards: &[Card],
) -> (K::Id, Result<(), StoreError>) {
    let (batch, items) = batch::<K>(cards);
    (batch.id(), insert_batch(store, partner, &batch, &items))
}

fn list<K: SampleKind>(
    store: &dyn Store,
    partner: PartnerId,
    state: Option<BatchState>,
    page: Page,
) -> Listed<CardBatch<K>> {
    list_filtered(store, partner, BatchFilter { state, ..BatchFilter::default() }, page)
}

fn list_filtered<K: SampleKind>(
    store: &dyn Store,
    partner: PartnerId,
    filter: BatchFilter,
    page: Page,
) -> Listed<CardBatch<K>> {
    read(store, move |unit| K::repository(unit).list(partner, &filter, page))
}

fn targets<K: SampleKind>(
    store: &dyn Store,
    partner: PartnerId,
    ids: &[CardId],
) -> HashMap<CardId, BatchTarget> {
    let ids = ids.to_vec();
    let found = read(store, move |unit| K::repository(unit).targets(partner, &ids));
    let count = found.len();
    let by_id: HashMap<CardId, BatchTarget> = found.into_iter().map(|target| (target.card, target)).collect();
    assert_eq!(by_id.len(), count, "a card is found once");
    by_id
}

const TAKEN: Result<(), StoreError> = Err(StoreError::Conflict(Rule::CardInOneBatch));

/// With its cards by ordinal, from any ordinal; and its state follows.
pub fn a_request_is_read_as_it_was_made<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let (batch, items) = batch::<K>(&some_cards(store, partner, 4));
    let batch = batch.with_reference(Some(reference("Счёт 7")));
    let stored = Stored::<K> { store, partner, id: batch.id() };
    assert_eq!(stored.get(), None);
    insert_batch(store, partner, &batch, &items).unwrap();
    assert_eq!(stored.get(), Some(batch.clone()));
    assert_eq!(stored.items(0, 10), items);
    assert_eq!(stored.items(1, 2), items[1..3]);
    assert_eq!(stored.counts(), ItemCounts { open: 4, done: 0, refused: 0 });
    for (state, seconds) in BatchState::ALL.iter().zip(10..) {
        let changed = CardBatch::from_stored(BatchFields {
            state: *state,
            state_since: at(seconds),
            ..batch.clone().into_fields()
        });
        stored.set_state(&changed);
        assert_eq!(stored.get(), Some(changed));
    }
}

/// The second batch is refused whole, for one card among others.
pub fn a_card_is_in_one_open_request<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 3);
    assert_eq!(try_insert::<K>(store, partner, &cards[..2]).1, Ok(()));
    let (id, refused) = try_insert::<K>(store, partner, &cards[1..]);
    assert_eq!(refused, TAKEN);
    let second = Stored::<K> { store, partner, id };
    assert_eq!((second.get(), second.items(0, 10)), (None, vec![]));
    assert_eq!(try_insert::<K>(store, partner, &cards[2..]).1, Ok(()));
    let double = [&some_cards(store, partner, 1)[..]; 2].concat();
    assert_eq!(try_insert::<K>(store, partner, &double).1, TAKEN);
}

/// The old batch keeps its record of them.
pub fn released_cards_can_be_requested_again<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 3);
    let first = Stored::<K>::new(store, partner, &cards[..2]);
    let items = first.items(0, 10);
    Stored::<K>::new(store, partner, &cards[2..]);
    first.release();
    Stored::<K>::new(store, partner, &cards[..2]);
    assert_eq!(first.items(0, 10), items);
    assert_eq!(try_insert::<K>(store, partner, &cards[2..]).1, TAKEN);
}

/// And those that are open come by ordinal until none is left.
pub fn decided_cards_stay_as_they_are<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let refusals: Vec<_> = K::refusals().into_iter().map(ItemState::Refused).collect();
    let count = u32::try_from(3 + refusals.len()).unwrap();
    let stored = Stored::<K>::new(store, partner, &some_cards(store, partner, count));
    assert_eq!(stored.open(3), [0, 1, 2]);
    stored.settle(&[(1, K::done(1)), (0, refusals[0])]);
    assert_eq!(stored.open(3), [2, 3, 4]);
    stored.settle(&[(0, K::done(0)), (1, ItemState::Open), (2, K::done(2))]);
    let rest: Vec<_> = (3..).zip(refusals.iter().copied()).collect();
    stored.settle(&rest);
    let expected = [refusals[0], K::done(1), K::done(2)].into_iter().chain(refusals);
    assert_eq!(stored.states(), expected.collect::<Vec<_>>(), "a card for every reason");
    assert_eq!(stored.open(10), [0; 0]);
    assert_eq!(stored.counts(), ItemCounts { open: 0, done: 2, refused: count - 2 });
    stored.settle(&[]);
}

/// Also where a store goes through them in chunks.
pub fn many_cards_are_a_request_like_any_other<K: SampleKind>(store: &dyn Store) {
    const CARDS: u32 = 230;
    let partner = partner(store);
    let cards = some_cards(store, partner, CARDS);
    let stored = Stored::<K>::new(store, partner, &cards);
    let range = |range: Range<u32>| range.collect::<Vec<_>>();
    assert_eq!(stored.open(u32::MAX), range(0..CARDS));
    assert_eq!(stored.open(120), range(0..120));
    assert_eq!(stored.open(0), [0; 0]);

    stored.mark_sent(&range(0..210), true);
    assert_eq!(stored.unsent(15), range(210..225));
    let refused = ItemState::Refused(K::refusals()[0]);
    let state = |ordinal: u32| if ordinal.is_multiple_of(2) { K::done(ordinal) } else { refused };
    let decided: Vec<_> = (0..205).map(|ordinal| (ordinal, state(ordinal))).collect();
    stored.settle(&decided);
    assert_eq!(stored.open(10), range(205..215));
    assert_eq!(stored.open(u32::MAX), range(205..CARDS));
    assert_eq!(stored.counts(), ItemCounts { open: 25, done: 103, refused: 102 });
    let expected: Vec<_> = (0..205).map(state).chain([ItemState::Open; 25]).collect();
    assert_eq!(stored.states(), expected);

    for card in [0, 99, 100, 229] {
        assert_eq!(try_insert::<K>(store, partner, &cards[card..=card]).1, TAKEN);
    }
    stored.release();
    Stored::<K>::new(store, partner, &cards);
}

/// Until the mark is taken off; decided ones are not asked for.
pub fn cards_are_marked_as_sent<K: SampleKind>(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let stored = Stored::<K>::new(store, partner, &some_cards(store, partner, 6));
    assert_eq!(stored.unsent(3), [0, 1, 2]);
    stored.mark_sent(&[0, 1, 4], true);
    stored.of(other).mark_sent(&[2], true);
    assert_eq!(stored.unsent(10), [2, 3, 5]);
    stored.settle(&[(3, K::done(3))]);
    stored.mark_sent(&[1, 3], false);
    assert_eq!(stored.unsent(10), [1, 2, 5]);
    assert_eq!(stored.unsent(2), [1, 2]);
    assert_eq!(stored.open(10).len(), 5, "sent or not");
    assert_eq!(stored.of(other).unsent(10), [0; 0]);
}

/// Neither seen nor listed nor changed by another.
pub fn a_request_is_its_partners_own<K: SampleKind>(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let stored = Stored::<K>::new(store, first, &cards);
    let (batch, items) = (stored.get().unwrap(), stored.items(0, 10));
    let foreign = stored.of(second);
    assert_eq!(foreign.get(), None);
    assert_eq!(foreign.items(0, 10), []);
    assert_eq!(foreign.open(10), [0; 0]);
    assert_eq!(foreign.counts(), ItemCounts::default());
    assert_eq!(list::<K>(store, second, None, page(1, 10)), Listed { items: Vec::new(), total: 0 });
    assert!(targets::<K>(store, second, &[cards[0].id()]).is_empty());
    foreign.set_state(&CardBatch::from_stored(BatchFields {
        state: BatchState::Rejected,
        state_since: at(9),
        ..batch.clone().into_fields()
    }));
    foreign.settle(&[(0, K::done(0))]);
    foreign.add_returned(5);
    foreign.release();
    assert_eq!((stored.get(), stored.items(0, 10)), (Some(batch), items));
    assert_eq!(try_insert::<K>(store, first, &cards).1, TAKEN);
}

/// Neither another's nor ones that do not exist.
pub fn a_request_takes_only_the_partners_cards<K: SampleKind>(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let mut foreign = some_cards(store, second, 1);
    let refused = Err(StoreError::Conflict(Rule::Reference));
    let (id, inserted) = try_insert::<K>(store, first, &foreign);
    assert_eq!(inserted, refused);
    assert_eq!(Stored::<K> { store, partner: first, id }.get(), None);
    foreign[0] =
        Card::from_stored(CardFields { id: super::support::id(), ..foreign[0].clone().into_fields() });
    assert_eq!(try_insert::<K>(store, second, &foreign).1, refused);
}

/// Full pages, the last one, and those past the end.
pub fn pages_show_the_newest_first<K: SampleKind>(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let mut batches = Vec::new();
    for owner in [partner, other, partner, partner] {
        let stored = Stored::<K>::new(store, owner, &some_cards(store, owner, 1));
        if owner == partner {
            batches.insert(0, stored.get().unwrap());
        }
    }
    for (number, range) in [(1, 0..2), (2, 2..3), (3, 3..3), (Page::MAX_NUMBER, 3..3)] {
        let listed = list::<K>(store, partner, None, page(number, 2));
        assert_eq!(listed, Listed { items: batches[range].to_vec(), total: 3 }, "page {number}");
    }
}

/// And counts what fits.
pub fn the_list_filters_by_state<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let mut declined = Vec::new();
    for number in 0..5 {
        let stored = Stored::<K>::new(store, partner, &some_cards(store, partner, 1));
        if number % 2 == 0 {
            let batch = CardBatch::from_stored(BatchFields {
                state: BatchState::Decline,
                state_since: at(1),
                ..stored.get().unwrap().into_fields()
            });
            stored.set_state(&batch);
            declined.insert(0, batch);
        }
    }
    let page_of = |state, number| list::<K>(store, partner, Some(state), page(number, 2));
    let first = Listed { items: declined[..2].to_vec(), total: 3 };
    let second = Listed { items: declined[2..].to_vec(), total: 3 };
    assert_eq!(page_of(BatchState::Decline, 1), first);
    assert_eq!(page_of(BatchState::Decline, 2), second);
    assert_eq!(page_of(BatchState::New, 1).total, 2);
    assert_eq!(page_of(BatchState::Rejected, 1), Listed { items: Vec::new(), total: 0 });
}

/// The greatest there may be: stored, decided and released.
pub fn a_request_of_ten_thousand_cards<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 10_000);
    let (batch, items) = batch::<K>(&cards);
    insert_batch(store, partner, &batch, &items).unwrap();
    let stored = Stored::<K> { store, partner, id: batch.id() };
    assert_eq!(stored.items(0, 20_000), items);
    let decided: Vec<_> = (0..10_000).map(|ordinal| (ordinal, K::done(ordinal % 50))).collect();
    stored.settle(&decided);
    assert_eq!(stored.counts(), ItemCounts { open: 0, done: 10_000, refused: 0 });
    stored.release();
    Stored::<K>::new(store, partner, &cards[9_999..]);
}

/// With what a new batch has to know of them, whether they are linked or not.
pub fn targets_are_those_that_exist<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let employee = some_employee(store, partner);
    let cards = some_cards(store, partner, 3);
    link(store, partner, &cards[0], Some((employee, CardStatus::Main))).unwrap();
    let stored = Stored::<K>::new(store, partner, &cards[..1]);
    let found = targets::<K>(store, partner, &[cards[1].id(), id(), cards[0].id()]);
    let target = |card: &Card, status, claims| BatchTarget {
        card: card.id(),
        number: card.number(),
        status,
        standing: Standing::Open,
        valid_until: card.valid_until(),
        claims,
    };
    let own = CardClaims::of(K::lane(&K::terms(1)));
    let free = CardClaims::default();
    let expected = [target(&cards[0], Some(CardStatus::Main), own), target(&cards[1], None, free)];
    assert_eq!(found, expected.into_iter().map(|target| (target.card, target)).collect());
    assert!(targets::<K>(store, partner, &[]).is_empty());

    stored.release();
    assert_eq!(targets::<K>(store, partner, &[cards[0].id()])[&cards[0].id()].claims, free);
}

/// As many as one batch may name.
pub fn thousands_of_targets_are_found_at_once<K: SampleKind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 2_000);
    let mut ids: Vec<CardId> = cards.iter().map(|card| card.id()).collect();
    ids.extend((0..8_000).map(|_| id::<CardId>()));
    assert_eq!(targets::<K>(store, partner, &ids).len(), 2_000);
}

/// Every batch of the partner, oldest first, with its cards, money and job.
pub fn facts_are_those_of_every_batch<K: SampleKind>(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    Stored::<K>::new(store, other, &some_cards(store, other, 1));
    let first = Stored::<K>::new(store, partner, &some_cards(store, partner, 4));
    let second = Stored::<K>::new(store, partner, &some_cards(store, partner, 2));
    let subject = K::subject(first.id);
    write(store, move |unit| unit.jobs().enqueue(partner, subject, Duration::ZERO)).unwrap();
    first.settle(&[(1, ItemState::Refused(K::refusals()[0])), (2, K::done(2))]);
    let returned = K::done(2).returned().unwrap_or_default();
    first.add_returned(returned.get());
    let rejected = CardBatch::from_stored(BatchFields {
        state: BatchState::Rejected,
        ..second.get().unwrap().into_fields()
    });
    second.set_state(&rejected);
    second.release();
    let sum = |ordinals: &[u32]| Kopecks::sum(ordinals.iter().map(|ordinal| K::amount(*ordinal))).unwrap();
    let expected = [
        BatchFacts {
            id: first.id,
            state: BatchState::New,
            cards: 4,
            counts: ItemCounts { open: 2, done: 1, refused: 1 },
            amounts: BatchAmounts {
                asked: K::asked(4),
                open: sum(&[0, 3]),
                done: sum(&[2]),
                refused: sum(&[1]),
                returned,
                returned_by_cards: returned,
            },
            claimed_cards: 4,
            has_job: true,
        },
        BatchFacts {
            id: second.id,
            state: BatchState::Rejected,
            cards: 2,
            counts: ItemCounts { open: 2, done: 0, refused: 0 },
            amounts: BatchAmounts { asked: K::asked(2), open: sum(&[0, 1]), ..BatchAmounts::default() },
            claimed_cards: 0,
            has_job: false,
        },
    ];
    assert_eq!(read(store, move |unit| K::repository(unit).facts(partner)), expected);
}
