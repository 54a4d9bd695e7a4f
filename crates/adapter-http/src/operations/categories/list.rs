//! Lists categories with the number of their employees.

use kopeck_domain::ids::CategoryId;
use kopeck_port_store::CategoryUse;
use kopeck_port_store::page::Page;
use kopeck_service::categories;

use crate::dto::PageDto;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::CATEGORY_LIST, handler!(list))
    .reads(reads!(read))
    .responds::<PageDto<'_, CategoryUseDto<'_>>>(200);

fn read(r: &mut Reader<'_>) -> Option<Page> {
    r.page()
}

async fn list(ctx: HandlerContext) -> HandlerResult {
    let page = ctx.input.values(read)?;
    let listed =
        ctx.read(Ok(page), |unit, _env, partner, page| categories::list(unit, partner, *page)).await?;
    ctx.respond_page(&listed, page, CategoryUseDto::from)
}

api_type! {
    /// A category in a list.
    struct CategoryUseDto<'a> as "CategoryInList" {
        /// Our identifier.
        id_category: CategoryId,
        /// Its name as you spelt it.
        name_category: &'a str,
        /// How many employees have it.
        employees: u64,
    }
}

impl<'a> From<&'a CategoryUse> for CategoryUseDto<'a> {
    fn from(used: &'a CategoryUse) -> Self {
        Self {
            id_category: used.category.id,
            name_category: used.category.name.as_str(),
            employees: used.employees,
        }
    }
}
