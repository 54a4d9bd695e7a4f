//! Adds an employee.

use kopeck_service::employees::{self, AddEmployeeError};

use super::{NO_EMPLOYEE, body, faulty, read_new};
use crate::input::faults::Faults;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::EMPLOYEE_ADD, Needs::One(Scope::EmployeesWrite), handler!(add))
        .reads(reads!(read_new))
        .responds::<api::Employee>(200)
        .tagged()
        .holds_person()
        // A repeat after the employee was erased.
        .refuses(NO_EMPLOYEE);

async fn add(mut ctx: HandlerContext) -> HandlerResult {
    let read = ctx.gather(read_new);
    ctx.mutate(Ok(read), |unit, env, partner, ((custom_id, fields), faults)| {
        let Some(custom_id) = custom_id.as_ref().filter(|_| faults.is_empty()) else {
            let conflicts = employees::conflicts_of_new(unit, partner, custom_id.as_ref(), fields)?;
            return Err(faulty(faults.clone(), &conflicts));
        };
        let employee = employees::add(unit, env, partner, custom_id, fields)?;
        Ok(body(&employee, env.settings.zone))
    })
    .await
}

impl From<AddEmployeeError> for ApiError {
    fn from(error: AddEmployeeError) -> Self {
        match error {
            AddEmployeeError::Conflicts(conflicts) => faulty(Faults::new(), &conflicts),
            AddEmployeeError::Store(error) => error.into(),
        }
    }
}
