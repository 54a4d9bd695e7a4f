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
use crate::bulk::{self, Claims, Decision, column};
use crate::convert::{AsKey, card_number, corrupt, id, micros, moment, natural, number, word};
use crate::counters::List;
use crate::dialect;
use crate::error::Stored;
use crate::schema::{replenishment_items, replenishments};
use crate::statements;
use crate::statements::{Bind, RawStatement};
use crate::transaction::DieselTransaction;
use crate::update::update;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = replenishments, treat_none_as_default_value = false)]
pub(crate) struct ReplenishmentRow {
    partner_id: Vec<u8>,
    id: Vec<u8>,
    seq: i64,
    cards: i64,
    amount: i64,
    state: String,
    created_at: i64,
    state_since: i64,
}

impl ReplenishmentRow {
    fn new(partner: PartnerId, seq: i64, request: &Replenishment) -> Self {
        Self {
            partner_id: partner.key().to_vec(),
            id: request.id.key().to_vec(),
            seq,
            cards: i64::from(request.cards),
            amount: request.amount().get(),
            state: request.state.as_str().to_owned(),
            created_at: micros(request.created_at),
            state_since: micros(request.state_since),
        }
    }

    fn request(self) -> Result<Replenishment, StoreError> {
        Ok(Replenishment {
            id: id(&self.id, "replenishments.id")?,
            cards: natural(self.cards, "replenishments.cards")?,
            terms: Kopecks::new(self.amount),
            state: word(&self.state, "replenishments.state")?,
            created_at: moment(self.created_at, "replenishments.created_at")?,
            state_since: moment(self.state_since, "replenishments.state_since")?,
        })
    }
}

/// A card of a replenishment as its table has it.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = replenishment_items, treat_none_as_default_value = false)]
pub(crate) struct TopUpRow {
    pub(crate) partner_id: Vec<u8>,
    pub(crate) replenishment_id: Vec<u8>,
    pub(crate) ordinal: i64,
    pub(crate) card_id: Vec<u8>,
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
            partner_id: partner.key().to_vec(),
            replenishment_id: request.key().to_vec(),
            ordinal: i64::from(item.ordinal),
            card_id: item.card.key().to_vec(),
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
            card: id(&self.card_id, "replenishment_items.card_id")?,
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
    pending.replenishments.push(row);
    pending.top_ups.extend(items.iter().map(|item| TopUpRow::new(partner, request.id, item)));
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
pub(crate) fn insert_replenishments(
    connection: &mut PgConnection,
    rows: &[ReplenishmentRow],
) -> QueryResult<()> {
    let columns = vec![
        column!(BytesList: rows, row => row.partner_id.as_slice()),
        column!(BytesList: rows, row => row.id.as_slice()),
        column!(Ints: rows, row => row.seq),
        column!(Ints: rows, row => row.cards),
        column!(Ints: rows, row => row.amount),
        column!(Texts: rows, row => row.state.as_str()),
        column!(Ints: rows, row => row.created_at),
        column!(Ints: rows, row => row.state_since),
    ];
    RawStatement::new(INSERT, columns).execute(connection).map(drop)
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
