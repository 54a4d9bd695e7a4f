//! Replenishments.

use kopeck_domain::ids::{PartnerId, ReplenishmentId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{ItemState, Replenishment, ReplenishmentItem, TopUpRefusal};
use kopeck_domain::request::RequestState;

use super::support::{at, id, insert_replenishment, page, partner, read, replenishment, some_cards, write};
use crate::{ItemCounts, Rule, Store, StoreError};

fn get(store: &dyn Store, partner: PartnerId, id: ReplenishmentId) -> Option<Replenishment> {
    read(store, move |unit| unit.replenishments().get(partner, id))
}

fn items(store: &dyn Store, partner: PartnerId, id: ReplenishmentId) -> Vec<ReplenishmentItem> {
    read(store, move |unit| unit.replenishments().items(partner, id, 0, 20_000))
}

fn counts(store: &dyn Store, partner: PartnerId, id: ReplenishmentId) -> ItemCounts {
    read(store, move |unit| unit.replenishments().counts(partner, id))
}

fn settle(store: &dyn Store, partner: PartnerId, id: ReplenishmentId, decided: &[(u32, ItemState)]) {
    let decided = decided.to_vec();
    write(store, move |unit| unit.replenishments().settle_items(partner, id, &decided)).unwrap();
}

fn set_state(store: &dyn Store, partner: PartnerId, request: &Replenishment) {
    let request = request.clone();
    write(store, move |unit| unit.replenishments().set_state(partner, &request)).unwrap();
}

fn release(store: &dyn Store, partner: PartnerId, id: ReplenishmentId) {
    write(store, move |unit| unit.replenishments().release_cards(partner, id)).unwrap();
}

fn list(
    store: &dyn Store,
    partner: PartnerId,
    status: Option<RequestState>,
    page: Page,
) -> Listed<Replenishment> {
    read(store, move |unit| unit.replenishments().list(partner, status, page))
}

/// With its cards by ordinal, from wherever they are asked for; and its state follows.
pub fn a_request_is_read_as_it_was_made(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 4);
    let (request, wanted) = replenishment(&cards);
    let id = request.id;
    assert_eq!(get(store, partner, id), None);
    insert_replenishment(store, partner, &request, &wanted).unwrap();
    assert_eq!(get(store, partner, id), Some(request.clone()));
    assert_eq!(items(store, partner, id), wanted);
    let some = read(store, move |unit| unit.replenishments().items(partner, id, 1, 2));
    assert_eq!(some, wanted[1..3]);
    assert_eq!(counts(store, partner, id), ItemCounts { open: 4, topped_up: 0, refused: 0 });
    let states = RequestState::ALL.iter().filter(|state| **state != RequestState::Confirmed);
    for (state, seconds) in states.zip(10..) {
        let changed = Replenishment { state: *state, state_since: at(seconds), ..request.clone() };
        set_state(store, partner, &changed);
        assert_eq!(get(store, partner, id), Some(changed));
    }
}

/// The second request is refused whole, for one card among others.
pub fn a_card_is_in_one_open_request(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 3);
    let (first, first_items) = replenishment(&cards[..2]);
    insert_replenishment(store, partner, &first, &first_items).unwrap();
    let (second, second_items) = replenishment(&cards[1..]);
    let refused = insert_replenishment(store, partner, &second, &second_items);
    assert_eq!(refused, Err(StoreError::Conflict(Rule::CardInOneReplenishment)));
    assert_eq!(get(store, partner, second.id), None);
    assert_eq!(items(store, partner, second.id), []);
    let (third, third_items) = replenishment(&cards[2..]);
    insert_replenishment(store, partner, &third, &third_items).unwrap();
    let (double, double_items) = replenishment(&[&some_cards(store, partner, 1)[..]; 2].concat());
    let refused = insert_replenishment(store, partner, &double, &double_items);
    assert_eq!(refused, Err(StoreError::Conflict(Rule::CardInOneReplenishment)));
}

/// The old request keeps its record of them.
pub fn released_cards_can_be_requested_again(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 3);
    let (first, first_items) = replenishment(&cards[..2]);
    let (other, other_items) = replenishment(&cards[2..]);
    insert_replenishment(store, partner, &first, &first_items).unwrap();
    insert_replenishment(store, partner, &other, &other_items).unwrap();
    release(store, partner, first.id);
    let (again, again_items) = replenishment(&cards[..2]);
    insert_replenishment(store, partner, &again, &again_items).unwrap();
    assert_eq!(items(store, partner, first.id), first_items);
    let (third, third_items) = replenishment(&cards[2..]);
    let refused = insert_replenishment(store, partner, &third, &third_items);
    assert_eq!(refused, Err(StoreError::Conflict(Rule::CardInOneReplenishment)));
}

/// And those that are open come by ordinal until none is left.
pub fn decided_cards_stay_as_they_are(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 9);
    let (request, wanted) = replenishment(&cards);
    let id = request.id;
    insert_replenishment(store, partner, &request, &wanted).unwrap();
    let open = |limit| -> Vec<u32> {
        let items = read(store, move |unit| unit.replenishments().open_items(partner, id, limit));
        items.iter().map(|item| item.ordinal).collect()
    };
    assert_eq!(open(3), [0, 1, 2]);
    settle(store, partner, id, &[(1, ItemState::ToppedUp), (0, ItemState::Refused(TopUpRefusal::Blocked))]);
    assert_eq!(open(3), [2, 3, 4]);
    settle(store, partner, id, &[(0, ItemState::ToppedUp), (1, ItemState::Open), (2, ItemState::ToppedUp)]);
    let refusals = TopUpRefusal::ALL.iter().map(|refusal| ItemState::Refused(*refusal));
    let rest: Vec<(u32, ItemState)> = (3..).zip(refusals).collect();
    assert_eq!(rest.len(), 6, "one card for every reason");
    settle(store, partner, id, &rest);
    let expected = [ItemState::Refused(TopUpRefusal::Blocked), ItemState::ToppedUp, ItemState::ToppedUp];
    let expected: Vec<ItemState> =
        expected.into_iter().chain(rest.into_iter().map(|(_, state)| state)).collect();
    let states: Vec<ItemState> = items(store, partner, id).iter().map(|item| item.state).collect();
    assert_eq!(states, expected);
    assert_eq!(open(10), [0; 0]);
    assert_eq!(counts(store, partner, id), ItemCounts { open: 0, topped_up: 2, refused: 7 });
    settle(store, partner, id, &[]);
}

/// Neither seen nor listed nor changed by another.
pub fn a_request_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let (request, wanted) = replenishment(&cards);
    let id = request.id;
    insert_replenishment(store, first, &request, &wanted).unwrap();
    assert_eq!(get(store, second, id), None);
    assert_eq!(items(store, second, id), []);
    assert_eq!(read(store, move |unit| unit.replenishments().open_items(second, id, 10)), []);
    assert_eq!(counts(store, second, id), ItemCounts::default());
    assert_eq!(list(store, second, None, page(1, 10)), Listed { items: Vec::new(), total: 0 });
    set_state(store, second, &Replenishment { state: RequestState::Rejected, ..request.clone() });
    settle(store, second, id, &[(0, ItemState::ToppedUp)]);
    release(store, second, id);
    assert_eq!(get(store, first, id), Some(request));
    assert_eq!(items(store, first, id), wanted);
    let (again, again_items) = replenishment(&cards);
    let refused = insert_replenishment(store, first, &again, &again_items);
    assert_eq!(refused, Err(StoreError::Conflict(Rule::CardInOneReplenishment)));
}

/// Neither another's nor ones that do not exist.
pub fn a_request_takes_only_the_partners_cards(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let foreign = some_cards(store, second, 1);
    let (request, mut wanted) = replenishment(&foreign);
    let refused = Err(StoreError::Conflict(Rule::Reference));
    assert_eq!(insert_replenishment(store, first, &request, &wanted), refused);
    wanted[0].card = id();
    assert_eq!(insert_replenishment(store, second, &request, &wanted), refused);
    assert_eq!(get(store, first, request.id), None);
}

/// Full pages, the last one, and those past the end.
pub fn pages_show_the_newest_first(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let mut requests = Vec::new();
    for (owner, keep) in [(partner, true), (other, false), (partner, true), (partner, true)] {
        let (request, wanted) = replenishment(&some_cards(store, owner, 1));
        insert_replenishment(store, owner, &request, &wanted).unwrap();
        if keep {
            requests.insert(0, request);
        }
    }
    for (number, range) in [(1, 0..2), (2, 2..3), (3, 3..3), (Page::MAX_NUMBER, 3..3)] {
        let listed = list(store, partner, None, page(number, 2));
        assert_eq!(listed, Listed { items: requests[range].to_vec(), total: 3 }, "page {number}");
    }
}

/// And counts what fits.
pub fn the_list_filters_by_state(store: &dyn Store) {
    let partner = partner(store);
    let mut declined = Vec::new();
    for number in 0..5 {
        let (request, wanted) = replenishment(&some_cards(store, partner, 1));
        insert_replenishment(store, partner, &request, &wanted).unwrap();
        if number % 2 == 0 {
            let request = Replenishment { state: RequestState::Decline, ..request };
            set_state(store, partner, &request);
            declined.insert(0, request);
        }
    }
    let page_of = |state, number| list(store, partner, Some(state), page(number, 2));
    let first = Listed { items: declined[..2].to_vec(), total: 3 };
    let second = Listed { items: declined[2..].to_vec(), total: 3 };
    assert_eq!(page_of(RequestState::Decline, 1), first);
    assert_eq!(page_of(RequestState::Decline, 2), second);
    assert_eq!(page_of(RequestState::New, 1).total, 2);
    assert_eq!(page_of(RequestState::Confirmed, 1), Listed { items: Vec::new(), total: 0 });
}

/// The greatest there may be: stored, decided and released.
pub fn a_request_of_ten_thousand_cards(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 10_000);
    let (request, wanted) = replenishment(&cards);
    let id = request.id;
    insert_replenishment(store, partner, &request, &wanted).unwrap();
    assert_eq!(items(store, partner, id), wanted);
    let decided: Vec<(u32, ItemState)> = (0..10_000).map(|ordinal| (ordinal, ItemState::ToppedUp)).collect();
    settle(store, partner, id, &decided);
    assert_eq!(counts(store, partner, id), ItemCounts { open: 0, topped_up: 10_000, refused: 0 });
    release(store, partner, id);
    let (again, again_items) = replenishment(&cards[9_999..]);
    insert_replenishment(store, partner, &again, &again_items).unwrap();
}
