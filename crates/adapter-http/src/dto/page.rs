//! Pages of lists.

use kopeck_api::Page;
use kopeck_port_store::page::{self, Listed};

use crate::json::Json;
use crate::schema::{Components, HasSchema, Property, component_name, object_of};

impl<T: HasSchema> HasSchema for Page<T> {
    fn schema(components: &mut Components) -> Json {
        let property = |name: &str, schema| Property { name: name.to_owned(), required: true, schema };
        let data = Vec::<T>::schema(components);
        components.named(&format!("{}Page", component_name(&data)), |components| {
            let meta = kopeck_api::PageMeta::schema(components);
            object_of(vec![property("data", data.clone()), property("meta", meta)])
        })
    }
}

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
