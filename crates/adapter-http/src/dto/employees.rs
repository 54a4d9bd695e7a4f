//! Employees.

use kopeck_domain::calendar::Zone;
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::{Employee, EmployeeStatus};
use kopeck_domain::ids::{CardId, CategoryId, EmployeeId};
use kopeck_domain::person::{Email, PersonName, Phone};
use kopeck_service::employees::EmployeeWithCards;
use serde::Serialize;

/// How a phone is shown: the interface has it as a text in the answers to writes and as a number in those to reads.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PhoneAs {
    Text,
    Number,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PhoneDto {
    Text(String),
    Number(u64),
}

impl PhoneAs {
    fn show(self, phone: &Phone) -> PhoneDto {
        match self {
            Self::Text => PhoneDto::Text(phone.as_str().to_owned()),
            Self::Number => PhoneDto::Number(phone.as_number()),
        }
    }
}

/// An employee. Every field is there, `null` where it is empty.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmployeeDto {
    id_employee: EmployeeId,
    custom_id: String,
    surname: Option<String>,
    name: Option<String>,
    patronymic: Option<String>,
    phone: Option<PhoneDto>,
    email: Option<String>,
    id_category: Option<CategoryId>,
    status: EmployeeStatus,
    created_at: String,
    status_updated_at: String,
}

impl EmployeeDto {
    pub(crate) fn new(employee: &Employee, phone: PhoneAs, zone: Zone) -> Self {
        let name = |name: &Option<PersonName>| name.as_ref().map(|name| name.as_str().to_owned());
        Self {
            id_employee: employee.id,
            custom_id: employee.custom_id.as_str().to_owned(),
            surname: name(&employee.surname),
            name: name(&employee.name),
            patronymic: name(&employee.patronymic),
            phone: employee.phone.as_ref().map(|number| phone.show(number)),
            email: employee.email.as_ref().map(Email::as_str).map(str::to_owned),
            id_category: employee.category,
            status: employee.status,
            created_at: zone.date_text(employee.created_at),
            status_updated_at: zone.date_text(employee.status_updated_at),
        }
    }
}

/// An employee with the cards linked to them.
#[derive(Serialize)]
pub(crate) struct EmployeeWithCardsDto {
    #[serde(flatten)]
    employee: EmployeeDto,
    cards: Vec<LinkedCardDto>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LinkedCardDto {
    id_card: CardId,
    status_card: CardStatus,
}

impl EmployeeWithCardsDto {
    pub(crate) fn new(found: &EmployeeWithCards, zone: Zone) -> Self {
        let card = |(id_card, status_card): &(CardId, CardStatus)| LinkedCardDto {
            id_card: *id_card,
            status_card: *status_card,
        };
        Self {
            employee: EmployeeDto::new(&found.employee, PhoneAs::Number, zone),
            cards: found.cards.iter().map(card).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use kopeck_domain::employee::NewEmployee;
    use kopeck_domain::person::CustomId;
    use serde_json::json;
    use time::OffsetDateTime;
    use uuid::Uuid;

    use super::*;

    fn employee() -> Employee {
        let fields = NewEmployee {
            custom_id: CustomId::parse("Таб-1").unwrap(),
            surname: None,
            name: Some(PersonName::parse("Пётр").unwrap()),
            patronymic: None,
            phone: Some(Phone::parse("0031234567").unwrap()),
            email: None,
            category: None,
            status: None,
        };
        // 31.12.2025 23:59:59 in UTC.
        let now = OffsetDateTime::from_unix_timestamp(1_767_225_599).unwrap();
        Employee::add(EmployeeId::new(Uuid::nil()), fields, now)
    }

    #[test]
    fn every_field_is_there_and_the_phone_of_a_read_is_a_number() {
        let zone = Zone::parse("+03:00").unwrap();
        let mut expected = json!({
            "idEmployee": Uuid::nil(), "customId": "Таб-1", "surname": null, "name": "Пётр", "patronymic": null,
            "phone": "0031234567", "email": null, "idCategory": null, "status": "WORK",
            "createdAt": "01.01.2026", "statusUpdatedAt": "01.01.2026",
        });
        let written = EmployeeDto::new(&employee(), PhoneAs::Text, zone);
        assert_eq!(serde_json::to_value(&written).unwrap(), expected);

        let card = CardId::new(Uuid::max());
        let found = EmployeeWithCards { employee: employee(), cards: vec![(card, CardStatus::Main)] };
        expected["phone"] = json!(31_234_567);
        expected["cards"] = json!([{"idCard": Uuid::max(), "statusCard": "MAIN"}]);
        assert_eq!(serde_json::to_value(EmployeeWithCardsDto::new(&found, zone)).unwrap(), expected);
    }
}
