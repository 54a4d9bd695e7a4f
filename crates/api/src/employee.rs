//! Employees.

use time::Date;
use uuid::Uuid;

use crate::card::CardStatus;
use crate::open_enum::open_enum;
use crate::phone::Phone;
use crate::shape::{Flat, body};
use crate::wire;

open_enum! {
    /// The status of an employee.
    pub enum EmployeeStatus as "EmployeeStatus",
        "WORK: working. VACATION: on vacation. MEDICAL: on sick leave. DONT_WORK: not working, in the archive."
    {
        /// Working.
        Work = "WORK",
        /// On vacation.
        Vacation = "VACATION",
        /// On sick leave.
        Medical = "MEDICAL",
        /// Not working any more; archived.
        DontWork = "DONT_WORK",
    }
}

body! {
    /// An employee. Contains every field, `null` if empty.
    pub struct Employee as "Employee" {
        /// Our identifier.
        id_employee: Uuid,
        /// Your own identifier.
        custom_id: String,
        /// Surname.
        surname: Option<String>,
        /// Name.
        name: Option<String>,
        /// Patronymic.
        patronymic: Option<String>,
        /// Ten digits: a string in responses to adding and updating, an integer in responses to reading
        /// (without leading zeros).
        phone: Option<Phone>,
        /// E-mail address.
        email: Option<String>,
        /// The employee's category.
        id_category: Option<Uuid>,
        /// Status.
        status: EmployeeStatus,
        /// The day of the addition.
        #[serde(with = "wire::text")]
        created_at: Date,
        /// The day of the last change of `status`; at first that of the addition.
        #[serde(alias = "statusUpdateAt", with = "wire::text")]
        status_updated_at: Date,
    }
}

body! {
    /// An employee whose personal data was erased.
    pub struct EmployeeErased as "EmployeeErased" {
        /// Our identifier.
        id_employee: Uuid,
    }
}

body! {
    /// An employee with the cards linked to them.
    pub struct EmployeeWithCards as "EmployeeWithCards" {
        /// The employee.
        #[serde(flatten)]
        employee: Employee as Flat<Employee>,
        /// The cards linked to them.
        #[serde(default)]
        cards: Vec<EmployeeCard>,
    }
}

body! {
    /// A card linked to an employee.
    pub struct EmployeeCard as "LinkedCard" {
        /// The card.
        id_card: Uuid,
        /// Its status.
        status_card: CardStatus,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::WireText as _;

    #[test]
    fn both_spellings_and_both_forms_of_phone_are_read() {
        for (spelling, phone) in [("statusUpdatedAt", "\"9031234567\""), ("statusUpdateAt", "9031234567")] {
            let json = format!(
                r#"{{"idEmployee":"0f8fad5b-d9cb-469f-a165-70867728950e","customId":"Т-1","surname":null,
                    "phone":{phone},"status":"SABBATICAL","createdAt":"01.02.2026","{spelling}":"03.02.2026",
                    "cards":[{{"idCard":"0f8fad5b-d9cb-469f-a165-70867728950e","statusCard":"MAIN"}}],"newer":1}}"#
            );
            let EmployeeWithCards { employee, cards } = serde_json::from_str(&json).unwrap();
            assert_eq!(employee.phone.as_deref(), Some("9031234567"));
            assert_eq!(employee.status, EmployeeStatus::Unknown("SABBATICAL".to_owned()));
            assert_eq!(employee.status_updated_at.text(), "03.02.2026");
            assert_eq!(cards.len(), 1);
            assert_eq!(serde_json::from_str::<Employee>(&json).unwrap(), employee);
        }
    }
}
