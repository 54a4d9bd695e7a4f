//! The cards of a new request, held against what the store has of them.

use std::collections::{HashMap, HashSet};

use kopeck_domain::ids::CardId;

/// What the store has of each card, in the order of the request.
///
/// # Errors
/// The cards of which it has nothing, if there are any.
pub(crate) fn known<'a, T>(
    cards: &[CardId],
    targets: &'a HashMap<CardId, T>,
) -> Result<Vec<&'a T>, Vec<CardId>> {
    let found: Vec<&T> = cards.iter().filter_map(|card| targets.get(card)).collect();
    if found.len() == cards.len() {
        return Ok(found);
    }
    Err(cards.iter().filter(|card| !targets.contains_key(card)).copied().collect())
}

/// The cards that a call took which ran at the same moment. Where the store cannot show them any more, all of them:
/// after a broken constraint a database may answer nothing more, or show its data as they were.
pub(crate) fn taken(cards: &[CardId], claimed: impl Iterator<Item = CardId>) -> Vec<CardId> {
    let claimed: HashSet<CardId> = claimed.collect();
    cards.iter().filter(|card| claimed.is_empty() || claimed.contains(card)).copied().collect()
}
