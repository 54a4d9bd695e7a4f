//! Employees.

use diesel::prelude::*;
use kopeck_domain::employee::{Employee, EmployeeFields, EmployeeStatus};
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::person::{CustomId, Email, PersonName};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    Access, ColumnCipher, EmployeeCards, EmployeeFilter, EmployeeRepository, StoreError,
};
use time::OffsetDateTime;

use super::look_ups::{CardsOf, EmployeeById, EmployeeNamed, EmployeeWithCards, ErasedNumbers};
use super::{ascending, listed, window};
use crate::connection::MultiBackend;
use crate::convert::{AsKey, word};
use crate::counters::List;
use crate::dialect;
use crate::encryption::RowCipher;
use crate::error::Stored;
use crate::schema::employees;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

/// An employee as the table has them, but for what only the table itself needs.
#[derive(Clone, Queryable, QueryableByName, Selectable)]
#[diesel(table_name = employees)]
pub(crate) struct EmployeeRow {
    id: Id,
    custom_id: String,
    surname: Option<String>,
    name: Option<String>,
    patronymic: Option<String>,
    phone: Option<Vec<u8>>,
    email: Option<Vec<u8>>,
    category_id: Option<Id>,
    status: String,
    status_updated_at: UtcTimestamp,
    created_at: UtcTimestamp,
}

/// Gives a macro the columns of an [`EmployeeRow`].
macro_rules! employee_columns {
    ($macro:ident! { $($tokens:tt)* }) => {
        $macro! { $($tokens)*
            id, custom_id, surname, name, patronymic, phone, email, category_id, status, status_updated_at,
            created_at
        }
    };
}
pub(super) use employee_columns;

/// A new employee.
pub(crate) struct NewEmployeeRow {
    partner_id: Id,
    seq: i64,
    search_text: String,
    employee: EmployeeRow,
}

employee_columns!(row! { NewEmployeeRow, employees: partner_id, seq, search_text; employee: });

/// Encrypts and decrypts columns of the employee with this key.
fn row_cipher<'a>(cipher: &'a dyn ColumnCipher, partner: PartnerId, row: &'a [u8]) -> RowCipher<'a> {
    RowCipher { cipher, table: "employees", partner, row }
}

impl EmployeeRow {
    fn new(partner: PartnerId, employee: &Employee, cipher: &dyn ColumnCipher) -> Result<Self, StoreError> {
        let name = |name: Option<&PersonName>| name.map(|name| name.as_str().to_owned());
        let id = employee.id().key();
        let cipher = row_cipher(cipher, partner, id.bytes());
        let phone = employee.phone().map(|phone| cipher.encrypt("phone", phone.as_str().as_bytes()));
        let email = employee.email().map(|email| cipher.encrypt("email", email.as_str().as_bytes()));
        Ok(Self {
            id,
            custom_id: employee.custom_id().as_str().to_owned(),
            surname: name(employee.surname()),
            name: name(employee.name()),
            patronymic: name(employee.patronymic()),
            phone: phone.transpose()?,
            email: email.transpose()?,
            category_id: employee.category().map(|category| category.key()),
            status: employee.status().as_str().to_owned(),
            status_updated_at: UtcTimestamp::of(employee.status_updated_at()),
            created_at: UtcTimestamp::of(employee.created_at()),
        })
    }

    pub(super) fn employee(
        self,
        partner: PartnerId,
        cipher: &dyn ColumnCipher,
    ) -> Result<Employee, StoreError> {
        let name = |text: Option<String>, column| text.map(|text| word(&text, column)).transpose();
        let cipher = row_cipher(cipher, partner, self.id.bytes());
        let phone = self.phone.map(|stored| cipher.text("phone", &stored)).transpose()?;
        let email = self.email.map(|stored| cipher.text("email", &stored)).transpose()?;
        Ok(Employee::from_stored(EmployeeFields {
            id: self.id.to(),
            custom_id: word(&self.custom_id, "employees.custom_id")?,
            surname: name(self.surname, "employees.surname")?,
            name: name(self.name, "employees.name")?,
            patronymic: name(self.patronymic, "employees.patronymic")?,
            phone: phone.map(|text| word(&text, "employees.phone")).transpose()?,
            email: email.map(Email::from_stored),
            category: self.category_id.map(Id::to),
            status: word(&self.status, "employees.status")?,
            created_at: self.created_at.time("employees.created_at")?,
            status_updated_at: self.status_updated_at.time("employees.status_updated_at")?,
        }))
    }
}

/// Every employee of the partner that fits `filter`; erased ones fit none.
fn filtered(partner: PartnerId, filter: &EmployeeFilter) -> employees::BoxedQuery<'_, MultiBackend> {
    let EmployeeFilter { status, category, custom_id, query: text } = filter;
    let mut query = employees::table
        .filter(employees::partner_id.eq(partner.key()))
        .filter(employees::erased_at.is_null())
        .into_boxed();
    if let Some(status) = status {
        query = query.filter(employees::status.eq(status.as_str()));
    }
    if let Some(category) = category {
        query = query.filter(employees::category_id.eq(category.key()));
    }
    if let Some(custom_id) = custom_id {
        query = query.filter(employees::custom_id.eq(custom_id.as_str()));
    }
    if let Some(text) = text {
        query = query.filter(employees::search_text.like(containing(text)).escape('\\'));
    }
    query
}

/// The number of the employee at this place of the list, or of an erased one behind it; `erased` are the numbers to pass
/// over, ascending. Place 0 is before the first.
fn number_at(place: i64, erased: &[i64]) -> i64 {
    // How many employees of the list stand before each erased one only grows.
    let passed = (1..).zip(erased).take_while(|(nth, number)| **number - nth < place).count();
    place + i64::try_from(passed).unwrap_or(0)
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
        let row = NewEmployeeRow {
            partner_id: partner.key(),
            seq,
            search_text: employee.search_text(),
            employee: EmployeeRow::new(partner, employee, &*self.cipher)?,
        };
        if let Some(pending) = self.pending(partner)? {
            let stored = row.employee.clone();
            pending.add(row);
            self.remember(partner, EmployeeById(employee.id()), Some(stored));
            self.remember(partner, EmployeeNamed(employee.custom_id().clone()), Some(employee.id()));
            return self.give_out(partner, List::Employees, seq);
        }
        dialect::guarded(self.of(partner)?, |connection| statements::insert(connection, &[row])).stored()?;
        self.give_out(partner, List::Employees, seq)
    }

    fn update(&mut self, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
        let (row, search_text) =
            (EmployeeRow::new(partner, employee, &*self.cipher)?, employee.search_text());
        let text = "UPDATE employees SET
            custom_id = ?, surname = ?, name = ?, patronymic = ?, phone = ?, email = ?, category_id = ?,
            status = ?, status_updated_at = ?, search_text = ?
            WHERE id = ? AND partner_id = ?";
        let values = binds![
            &row.custom_id,
            &row.surname,
            &row.name,
            &row.patronymic,
            &row.phone,
            &row.email,
            row.category_id,
            &row.status,
            row.status_updated_at,
            &search_text,
            employee.id().key(),
            partner.key(),
        ];
        self.try_change(partner, text, values)
    }

    fn erase(&mut self, partner: PartnerId, id: EmployeeId, at: OffsetDateTime) -> Result<(), StoreError> {
        let text = "UPDATE employees SET
            custom_id = ?, surname = NULL, name = NULL, patronymic = NULL, phone = NULL, email = NULL,
            category_id = NULL, status = ?, search_text = '', erased_at = ?
            WHERE id = ? AND partner_id = ? AND erased_at IS NULL";
        // No `customId` has a colon.
        let (custom_id, status) = (format!("erased:{id}"), EmployeeStatus::DontWork.as_str());
        let values = binds![&custom_id, status, UtcTimestamp::of(at), id.key(), partner.key()];
        self.change(partner, text, values)?;
        self.erase_responses_about(partner, id)?;
        self.erase_name_in_events(partner, id)?;
        self.erase_run_items_about(partner, id)?;
        self.erase_name_in_closed_months(partner, id)?;
        dialect::note_erasure(self.of(partner)?).stored()
    }

    fn get(&mut self, partner: PartnerId, id: EmployeeId) -> Result<Option<Employee>, StoreError> {
        let found = self.load(partner, EmployeeById(id))?;
        found.map(|row| row.employee(partner, &*self.cipher)).transpose()
    }

    fn with_cards(
        &mut self,
        partner: PartnerId,
        id: EmployeeId,
    ) -> Result<Option<(Employee, EmployeeCards)>, StoreError> {
        let found = match self.access() {
            Access::Read => self.load(partner, EmployeeWithCards(id))?,
            // A buffered row changes the value of each key by itself.
            Access::Write => match self.load(partner, EmployeeById(id))? {
                Some(row) => Some((row, self.load(partner, CardsOf(id))?)),
                None => None,
            },
        };
        found.map(|(row, cards)| Ok((row.employee(partner, &*self.cipher)?, cards))).transpose()
    }

    fn id_by_custom_id(
        &mut self,
        partner: PartnerId,
        custom_id: &CustomId,
    ) -> Result<Option<EmployeeId>, StoreError> {
        self.load(partner, EmployeeNamed(custom_id.clone()))
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &EmployeeFilter,
        page: Page,
    ) -> Result<Listed<Employee>, StoreError> {
        let own = || filtered(partner, filter).order(employees::seq).select(EmployeeRow::as_select());
        let (total, rows) = if *filter == EmployeeFilter::default() {
            let (last, erased) =
                (self.last_number(partner, List::Employees), self.load(partner, ErasedNumbers));
            // Both look-ups begin before either result is used: a store that batches look-ups sends them together.
            let (last, erased) = (last?.unwrap_or(0), erased?);
            let total = last - i64::try_from(erased.len()).unwrap_or(0);
            let (after, up_to) = ascending(page);
            let (after, up_to) = (number_at(after, &erased), number_at(up_to, &erased));
            (total, own().filter(employees::seq.gt(after)).filter(employees::seq.le(up_to)))
        } else {
            let total: i64 = filtered(partner, filter).count().get_result(self.of(partner)?).stored()?;
            let (limit, offset) = window(page);
            (total, own().limit(limit).offset(offset))
        };
        listed(total, rows.load(self.of(partner)?), |row| row.employee(partner, &*self.cipher))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_of_the_query_mean_themselves() {
        assert_eq!(containing("ив"), "%ив%");
        assert_eq!(containing(r"50%_a\b"), r"%50\%\_a\\b%");
        assert_eq!(containing(""), "%%");
    }

    /// Pages of every size hold the numbers that are left, in their order, each once, whichever of ten were erased.
    #[test]
    fn pages_pass_over_erased_numbers() {
        for erasures in 0..1_u32 << 10 {
            let (erased, left): (Vec<i64>, Vec<i64>) =
                (1..=10).partition(|number| erasures & (1 << (number - 1)) != 0);
            for size in 1..=4_usize {
                let bound = |page: usize| number_at(i64::try_from(page * size).unwrap(), &erased);
                for (page, expected) in left.chunks(size).chain([&[][..]]).enumerate() {
                    let (after, up_to) = (bound(page), bound(page + 1));
                    let shown: Vec<i64> =
                        left.iter().copied().filter(|number| after < *number && *number <= up_to).collect();
                    assert_eq!(shown, expected, "page {page} of {size}, without {erased:?}");
                }
            }
        }
    }
}
