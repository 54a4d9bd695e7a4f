//! The cases of requests that deal with each of their cards for itself: replenishments and limit changes keep the same
//! rules, each in tables of its own.

use std::fmt::Debug;
use std::ops::Range;

use kopeck_domain::card::Card;
use kopeck_domain::ids::{CardId, LimitChangeId, PartnerId, ReplenishmentId};
use kopeck_domain::limit_change::{self, LimitChange, LimitChangeItem, LimitChangeRefusal};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{self, Replenishment, ReplenishmentItem, TopUpRefusal};
use kopeck_domain::request::RequestState;
use time::OffsetDateTime;

use super::support;
use super::support::{at, id, page, partner, read, some_cards, write};
use crate::{ItemCounts, Rule, Store, StoreError};

/// A kind of request, and the way to its repository.
pub(super) trait Kind {
    type Id: Copy + Debug + Send + 'static;
    type Request: Clone + PartialEq + Debug + Send + 'static;
    type Item: Clone + PartialEq + Debug + Send + 'static;
    type State: Copy + PartialEq + Debug + Send + 'static;

    /// What keeps a card in one open request.
    const RULE: Rule;
    const OPEN: Self::State;
    const DONE: Self::State;

    /// Every way in which a card can be refused.
    fn refusals() -> Vec<Self::State>;
    /// A new request for these cards.
    fn request(cards: &[Card]) -> (Self::Request, Vec<Self::Item>);
    fn id(request: &Self::Request) -> Self::Id;
    /// The request in another state.
    fn moved(request: &Self::Request, state: RequestState, since: OffsetDateTime) -> Self::Request;
    fn ordinal(item: &Self::Item) -> u32;
    fn state(item: &Self::Item) -> Self::State;
    /// The item with another card.
    fn of_card(item: &Self::Item, card: CardId) -> Self::Item;

    fn insert(
        store: &dyn Store,
        partner: PartnerId,
        request: &Self::Request,
        items: &[Self::Item],
    ) -> Result<(), StoreError>;
    fn get(store: &dyn Store, partner: PartnerId, id: Self::Id) -> Option<Self::Request>;
    fn set_state(store: &dyn Store, partner: PartnerId, request: &Self::Request);
    fn items(store: &dyn Store, partner: PartnerId, id: Self::Id, from: u32, limit: u32) -> Vec<Self::Item>;
    fn open_items(store: &dyn Store, partner: PartnerId, id: Self::Id, limit: u32) -> Vec<Self::Item>;
    fn unsent_items(store: &dyn Store, partner: PartnerId, id: Self::Id, limit: u32) -> Vec<Self::Item>;
    fn mark_sent(store: &dyn Store, partner: PartnerId, id: Self::Id, ordinals: &[u32], sent: bool);
    fn settle(store: &dyn Store, partner: PartnerId, id: Self::Id, decided: &[(u32, Self::State)]);
    fn counts(store: &dyn Store, partner: PartnerId, id: Self::Id) -> ItemCounts;
    fn release(store: &dyn Store, partner: PartnerId, id: Self::Id);
    fn list(
        store: &dyn Store,
        partner: PartnerId,
        status: Option<RequestState>,
        page: Page,
    ) -> Listed<Self::Request>;
}

macro_rules! kind {
    (
        $(#[$doc:meta])*
        $kind:ident: $request:ident ($id:ident), $item:ident, $state:path, $done:ident, $refusal:ident, $rule:ident,
        $make:ident, $repository:ident
    ) => {
        $(#[$doc])*
        pub(super) struct $kind;

        impl Kind for $kind {
            type Id = $id;
            type Request = $request;
            type Item = $item;
            type State = $state;

            const RULE: Rule = Rule::$rule;
            const OPEN: $state = <$state>::Open;
            const DONE: $state = <$state>::$done;

            fn refusals() -> Vec<$state> {
                $refusal::ALL.iter().map(|refusal| <$state>::Refused(*refusal)).collect()
            }

            fn request(cards: &[Card]) -> ($request, Vec<$item>) {
                support::$make(cards)
            }

            fn id(request: &$request) -> $id {
                request.id
            }

            fn moved(request: &$request, state: RequestState, state_since: OffsetDateTime) -> $request {
                $request { state, state_since, ..request.clone() }
            }

            fn ordinal(item: &$item) -> u32 {
                item.ordinal
            }

            fn state(item: &$item) -> $state {
                item.state
            }

            fn of_card(item: &$item, card: CardId) -> $item {
                $item { card, ..item.clone() }
            }

            fn insert(
                store: &dyn Store,
                partner: PartnerId,
                request: &$request,
                items: &[$item],
            ) -> Result<(), StoreError> {
                let (request, items) = (request.clone(), items.to_vec());
                write(store, move |unit| unit.$repository().insert(partner, &request, &items))
            }

            fn get(store: &dyn Store, partner: PartnerId, id: $id) -> Option<$request> {
                read(store, move |unit| unit.$repository().get(partner, id))
            }

            fn set_state(store: &dyn Store, partner: PartnerId, request: &$request) {
                let request = request.clone();
                write(store, move |unit| unit.$repository().set_state(partner, &request)).unwrap();
            }

            fn items(store: &dyn Store, partner: PartnerId, id: $id, from: u32, limit: u32) -> Vec<$item> {
                read(store, move |unit| unit.$repository().items(partner, id, from, limit))
            }

            fn open_items(store: &dyn Store, partner: PartnerId, id: $id, limit: u32) -> Vec<$item> {
                read(store, move |unit| unit.$repository().open_items(partner, id, limit))
            }

            fn unsent_items(store: &dyn Store, partner: PartnerId, id: $id, limit: u32) -> Vec<$item> {
                read(store, move |unit| unit.$repository().unsent_items(partner, id, limit))
            }

            fn mark_sent(store: &dyn Store, partner: PartnerId, id: $id, ordinals: &[u32], sent: bool) {
                let ordinals = ordinals.to_vec();
                write(store, move |unit| unit.$repository().mark_sent(partner, id, &ordinals, sent)).unwrap();
            }

            fn settle(store: &dyn Store, partner: PartnerId, id: $id, decided: &[(u32, $state)]) {
                let decided = decided.to_vec();
                write(store, move |unit| unit.$repository().settle_items(partner, id, &decided)).unwrap();
            }

            fn counts(store: &dyn Store, partner: PartnerId, id: $id) -> ItemCounts {
                read(store, move |unit| unit.$repository().counts(partner, id))
            }

            fn release(store: &dyn Store, partner: PartnerId, id: $id) {
                write(store, move |unit| unit.$repository().release_cards(partner, id)).unwrap();
            }

            fn list(
                store: &dyn Store,
                partner: PartnerId,
                status: Option<RequestState>,
                page: Page,
            ) -> Listed<$request> {
                read(store, move |unit| unit.$repository().list(partner, status, page))
            }
        }
    };
}

kind! {
    /// Top-ups of cards.
    Replenishments: Replenishment (ReplenishmentId), ReplenishmentItem, replenishment::ItemState, ToppedUp,
    TopUpRefusal, CardInOneReplenishment, replenishment, replenishments
}
kind! {
    /// Changes of cards' limits.
    LimitChanges: LimitChange (LimitChangeId), LimitChangeItem, limit_change::ItemState, Done,
    LimitChangeRefusal, CardInOneLimitChange, limit_change, limit_changes
}

/// With its cards by ordinal, from wherever they are asked for; and its state follows.
pub(super) fn a_request_is_read_as_it_was_made<K: Kind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 4);
    let (request, wanted) = K::request(&cards);
    let id = K::id(&request);
    assert_eq!(K::get(store, partner, id), None);
    K::insert(store, partner, &request, &wanted).unwrap();
    assert_eq!(K::get(store, partner, id), Some(request.clone()));
    assert_eq!(K::items(store, partner, id, 0, 10), wanted);
    assert_eq!(K::items(store, partner, id, 1, 2), wanted[1..3]);
    assert_eq!(K::counts(store, partner, id), ItemCounts { open: 4, done: 0, refused: 0 });
    let states = RequestState::ALL.iter().filter(|state| **state != RequestState::Confirmed);
    for (state, seconds) in states.zip(10..) {
        let changed = K::moved(&request, *state, at(seconds));
        K::set_state(store, partner, &changed);
        assert_eq!(K::get(store, partner, id), Some(changed));
    }
}

/// The second request is refused whole, for one card among others.
pub(super) fn a_card_is_in_one_open_request<K: Kind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 3);
    let insert = |cards: &[Card]| {
        let (request, wanted) = K::request(cards);
        (K::id(&request), K::insert(store, partner, &request, &wanted))
    };
    assert_eq!(insert(&cards[..2]).1, Ok(()));
    let (second, refused) = insert(&cards[1..]);
    assert_eq!(refused, Err(StoreError::Conflict(K::RULE)));
    assert_eq!(K::get(store, partner, second), None);
    assert_eq!(K::items(store, partner, second, 0, 10), []);
    assert_eq!(insert(&cards[2..]).1, Ok(()));
    let double = [&some_cards(store, partner, 1)[..]; 2].concat();
    assert_eq!(insert(&double).1, Err(StoreError::Conflict(K::RULE)));
}

/// The old request keeps its record of them.
pub(super) fn released_cards_can_be_requested_again<K: Kind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 3);
    let insert = |cards: &[Card]| {
        let (request, wanted) = K::request(cards);
        K::insert(store, partner, &request, &wanted).map(|()| (K::id(&request), wanted))
    };
    let (first, first_items) = insert(&cards[..2]).unwrap();
    insert(&cards[2..]).unwrap();
    K::release(store, partner, first);
    insert(&cards[..2]).unwrap();
    assert_eq!(K::items(store, partner, first, 0, 10), first_items);
    assert_eq!(insert(&cards[2..]).unwrap_err(), StoreError::Conflict(K::RULE));
}

/// And those that are open come by ordinal until none is left.
pub(super) fn decided_cards_stay_as_they_are<K: Kind>(store: &dyn Store) {
    let partner = partner(store);
    let refusals = K::refusals();
    let count = u32::try_from(3 + refusals.len()).unwrap();
    let cards = some_cards(store, partner, count);
    let (request, wanted) = K::request(&cards);
    let id = K::id(&request);
    K::insert(store, partner, &request, &wanted).unwrap();
    let open = |limit| -> Vec<u32> {
        K::open_items(store, partner, id, limit).iter().map(|item| K::ordinal(item)).collect()
    };
    assert_eq!(open(3), [0, 1, 2]);
    K::settle(store, partner, id, &[(1, K::DONE), (0, refusals[0])]);
    assert_eq!(open(3), [2, 3, 4]);
    K::settle(store, partner, id, &[(0, K::DONE), (1, K::OPEN), (2, K::DONE)]);
    let rest: Vec<(u32, K::State)> = (3..).zip(refusals.iter().copied()).collect();
    K::settle(store, partner, id, &rest);
    let expected = [refusals[0], K::DONE, K::DONE];
    let expected: Vec<K::State> = expected.into_iter().chain(refusals).collect();
    let states: Vec<K::State> =
        K::items(store, partner, id, 0, count).iter().map(|item| K::state(item)).collect();
    assert_eq!(states, expected, "a card for every reason");
    assert_eq!(open(10), [0; 0]);
    assert_eq!(K::counts(store, partner, id), ItemCounts { open: 0, done: 2, refused: count - 2 });
    K::settle(store, partner, id, &[]);
}

/// Also where a store has good reason to go through them piece by piece.
pub(super) fn many_cards_are_a_request_like_any_other<K: Kind>(store: &dyn Store) {
    const CARDS: u32 = 230;
    let partner = partner(store);
    let cards = some_cards(store, partner, CARDS);
    let (request, wanted) = K::request(&cards);
    let id = K::id(&request);
    K::insert(store, partner, &request, &wanted).unwrap();
    let ordinals = |items: Vec<K::Item>| -> Vec<u32> { items.iter().map(|item| K::ordinal(item)).collect() };
    let range = |range: Range<u32>| range.collect::<Vec<_>>();
    assert_eq!(ordinals(K::open_items(store, partner, id, u32::MAX)), range(0..CARDS));
    assert_eq!(ordinals(K::open_items(store, partner, id, 120)), range(0..120));
    assert_eq!(K::open_items(store, partner, id, 0), []);

    K::mark_sent(store, partner, id, &range(0..210), true);
    assert_eq!(ordinals(K::unsent_items(store, partner, id, 15)), range(210..225));
    let refused = K::refusals()[0];
    let state = |ordinal: u32| if ordinal.is_multiple_of(2) { K::DONE } else { refused };
    let decided: Vec<_> = (0..205).map(|ordinal| (ordinal, state(ordinal))).collect();
    K::settle(store, partner, id, &decided);
    assert_eq!(ordinals(K::open_items(store, partner, id, 10)), range(205..215));
    assert_eq!(ordinals(K::open_items(store, partner, id, u32::MAX)), range(205..CARDS));
    assert_eq!(K::counts(store, partner, id), ItemCounts { open: 25, done: 103, refused: 102 });
    let states: Vec<K::State> =
        K::items(store, partner, id, 0, CARDS).iter().map(|item| K::state(item)).collect();
    let expected: Vec<K::State> = (0..205).map(state).chain([K::OPEN; 25]).collect();
    assert_eq!(states, expected);

    let again = |cards: &[Card]| {
        let (request, wanted) = K::request(cards);
        K::insert(store, partner, &request, &wanted)
    };
    for card in [0, 99, 100, 229] {
        assert_eq!(again(&cards[card..=card]).unwrap_err(), StoreError::Conflict(K::RULE));
    }
    K::release(store, partner, id);
    again(&cards).unwrap();
}

/// Until the mark is taken off; decided ones are not asked for.
pub(super) fn cards_are_marked_as_sent<K: Kind>(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (request, wanted) = K::request(&some_cards(store, partner, 6));
    let id = K::id(&request);
    K::insert(store, partner, &request, &wanted).unwrap();
    let unsent = |limit| -> Vec<u32> {
        K::unsent_items(store, partner, id, limit).iter().map(|item| K::ordinal(item)).collect()
    };
    assert_eq!(unsent(3), [0, 1, 2]);
    K::mark_sent(store, partner, id, &[0, 1, 4], true);
    K::mark_sent(store, other, id, &[2], true);
    assert_eq!(unsent(10), [2, 3, 5]);
    K::settle(store, partner, id, &[(3, K::DONE)]);
    K::mark_sent(store, partner, id, &[1, 3], false);
    assert_eq!(unsent(10), [1, 2, 5]);
    assert_eq!(unsent(2), [1, 2]);
    assert_eq!(K::open_items(store, partner, id, 10).len(), 5, "sent or not");
    assert_eq!(K::unsent_items(store, other, id, 10), []);
}

/// Neither seen nor listed nor changed by another.
pub(super) fn a_request_is_its_partners_own<K: Kind>(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let (request, wanted) = K::request(&cards);
    let id = K::id(&request);
    K::insert(store, first, &request, &wanted).unwrap();
    assert_eq!(K::get(store, second, id), None);
    assert_eq!(K::items(store, second, id, 0, 10), []);
    assert_eq!(K::open_items(store, second, id, 10), []);
    assert_eq!(K::counts(store, second, id), ItemCounts::default());
    assert_eq!(K::list(store, second, None, page(1, 10)), Listed { items: Vec::new(), total: 0 });
    K::set_state(store, second, &K::moved(&request, RequestState::Rejected, at(9)));
    K::settle(store, second, id, &[(0, K::DONE)]);
    K::release(store, second, id);
    assert_eq!(K::get(store, first, id), Some(request));
    assert_eq!(K::items(store, first, id, 0, 10), wanted);
    let (again, again_items) = K::request(&cards);
    let refused = K::insert(store, first, &again, &again_items);
    assert_eq!(refused, Err(StoreError::Conflict(K::RULE)));
}

/// Neither another's nor ones that do not exist.
pub(super) fn a_request_takes_only_the_partners_cards<K: Kind>(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let foreign = some_cards(store, second, 1);
    let (request, wanted) = K::request(&foreign);
    let refused = Err(StoreError::Conflict(Rule::Reference));
    assert_eq!(K::insert(store, first, &request, &wanted), refused);
    assert_eq!(K::insert(store, second, &request, &[K::of_card(&wanted[0], id())]), refused);
    assert_eq!(K::get(store, first, K::id(&request)), None);
}

/// Full pages, the last one, and those past the end.
pub(super) fn pages_show_the_newest_first<K: Kind>(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let mut requests = Vec::new();
    for (owner, keep) in [(partner, true), (other, false), (partner, true), (partner, true)] {
        let (request, wanted) = K::request(&some_cards(store, owner, 1));
        K::insert(store, owner, &request, &wanted).unwrap();
        if keep {
            requests.insert(0, request);
        }
    }
    for (number, range) in [(1, 0..2), (2, 2..3), (3, 3..3), (Page::MAX_NUMBER, 3..3)] {
        let listed = K::list(store, partner, None, page(number, 2));
        assert_eq!(listed, Listed { items: requests[range].to_vec(), total: 3 }, "page {number}");
    }
}

/// And counts what fits.
pub(super) fn the_list_filters_by_state<K: Kind>(store: &dyn Store) {
    let partner = partner(store);
    let mut declined = Vec::new();
    for number in 0..5 {
        let (request, wanted) = K::request(&some_cards(store, partner, 1));
        K::insert(store, partner, &request, &wanted).unwrap();
        if number % 2 == 0 {
            let request = K::moved(&request, RequestState::Decline, at(1));
            K::set_state(store, partner, &request);
            declined.insert(0, request);
        }
    }
    let page_of = |state, number| K::list(store, partner, Some(state), page(number, 2));
    let first = Listed { items: declined[..2].to_vec(), total: 3 };
    let second = Listed { items: declined[2..].to_vec(), total: 3 };
    assert_eq!(page_of(RequestState::Decline, 1), first);
    assert_eq!(page_of(RequestState::Decline, 2), second);
    assert_eq!(page_of(RequestState::New, 1).total, 2);
    assert_eq!(page_of(RequestState::Confirmed, 1), Listed { items: Vec::new(), total: 0 });
}

/// The greatest there may be: stored, decided and released.
pub(super) fn a_request_of_ten_thousand_cards<K: Kind>(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 10_000);
    let (request, wanted) = K::request(&cards);
    let id = K::id(&request);
    K::insert(store, partner, &request, &wanted).unwrap();
    assert_eq!(K::items(store, partner, id, 0, 20_000), wanted);
    let decided: Vec<(u32, K::State)> = (0..10_000).map(|ordinal| (ordinal, K::DONE)).collect();
    K::settle(store, partner, id, &decided);
    assert_eq!(K::counts(store, partner, id), ItemCounts { open: 0, done: 10_000, refused: 0 });
    K::release(store, partner, id);
    let (again, again_items) = K::request(&cards[9_999..]);
    K::insert(store, partner, &again, &again_items).unwrap();
}
