//! Pages of lists.

use serde::{Deserialize, Serialize};

use crate::shape::body;

/// Which page of a list to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Paging {
    /// The number of the page, from 1. Default: the first.
    pub page: Option<u64>,
    /// The records on a page, 1 to 500. Default: 15, for transactions 100.
    pub per_page: Option<u64>,
}

impl Paging {
    /// A page by its number.
    #[must_use]
    pub const fn page(page: u64) -> Self {
        Self { page: Some(page), per_page: None }
    }

    /// With another number of records on a page.
    #[must_use]
    pub const fn per_page(self, per_page: u64) -> Self {
        Self { per_page: Some(per_page), ..self }
    }
}

/// A page of a list; [`following`](Self::following) leads through them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The records.
    pub data: Vec<T>,
    /// Their position in the list.
    pub meta: PageMeta,
}

impl<T> Page<T> {
    /// The page after this one, if there is one.
    #[must_use]
    pub fn following(&self) -> Option<Paging> {
        let PageMeta { current_page, last_page, per_page, .. } = self.meta;
        (current_page < last_page).then(|| Paging::page(current_page + 1).per_page(per_page))
    }
}

body! {
    /// The position of a page in its list.
    pub struct PageMeta as "PageMeta" {
        /// This page.
        current_page: u64 = "current_page",
        /// The number of the first record on it; `null` past the end.
        from: Option<u64>,
        /// The number of the last record on it; `null` past the end.
        to: Option<u64>,
        /// Records in the whole list, after filters.
        total: Option<u64> as u64,
        /// The last page with records, at least 1.
        last_page: u64 = "last_page",
        /// Records on a page.
        per_page: u64 = "per_page",
        /// The path of the request.
        #[serde(default)]
        path: String,
    }
}

/// A body that has all it says under `data`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Data<T> {
    /// The data.
    pub data: T,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(current: u64, last: u64) -> Page<u8> {
        let meta = format!(
            r#"{{"data":[],"meta":{{"current_page":{current},"from":null,"to":null,"total":0,
                "last_page":{last},"per_page":50,"path":"/v1/orders","newer":true}}}}"#
        );
        serde_json::from_str(&meta).unwrap()
    }

    #[test]
    fn pages_follow_one_another_to_the_last() {
        assert_eq!(page(1, 2).following(), Some(Paging { page: Some(2), per_page: Some(50) }));
        assert_eq!(page(2, 2).following(), None);
        assert_eq!(page(9, 2).following(), None);
    }
}
