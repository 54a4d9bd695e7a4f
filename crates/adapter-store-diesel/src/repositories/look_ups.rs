//! Look-ups of employees and their cards that many requests can share.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::StoreError;

use super::employees::{EmployeeRow, employee_columns};
use crate::convert::{AsKey, corrupt, word};
use crate::schema::{cards, employees};
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, binds, select_list};
use crate::transaction::loader::BatchLoad;

/// An employee by the identifier.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeById(pub(super) EmployeeId);

impl BatchLoad for EmployeeById {
    type Loaded = Option<EmployeeRow>;
    type Row = EmployeeRow;

    const SELECT: &'static str = concat!(
        "SELECT ",
        employee_columns!(select_list! { "e": }),
        " FROM employees e WHERE e.partner_id = ? AND e.id = ? AND e.erased_at IS NULL"
    );

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.0.key()]
    }

    fn of_rows(rows: Vec<EmployeeRow>) -> Result<Option<EmployeeRow>, StoreError> {
        Ok(rows.into_iter().next())
    }
}

/// The identifier behind a custom one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeNamed(pub(super) CustomId);

#[derive(QueryableByName)]
#[diesel(table_name = employees)]
pub(crate) struct IdRow {
    id: Id,
}

impl BatchLoad for EmployeeNamed {
    type Loaded = Option<EmployeeId>;
    type Row = IdRow;

    const SELECT: &'static str = "SELECT id FROM employees WHERE partner_id = ? AND custom_id = ?";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.0.as_str()]
    }

    fn of_rows(rows: Vec<IdRow>) -> Result<Option<EmployeeId>, StoreError> {
        Ok(rows.first().map(|row| row.id.to()))
    }
}

/// The numbers in the list that erased employees keep, ascending.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct ErasedNumbers;

#[derive(QueryableByName)]
#[diesel(table_name = employees)]
pub(crate) struct SeqRow {
    seq: i64,
}

impl BatchLoad for ErasedNumbers {
    type Loaded = Vec<i64>;
    type Row = SeqRow;

    const SELECT: &'static str =
        "SELECT seq FROM employees WHERE partner_id = ? AND erased_at IS NOT NULL ORDER BY seq";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner]
    }

    fn of_rows(rows: Vec<SeqRow>) -> Result<Vec<i64>, StoreError> {
        Ok(rows.into_iter().map(|row| row.seq).collect())
    }
}

/// The cards of an employee, in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CardsOf(pub(super) EmployeeId);

#[derive(QueryableByName)]
#[diesel(table_name = cards)]
pub(crate) struct LinkedRow {
    id: Id,
    link_status: Option<String>,
}

fn linked(id: Id, status: Option<&str>) -> Result<(CardId, CardStatus), StoreError> {
    let status = status.ok_or_else(|| corrupt("cards.link_status"))?;
    Ok((id.to(), word(status, "cards.link_status")?))
}

impl BatchLoad for CardsOf {
    type Loaded = Vec<(CardId, CardStatus)>;
    type Row = LinkedRow;

    const SELECT: &'static str =
        "SELECT id, link_status FROM cards WHERE partner_id = ? AND employee_id = ? ORDER BY seq";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.0.key()]
    }

    fn of_rows(rows: Vec<LinkedRow>) -> Result<Self::Loaded, StoreError> {
        rows.iter().map(|row| linked(row.id, row.link_status.as_deref())).collect()
    }
}

/// An employee by the identifier, and their cards in the order of their numbers, for those who only read.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeWithCards(pub(super) EmployeeId);

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
    const SELECT: &'static str = concat!(
        "SELECT ",
        employee_columns!(select_list! { "e": }),
        ", c.id AS card_id, c.link_status, c.seq AS card_seq
        FROM employees e LEFT JOIN cards c ON c.partner_id = e.partner_id AND c.employee_id = e.id
        WHERE e.partner_id = ? AND e.id = ? AND e.erased_at IS NULL"
    );

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.0.key()]
    }

    fn of_rows(mut rows: Vec<HolderRow>) -> Result<Self::Loaded, StoreError> {
        rows.sort_unstable_by_key(|row| row.card_seq);
        let cards =
            rows.iter().filter_map(|row| row.card_id.map(|id| linked(id, row.link_status.as_deref())));
        let cards = cards.collect::<Result<_, _>>()?;
        Ok(rows.into_iter().next().map(|row| (row.employee, cards)))
    }
}
