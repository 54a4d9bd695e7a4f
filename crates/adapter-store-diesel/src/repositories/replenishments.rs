//! Replenishments.

use diesel::dsl::count_star;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchState, ItemState};
use kopeck_domain::ids::{CardId, PartnerId, ReplenishmentId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUpRefusal, TopUps};
use kopeck_port_store::{BatchFacts, BatchTarget, CardBatchRepository, ItemCounts, StoreError};

use super::batch_facts::{self, REPLENISHMENTS};
use super::card_look_ups::TopUpTargetOf;
use super::requests::{
    DONE, FEW_CARDS, OPEN, REFUSED, card_by_card_repository, item_state, list_requests, some_items,
    state_words,
};
use crate::bulk::{self, Claims, Decision};
use crate::connection::AnyConnection;
use crate::convert::{AsKey, card_number, corrupt, natural, number, word};
use crate::counters::List;
use crate::dialect;
use crate::error::Stored;
use crate::schema::{replenishment_items, replenishments};
use crate::sql_types::{Id, Moment};
use crate::statements;
use crate::statements::RawStatement;
use crate::statements::column;
use crate::transaction::DieselTransaction;
use crate::transaction::write_buffer::BufferedRow;
use crate::update::update;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = replenishments, treat_none_as_default_value = false)]
pub(crate) struct ReplenishmentRow {
    partner_id: Id,
    id: Id,
    seq: i64,
    cards: i64,
    amount: i64,
    state: String,
    created_at: Moment,
    state_since: Moment,
}

impl ReplenishmentRow {
    fn new(partner: PartnerId, seq: i64, request: &Replenishment) -> Self {
        Self {
            partner_id: partner.key(),
            id: request.id.key(),
            seq,
            cards: i64::from(request.cards),
            amount: request.amount().get(),
            state: request.state.as_str().to_owned(),
            created_at: Moment::of(request.created_at),
            state_since: Moment::of(request.state_since),
        }
    }

    fn request(self) -> Result<Replenishment, StoreError> {
        Ok(Replenishment {
            id: self.id.to(),
            cards: natural(self.cards, "replenishments.cards")?,
            terms: Kopecks::new(self.amount),
            state: word(&self.state, "replenishments.state")?,
            created_at: self.created_at.time("replenishments.created_at")?,
            state_since: self.state_since.time("replenishments.state_since")?,
        })
    }
}

/// A card of a replenishment as its table has it.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = replenishment_items, treat_none_as_default_value = false)]
pub(crate) struct TopUpRow {
    pub(crate) partner_id: Id,
    pub(crate) replenishment_id: Id,
    pub(crate) ordinal: i64,
    pub(crate) card_id: Id,
    pub(crate) number: i64,
    pub(crate) amount: i64,
    pub(crate) state: String,
    pub(crate) refusal: Option<String>,
    pub(crate) claimed: bool,
    pub(crate) sent: bool,
}

impl TopUpRow {
    fn new(partner: PartnerId, request: ReplenishmentId, item: &ReplenishmentItem) -> Self {
        let (state, refusal) = state_words(item.state);
        Self {
            partner_id: partner.key(),
            replenishment_id: request.key(),
            ordinal: i64::from(item.ordinal),
            card_id: item.card.key(),
            number: number(item.number),
            amount: item.amount().get(),
            state: state.to_owned(),
            refusal: refusal.map(ToOwned::to_owned),
            claimed: true,
            sent: false,
        }
    }

    fn item(self) -> Result<ReplenishmentItem, StoreError> {
        Ok(ReplenishmentItem {
            ordinal: natural(self.ordinal, "replenishment_items.ordinal")?,
            card: self.card_id.to(),
            number: card_number(self.number, "replenishment_items.number")?,
            terms: Kopecks::new(self.amount),
            state: item_state(&self.state, self.refusal.as_deref(), "replenishment_items.state")?,
        })
    }
}

/// Lets the rows of a small request wait, and notes that its cards are taken. Answers the row of one that does not wait.
fn put_off(
    unit: &mut DieselTransaction,
    partner: PartnerId,
    request: &Replenishment,
    items: &[ReplenishmentItem],
    row: ReplenishmentRow,
) -> Result<Option<ReplenishmentRow>, StoreError> {
    if items.len() > FEW_CARDS {
        return Ok(Some(row));
    }
    let Some(pending) = unit.pending(partner)? else { return Ok(Some(row)) };
    pending.add(row);
    items.iter().for_each(|item| pending.add(TopUpRow::new(partner, request.id, item)));
    for item in items {
        let question = TopUpTargetOf { partner, card: item.card };
        if let Some(target) = unit.load(question.clone())? {
            unit.remember(question, Some(BatchTarget { in_batch: true, ..target }));
        }
    }
    Ok(None)
}

const INSERT: &str = "
    INSERT INTO replenishments (partner_id, id, seq, cards, amount, state, created_at, state_since)
    SELECT * FROM unnest(?, ?, ?, ?, ?, ?, ?, ?)";

/// Adds requests of any partners.
fn insert_replenishments(connection: &mut PgConnection, rows: &[ReplenishmentRow]) -> QueryResult<()> {
    let columns = vec![
        column!(Ids: rows, row => row.partner_id),
        column!(Ids: rows, row => row.id),
        column!(Ints: rows, row => row.seq),
        column!(Ints: rows, row => row.cards),
        column!(Ints: rows, row => row.amount),
        column!(Texts: rows, row => row.state.as_str()),
        column!(Moments: rows, row => row.created_at),
        column!(Moments: rows, row => row.state_since),
    ];
    RawStatement::new(INSERT, columns).execute(connection).map(drop)
}

impl BufferedRow for ReplenishmentRow {
    fn insert_many(rows: &[Self], connection: &mut AnyConnection, _: i64) -> QueryResult<()> {
        insert_replenishments(connection.postgres()?, rows)
    }
}

impl BufferedRow for TopUpRow {
    fn insert_many(rows: &[Self], connection: &mut AnyConnection, _: i64) -> QueryResult<()> {
        bulk::top_ups::insert(connection, rows)
    }
}

fn targets(
    unit: &mut DieselTransaction,
    partner: PartnerId,
    cards: &[CardId],
) -> Result<Vec<BatchTarget>, StoreError> {
    if unit.run.is_batched() && cards.len() <= FEW_CARDS {
        let questions = cards.iter().map(|card| TopUpTargetOf { partner, card: *card }).collect();
        return Ok(unit.load_all(questions)?.into_iter().flatten().collect());
    }
    unit.targets(Claims::Replenishments, partner, cards)
}

card_by_card_repository! {
    TopUps {
        request: Replenishment as ReplenishmentRow in replenishments, ReplenishmentId, List::Replenishments;
        item: ReplenishmentItem as TopUpRow in replenishment_items of replenishment_id, TopUpRefusal;
        bulk: top_ups;
        put_off: put_off;
        targets: targets;
        facts: REPLENISHMENTS;
    }
}
