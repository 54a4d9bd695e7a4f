//! Erases the personal data of an employee.

use kopeck_service::employees::{self, EraseEmployeeError};

use super::read_id;
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::EMPLOYEE_ERASE, Needs::One(Scope::EmployeesWrite), handler!(erase))
        .reads(reads!(read_id))
        .responds::<api::EmployeeErased>(200)
        .refuses(&[Code::EmployeeNotFound, Code::EmployeeHasCards]);

async fn erase(mut ctx: HandlerContext) -> HandlerResult {
    let id = ctx.values(read_id);
    ctx.mutate(id, |unit, env, partner, id| {
        employees::erase(unit, env, partner, *id)
            .map(|employee| api::EmployeeErased { id_employee: employee.uuid() })
    })
    .await
}

impl From<EraseEmployeeError> for ApiError {
    fn from(error: EraseEmployeeError) -> Self {
        match error {
            EraseEmployeeError::NotFound => Code::EmployeeNotFound.into(),
            EraseEmployeeError::HasCards => Self::new(Code::EmployeeHasCards, error.to_string()),
            EraseEmployeeError::Store(error) => error.into(),
        }
    }
}
