//! Adds an employee.

use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::CategoryId;
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};
use kopeck_service::employees::{self, AddEmployeeError, EmployeeDraft};

use super::{EmployeeDto, PhoneAs};
use crate::input::field_types::{id, string_enum, text};
use crate::operations::prelude::*;

pub(super) static OPERATION: Operation = Operation::post("employee.add", "/v1/employee/add", handler!(add))
    .reads(reads!(read))
    .responds::<EmployeeDto>(200);

fn read(r: &mut Reader<'_>) -> EmployeeDraft {
    let mut body = r.body();
    EmployeeDraft {
        custom_id: body.required(
            "customId",
            text(CustomId::parse).about("Your own identifier, unique among your employees."),
        ),
        surname: body.optional("surname", text(PersonName::parse)),
        name: body.optional("name", text(PersonName::parse)),
        patronymic: body.optional("patronymic", text(PersonName::parse)),
        phone: body.optional("phone", text(Phone::parse).about("Without a country code.")),
        email: body.optional("email", text(Email::parse)),
        category: body.optional("idCategory", id::<CategoryId>().about("One of your categories.")),
        status: body.optional("status", string_enum::<EmployeeStatus>().about("`WORK` if absent.")),
    }
}

async fn add(ctx: HandlerContext) -> HandlerResult {
    // The use case adds what only the store knows to these faults, so that all of them are reported at once.
    let draft = ctx.input.gather(read);
    ctx.mutate(Ok(draft), |unit, env, partner, (draft, faults)| {
        employees::add(unit, env, partner, draft.clone(), faults.clone())
            .map(|employee| EmployeeDto::new(&employee, PhoneAs::Text, env.settings.zone))
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
