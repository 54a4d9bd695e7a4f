//! Lists categories with the number of their employees.

use kopeck_port_store::CategoryUse;
use kopeck_port_store::page::Page;
use kopeck_service::categories;

use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CATEGORY_LIST, Needs::One(Scope::CategoriesRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::Page<api::CategoryWithCount>>(200);

fn read(r: &mut Reader<'_>) -> Option<Page> {
    r.page()
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let page = ctx.values(read)?;
    let listed =
        ctx.read(Ok(page), |unit, _env, partner, page| categories::list(unit, partner, *page)).await?;
    ctx.respond_page(&listed, page, body)
}

fn body(used: &CategoryUse) -> api::CategoryWithCount {
    api::CategoryWithCount {
        id_category: used.category.id.uuid(),
        name_category: used.category.name.to_string(),
        employees: used.employees,
    }
}
