//! Deletes a category that no employee has.

use actix_web::http::StatusCode;
use kopeck_service::categories::{self, DeleteCategoryError};

use super::{CategoryDto, no_such_category, read_id};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::delete("category.delete", "/v1/category/{idCategory}", handler!(delete))
        .reads(reads!(read_id))
        .responds::<CategoryDto>(200)
        .refuses(&[Coded(404, &[Code::CategoryNotFound]), Coded(409, &[Code::CategoryInUse])]);

async fn delete(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    ctx.mutate(id, |unit, _env, partner, id| categories::delete(unit, partner, *id).map(CategoryDto::from))
        .await
}

impl From<DeleteCategoryError> for ApiError {
    fn from(error: DeleteCategoryError) -> Self {
        match error {
            DeleteCategoryError::NotFound => no_such_category(),
            DeleteCategoryError::InUse => {
                Self::new(StatusCode::CONFLICT, Code::CategoryInUse, "an employee has this category")
            }
            DeleteCategoryError::Store(error) => error.into(),
        }
    }
}
