//! An employee together with the cards, for those who only read: they show both.

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Nullable, Text};
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::Employee;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_port_store::StoreError;

use super::card_look_ups::{CardsOf, linked};
use super::employee_look_ups::EmployeeById;
use super::employees::EmployeeRow;
use crate::convert::{AsKey, id};
use crate::dialect::AnyConnection;
use crate::error::Stored;
use crate::memory::{LookUp, Shelf, Shelves};
use crate::native::{Native, Value};

/// An employee by the identifier, and their cards in the order of their numbers.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct EmployeeWithCards {
    pub(super) partner: PartnerId,
    pub(super) id: EmployeeId,
}

/// An employee, once for each card.
#[derive(QueryableByName)]
struct HolderRow {
    #[diesel(embed)]
    employee: EmployeeRow,
    #[diesel(sql_type = Nullable<Binary>)]
    card_id: Option<Vec<u8>>,
    #[diesel(sql_type = Nullable<Text>)]
    link_status: Option<String>,
}

const MANY: &str = "
    SELECT found.*
    FROM unnest(?, ?) AS wanted (partner_id, id) CROSS JOIN LATERAL (
        SELECT e.*, c.id AS card_id, c.link_status
        FROM employees e LEFT JOIN cards c ON c.partner_id = e.partner_id AND c.employee_id = e.id
        WHERE e.partner_id = wanted.partner_id AND e.id = wanted.id
        ORDER BY c.seq OFFSET 0
    ) found";

impl LookUp for EmployeeWithCards {
    type Found = Option<(Employee, Vec<(CardId, CardStatus)>)>;

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn one(&self, connection: &mut AnyConnection) -> Result<Self::Found, StoreError> {
        let Self { partner, id } = *self;
        let Some(employee) = (EmployeeById { partner, id }).one(connection)? else { return Ok(None) };
        let cards = CardsOf { partner, employee: id }.one(connection)?;
        Ok(Some((employee, cards)))
    }

    fn many(wanted: &[Self], connection: &mut PgConnection) -> Result<Vec<(Self, Self::Found)>, StoreError> {
        let columns = vec![
            Value::Keys(wanted.iter().map(|one| one.partner.key()).collect()),
            Value::Keys(wanted.iter().map(|one| one.id.key()).collect()),
        ];
        let rows: Vec<HolderRow> = Native::new(MANY, columns).load(connection).stored()?;
        let mut found: Vec<(Self, Self::Found)> = Vec::with_capacity(wanted.len());
        for HolderRow { employee, card_id, link_status } in rows {
            let card = card_id.map(|card| linked(&card, link_status.as_deref())).transpose()?;
            let question = Self {
                partner: id(&employee.partner_id, "employees.partner_id")?,
                id: id(&employee.id, "employees.id")?,
            };
            match found.last_mut() {
                Some((of, Some((_, cards)))) if *of == question => cards.extend(card),
                _ => found.push((question, Some((employee.employee()?, card.into_iter().collect())))),
            }
        }
        Ok(found)
    }

    fn shelf(shelves: &mut Shelves) -> &mut Shelf<Self> {
        &mut shelves.employees_with_cards
    }
}
