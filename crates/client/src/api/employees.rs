//! Employees.

use kopeck_api::{Data, Employee, EmployeeErased, EmployeeWithCards, Page, Paging, operations};
use uuid::Uuid;

use crate::client::Client;
use crate::error::Error;
use crate::model::employee::{EmployeeFilter, EmployeeUpdate, NewEmployee};
use crate::records::Records;
use crate::request::Request;
use crate::tagged::Tagged;
use crate::write::Write;

/// Operations on employees; see [`Client::employees`].
#[derive(Debug, Clone, Copy)]
pub struct Employees<'a> {
    client: &'a Client,
}

impl<'a> Employees<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Adds an employee.
    pub fn add(&self, employee: &NewEmployee) -> Write<Employee> {
        self.client.write(Request::of(&operations::EMPLOYEE_ADD).body(employee))
    }

    /// Changes an employee.
    pub fn update(&self, id_employee: Uuid, update: &EmployeeUpdate) -> Write<Employee> {
        self.client.write(Request::of(&operations::EMPLOYEE_UPDATE).id(id_employee).body(update))
    }

    /// Permanently erases an employee's personal data. They must have no card that is neither closed nor expired.
    pub fn erase(&self, id_employee: Uuid) -> Write<EmployeeErased> {
        self.client.write(Request::of(&operations::EMPLOYEE_ERASE).id(id_employee))
    }

    /// Reads an employee with their cards.
    ///
    /// # Errors
    ///
    /// 404 if there is no such employee; see [`Error`].
    pub async fn get(&self, id_employee: Uuid) -> Result<EmployeeWithCards, Error> {
        let request = Request::of(&operations::EMPLOYEE_GET).id(id_employee);
        self.client.read(request).await.map(|Data { data }| data)
    }

    /// Reads an employee with their cards, and the version that [`Write::if_match`] takes.
    ///
    /// # Errors
    ///
    /// As of [`Self::get`].
    pub async fn get_tagged(&self, id_employee: Uuid) -> Result<Tagged<EmployeeWithCards>, Error> {
        let request = Request::of(&operations::EMPLOYEE_GET).id(id_employee);
        let Tagged { value: Data { data }, etag } = self.client.read_tagged(request).await?;
        Ok(Tagged { value: data, etag })
    }

    /// Lists employees, the first added first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &EmployeeFilter, paging: Paging) -> Result<Page<Employee>, Error> {
        self.all(filter).page(paging).await
    }

    /// All employees that fit the filter, the first added first, page by page on demand.
    pub fn all(&self, filter: &EmployeeFilter) -> Records<Employee> {
        let request = filter.add_to(Request::of(&operations::EMPLOYEE_LIST));
        Records::new(self.client, request, |one| one.id_employee.as_u128())
    }
}
