//! Pages of lists.

use kopeck_port_store::page::{Listed, Page, PageMeta};
use serde::Serialize;

use crate::json::Json;
use crate::schema::{Components, HasSchema, Property, api_type, component_name, object_of};

/// A page of a list.
#[derive(Serialize)]
pub(crate) struct PageDto<'a, T> {
    data: Vec<T>,
    meta: MetaDto<'a>,
}

api_type! {
    /// Where a page stands in its list.
    struct MetaDto<'a> as "PageMeta" {
        /// This page.
        #[serde(rename = "current_page")]
        current_page: u32,
        /// The number of the first record on it; `null` past the end.
        from: Option<u64>,
        /// The number of the last record on it; `null` past the end.
        to: Option<u64>,
        /// Records in the whole list, after filters.
        total: u64,
        /// The last page with records, at least 1.
        #[serde(rename = "last_page")]
        last_page: u64,
        /// Records on a page.
        #[serde(rename = "per_page")]
        per_page: u32,
        /// The path of the call.
        path: &'a str,
    }
}

impl<T: HasSchema> HasSchema for PageDto<'_, T> {
    fn schema(components: &mut Components) -> Json {
        let property = |name: &str, schema| Property { name: name.to_owned(), required: true, schema };
        let data = Vec::<T>::schema(components);
        components.named(&format!("{}Page", component_name(&data)), |components| {
            object_of(vec![property("data", data.clone()), property("meta", MetaDto::schema(components))])
        })
    }
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
