//! An employee together with the cards, for those who only read: they show both.

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_port_store::StoreError;

use super::card_look_ups::{CardsOf, linked};
use super::employee_look_ups::EmployeeById;
use super::employees::EmployeeRow;
use crate::connection::AnyConnection;
use crate::convert::{AsKey, corrupt};
use crate::error::Stored;
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, RawStatement};
use crate::transaction::loader::BatchLoad;

/// An employee by the identifier, and their cards in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeWithCards {
    pub(super) partner: PartnerId,
    pub(super) id: EmployeeId,
}

/// An employee, once for each card.
#[derive(QueryableByName)]
struct HolderRow {
    /// Which of the questions it answers, from one on.
    #[diesel(sql_type = BigInt)]
    question: i64,
    #[diesel(embed)]
    employee: EmployeeRow,
    #[diesel(sql_type = Nullable<sql::Id>)]
    card_id: Option<Id>,
    #[diesel(sql_type = Nullable<Text>)]
    link_status: Option<String>,
    #[diesel(sql_type = Nullable<BigInt>)]
    card_seq: Option<i64>,
}

/// To sort each employee's few cards takes the database a fifth of the statement, so that is done here.
const MANY: &str = "
    SELECT found.*
    FROM unnest(?, ?) WITH ORDINALITY AS wanted (partner_id, id, question) CROSS JOIN LATERAL (
        SELECT
            wanted.question, e.id, e.custom_id, e.surname, e.name, e.patronymic, e.phone, e.email, e.category_id,
            e.status, e.status_updated_at, e.created_at, c.id AS card_id, c.link_status, c.seq AS card_seq
        FROM employees e LEFT JOIN cards c ON c.partner_id = wanted.partner_id AND c.employee_id = wanted.id
        WHERE e.partner_id = wanted.partner_id AND e.id = wanted.id OFFSET 0
    ) found";

impl BatchLoad for EmployeeWithCards {
    type Loaded = Option<(EmployeeRow, Vec<(CardId, CardStatus)>)>;

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn load_one(&self, connection: &mut AnyConnection) -> Result<Self::Loaded, StoreError> {
        let Self { partner, id } = *self;
        let Some(employee) = (EmployeeById { partner, id }).load_one(connection)? else { return Ok(None) };
        let cards = CardsOf { partner, employee: id }.load_one(connection)?;
        Ok(Some((employee, cards)))
    }

    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Self::Loaded)>, StoreError> {
        let columns = vec![
            Bind::Ids(wanted.iter().map(|one| one.partner.key()).collect()),
            Bind::Ids(wanted.iter().map(|one| one.id.key()).collect()),
        ];
        let rows: Vec<HolderRow> = RawStatement::new(MANY, columns).load(connection).stored()?;
        let mut rows = rows.into_iter().peekable();
        let mut found = Vec::with_capacity(wanted.len());
        while let Some(HolderRow { question, employee, card_id, link_status, card_seq }) = rows.next() {
            let mut cards: Vec<_> = card_id.map(|id| (card_seq, id, link_status)).into_iter().collect();
            while let Some(row) = rows.next_if(|row| row.question == question) {
                cards.extend(row.card_id.map(|id| (row.card_seq, id, row.link_status)));
            }
            cards.sort_unstable_by_key(|(seq, _, _)| *seq);
            let cards = cards.iter().map(|(_, id, status)| linked(*id, status.as_deref()));
            let answer = (employee, cards.collect::<Result<_, _>>()?);
            let question = usize::try_from(question - 1).ok().and_then(|index| wanted.get(index));
            found.push((question.ok_or_else(|| corrupt("question"))?.clone(), Some(answer)));
        }
        Ok(found)
    }
}
