//! Replenishments.

use super::card_by_card::{self, Replenishments};
use crate::Store;

/// With its cards by ordinal, from wherever they are asked for; and its state follows.
pub fn a_request_is_read_as_it_was_made(store: &dyn Store) {
    card_by_card::a_request_is_read_as_it_was_made::<Replenishments>(store);
}

/// The second request is refused whole, for one card among others.
pub fn a_card_is_in_one_open_request(store: &dyn Store) {
    card_by_card::a_card_is_in_one_open_request::<Replenishments>(store);
}

/// The old request keeps its record of them.
pub fn released_cards_can_be_requested_again(store: &dyn Store) {
    card_by_card::released_cards_can_be_requested_again::<Replenishments>(store);
}

/// And those that are open come by ordinal until none is left.
pub fn decided_cards_stay_as_they_are(store: &dyn Store) {
    card_by_card::decided_cards_stay_as_they_are::<Replenishments>(store);
}

/// A request of many cards keeps the same rules.
pub fn many_cards_are_a_request_like_any_other(store: &dyn Store) {
    card_by_card::many_cards_are_a_request_like_any_other::<Replenishments>(store);
}

/// Until the mark is taken off; decided ones are not asked for.
pub fn cards_are_marked_as_sent(store: &dyn Store) {
    card_by_card::cards_are_marked_as_sent::<Replenishments>(store);
}

/// Neither seen nor listed nor changed by another.
pub fn a_request_is_its_partners_own(store: &dyn Store) {
    card_by_card::a_request_is_its_partners_own::<Replenishments>(store);
}

/// Neither another's nor ones that do not exist.
pub fn a_request_takes_only_the_partners_cards(store: &dyn Store) {
    card_by_card::a_request_takes_only_the_partners_cards::<Replenishments>(store);
}

/// Full pages, the last one, and those past the end.
pub fn pages_show_the_newest_first(store: &dyn Store) {
    card_by_card::pages_show_the_newest_first::<Replenishments>(store);
}

/// And counts what fits.
pub fn the_list_filters_by_state(store: &dyn Store) {
    card_by_card::the_list_filters_by_state::<Replenishments>(store);
}

/// The greatest there may be: stored, decided and released.
pub fn a_request_of_ten_thousand_cards(store: &dyn Store) {
    card_by_card::a_request_of_ten_thousand_cards::<Replenishments>(store);
}
