//! How large a statement of mass work may be.
//!
//! A process of the server leaves its processor to others between two statements, and hardly within one. So work over
//! thousands of rows comes in statements of a millisecond or less: where the processors are few, whoever looks something
//! up meanwhile waits for one of these and not for all of them. The transaction stays one. SQLite, which is in the
//! process, does not mind either way.

/// So many rows a statement adds. Each is looked for in other tables and goes into several indexes.
pub(crate) const ADDED: usize = 50;
/// So many rows a statement reads or changes.
pub(crate) const TOUCHED: usize = 100;

/// The ordinals of so many rows, counted from nought, piece by piece: the first of each and the first behind it.
pub(crate) fn stretches(rows: i64) -> impl Iterator<Item = (i64, i64)> {
    // A constant that fits.
    let length = TOUCHED as i64;
    (0..rows).step_by(TOUCHED).map(move |first| (first, first + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ordinal_is_in_one_stretch() {
        for rows in [0, 1, 99, 100, 101, 250] {
            let ordinals: Vec<i64> = stretches(rows).flat_map(|(first, end)| first..end.min(rows)).collect();
            assert_eq!(ordinals, (0..rows).collect::<Vec<_>>());
        }
    }
}
