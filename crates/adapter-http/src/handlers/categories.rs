//! Categories.

use actix_web::http::StatusCode;
use kopeck_domain::category::CategoryName;
use kopeck_domain::ids::CategoryId;
use kopeck_domain::page::Page;
use kopeck_service::categories;

use super::employees::LIST_SIZE;
use crate::dto::{CategoryDto, CategoryUseDto, PageDto};
use crate::handler_context::{HandlerContext, Response};
use crate::input::field_types::text;
use crate::input::reader::Reader;
use crate::route::HandlerResult;

pub(crate) async fn create(ctx: HandlerContext) -> HandlerResult {
    let name = ctx.input.values(read_name);
    ctx.mutate(StatusCode::CREATED, name, |unit, env, partner, name| {
        categories::create(unit, env, partner, name.clone()).map(CategoryDto::from)
    })
    .await
}

pub(crate) async fn rename(ctx: HandlerContext) -> HandlerResult {
    let values = ctx.input.values(read_renaming);
    ctx.mutate(StatusCode::OK, values, |unit, _env, partner, (id, name)| {
        categories::rename(unit, partner, *id, name.clone()).map(CategoryDto::from)
    })
    .await
}

pub(crate) async fn delete(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    ctx.mutate(StatusCode::OK, id, |unit, _env, partner, id| {
        categories::delete(unit, partner, *id).map(CategoryDto::from)
    })
    .await
}

pub(crate) async fn list(ctx: HandlerContext) -> HandlerResult {
    let page = ctx.input.values(read_list)?;
    let listed =
        ctx.read(Ok(page), |unit, _env, partner, page| categories::list(unit, partner, *page)).await?;
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, CategoryUseDto::from))
}

pub(crate) fn read_name(r: &mut Reader<'_>) -> Option<CategoryName> {
    let about = "Blanks around it are cut off. Unique among your categories, letter case aside.";
    r.body().required("nameCategory", text(CategoryName::parse).about(about))
}

pub(crate) fn read_renaming(r: &mut Reader<'_>) -> Option<(CategoryId, CategoryName)> {
    let id = read_id(r);
    let name = read_name(r);
    Some((id?, name?))
}

pub(crate) fn read_id(r: &mut Reader<'_>) -> Option<CategoryId> {
    r.id("idCategory")
}

pub(crate) fn read_list(r: &mut Reader<'_>) -> Option<Page> {
    r.page(LIST_SIZE)
}
