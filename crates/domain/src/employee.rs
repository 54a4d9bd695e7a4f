//! Employees of a partner.

use time::OffsetDateTime;

use crate::fields::fields;
use crate::ids::{CategoryId, EmployeeId};
use crate::person::{CustomId, Email, PersonName, Phone};
use crate::string_enum::serde_enum;
use crate::text::folded;

serde_enum! {
    /// Where an employee is. The partner sets it directly; there are no rules between the values.
    EmployeeStatus {
        /// Working; the default at creation.
        Work = "WORK",
        /// On vacation.
        Vacation = "VACATION",
        /// On sick leave.
        Medical = "MEDICAL",
        /// Not working, moved to the archive.
        DontWork = "DONT_WORK",
    }
}

/// An employee of a partner. Only its verbs change it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Employee(EmployeeFields);

fields! {
    /// The fields of an employee.
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
    EmployeeFields of Employee {
        /// The service's identifier.
        id: EmployeeId,
        /// The partner's own identifier, unique among the partner's employees.
        custom_id: CustomId as &CustomId,
        /// Family name.
        surname: Option<PersonName> as Option<&PersonName>,
        /// Given name.
        name: Option<PersonName> as Option<&PersonName>,
        /// Patronymic.
        patronymic: Option<PersonName> as Option<&PersonName>,
        /// Phone.
        phone: Option<Phone> as Option<&Phone>,
        /// E-mail.
        email: Option<Email> as Option<&Email>,
        /// Category, one of the same partner's.
        category: Option<CategoryId>,
        /// Where the employee is.
        status: EmployeeStatus,
        /// When the employee was added.
        #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
        created_at: OffsetDateTime,
        /// When the status last changed; at first the creation.
        #[cfg_attr(feature = "serde", serde(with = "time::serde::rfc3339"))]
        status_updated_at: OffsetDateTime,
    }
}

/// The fields of a new employee that a partner may leave out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewEmployee {
    /// Family name.
    pub surname: Option<PersonName>,
    /// Given name.
    pub name: Option<PersonName>,
    /// Patronymic.
    pub patronymic: Option<PersonName>,
    /// Phone.
    pub phone: Option<Phone>,
    /// E-mail.
    pub email: Option<Email>,
    /// Category.
    pub category: Option<CategoryId>,
    /// Where the employee is; WORK unless said.
    pub status: Option<EmployeeStatus>,
}

/// What an update does to one optional field.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// Leaves the value.
    #[default]
    Keep,
    /// Empties the field.
    Clear,
    /// Puts another value.
    Set(T),
}

impl<T> Change<T> {
    fn apply(self, present: Option<T>) -> Option<T> {
        match self {
            Self::Keep => present,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

/// An update: custom identifier and status can be changed but not cleared.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EmployeeUpdate {
    /// Another custom identifier.
    pub custom_id: Option<CustomId>,
    /// Family name.
    pub surname: Change<PersonName>,
    /// Given name.
    pub name: Change<PersonName>,
    /// Patronymic.
    pub patronymic: Change<PersonName>,
    /// Phone.
    pub phone: Change<Phone>,
    /// E-mail.
    pub email: Change<Email>,
    /// Category.
    pub category: Change<CategoryId>,
    /// Another status.
    pub status: Option<EmployeeStatus>,
}

impl Employee {
    /// The employee that `fields` describe, added at `now`.
    #[must_use]
    pub fn add(id: EmployeeId, custom_id: CustomId, fields: NewEmployee, now: OffsetDateTime) -> Self {
        let NewEmployee { surname, name, patronymic, phone, email, category, status } = fields;
        Self(EmployeeFields {
            id,
            custom_id,
            surname,
            name,
            patronymic,
            phone,
            email,
            category,
            status: status.unwrap_or(EmployeeStatus::Work),
            created_at: now,
            status_updated_at: now,
        })
    }

    /// The employee after `update` at `now`. `status_updated_at` moves only when the status really changes.
    #[must_use]
    pub fn update(self, update: EmployeeUpdate, now: OffsetDateTime) -> Self {
        let before = self.0;
        let status = update.status.unwrap_or(before.status);
        Self(EmployeeFields {
            id: before.id,
            custom_id: update.custom_id.unwrap_or(before.custom_id),
            surname: update.surname.apply(before.surname),
            name: update.name.apply(before.name),
            patronymic: update.patronymic.apply(before.patronymic),
            phone: update.phone.apply(before.phone),
            email: update.email.apply(before.email),
            category: update.category.apply(before.category),
            status,
            created_at: before.created_at,
            status_updated_at: if status == before.status { before.status_updated_at } else { now },
        })
    }

    /// The text that a search looks into: surname, name and custom identifier in lower case, parted by line breaks.
    #[must_use]
    pub fn search_text(&self) -> String {
        let part = |name: Option<&PersonName>| name.map_or(String::new(), |name| folded(name.as_str()));
        format!("{}\n{}\n{}", part(self.surname()), part(self.name()), folded(self.custom_id().as_str()))
    }
}

/// An employee who was added or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EmployeeChange {
    /// The employee.
    pub employee: EmployeeId,
    /// The partner's own identifier of them, as it was then; `None` once they were erased.
    pub custom_id: Option<CustomId>,
}

/// An employee whose personal data was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EmployeeErased {
    /// The employee.
    pub employee: EmployeeId,
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::Duration;
    use uuid::Uuid;

    fn new_employee() -> NewEmployee {
        NewEmployee {
            surname: Some(PersonName::parse("Ёжиков").unwrap()),
            phone: Some(Phone::parse("9031234567").unwrap()),
            ..NewEmployee::default()
        }
    }

    fn added(fields: NewEmployee, now: OffsetDateTime) -> Employee {
        Employee::add(EmployeeId::new(Uuid::nil()), CustomId::parse("E-1").unwrap(), fields, now)
    }

    #[test]
    fn a_new_employee_works_unless_said() {
        let now = OffsetDateTime::UNIX_EPOCH;
        assert_eq!(added(new_employee(), now).status(), EmployeeStatus::Work);
        let on_leave = NewEmployee { status: Some(EmployeeStatus::Medical), ..new_employee() };
        assert_eq!(added(on_leave, now).status(), EmployeeStatus::Medical);
    }

    #[test]
    fn only_a_change_of_status_moves_its_date() {
        let then = OffsetDateTime::UNIX_EPOCH;
        let now = then + Duration::days(3);
        let employee = added(new_employee(), then);
        for status in EmployeeStatus::ALL {
            let update =
                EmployeeUpdate { status: Some(*status), phone: Change::Clear, ..EmployeeUpdate::default() };
            let updated = employee.clone().update(update, now);
            let expected = if *status == EmployeeStatus::Work { then } else { now };
            assert_eq!((updated.status(), updated.status_updated_at()), (*status, expected));
            assert_eq!(
                (&updated.phone(), &updated.surname()),
                (&None, &employee.surname()),
                "what was not named stays"
            );
        }
    }

    #[test]
    fn the_search_text_knows_no_letter_case() {
        let employee = added(new_employee(), OffsetDateTime::UNIX_EPOCH);
        assert_eq!(employee.search_text(), "ёжиков\n\ne-1");
    }
}
