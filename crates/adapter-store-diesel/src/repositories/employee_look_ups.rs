//! Look-ups of employees that many calls can share.

use diesel::prelude::*;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::StoreError;

use super::employees::EmployeeRow;
use crate::convert::AsKey;
use crate::schema::employees;
use crate::sql_types::Id;
use crate::statements::{Bind, binds};
use crate::transaction::loader::BatchLoad;

/// An employee by the identifier.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeById {
    pub(super) partner: PartnerId,
    pub(super) id: EmployeeId,
}

impl BatchLoad for EmployeeById {
    type Loaded = Option<EmployeeRow>;
    type Row = EmployeeRow;

    const SELECT: &'static str = "SELECT * FROM employees WHERE partner_id = ? AND id = ?";

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn values(&self) -> Vec<Bind<'_>> {
        binds![self.partner.key(), self.id.key()]
    }

    fn of_rows(rows: Vec<EmployeeRow>) -> Result<Option<EmployeeRow>, StoreError> {
        Ok(rows.into_iter().next())
    }
}

/// The identifier behind a custom one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeNamed {
    pub(super) partner: PartnerId,
    pub(super) custom_id: CustomId,
}

#[derive(QueryableByName)]
#[diesel(table_name = employees)]
pub(crate) struct IdRow {
    id: Id,
}

impl BatchLoad for EmployeeNamed {
    type Loaded = Option<EmployeeId>;
    type Row = IdRow;

    const SELECT: &'static str = "SELECT id FROM employees WHERE partner_id = ? AND custom_id = ?";

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn values(&self) -> Vec<Bind<'_>> {
        binds![self.partner.key(), self.custom_id.as_str()]
    }

    fn of_rows(rows: Vec<IdRow>) -> Result<Option<EmployeeId>, StoreError> {
        Ok(rows.first().map(|row| row.id.to()))
    }
}
