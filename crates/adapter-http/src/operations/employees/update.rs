//! Changes an employee.

use kopeck_domain::employee::{EmployeeStatus, EmployeeUpdate};
use kopeck_domain::ids::{CategoryId, EmployeeId};
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};
use kopeck_service::employees::{self, UpdateEmployeeError};

use super::{EmployeeDto, NO_EMPLOYEE, PhoneAs, no_such_employee, read_id};
use crate::input::field_types::{id, string_enum, text};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation =
    Operation::put("employee.update", "/v1/employee/{idEmployee}", handler!(update))
        .reads(reads!(read))
        .responds::<EmployeeDto>(200)
        .refuses(NO_EMPLOYEE);

/// Employee and update; without a valid identifier the faults of the update are reported all the same.
fn read(r: &mut Reader<'_>) -> (Option<EmployeeId>, EmployeeUpdate) {
    let employee = read_id(r);
    let mut body = r.body();
    let update = EmployeeUpdate {
        custom_id: body.replacement(
            "customId",
            text(CustomId::parse).about("Your own identifier, unique among your employees."),
        ),
        surname: body.change("surname", text(PersonName::parse)),
        name: body.change("name", text(PersonName::parse)),
        patronymic: body.change("patronymic", text(PersonName::parse)),
        phone: body.change("phone", text(Phone::parse).about("Without a country code.")),
        email: body.change("email", text(Email::parse)),
        category: body.change("idCategory", id::<CategoryId>().about("One of your categories.")),
        status: body.replacement("status", string_enum::<EmployeeStatus>()),
    };
    (employee, update)
}

async fn update(ctx: HandlerContext) -> HandlerResult {
    let ((id, update), faults) = ctx.input.gather(read);
    // Without an identifier the store cannot be queried.
    let values = id.ok_or_else(|| faults.clone()).map(|id| (id, update, faults));
    ctx.mutate(values, |unit, env, partner, (id, update, faults)| {
        employees::update(unit, env, partner, *id, update.clone(), faults.clone())
            .map(|employee| EmployeeDto::new(&employee, PhoneAs::Text, env.settings.zone))
    })
    .await
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
