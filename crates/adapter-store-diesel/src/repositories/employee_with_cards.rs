//! An employee together with the cards, for those who only read: they show both.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_port_store::StoreError;

use super::card_look_ups::linked;
use super::employees::EmployeeRow;
use crate::convert::AsKey;
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, binds};
use crate::transaction::loader::BatchLoad;

/// An employee by the identifier, and their cards in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeWithCards {
    pub(super) partner: PartnerId,
    pub(super) id: EmployeeId,
}

/// An employee, once for each card.
#[derive(QueryableByName)]
pub(crate) struct HolderRow {
    #[diesel(embed)]
    employee: EmployeeRow,
    #[diesel(sql_type = Nullable<sql::Id>)]
    card_id: Option<Id>,
    #[diesel(sql_type = Nullable<Text>)]
    link_status: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    card_seq: Option<i64>,
}

impl BatchLoad for EmployeeWithCards {
    type Loaded = Option<(EmployeeRow, Vec<(CardId, CardStatus)>)>;
    type Row = HolderRow;

    /// To sort each employee's few cards takes the database a fifth of the statement, so that is done here.
    const SELECT: &'static str = "
        SELECT
            e.id, e.custom_id, e.surname, e.name, e.patronymic, e.phone, e.email, e.category_id, e.status,
            e.status_updated_at, e.created_at, c.id AS card_id, c.link_status, c.seq AS card_seq
        FROM employees e LEFT JOIN cards c ON c.partner_id = e.partner_id AND c.employee_id = e.id
        WHERE e.partner_id = ? AND e.id = ?";

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn values(&self) -> Vec<Bind<'_>> {
        binds![self.partner.key(), self.id.key()]
    }

    fn of_rows(mut rows: Vec<HolderRow>) -> Result<Self::Loaded, StoreError> {
        rows.sort_unstable_by_key(|row| row.card_seq);
        let cards =
            rows.iter().filter_map(|row| row.card_id.map(|id| linked(id, row.link_status.as_deref())));
        let cards = cards.collect::<Result<_, _>>()?;
        Ok(rows.into_iter().next().map(|row| (row.employee, cards)))
    }
}
