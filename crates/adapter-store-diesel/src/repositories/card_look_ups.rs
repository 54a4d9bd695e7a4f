//! Look-ups of cards that many calls can share.

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{Nullable, Text};
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_port_store::StoreError;

use crate::connection::{AnyConnection, on_either};
use crate::convert::{AsKey, corrupt, word};
use crate::error::Stored;
use crate::schema::cards;
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, RawStatement};
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
struct LinkedRow {
    #[diesel(sql_type = sql::Id)]
    partner_id: Id,
    #[diesel(sql_type = sql::Id)]
    employee_id: Id,
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = Nullable<Text>)]
    link_status: Option<String>,
}

const MANY_CARDS_OF: &str = "
    SELECT found.*
    FROM unnest(?, ?) AS wanted (partner_id, employee_id) CROSS JOIN LATERAL (
        SELECT c.partner_id, c.employee_id, c.id, c.link_status FROM cards c
        WHERE c.partner_id = wanted.partner_id AND c.employee_id = wanted.employee_id
        ORDER BY c.seq OFFSET 0
    ) found";

impl BatchLoad for CardsOf {
    type Loaded = Vec<(CardId, CardStatus)>;

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn load_one(&self, connection: &mut AnyConnection) -> Result<Self::Loaded, StoreError> {
        let cards = cards::table
            .filter(cards::partner_id.eq(self.partner.key()))
            .filter(cards::employee_id.eq(self.employee.key()))
            .order(cards::seq)
            .select((cards::id, cards::link_status));
        let rows: Vec<(Id, Option<String>)> = on_either!(connection, inner => cards.load(inner)).stored()?;
        rows.iter().map(|(id, status)| linked(*id, status.as_deref())).collect()
    }

    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Self::Loaded)>, StoreError> {
        let columns = vec![
            Bind::Ids(wanted.iter().map(|one| one.partner.key()).collect()),
            Bind::Ids(wanted.iter().map(|one| one.employee.key()).collect()),
        ];
        let rows: Vec<LinkedRow> = RawStatement::new(MANY_CARDS_OF, columns).load(connection).stored()?;
        let mut found: Vec<(Self, Self::Loaded)> = Vec::new();
        for row in rows {
            let question = Self { partner: row.partner_id.to(), employee: row.employee_id.to() };
            let card = linked(row.id, row.link_status.as_deref())?;
            match found.last_mut() {
                Some((of, cards)) if *of == question => cards.push(card),
                _ => found.push((question, vec![card])),
            }
        }
        Ok(found)
    }
}
