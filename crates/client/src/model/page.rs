//! Lists come in pages.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::request::Request;

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

    pub(crate) fn add_to(self, request: Request) -> Request {
        request.query("page", self.page).query("per_page", self.per_page)
    }
}

/// One page of a list.
///
/// ```no_run
/// use kopeck_client::{CategoryWithCount, Client, Error, Paging};
///
/// async fn all(client: &Client) -> Result<Vec<CategoryWithCount>, Error> {
///     let mut all = Vec::new();
///     let mut paging = Some(Paging::page(1).per_page(500));
///     while let Some(this) = paging {
///         let page = client.categories().list(this).await?;
///         paging = page.following();
///         all.extend(page.data);
///     }
///     Ok(all)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Page<T> {
    /// The records.
    pub data: Vec<T>,
    /// Where they stand in the list.
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

/// Where a page stands in its list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMeta {
    /// The number of this page.
    pub current_page: u64,
    /// The number of its first record in the list; `None` for a page past the end.
    pub from: Option<u64>,
    /// The number of its last record in the list; `None` for a page past the end.
    pub to: Option<u64>,
    /// How many records the list has.
    #[serde(default)]
    pub total: Option<u64>,
    /// The number of the last page.
    pub last_page: u64,
    /// The records on a page.
    pub per_page: u64,
    /// The path of the list.
    #[serde(default)]
    pub path: String,
}

/// A body that has all it says under `data`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Data<T> {
    pub(crate) data: T,
}

/// A response without content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done;

impl<'de> Deserialize<'de> for Done {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
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

    #[test]
    fn any_answer_will_do_where_nothing_is_said() {
        for answer in ["null", "{}", r#"{"x":[1]}"#] {
            assert_eq!(serde_json::from_str::<Done>(answer).unwrap(), Done);
        }
    }
}
