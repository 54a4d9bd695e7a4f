//! Pages of lists.

use kopeck_domain::page::{Listed, Page, PageMeta};
use serde::Serialize;

/// A page of a list.
#[derive(Serialize)]
pub(crate) struct PageDto<'a, T> {
    data: Vec<T>,
    meta: MetaDto<'a>,
}

/// Where the page stands. The interface spells these names with underscores.
#[derive(Serialize)]
struct MetaDto<'a> {
    current_page: u32,
    from: Option<u64>,
    to: Option<u64>,
    total: u64,
    last_page: u64,
    per_page: u32,
    path: &'a str,
}

impl<'a, T> PageDto<'a, T> {
    /// The `page` of a list under `path`, each record shown by `show`.
    pub(crate) fn new<'l, R>(
        listed: &'l Listed<R>,
        page: Page,
        path: &'a str,
        show: impl Fn(&'l R) -> T,
    ) -> Self {
        let PageMeta { current_page, from, to, total, last_page, per_page } =
            PageMeta::new(page, listed.total);
        let meta = MetaDto { current_page, from, to, total, last_page, per_page, path };
        Self { data: listed.items.iter().map(show).collect(), meta }
    }
}
