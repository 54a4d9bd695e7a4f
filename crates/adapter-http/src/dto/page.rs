//! Pages of lists.

use kopeck_api::Page;
use kopeck_port_store::page::{self, Listed};

/// The `page` of a list under `path`, each record shown by `show`.
pub(crate) fn page<'l, R, T>(
    listed: &'l Listed<R>,
    page: page::Page,
    path: &str,
    show: impl Fn(&'l R) -> T,
) -> Page<T> {
    let page::PageMeta { current_page, from, to, total, last_page, per_page } =
        page::PageMeta::new(page, listed.total);
    let meta = kopeck_api::PageMeta {
        current_page: current_page.into(),
        from,
        to,
        total: Some(total),
        last_page,
        per_page: per_page.into(),
        path: path.to_owned(),
    };
    Page { data: listed.items.iter().map(show).collect(), meta }
}
