//! How large a statement of mass work may be.
//!
//! A process of the server leaves its processor to others between two statements, and hardly within one. So work over
//! thousands of rows comes in statements of a millisecond or less: where the processors are few, whoever looks something
//! up meanwhile waits for one of these and not for all of them. The transaction stays one. SQLite, which is in the
//! process, does not mind either way.

/// So many rows a statement adds. Each is looked for in other tables and goes into several indexes.
pub(crate) const ADDED: usize = 50;
/// So many rows a statement reads or changes.
pub(crate) const TOUCHED: u32 = 100;
/// So many rows a statement passes over to find some.
pub(crate) const PASSED: u32 = 1_000;
/// So many rows a statement counts: half a millisecond.
pub(crate) const COUNTED: u32 = 250;

/// The ordinals of so many rows, counted from nought, in pieces of `length`: the first of each and the first behind it.
pub(crate) fn stretches(rows: i64, length: u32) -> impl Iterator<Item = (i64, i64)> {
    (0..rows).step_by(length as usize).map(move |first| (first, first + i64::from(length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordinal_is_in_one_stretch() {
        for rows in [0, 1, 99, 100, 101, 250] {
            let ordinals: Vec<i64> =
                stretches(rows, 100).flat_map(|(first, end)| first..end.min(rows)).collect();
            assert_eq!(ordinals, (0..rows).collect::<Vec<_>>());
        }
    }
}
