//! Categories of employees.

mod create;
mod delete;
mod list;
mod rename;

use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::ids::CategoryId;

use crate::input::field_types::text;
use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 4] =
    [&create::OPERATION, &rename::OPERATION, &delete::OPERATION, &list::OPERATION];

fn read_id(r: &mut Reader<'_>) -> Option<CategoryId> {
    r.id("idCategory")
}

fn read_name(r: &mut Reader<'_>) -> Option<CategoryName> {
    let about =
        "Leading and trailing spaces are removed. Unique among your categories, ignoring letter case.";
    r.body().required("nameCategory", text(CategoryName::parse).about(about))
}

fn body(category: &Category) -> api::Category {
    api::Category { name_category: category.name.to_string(), id_category: category.id.uuid() }
}
