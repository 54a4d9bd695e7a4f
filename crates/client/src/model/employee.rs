//! Employees to add, change and list.

use kopeck_api::EmployeeStatus;
use serde::Serialize;
use uuid::Uuid;

use crate::model::patch::Patch;
use crate::request::Request;

/// An employee to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewEmployee {
    /// The partner's own identifier: up to 64 letters, digits, `-` and `_`.
    pub custom_id: String,
    /// The surname, up to 32 letters and `-`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surname: Option<String>,
    /// The name, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The patronymic, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patronymic: Option<String>,
    /// Ten digits, without country code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phone: Option<String>,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id_category: Option<Uuid>,
    /// The status. Default: working.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<EmployeeStatus>,
}

impl NewEmployee {
    /// An employee with nothing but the partner's own identifier.
    #[must_use]
    pub fn new(custom_id: impl Into<String>) -> Self {
        Self {
            custom_id: custom_id.into(),
            surname: None,
            name: None,
            patronymic: None,
            phone: None,
            email: None,
            id_category: None,
            status: None,
        }
    }
}

/// Changes of an employee. What is left at its default stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EmployeeUpdate {
    /// The partner's own identifier; it cannot be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_id: Option<String>,
    /// The surname.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub surname: Patch<String>,
    /// The name.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub name: Patch<String>,
    /// The patronymic.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub patronymic: Patch<String>,
    /// Ten digits, without country code.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub phone: Patch<String>,
    /// The e-mail address.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub email: Patch<String>,
    /// The category.
    #[serde(skip_serializing_if = "Patch::is_keep")]
    pub id_category: Patch<Uuid>,
    /// The status; it cannot be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<EmployeeStatus>,
}

/// Which employees to list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmployeeFilter {
    /// Only employees in this status.
    pub status: Option<EmployeeStatus>,
    /// Only employees in this category.
    pub id_category: Option<Uuid>,
    /// The one with this identifier of the partner's own.
    pub custom_id: Option<String>,
    /// Only employees with this text in surname, name or the partner's own identifier; letter case does not matter.
    pub q: Option<String>,
}

impl EmployeeFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("status", self.status.as_ref().map(EmployeeStatus::as_str))
            .query("idCategory", self.id_category.map(|id| id.to_string()))
            .query("customId", self.custom_id.as_deref())
            .query("q", self.q.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_tells_keep_from_clear_from_set() {
        assert_eq!(serde_json::to_string(&EmployeeUpdate::default()).unwrap(), "{}");
        let update = EmployeeUpdate {
            surname: Patch::Clear,
            name: Patch::Set("Пётр".to_owned()),
            status: Some(EmployeeStatus::Vacation),
            ..EmployeeUpdate::default()
        };
        let json = serde_json::to_string(&update).unwrap();
        assert_eq!(json, r#"{"surname":null,"name":"Пётр","status":"VACATION"}"#);
    }

    #[test]
    fn a_new_employee_sends_what_is_known() {
        let employee = NewEmployee { email: Some("p@example.ru".to_owned()), ..NewEmployee::new("T-1") };
        let json = serde_json::to_string(&employee).unwrap();
        assert_eq!(json, r#"{"customId":"T-1","email":"p@example.ru"}"#);
    }
}
