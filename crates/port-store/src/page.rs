//! Paging of lists.

use kopeck_domain::Invalid;

/// A page of a list: its number and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    number: u32,
    size: u32,
}

impl Page {
    /// The greatest number of records on a page.
    pub const MAX_SIZE: u32 = 500;
    /// The greatest page number; one past the end of a list is an empty page.
    pub const MAX_NUMBER: u32 = 1_000_000_000;

    /// Page `number`, counted from 1, of `size` records each.
    ///
    /// # Errors
    /// [`Invalid`] if either is out of range; use [`Page::number_in_range`] and [`Page::size_in_range`] to say which.
    pub fn new(number: u32, size: u32) -> Result<Self, Invalid> {
        Ok(Self {
            number: Self::number_in_range(i64::from(number))?,
            size: Self::size_in_range(i64::from(size))?,
        })
    }

    /// A page number.
    ///
    /// # Errors
    /// [`Invalid`] outside of `1..=1_000_000_000`.
    pub fn number_in_range(number: i64) -> Result<u32, Invalid> {
        u32::try_from(number)
            .ok()
            .filter(|n| (1..=Self::MAX_NUMBER).contains(n))
            .ok_or_else(|| Invalid::new(format!("must be an integer from 1 to {}", Self::MAX_NUMBER)))
    }

    /// A page size.
    ///
    /// # Errors
    /// [`Invalid`] outside of `1..=500`.
    pub fn size_in_range(size: i64) -> Result<u32, Invalid> {
        u32::try_from(size)
            .ok()
            .filter(|n| (1..=Self::MAX_SIZE).contains(n))
            .ok_or_else(|| Invalid::new(format!("must be an integer from 1 to {}", Self::MAX_SIZE)))
    }

    /// The page's number, from 1.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// Records per page.
    #[must_use]
    pub const fn size(self) -> u32 {
        self.size
    }

    /// How many records stand before the page.
    #[must_use]
    pub fn skip(self) -> u64 {
        u64::from(self.number - 1) * u64::from(self.size)
    }
}

/// A page of a list with the number of records in the whole list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The records of the page.
    pub items: Vec<T>,
    /// Records in the whole list.
    pub total: u64,
}

/// The interface's `meta` of a page, but for `path`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageMeta {
    /// This page.
    pub current_page: u32,
    /// Number of its first record, from 1; `None` on an empty page.
    pub from: Option<u64>,
    /// Number of its last record; `None` on an empty page.
    pub to: Option<u64>,
    /// Records in the whole list.
    pub total: u64,
    /// The last page that has records; 1 for an empty list.
    pub last_page: u64,
    /// Records per page.
    pub per_page: u32,
}

impl PageMeta {
    /// The meta data of `page` in a list of `total` records.
    #[must_use]
    pub fn new(page: Page, total: u64) -> Self {
        let first = page.skip() + 1;
        let filled = first <= total;
        Self {
            current_page: page.number,
            from: filled.then_some(first),
            to: filled.then(|| total.min(page.skip() + u64::from(page.size))),
            total,
            last_page: total.div_ceil(u64::from(page.size)).max(1),
            per_page: page.size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_empty_list_has_one_page_and_no_records() {
        let meta = PageMeta::new(Page::new(1, 15).unwrap(), 0);
        assert_eq!((meta.from, meta.to, meta.total, meta.last_page), (None, None, 0, 1));
    }

    #[test]
    fn ranges_are_checked() {
        for (number, size) in [(0, 1), (1_000_000_001, 1), (1, 0), (1, 501)] {
            assert!(Page::new(number, size).is_err(), "{number} {size}");
        }
        assert!(Page::number_in_range(-1).is_err());
        assert!(Page::size_in_range(i64::MAX).is_err());
        assert_eq!(Page::new(1_000_000_000, 500).unwrap().skip(), 499_999_999_500);
    }

    proptest! {
        #[test]
        fn the_pages_of_a_list_cover_it_once(total in 0_u64..2_000, size in 1_u32..=500) {
            let mut next = 1;
            let last = PageMeta::new(Page::new(1, size).unwrap(), total).last_page;
            for number in 1..=last {
                let meta = PageMeta::new(Page::new(u32::try_from(number).unwrap(), size).unwrap(), total);
                if let (Some(from), Some(to)) = (meta.from, meta.to) {
                    prop_assert_eq!(from, next);
                    next = to + 1;
                }
            }
            prop_assert_eq!(next, total + 1);
        }
    }
}
