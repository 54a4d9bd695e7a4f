//! Employees.

use actix_web::http::StatusCode;
use kopeck_service::employees::{AddEmployeeError, GetEmployeeError, UpdateEmployeeError};

use crate::code::Code;
use crate::error::ApiError;

/// 404 for an employee.
pub(super) fn no_such_employee() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, Code::EmployeeNotFound, "there is no such employee")
}

impl From<AddEmployeeError> for ApiError {
    fn from(error: AddEmployeeError) -> Self {
        match error {
            AddEmployeeError::Invalid(faults) => faults.into(),
            AddEmployeeError::Store(error) => error.into(),
        }
    }
}

impl From<UpdateEmployeeError> for ApiError {
    fn from(error: UpdateEmployeeError) -> Self {
        match error {
            UpdateEmployeeError::Invalid(faults) => faults.into(),
            UpdateEmployeeError::NotFound => no_such_employee(),
            UpdateEmployeeError::Store(error) => error.into(),
        }
    }
}

impl From<GetEmployeeError> for ApiError {
    fn from(error: GetEmployeeError) -> Self {
        match error {
            GetEmployeeError::NotFound => no_such_employee(),
            GetEmployeeError::Store(error) => error.into(),
        }
    }
}
