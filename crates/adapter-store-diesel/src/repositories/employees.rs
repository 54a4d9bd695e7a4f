//! Employees.

use diesel::pg::PgConnection;
use diesel::prelude::*;
use kopeck_domain::employee::Employee;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};
use kopeck_port_store::{EmployeeFilter, EmployeeRepository, StoreError};

use super::employee_look_ups::{EmployeeById, EmployeeNamed};
use super::employee_with_cards::EmployeeWithCards;
use super::{ascending, window};
use crate::bulk::column;
use crate::convert::{AsKey, id, length, micros, moment, parsed, word};
use crate::counters::List;
use crate::dialect::{self, AnyConnection, MultiBackend, on_either};
use crate::error::Stored;
use crate::schema::employees;
use crate::statements::{Bind, RawStatement};
use crate::transaction::DieselTransaction;
use crate::update::update;

/// An employee as the table has them, but for what only the table itself needs.
#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = employees)]
pub(crate) struct EmployeeRow {
    id: Vec<u8>,
    #[diesel(embed)]
    fields: FieldsRow,
    created_at: i64,
}

/// A new employee.
pub(crate) struct NewEmployeeRow {
    partner_id: Vec<u8>,
    id: Vec<u8>,
    seq: i64,
    fields: FieldsRow,
    search_text: String,
    created_at: i64,
}

/// What an update writes.
#[derive(AsChangeset)]
#[diesel(table_name = employees)]
struct ChangedRow {
    #[diesel(embed)]
    fields: FieldsRow,
    search_text: String,
}

/// What may change.
#[derive(Queryable, QueryableByName, Selectable, AsChangeset)]
#[diesel(table_name = employees, treat_none_as_null = true)]
pub(crate) struct FieldsRow {
    custom_id: String,
    surname: Option<String>,
    name: Option<String>,
    patronymic: Option<String>,
    phone: Option<String>,
    email: Option<String>,
    category_id: Option<Vec<u8>>,
    status: String,
    status_updated_at: i64,
}

impl FieldsRow {
    fn new(employee: &Employee) -> Self {
        let name = |name: &Option<PersonName>| name.as_ref().map(|name| name.as_str().to_owned());
        Self {
            custom_id: employee.custom_id.as_str().to_owned(),
            surname: name(&employee.surname),
            name: name(&employee.name),
            patronymic: name(&employee.patronymic),
            phone: employee.phone.as_ref().map(|phone| phone.as_str().to_owned()),
            email: employee.email.as_ref().map(|email| email.as_str().to_owned()),
            category_id: employee.category.map(|category| category.key().to_vec()),
            status: employee.status.as_str().to_owned(),
            status_updated_at: micros(employee.status_updated_at),
        }
    }
}

impl NewEmployeeRow {
    fn new(partner: PartnerId, seq: i64, employee: &Employee) -> Self {
        Self {
            partner_id: partner.key().to_vec(),
            id: employee.id.key().to_vec(),
            seq,
            fields: FieldsRow::new(employee),
            search_text: employee.search_text(),
            created_at: micros(employee.created_at),
        }
    }
}

impl EmployeeRow {
    pub(super) fn employee(self) -> Result<Employee, StoreError> {
        let name = |text: Option<String>, column| {
            text.map(|text| parsed(PersonName::parse(&text), column)).transpose()
        };
        let fields = self.fields;
        Ok(Employee {
            id: id(&self.id, "employees.id")?,
            custom_id: parsed(CustomId::parse(&fields.custom_id), "employees.custom_id")?,
            surname: name(fields.surname, "employees.surname")?,
            name: name(fields.name, "employees.name")?,
            patronymic: name(fields.patronymic, "employees.patronymic")?,
            phone: fields.phone.map(|text| parsed(Phone::parse(&text), "employees.phone")).transpose()?,
            email: fields.email.map(|text| parsed(Email::parse(&text), "employees.email")).transpose()?,
            category: fields.category_id.map(|bytes| id(&bytes, "employees.category_id")).transpose()?,
            status: word(&fields.status, "employees.status")?,
            created_at: moment(self.created_at, "employees.created_at")?,
            status_updated_at: moment(fields.status_updated_at, "employees.status_updated_at")?,
        })
    }
}

const INSERT: &str = "
    INSERT INTO employees (
        partner_id, id, seq, custom_id, surname, name, patronymic, phone, email, category_id, status,
        status_updated_at, search_text, created_at
    )
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Adds an employee.
fn insert_employee(connection: &mut AnyConnection, row: &NewEmployeeRow) -> QueryResult<()> {
    let fields = &row.fields;
    let values = vec![
        Bind::Bytes(&row.partner_id),
        Bind::Bytes(&row.id),
        Bind::Int(row.seq),
        Bind::Text(&fields.custom_id),
        Bind::MaybeText(fields.surname.as_deref()),
        Bind::MaybeText(fields.name.as_deref()),
        Bind::MaybeText(fields.patronymic.as_deref()),
        Bind::MaybeText(fields.phone.as_deref()),
        Bind::MaybeText(fields.email.as_deref()),
        Bind::MaybeBytes(fields.category_id.as_deref()),
        Bind::Text(&fields.status),
        Bind::Int(fields.status_updated_at),
        Bind::Text(&row.search_text),
        Bind::Int(row.created_at),
    ];
    on_either!(connection, inner => RawStatement::new(INSERT, values).execute(inner)).map(drop)
}

const POSTGRES_INSERT_MANY: &str = "
    INSERT INTO employees (
        partner_id, id, seq, custom_id, surname, name, patronymic, phone, email, category_id, status,
        status_updated_at, search_text, created_at
    )
    SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// Adds employees of any partners.
pub(crate) fn insert_employees(connection: &mut PgConnection, rows: &[NewEmployeeRow]) -> QueryResult<()> {
    let columns = vec![
        column!(BytesList: rows, row => row.partner_id.as_slice()),
        column!(BytesList: rows, row => row.id.as_slice()),
        column!(Ints: rows, row => row.seq),
        column!(Texts: rows, row => row.fields.custom_id.as_str()),
        column!(MaybeTexts: rows, row => row.fields.surname.as_deref()),
        column!(MaybeTexts: rows, row => row.fields.name.as_deref()),
        column!(MaybeTexts: rows, row => row.fields.patronymic.as_deref()),
        column!(MaybeTexts: rows, row => row.fields.phone.as_deref()),
        column!(MaybeTexts: rows, row => row.fields.email.as_deref()),
        column!(MaybeBytesList: rows, row => row.fields.category_id.as_deref()),
        column!(Texts: rows, row => row.fields.status.as_str()),
        column!(Ints: rows, row => row.fields.status_updated_at),
        column!(Texts: rows, row => row.search_text.as_str()),
        column!(Ints: rows, row => row.created_at),
    ];
    RawStatement::new(POSTGRES_INSERT_MANY, columns).execute(connection).map(drop)
}

/// Every employee of the partner that fits `filter`.
fn filtered<'q>(partner: PartnerId, filter: &'q EmployeeFilter) -> employees::BoxedQuery<'q, MultiBackend> {
    let mut query = employees::table.filter(employees::partner_id.eq(partner.key())).into_boxed();
    if let Some(status) = filter.status {
        query = query.filter(employees::status.eq(status.as_str()));
    }
    if let Some(category) = filter.category {
        query = query.filter(employees::category_id.eq(category.key()));
    }
    if let Some(custom_id) = &filter.custom_id {
        query = query.filter(employees::custom_id.eq(custom_id.as_str()));
    }
    if let Some(text) = &filter.query {
        query = query.filter(employees::search_text.like(containing(text)).escape('\\'));
    }
    query
}

/// The LIKE pattern of every text that contains `text`, whose own wildcards mean nothing.
fn containing(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}

impl EmployeeRepository for DieselTransaction {
    fn insert(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
        let seq = self.next_number(partner, List::Employees)?;
        let row = NewEmployeeRow::new(partner, seq, employee);
        if let Some(pending) = self.pending(partner)? {
            pending.employees.push(row);
            self.remember(EmployeeById { partner, id: employee.id }, Some(employee.clone()));
            let named = EmployeeNamed { partner, custom_id: employee.custom_id.clone() };
            self.remember(named, Some(employee.id));
            return self.give_out(partner, List::Employees, seq);
        }
        dialect::guarded(self.of(partner)?, |connection| insert_employee(connection, &row)).stored()?;
        self.give_out(partner, List::Employees, seq)
    }

    fn update(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
        let row = ChangedRow { fields: FieldsRow::new(employee), search_text: employee.search_text() };
        let changed = update(employees::table.find((partner.key(), employee.id.key()))).set(row);
        dialect::guarded(self.of(partner)?, |connection| changed.execute(connection)).stored().map(drop)
    }

    fn get(&mut self, partner: PartnerId, id: EmployeeId) -> Result<Option<Employee>, StoreError> {
        if self.reads_together() {
            // Who only reads an employee asks for the cards next.
            let found = self.load(EmployeeWithCards { partner, id })?;
            return Ok(found.map(|(employee, _)| employee));
        }
        self.load(EmployeeById { partner, id })
    }

    fn id_by_custom_id(
        &mut self,
        partner: PartnerId,
        custom_id: &CustomId,
    ) -> Result<Option<EmployeeId>, StoreError> {
        self.load(EmployeeNamed { partner, custom_id: custom_id.clone() })
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &EmployeeFilter,
        page: Page,
    ) -> Result<Listed<Employee>, StoreError> {
        let (total, rows): (i64, Vec<EmployeeRow>) = if *filter == EmployeeFilter::default() {
            let key = partner.key();
            let total = self.last_number(partner, List::Employees)?.unwrap_or(0);
            let (after, up_to) = ascending(page);
            let rows = employees::table
                .filter(employees::partner_id.eq(&key))
                .filter(employees::seq.gt(after))
                .filter(employees::seq.le(up_to))
                .order(employees::seq)
                .select(EmployeeRow::as_select())
                .load(self.of(partner)?)
                .stored()?;
            (total, rows)
        } else {
            let total = filtered(partner, filter).count().get_result(self.of(partner)?).stored()?;
            let (limit, offset) = window(page);
            let rows = filtered(partner, filter)
                .order(employees::seq)
                .limit(limit)
                .offset(offset)
                .select(EmployeeRow::as_select())
                .load(self.of(partner)?)
                .stored()?;
            (total, rows)
        };
        let items = rows.into_iter().map(EmployeeRow::employee).collect::<Result<_, _>>()?;
        Ok(Listed { items, total: length(total, "counters.last")? })
    }
}

#[cfg(test)]
mod tests {
    use super::containing;

    #[test]
    fn wildcards_of_the_query_mean_themselves() {
        assert_eq!(containing("ив"), "%ив%");
        assert_eq!(containing(r"50%_a\b"), r"%50\%\_a\\b%");
        assert_eq!(containing(""), "%%");
    }
}
