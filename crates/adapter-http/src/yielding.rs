//! Leaving the processor to others in the midst of long work.
//!
//! A body of 10,000 top-ups takes twenty milliseconds to take apart, for which every other call of the same worker would
//! wait: a large one is therefore taken apart on a thread that may be busy for long. On a server with few processors a
//! thread that is woken meanwhile gets its turn when the scheduler next looks around, which may be milliseconds later;
//! but at once, if whoever is at work lets go. To let go costs less than a microsecond where nobody waits.

use std::thread;

use serde_json::{Map, Value};

/// After so many items of a list others have their turn: some tens of microseconds of work.
const ITEMS: usize = 64;
/// From so many bytes on a body is large.
pub(crate) const LARGE_BODY: usize = 32 * 1024;

/// Lets others have their turn if `done` items are a good place for it.
pub(crate) fn after_items(done: usize) {
    if done.is_multiple_of(ITEMS) {
        thread::yield_now();
    }
}

/// The items, between which others have their turn now and again.
pub(crate) fn every_few<T>(items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    items.into_iter().zip(1..).map(|(item, number)| {
        after_items(number);
        item
    })
}

/// Lets others have their turn before or after a step that goes over so many bytes, if these are many.
pub(crate) fn around_large(bytes: usize) {
    if bytes >= LARGE_BODY {
        thread::yield_now();
    }
}

/// Frees the values of a body, and lets others have their turn meanwhile.
pub(crate) fn drop_body(body: Map<String, Value>) {
    for (_, value) in body {
        if let Value::Array(items) = value {
            every_few(items).for_each(drop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_lost_between_the_turns() {
        assert_eq!(every_few(0..200).collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
    }
}
