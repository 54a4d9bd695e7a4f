//! Look-ups of employees that many calls can share.

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::StoreError;

use super::employees::EmployeeRow;
use crate::connection::{AnyConnection, on_either};
use crate::convert::{AsKey, parsed};
use crate::error::Stored;
use crate::schema::employees;
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, RawStatement};
use crate::transaction::loader::BatchLoad;

/// An employee by the identifier.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeById {
    pub(super) partner: PartnerId,
    pub(super) id: EmployeeId,
}

#[derive(QueryableByName)]
struct PartnersRow {
    #[diesel(sql_type = sql::Id)]
    partner_id: Id,
    #[diesel(embed)]
    employee: EmployeeRow,
}

const MANY_BY_ID: &str = "
    SELECT found.*
    FROM unnest(?, ?) AS wanted (partner_id, id) CROSS JOIN LATERAL (
        SELECT e.* FROM employees e
        WHERE e.partner_id = wanted.partner_id AND e.id = wanted.id OFFSET 0
    ) found";

impl BatchLoad for EmployeeById {
    type Loaded = Option<EmployeeRow>;

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn load_one(&self, connection: &mut AnyConnection) -> Result<Option<EmployeeRow>, StoreError> {
        let employee = employees::table.find((self.partner.key(), self.id.key()));
        on_either!(connection, inner => employee.select(EmployeeRow::as_select()).get_result(inner))
            .optional()
            .stored()
    }

    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Option<EmployeeRow>)>, StoreError> {
        let columns = vec![
            Bind::Ids(wanted.iter().map(|one| one.partner.key()).collect()),
            Bind::Ids(wanted.iter().map(|one| one.id.key()).collect()),
        ];
        let rows: Vec<PartnersRow> = RawStatement::new(MANY_BY_ID, columns).load(connection).stored()?;
        let found = |row: PartnersRow| {
            let partner = row.partner_id.to();
            Ok((Self { partner, id: row.employee.id() }, Some(row.employee)))
        };
        rows.into_iter().map(found).collect()
    }
}

/// The identifier behind a custom one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeNamed {
    pub(super) partner: PartnerId,
    pub(super) custom_id: CustomId,
}

#[derive(QueryableByName)]
struct NamedRow {
    #[diesel(sql_type = sql::Id)]
    partner_id: Id,
    #[diesel(sql_type = Text)]
    custom_id: String,
    #[diesel(sql_type = sql::Id)]
    id: Id,
}

const MANY_BY_CUSTOM_ID: &str = "
    SELECT found.*
    FROM unnest(?, ?) AS wanted (partner_id, custom_id) CROSS JOIN LATERAL (
        SELECT e.partner_id, e.custom_id, e.id FROM employees e
        WHERE e.partner_id = wanted.partner_id AND e.custom_id = wanted.custom_id OFFSET 0
    ) found";

impl BatchLoad for EmployeeNamed {
    type Loaded = Option<EmployeeId>;

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn load_one(&self, connection: &mut AnyConnection) -> Result<Option<EmployeeId>, StoreError> {
        let named = employees::table
            .filter(employees::partner_id.eq(self.partner.key()))
            .filter(employees::custom_id.eq(self.custom_id.as_str()))
            .select(employees::id);
        let found: Option<Id> =
            on_either!(connection, inner => named.get_result(inner)).optional().stored()?;
        Ok(found.map(Id::to))
    }

    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Option<EmployeeId>)>, StoreError> {
        let columns = vec![
            Bind::Ids(wanted.iter().map(|one| one.partner.key()).collect()),
            Bind::Texts(wanted.iter().map(|one| one.custom_id.as_str()).collect()),
        ];
        let rows: Vec<NamedRow> = RawStatement::new(MANY_BY_CUSTOM_ID, columns).load(connection).stored()?;
        let found = |row: NamedRow| {
            let partner = row.partner_id.to();
            let custom_id = parsed(CustomId::parse(&row.custom_id), "employees.custom_id")?;
            Ok((Self { partner, custom_id }, Some(row.id.to())))
        };
        rows.into_iter().map(found).collect()
    }
}
