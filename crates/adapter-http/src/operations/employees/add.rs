//! Adds an employee.

use kopeck_service::employees::{self, AddEmployeeError};

use super::{NO_EMPLOYEE, body, read_new};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::EMPLOYEE_ADD, handler!(add))
    .reads(reads!(read_new))
    .responds::<api::Employee>(200)
    .holds_person()
    // A repeat after the employee was erased.
    .refuses(NO_EMPLOYEE);

async fn add(mut ctx: HandlerContext) -> HandlerResult {
    // The use case adds what only the store knows to these faults, so that all of them are reported at once.
    let read = ctx.gather(read_new);
    ctx.mutate(Ok(read), |unit, env, partner, ((custom_id, fields), faults)| {
        employees::add(unit, env, partner, custom_id.clone(), fields.clone(), faults.clone())
            .map(|employee| body(&employee, env.settings.zone))
    })
    .await
}

impl From<AddEmployeeError> for ApiError {
    fn from(error: AddEmployeeError) -> Self {
        match error {
            AddEmployeeError::Invalid(faults) => faults.into(),
            AddEmployeeError::Store(error) => error.into(),
        }
    }
}
