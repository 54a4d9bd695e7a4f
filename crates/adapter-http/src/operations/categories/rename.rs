//! Renames a category.

use kopeck_domain::category::CategoryName;
use kopeck_domain::ids::CategoryId;
use kopeck_service::categories::{self, RenameCategoryError};

use super::{body, read_id, read_name};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CATEGORY_RENAME, Needs::One(Scope::CategoriesWrite), handler!(rename))
        .reads(reads!(read))
        .shares_body("CategoryRequest")
        .responds::<api::Category>(200)
        .refuses(&[Code::CategoryNotFound, Code::CategoryExists]);

fn read(r: &mut Reader<'_>) -> Option<(CategoryId, CategoryName)> {
    let id = read_id(r);
    let name = read_name(r);
    Some((id?, name?))
}

async fn rename(mut ctx: HandlerContext) -> HandlerResult {
    let values = ctx.values(read);
    ctx.mutate(values, |unit, _env, partner, (id, name)| {
        categories::rename(unit, partner, *id, name.clone()).map(|category| body(&category))
    })
    .await
}

impl From<RenameCategoryError> for ApiError {
    fn from(error: RenameCategoryError) -> Self {
        match error {
            RenameCategoryError::NotFound => Code::CategoryNotFound.into(),
            RenameCategoryError::Exists => Code::CategoryExists.into(),
            RenameCategoryError::Store(error) => error.into(),
        }
    }
}
