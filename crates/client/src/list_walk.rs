//! Reads a list that changes meanwhile.

use std::collections::HashSet;

use kopeck_api::{Page, PageMeta, Paging};

/// Below it there are too few sizes of pages for an overlap at each place.
const LEAST_SIZE: u64 = 20;

/// The next page to read, and its new records.
///
/// Pages are numbered, so a record that enters or leaves the list shifts later ones. Each page therefore overlaps the
/// records before it: its size is chosen so that it starts with a few known records, and the walk continues after the
/// last of these. If none of them is there, the records have shifted forward, and the walk goes back. The order of a
/// list never changes, so a record that stays in the list comes exactly once.
#[derive(Debug, Clone)]
pub(crate) struct ListWalk {
    most: u64,
    seen: HashSet<u128>,
    /// How many records were read.
    place: u64,
    ended: bool,
}

impl ListWalk {
    /// With pages of at most this many records.
    pub(crate) fn new(per_page: u64) -> Self {
        Self { most: per_page.max(LEAST_SIZE), seen: HashSet::new(), place: 0, ended: false }
    }

    /// The next page; `None` at the end of the list.
    pub(crate) fn next_page(&self) -> Option<Paging> {
        if self.ended {
            return None;
        }
        let Some(last_read) = self.place.checked_sub(1) else {
            return Some(Paging::page(1).per_page(self.most));
        };
        let sizes = (self.most / 2 + 1..=self.most).rev();
        let size = sizes.min_by_key(|size| last_read % size).unwrap_or(self.most);
        Some(Paging::page(last_read / size + 1).per_page(size))
    }

    /// The new records of a page; `identify` distinguishes records.
    pub(crate) fn take<T>(&mut self, page: Page<T>, identify: fn(&T) -> u128) -> impl Iterator<Item = T> {
        let Page { data, meta: PageMeta { current_page, last_page, per_page, total, .. } } = page;
        let first = current_page.saturating_sub(1).saturating_mul(per_page);
        let known = data.iter().rposition(|record| self.seen.contains(&identify(record)));
        let skipped = if first > 0 && known.is_none() {
            // By half a page, unless the list ends before that.
            self.place = first.min(total.unwrap_or(first)).saturating_sub(self.most / 2);
            data.len()
        } else {
            self.place = first.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
            self.ended = current_page >= last_page;
            known.map_or(0, |known| known + 1)
        };
        self.seen.extend(data.iter().skip(skipped).map(identify));
        data.into_iter().skip(skipped)
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::SmallRng;
    use rand::{RngExt as _, SeedableRng as _};

    use super::*;

    /// A page of the service.
    fn page_of(records: &[u64], paging: Paging) -> Page<u64> {
        let (number, size) = (paging.page.unwrap(), paging.per_page.unwrap());
        let total = records.len() as u64;
        let data = records.chunks(usize::try_from(size).unwrap()).nth(usize::try_from(number - 1).unwrap());
        let data = data.unwrap_or_default().to_vec();
        let meta = PageMeta {
            current_page: number,
            from: None,
            to: None,
            total: Some(total),
            last_page: total.div_ceil(size).max(1),
            per_page: size,
            path: String::new(),
        };
        Page { data, meta }
    }

    /// The records that a walk finds in a list that `change` changes after each page, and how many it read.
    fn walked(
        mut records: Vec<u64>,
        per_page: u64,
        mut change: impl FnMut(&mut Vec<u64>),
    ) -> (Vec<u64>, usize) {
        let (mut walk, mut found, mut read) = (ListWalk::new(per_page), Vec::new(), 0);
        while let Some(paging) = walk.next_page() {
            let page = page_of(&records, paging);
            read += page.data.len();
            found.extend(walk.take(page, |record| u128::from(*record)));
            change(&mut records);
        }
        (found, read)
    }

    #[test]
    fn a_list_that_stays_is_read_whole_and_in_order() {
        for length in [0, 1, 19, 20, 21, 99, 100, 101, 997, 2_520, 2_521] {
            let records: Vec<u64> = (0..length).collect();
            for per_page in [1, 20, 33, 100, 500] {
                let (found, _) = walked(records.clone(), per_page, |_| {});
                assert_eq!(found, records, "{length} {per_page}");
            }
        }
    }

    #[test]
    fn overlaps_are_small() {
        let (_, read) = walked((0..10_000).collect(), 100, |_| {});
        assert!(read < 10_500, "{read}");
    }

    #[test]
    fn a_record_that_stays_comes_once_however_the_list_changes() {
        for seed in 0..300 {
            let mut chance = SmallRng::seed_from_u64(seed);
            let records: Vec<u64> = (0..chance.random_range(0..400)).collect();
            let stays: HashSet<u64> = records.iter().copied().filter(|_| chance.random_bool(0.5)).collect();
            let expected: Vec<u64> = records.iter().copied().filter(|one| stays.contains(one)).collect();
            let per_page = *[1, 20, 50].get(chance.random_range(0..3)).unwrap();
            let (mut changes, mut fresh) = (0, 1_000_000);
            let (found, _) = walked(records, per_page, |records| {
                changes += 1;
                // A list that grows as fast as it is read would have no end.
                if changes > 100 {
                    return;
                }
                records.retain(|one| stays.contains(one) || chance.random_bool(0.8));
                for _ in 0..chance.random_range(0..30) {
                    // New ones come to the front, to the end or, where a filter lets them in, anywhere.
                    let at = match seed % 3 {
                        0 => 0,
                        1 => records.len(),
                        _ => chance.random_range(0..=records.len()),
                    };
                    records.insert(at, fresh);
                    fresh += 1;
                }
            });
            let distinct: HashSet<u64> = found.iter().copied().collect();
            assert_eq!(distinct.len(), found.len(), "seed {seed}");
            let stayed: Vec<u64> = found.into_iter().filter(|one| stays.contains(one)).collect();
            assert_eq!(stayed, expected, "seed {seed}");
        }
    }
}
