//! What the names of cards lead to: a few statements for each kind of name, whatever their number.

use std::collections::{HashMap, HashSet};

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_port_store::{CardAndHolder, CardHolder, CardView, StoreError};

use super::card_row::{BankRow, PlainRow};
use crate::convert::{AsKey, number, word};
use crate::error::Stored;
use crate::schema::employees;
use crate::sql_types::Id;
use crate::statements::{self, Bind, OneOf, binds};
use crate::transaction::DieselTransaction;

#[derive(QueryableByName)]
#[diesel(table_name = employees)]
struct HolderRow {
    id: Id,
    custom_id: String,
    status: String,
}

impl HolderRow {
    fn holder(self) -> Result<CardHolder, StoreError> {
        Ok(CardHolder {
            id: self.id.to(),
            custom_id: word(&self.custom_id, "employees.custom_id")?,
            status: word(&self.status, "employees.status")?,
        })
    }
}

#[derive(QueryableByName)]
struct ViewRow {
    #[diesel(embed)]
    card: PlainRow,
    #[diesel(embed)]
    bank: BankRow,
}

impl ViewRow {
    fn view(self) -> Result<CardView, StoreError> {
        Ok(CardView { card: self.card.card()?, bank: self.bank.view()? })
    }
}

/// The employees that fit a condition; erased ones fit none.
macro_rules! holders {
    ($those:literal) => {
        concat!(
            "SELECT id, custom_id, status FROM employees WHERE partner_id = ? AND ",
            $those,
            " AND erased_at IS NULL"
        )
    };
}

/// The cards that fit a condition.
macro_rules! views {
    ($those:literal) => {
        concat!(
            "SELECT id, number, kind, order_id, valid_until, employee_id, link_status, block_state, block_change,
                balance, remaining_top_up, activated_at, standing, seen_at
            FROM cards WHERE partner_id = ? AND ",
            $those
        )
    };
}

const HOLDERS_BY_ID: &str = holders!("id ?");
const HOLDERS_BY_CUSTOM_ID: &str = holders!("custom_id ?");
const CARDS_BY_ID: &str = views!("id ?");
/// In the order of their keys: without it SQLite's planner walks through all cards of the partner.
const CARDS_BY_NUMBER: &str = views!("number ? ORDER BY number");
/// The condition of the index stands in the text, so that the planner knows that it fits.
const MAIN_CARDS: &str = views!("employee_id ? AND link_status = 'MAIN' ORDER BY employee_id");

/// What each of `references` leads to, in their order. So many at a time that what was found by the way stays small.
pub(super) fn find(
    transaction: &mut DieselTransaction,
    partner: PartnerId,
    references: &[CardRef],
) -> Result<Vec<Option<CardAndHolder>>, StoreError> {
    let mut found = Vec::with_capacity(references.len());
    for some in references.chunks(statements::SCAN_CHUNK as usize) {
        found.extend(find_some(transaction, partner, some)?);
    }
    Ok(found)
}

fn find_some(
    transaction: &mut DieselTransaction,
    partner: PartnerId,
    references: &[CardRef],
) -> Result<Vec<Option<CardAndHolder>>, StoreError> {
    let (mut cards, mut numbers, mut employees, mut custom_ids) = (vec![], vec![], vec![], vec![]);
    for reference in references {
        match reference {
            CardRef::Id(id) => cards.push(id.key()),
            CardRef::Number(card) => numbers.push(number(*card)),
            CardRef::Employee(id) => employees.push(id.key()),
            CardRef::CustomId(custom_id) => custom_ids.push(custom_id.as_str().to_owned()),
        }
    }
    let mut found = Found::default();
    let mut query = Query { transaction, partner };
    found.add_holders(query.holders(HOLDERS_BY_ID, &employees)?);
    found.add_holders(query.holders(HOLDERS_BY_CUSTOM_ID, &custom_ids)?);
    let named: Vec<Id> = found.holders.keys().map(AsKey::key).collect();
    found.add_cards(query.cards(MAIN_CARDS, &named)?);
    found.main =
        found.cards.values().filter_map(|view| Some((view.card.link()?.employee, view.card.id()))).collect();
    found.add_cards(query.cards(CARDS_BY_ID, &cards)?);
    found.add_cards(query.cards(CARDS_BY_NUMBER, &numbers)?);
    let others: HashSet<EmployeeId> =
        found.cards.values().filter_map(|view| Some(view.card.link()?.employee)).collect();
    let others: Vec<Id> =
        others.iter().filter(|id| !found.holders.contains_key(id)).map(AsKey::key).collect();
    found.add_holders(query.holders(HOLDERS_BY_ID, &others)?);
    Ok(references.iter().map(|reference| found.get(reference)).collect())
}

struct Query<'a> {
    transaction: &'a mut DieselTransaction,
    partner: PartnerId,
}

impl Query<'_> {
    fn holders<T>(&mut self, text: &str, keys: &[T]) -> Result<Vec<CardHolder>, StoreError>
    where
        T: Clone,
        OneOf<T>: Into<Bind<'static>>,
    {
        self.all(text, keys, HolderRow::holder)
    }

    fn cards<T>(&mut self, text: &str, keys: &[T]) -> Result<Vec<CardView>, StoreError>
    where
        T: Clone,
        OneOf<T>: Into<Bind<'static>>,
    {
        self.all(text, keys, ViewRow::view)
    }

    fn all<T, R, V>(
        &mut self,
        text: &str,
        keys: &[T],
        value: fn(R) -> Result<V, StoreError>,
    ) -> Result<Vec<V>, StoreError>
    where
        T: Clone,
        OneOf<T>: Into<Bind<'static>>,
        R: QueryableByName<Sqlite> + QueryableByName<Pg> + 'static,
    {
        let mut values = Vec::with_capacity(keys.len());
        for keys in keys.chunks(statements::UPDATE_CHUNK as usize) {
            let keys: Bind<'static> = OneOf(keys.to_vec()).into();
            let rows: Vec<R> =
                statements::load(self.transaction.of(self.partner)?, text, binds![self.partner.key(), keys])
                    .stored()?;
            for row in rows {
                values.push(value(row)?);
            }
        }
        Ok(values)
    }
}

/// What the statements found.
#[derive(Default)]
struct Found {
    holders: HashMap<EmployeeId, CardHolder>,
    named: HashMap<CustomId, EmployeeId>,
    cards: HashMap<CardId, CardView>,
    numbers: HashMap<CardNumber, CardId>,
    main: HashMap<EmployeeId, CardId>,
}

impl Found {
    fn add_holders(&mut self, holders: Vec<CardHolder>) {
        for holder in holders {
            self.named.insert(holder.custom_id.clone(), holder.id);
            self.holders.insert(holder.id, holder);
        }
    }

    fn add_cards(&mut self, cards: Vec<CardView>) {
        for view in cards {
            self.numbers.insert(view.card.number(), view.card.id());
            self.cards.insert(view.card.id(), view);
        }
    }

    fn get(&self, reference: &CardRef) -> Option<CardAndHolder> {
        match reference {
            CardRef::Id(id) => self.card(*id),
            CardRef::Number(number) => self.card(*self.numbers.get(number)?),
            CardRef::Employee(id) => self.main_card(*id),
            CardRef::CustomId(custom_id) => self.main_card(*self.named.get(custom_id)?),
        }
    }

    fn card(&self, id: CardId) -> Option<CardAndHolder> {
        let view = self.cards.get(&id)?;
        let holder = view.card.link().and_then(|link| self.holders.get(&link.employee));
        Some(CardAndHolder { holder: holder.cloned(), card: Some(view.clone()) })
    }

    fn main_card(&self, employee: EmployeeId) -> Option<CardAndHolder> {
        let holder = self.holders.get(&employee)?.clone();
        let card = self.main.get(&employee).and_then(|id| self.cards.get(id));
        Some(CardAndHolder { holder: Some(holder), card: card.cloned() })
    }
}
