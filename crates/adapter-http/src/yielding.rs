//! Cooperative yielding during long computations.
//!
//! Decoding 10,000 top-ups takes 20 ms. Large bodies are decoded on blocking threads, and these yield often: on a
//! server with few processors a woken thread would otherwise wait for the next scheduler tick. A yield costs less than
//! a microsecond if no thread waits.

use std::thread;

use serde_json::{Map, Value};

/// A yield after so many list items: some tens of microseconds of work.
const ITEMS: usize = 64;
/// Bodies from this size on are large.
pub(crate) const LARGE_BODY: usize = 32 * 1024;

/// Yields after each batch of items.
pub(crate) fn after_items(done: usize) {
    if done.is_multiple_of(ITEMS) {
        thread::yield_now();
    }
}

/// The items, with a yield after each batch of them.
pub(crate) fn every_few<T>(items: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    items.into_iter().zip(1..).map(|(item, number)| {
        after_items(number);
        item
    })
}

/// Yields before or after a step over so many bytes, if these are many.
pub(crate) fn around_large(bytes: usize) {
    if bytes >= LARGE_BODY {
        thread::yield_now();
    }
}

/// Drops the values of a body, and yields between them.
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
    fn yielding_keeps_all_items() {
        assert_eq!(every_few(0..200).collect::<Vec<_>>(), (0..200).collect::<Vec<_>>());
    }
}
