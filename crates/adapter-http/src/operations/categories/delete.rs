//! Deletes a category that no employee has.

use kopeck_service::categories::{self, DeleteCategoryError};

use super::{body, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::CATEGORY_DELETE, Needs::One(Scope::CategoriesWrite), handler!(delete))
        .reads(reads!(read_id))
        .responds::<api::Category>(200)
        .refuses(&[Code::CategoryNotFound, Code::CategoryInUse]);

async fn delete(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, _env, partner, id| {
        categories::delete(unit, partner, *id).map(|category| body(&category))
    })
    .await
}

impl From<DeleteCategoryError> for ApiError {
    fn from(error: DeleteCategoryError) -> Self {
        match error {
            DeleteCategoryError::NotFound => Code::CategoryNotFound.into(),
            DeleteCategoryError::InUse => Code::CategoryInUse.into(),
            DeleteCategoryError::Store(error) => error.into(),
        }
    }
}
