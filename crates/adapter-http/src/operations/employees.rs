//! Employees.

mod add;
mod erase;
mod get;
mod list;
mod update;

use kopeck_domain::calendar::Zone;
use kopeck_domain::employee::{Employee, EmployeeStatus, EmployeeUpdate, NewEmployee};
use kopeck_domain::ids::{CategoryId, EmployeeId};
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};
use kopeck_service::employees::EmployeeConflict;

use crate::input::faults::Faults;
use crate::input::field_types::{id, string_enum, text};
use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 5] =
    [&add::OPERATION, &update::OPERATION, &get::OPERATION, &erase::OPERATION, &list::OPERATION];

const NO_EMPLOYEE: &[Code] = &[Code::EmployeeNotFound];

/// The employee of the path.
pub(super) fn read_id(r: &mut Reader<'_>) -> Option<EmployeeId> {
    r.id("idEmployee")
}

/// The fields of a new employee.
fn read_new(r: &mut Reader<'_>) -> (Option<CustomId>, NewEmployee) {
    let mut body = r.body();
    let custom_id = body.required(
        "customId",
        text(CustomId::parse).about("Your own identifier, unique among your employees."),
    );
    let fields = NewEmployee {
        surname: body.optional("surname", text(PersonName::parse)),
        name: body.optional("name", text(PersonName::parse)),
        patronymic: body.optional("patronymic", text(PersonName::parse)),
        phone: body.optional("phone", text(Phone::parse).about("Without a country code.")),
        email: body.optional("email", text(Email::parse)),
        category: body.optional("idCategory", id::<CategoryId>().about("One of your categories.")),
        status: body.optional("status", string_enum::<EmployeeStatus>().about("`WORK` if absent.")),
    };
    (custom_id, fields)
}

/// Employee and update; without a valid identifier the faults of the update are reported all the same.
fn read_update(r: &mut Reader<'_>) -> (Option<EmployeeId>, EmployeeUpdate) {
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

/// The error of a body with `faults`, and with values that the partner's other data do not permit: all of them at once.
fn faulty(mut faults: Faults, conflicts: &[EmployeeConflict]) -> ApiError {
    for conflict in conflicts {
        match conflict {
            EmployeeConflict::CustomIdTaken => faults.push("customId", "belongs to another employee"),
            EmployeeConflict::UnknownCategory => faults.push("idCategory", "there is no such category"),
        }
    }
    faults.into()
}

/// The body of an employee.
fn body(employee: &Employee, zone: Zone) -> api::Employee {
    let name = |name: Option<&PersonName>| name.map(|name| name.as_str().to_owned());
    api::Employee {
        id_employee: employee.id().uuid(),
        custom_id: employee.custom_id().as_str().to_owned(),
        surname: name(employee.surname()),
        name: name(employee.name()),
        patronymic: name(employee.patronymic()),
        phone: employee.phone().map(|phone| phone.as_str().to_owned().into()),
        email: employee.email().map(Email::as_str).map(str::to_owned),
        id_category: employee.category().map(CategoryId::uuid),
        status: employee.status().as_str().into(),
        created_at: zone.day(employee.created_at()),
        status_updated_at: zone.day(employee.status_updated_at()),
    }
}

/// The same in a response to a read, where the interface has the phone as an integer.
fn body_of_read(employee: &Employee, zone: Zone) -> api::Employee {
    let body = body(employee, zone);
    api::Employee { phone: body.phone.map(api::Phone::written_as_integer), ..body }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::card::CardStatus;
    use kopeck_domain::ids::CardId;
    use serde_json::json;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use super::get::with_cards;
    use super::*;

    fn employee() -> Employee {
        let fields = NewEmployee {
            name: Some(PersonName::parse("Пётр").unwrap()),
            phone: Some(Phone::parse("0031234567").unwrap()),
            ..NewEmployee::default()
        };
        // 31.12.2025 23:59:59 in UTC.
        let now = OffsetDateTime::from_unix_timestamp(1_767_225_599).unwrap();
        Employee::add(EmployeeId::new(Uuid::nil()), CustomId::parse("Таб-1").unwrap(), fields, now)
    }

    #[test]
    fn conflicts_stand_behind_the_faults_of_the_body() {
        let conflicts = [EmployeeConflict::CustomIdTaken, EmployeeConflict::UnknownCategory];
        let error = faulty(Faults::of("phone", "must be exactly 10 digits"), &conflicts);
        let body: serde_json::Value = serde_json::from_slice(&error.body("")).unwrap();
        let fields: Vec<_> = (0..3).map(|fault| body["data"][fault]["field"].as_str()).collect();
        assert_eq!(fields, [Some("phone"), Some("customId"), Some("idCategory")]);
    }

    #[test]
    fn every_field_is_there_and_the_phone_of_a_read_is_a_number() {
        let zone = Zone::parse("+03:00").unwrap();
        let mut expected = json!({
            "idEmployee": Uuid::nil(), "customId": "Таб-1", "surname": null, "name": "Пётр", "patronymic": null,
            "phone": "0031234567", "email": null, "idCategory": null, "status": "WORK",
            "createdAt": "01.01.2026", "statusUpdatedAt": "01.01.2026",
        });
        let written = body(&employee(), zone);
        assert_eq!(serde_json::to_value(&written).unwrap(), expected);

        let card = CardId::new(Uuid::max());
        let cards = [(card, CardStatus::Main)];
        expected["phone"] = json!(31_234_567);
        expected["cards"] = json!([{"idCard": Uuid::max(), "statusCard": "MAIN"}]);
        assert_eq!(serde_json::to_value(with_cards(&employee(), &cards, zone)).unwrap(), expected);
    }
}
