//! Limit changes.

use super::card_by_card::{self, Kind as _, LimitChanges, Replenishments};
use super::support::{partner, sample_limits, some_cards};
use crate::Store;

/// With its cards by ordinal, from wherever they are asked for; and its state follows.
pub fn a_request_is_read_as_it_was_made(store: &dyn Store) {
    card_by_card::a_request_is_read_as_it_was_made::<LimitChanges>(store);
}

/// The second request is refused whole, for one card among others.
pub fn a_card_is_in_one_open_request(store: &dyn Store) {
    card_by_card::a_card_is_in_one_open_request::<LimitChanges>(store);
}

/// The old request keeps its record of them.
pub fn released_cards_can_be_requested_again(store: &dyn Store) {
    card_by_card::released_cards_can_be_requested_again::<LimitChanges>(store);
}

/// And those that are open come by ordinal until none is left.
pub fn decided_cards_stay_as_they_are(store: &dyn Store) {
    card_by_card::decided_cards_stay_as_they_are::<LimitChanges>(store);
}

/// A request of many cards keeps the same rules.
pub fn many_cards_are_a_request_like_any_other(store: &dyn Store) {
    card_by_card::many_cards_are_a_request_like_any_other::<LimitChanges>(store);
}

/// Until the mark is taken off; decided ones are not asked for.
pub fn cards_are_marked_as_sent(store: &dyn Store) {
    card_by_card::cards_are_marked_as_sent::<LimitChanges>(store);
}

/// Neither seen nor listed nor changed by another.
pub fn a_request_is_its_partners_own(store: &dyn Store) {
    card_by_card::a_request_is_its_partners_own::<LimitChanges>(store);
}

/// Neither another's nor ones that do not exist.
pub fn a_request_takes_only_the_partners_cards(store: &dyn Store) {
    card_by_card::a_request_takes_only_the_partners_cards::<LimitChanges>(store);
}

/// Full pages, the last one, and those past the end.
pub fn pages_show_the_newest_first(store: &dyn Store) {
    card_by_card::pages_show_the_newest_first::<LimitChanges>(store);
}

/// And counts what fits.
pub fn the_list_filters_by_state(store: &dyn Store) {
    card_by_card::the_list_filters_by_state::<LimitChanges>(store);
}

/// The greatest there may be: stored, decided and released.
pub fn a_request_of_ten_thousand_cards(store: &dyn Store) {
    card_by_card::a_request_of_ten_thousand_cards::<LimitChanges>(store);
}

/// As it was given, of every shape.
pub fn a_request_keeps_its_limit(store: &dyn Store) {
    let partner = partner(store);
    for limit in sample_limits() {
        let (mut request, items) = LimitChanges::request(&some_cards(store, partner, 1));
        request.limit = limit;
        LimitChanges::insert(store, partner, &request, &items).unwrap();
        assert_eq!(LimitChanges::get(store, partner, request.id), Some(request));
    }
}

/// Each kind of request has claims of its own.
pub fn a_replenishment_of_the_same_card_does_not_stand_in_the_way(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 1);
    let (top_up, top_up_items) = Replenishments::request(&cards);
    Replenishments::insert(store, partner, &top_up, &top_up_items).unwrap();
    let (change, change_items) = LimitChanges::request(&cards);
    LimitChanges::insert(store, partner, &change, &change_items).unwrap();
}
