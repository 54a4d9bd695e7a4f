//! Creates a category.

use kopeck_service::categories::{self, CreateCategoryError};

use super::{body, read_name};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CATEGORY_CREATE, Needs::One(Scope::CategoriesWrite), handler!(create))
        .reads(reads!(read_name))
        .shares_body("CategoryRequest")
        .responds::<api::Category>(201)
        .refuses(&[Code::CategoryExists]);

async fn create(mut ctx: HandlerContext) -> HandlerResult {
    let name = ctx.values(read_name);
    ctx.mutate(name, |unit, env, partner, name| {
        categories::create(unit, env, partner, name.clone()).map(|category| body(&category))
    })
    .await
}

impl From<CreateCategoryError> for ApiError {
    fn from(error: CreateCategoryError) -> Self {
        match error {
            CreateCategoryError::Exists => Code::CategoryExists.into(),
            CreateCategoryError::Store(error) => error.into(),
        }
    }
}
