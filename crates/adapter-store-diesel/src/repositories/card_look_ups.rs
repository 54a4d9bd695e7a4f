//! Look-ups of cards that many calls can share.

use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_port_store::StoreError;

use crate::convert::{AsKey, corrupt, word};
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, binds};
use crate::transaction::loader::BatchLoad;

/// The cards of an employee, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CardsOf {
    pub(super) partner: PartnerId,
    pub(super) employee: EmployeeId,
}

pub(super) fn linked(id: Id, status: Option<&str>) -> Result<(CardId, CardStatus), StoreError> {
    let status = status.ok_or_else(|| corrupt("cards.link_status"))?;
    Ok((id.to(), word(status, "cards.link_status")?))
}

#[derive(QueryableByName)]
pub(crate) struct LinkedRow {
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = Nullable<Text>)]
    link_status: Option<String>,
}

impl BatchLoad for CardsOf {
    type Loaded = Vec<(CardId, CardStatus)>;
    type Row = LinkedRow;

    const SELECT: &'static str =
        "SELECT id, link_status FROM cards WHERE partner_id = ? AND employee_id = ? ORDER BY seq";

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn values(&self) -> Vec<Bind<'_>> {
        binds![self.partner.key(), self.employee.key()]
    }

    fn of_rows(rows: Vec<LinkedRow>) -> Result<Self::Loaded, StoreError> {
        rows.iter().map(|row| linked(row.id, row.link_status.as_deref())).collect()
    }
}
