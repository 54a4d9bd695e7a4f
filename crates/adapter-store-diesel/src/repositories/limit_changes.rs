//! Limit changes.

use diesel::dsl::count_star;
use diesel::prelude::*;
use kopeck_domain::card_batch::{BatchState, ItemState};
use kopeck_domain::ids::{CardId, LimitChangeId, PartnerId};
use kopeck_domain::limit_change::{LimitChange, LimitChangeItem, LimitChangeRefusal, LimitChanges};
use kopeck_domain::page::{Listed, Page};
use kopeck_port_store::{BatchFacts, BatchTarget, CardBatchRepository, ItemCounts, StoreError};

use super::batch_facts::{self, LIMIT_CHANGES};
use super::requests::{
    DONE, OPEN, REFUSED, card_by_card_repository, item_state, list_requests, some_items, state_words,
};
use crate::bulk::{self, Claims, Decision};
use crate::convert::{AsKey, card_number, corrupt, natural, number, word};
use crate::counters::List;
use crate::dialect;
use crate::error::Stored;
use crate::limit_text;
use crate::schema::{limit_change_items, limit_changes};
use crate::sql_types::{Id, Moment};
use crate::statements;
use crate::transaction::DieselTransaction;
use crate::update::update;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = limit_changes, treat_none_as_default_value = false)]
struct LimitChangeRow {
    partner_id: Id,
    id: Id,
    seq: i64,
    cards: i64,
    spending_limit: String,
    state: String,
    created_at: Moment,
    state_since: Moment,
}

impl LimitChangeRow {
    fn new(partner: PartnerId, seq: i64, request: &LimitChange) -> Self {
        Self {
            partner_id: partner.key(),
            id: request.id.key(),
            seq,
            cards: i64::from(request.cards),
            spending_limit: limit_text::text(request.limit()),
            state: request.state.as_str().to_owned(),
            created_at: Moment::of(request.created_at),
            state_since: Moment::of(request.state_since),
        }
    }

    fn request(self) -> Result<LimitChange, StoreError> {
        Ok(LimitChange {
            id: self.id.to(),
            cards: natural(self.cards, "limit_changes.cards")?,
            terms: limit_text::parse(&self.spending_limit, "limit_changes.spending_limit")?,
            state: word(&self.state, "limit_changes.state")?,
            created_at: self.created_at.time("limit_changes.created_at")?,
            state_since: self.state_since.time("limit_changes.state_since")?,
        })
    }
}

/// A card of a limit change as its table has it.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = limit_change_items, treat_none_as_default_value = false)]
pub(crate) struct LimitRow {
    pub(crate) partner_id: Id,
    pub(crate) limit_change_id: Id,
    pub(crate) ordinal: i64,
    pub(crate) card_id: Id,
    pub(crate) number: i64,
    pub(crate) state: String,
    pub(crate) refusal: Option<String>,
    pub(crate) claimed: bool,
    pub(crate) sent: bool,
}

impl LimitRow {
    fn new(partner: PartnerId, request: LimitChangeId, item: &LimitChangeItem) -> Self {
        let (state, refusal) = state_words(item.state);
        Self {
            partner_id: partner.key(),
            limit_change_id: request.key(),
            ordinal: i64::from(item.ordinal),
            card_id: item.card.key(),
            number: number(item.number),
            state: state.to_owned(),
            refusal: refusal.map(ToOwned::to_owned),
            claimed: true,
            sent: false,
        }
    }

    fn item(self) -> Result<LimitChangeItem, StoreError> {
        Ok(LimitChangeItem {
            ordinal: natural(self.ordinal, "limit_change_items.ordinal")?,
            card: self.card_id.to(),
            number: card_number(self.number, "limit_change_items.number")?,
            terms: (),
            state: item_state(&self.state, self.refusal.as_deref(), "limit_change_items.state")?,
        })
    }
}

/// They are rare.
#[expect(
    clippy::unnecessary_wraps,
    reason = "stands where the rows of another kind of request may have to be looked up"
)]
fn never(
    _: &mut DieselTransaction,
    _: PartnerId,
    _: &LimitChange,
    _: &[LimitChangeItem],
    row: LimitChangeRow,
) -> Result<Option<LimitChangeRow>, StoreError> {
    Ok(Some(row))
}

fn targets(
    unit: &mut DieselTransaction,
    partner: PartnerId,
    cards: &[CardId],
) -> Result<Vec<BatchTarget>, StoreError> {
    unit.targets(Claims::LimitChanges, partner, cards)
}

card_by_card_repository! {
    LimitChanges {
        request: LimitChange as LimitChangeRow in limit_changes, LimitChangeId, List::LimitChanges;
        item: LimitChangeItem as LimitRow in limit_change_items of limit_change_id, LimitChangeRefusal;
        bulk: limits;
        put_off: never;
        targets: targets;
        facts: LIMIT_CHANGES;
    }
}
