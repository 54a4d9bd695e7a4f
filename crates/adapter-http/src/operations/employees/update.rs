//! Changes an employee.

use kopeck_service::employees::{self, UpdateEmployeeError};

use super::{NO_EMPLOYEE, body, read_update};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::of(&operations::EMPLOYEE_UPDATE, handler!(update))
    .reads(reads!(read_update))
    .responds::<api::Employee>(200)
    .holds_person()
    .refuses(NO_EMPLOYEE);

async fn update(mut ctx: HandlerContext) -> HandlerResult {
    let ((id, update), faults) = ctx.gather(read_update);
    // Without an identifier the store cannot be queried.
    let values = id.ok_or_else(|| faults.clone()).map(|id| (id, update, faults));
    ctx.mutate(values, |unit, env, partner, (id, update, faults)| {
        employees::update(unit, env, partner, *id, update.clone(), faults.clone())
            .map(|employee| body(&employee, env.settings.zone))
    })
    .await
}

impl From<UpdateEmployeeError> for ApiError {
    fn from(error: UpdateEmployeeError) -> Self {
        match error {
            UpdateEmployeeError::Invalid(faults) => faults.into(),
            UpdateEmployeeError::NotFound => Code::EmployeeNotFound.into(),
            UpdateEmployeeError::Store(error) => error.into(),
        }
    }
}
