//! Categories.

use actix_web::http::StatusCode;
use kopeck_service::categories::{CreateCategoryError, DeleteCategoryError, RenameCategoryError};

use crate::code::Code;
use crate::error::ApiError;

fn no_such_category() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Code::CategoryNotFound, "there is no such category")
}

fn name_exists() -> ApiError {
    ApiError::new(StatusCode::CONFLICT, Code::CategoryExists, "another category has this name")
}

impl From<CreateCategoryError> for ApiError {
    fn from(error: CreateCategoryError) -> Self {
        match error {
            CreateCategoryError::Exists => name_exists(),
            CreateCategoryError::Store(error) => error.into(),
        }
    }
}

impl From<RenameCategoryError> for ApiError {
    fn from(error: RenameCategoryError) -> Self {
        match error {
            RenameCategoryError::NotFound => no_such_category(),
            RenameCategoryError::Exists => name_exists(),
            RenameCategoryError::Store(error) => error.into(),
        }
    }
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
