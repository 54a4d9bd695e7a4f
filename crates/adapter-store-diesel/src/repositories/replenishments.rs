//! Replenishments.

use diesel::dsl::count_star;
use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::ids::{PartnerId, ReplenishmentId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{ItemState, Replenishment, ReplenishmentItem};
use kopeck_domain::request::RequestState;
use kopeck_port_store::{ItemCounts, ReplenishmentRepository, StoreError};

use super::{descending, window};
use crate::bulk::{self, Decision};
use crate::convert::{AsKey, card_number, corrupt, id, length, micros, moment, natural, number, word};
use crate::counters::{self, List};
use crate::error::Stored;
use crate::schema::{replenishment_items as items, replenishments};
use crate::unit::Unit;
use crate::update::update;

/// The words of an item's state; why it was refused stands beside.
pub(super) const OPEN: &str = "OPEN";
pub(super) const TOPPED_UP: &str = "TOPPED_UP";
pub(super) const REFUSED: &str = "REFUSED";

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = replenishments)]
struct ReplenishmentRow {
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
            amount: request.amount.get(),
            state: request.state.as_str().to_owned(),
            created_at: micros(request.created_at),
            state_since: micros(request.state_since),
        }
    }

    fn request(self) -> Result<Replenishment, StoreError> {
        Ok(Replenishment {
            id: id(&self.id, "replenishments.id")?,
            cards: natural(self.cards, "replenishments.cards")?,
            amount: Kopecks::new(self.amount),
            state: word(&self.state, "replenishments.state")?,
            created_at: moment(self.created_at, "replenishments.created_at")?,
            state_since: moment(self.state_since, "replenishments.state_since")?,
        })
    }
}

/// A card of a replenishment as its table has it.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = items, treat_none_as_default_value = false)]
pub(crate) struct ItemRow {
    partner_id: Vec<u8>,
    replenishment_id: Vec<u8>,
    ordinal: i64,
    card_id: Vec<u8>,
    number: i64,
    amount: i64,
    state: String,
    refusal: Option<String>,
    claimed: bool,
}

fn state_words(state: ItemState) -> (&'static str, Option<&'static str>) {
    match state {
        ItemState::Open => (OPEN, None),
        ItemState::ToppedUp => (TOPPED_UP, None),
        ItemState::Refused(refusal) => (REFUSED, Some(refusal.as_str())),
    }
}

impl ItemRow {
    fn new(partner: PartnerId, request: ReplenishmentId, item: &ReplenishmentItem) -> Self {
        let (state, refusal) = state_words(item.state);
        Self {
            partner_id: partner.key().to_vec(),
            replenishment_id: request.key().to_vec(),
            ordinal: i64::from(item.ordinal),
            card_id: item.card.key().to_vec(),
            number: number(item.number),
            amount: item.amount.get(),
            state: state.to_owned(),
            refusal: refusal.map(ToOwned::to_owned),
            claimed: true,
        }
    }

    fn item(self) -> Result<ReplenishmentItem, StoreError> {
        let state = match (self.state.as_str(), self.refusal) {
            (OPEN, None) => ItemState::Open,
            (TOPPED_UP, None) => ItemState::ToppedUp,
            (REFUSED, Some(refusal)) => ItemState::Refused(word(&refusal, "replenishment_items.refusal")?),
            _ => return Err(corrupt("replenishment_items.state")),
        };
        Ok(ReplenishmentItem {
            ordinal: natural(self.ordinal, "replenishment_items.ordinal")?,
            card: id(&self.card_id, "replenishment_items.card_id")?,
            number: card_number(self.number, "replenishment_items.number")?,
            amount: Kopecks::new(self.amount),
            state,
        })
    }
}

impl ReplenishmentRepository for Unit {
    fn insert(
        &mut self,
        partner: PartnerId,
        request: &Replenishment,
        items: &[ReplenishmentItem],
    ) -> Result<(), StoreError> {
        let key = partner.key();
        let seq = counters::next(&mut self.connection, &key, List::Replenishments)?;
        diesel::insert_into(replenishments::table)
            .values(ReplenishmentRow::new(partner, seq, request))
            .execute(&mut self.connection)
            .stored()?;
        counters::advance(&mut self.connection, &key, List::Replenishments, seq)?;
        let rows: Vec<ItemRow> = items.iter().map(|item| ItemRow::new(partner, request.id, item)).collect();
        bulk::insert_items(&mut self.connection, &rows).stored()
    }

    fn get(&mut self, partner: PartnerId, id: ReplenishmentId) -> Result<Option<Replenishment>, StoreError> {
        replenishments::table
            .find((partner.key(), id.key()))
            .select(ReplenishmentRow::as_select())
            .get_result(&mut self.connection)
            .optional()
            .stored()?
            .map(ReplenishmentRow::request)
            .transpose()
    }

    fn set_state(&mut self, partner: PartnerId, request: &Replenishment) -> Result<(), StoreError> {
        update(replenishments::table.find((partner.key(), request.id.key())))
            .set((
                replenishments::state.eq(request.state.as_str()),
                replenishments::state_since.eq(micros(request.state_since)),
            ))
            .execute(&mut self.connection)
            .stored()
            .map(drop)
    }

    fn items(
        &mut self,
        partner: PartnerId,
        id: ReplenishmentId,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<ReplenishmentItem>, StoreError> {
        let rows: Vec<ItemRow> = items::table
            .filter(items::partner_id.eq(partner.key()))
            .filter(items::replenishment_id.eq(id.key()))
            .filter(items::ordinal.ge(i64::from(from_ordinal)))
            .order(items::ordinal)
            .limit(i64::from(limit))
            .select(ItemRow::as_select())
            .load(&mut self.connection)
            .stored()?;
        rows.into_iter().map(ItemRow::item).collect()
    }

    fn open_items(
        &mut self,
        partner: PartnerId,
        id: ReplenishmentId,
        limit: u32,
    ) -> Result<Vec<ReplenishmentItem>, StoreError> {
        let rows: Vec<ItemRow> = items::table
            .filter(items::partner_id.eq(partner.key()))
            .filter(items::replenishment_id.eq(id.key()))
            .filter(items::state.eq(OPEN))
            .order(items::ordinal)
            .limit(i64::from(limit))
            .select(ItemRow::as_select())
            .load(&mut self.connection)
            .stored()?;
        rows.into_iter().map(ItemRow::item).collect()
    }

    fn settle_items(
        &mut self,
        partner: PartnerId,
        id: ReplenishmentId,
        decided: &[(u32, ItemState)],
    ) -> Result<(), StoreError> {
        let decision = |(ordinal, state): &(u32, ItemState)| {
            let (state, refusal) = state_words(*state);
            Decision { ordinal: i64::from(*ordinal), state, refusal }
        };
        let decisions: Vec<Decision> = decided.iter().map(decision).collect();
        bulk::settle_items(&mut self.connection, &partner.key(), &id.key(), &decisions).stored()
    }

    fn counts(&mut self, partner: PartnerId, id: ReplenishmentId) -> Result<ItemCounts, StoreError> {
        let groups: Vec<(String, i64)> = items::table
            .filter(items::partner_id.eq(partner.key()))
            .filter(items::replenishment_id.eq(id.key()))
            .group_by(items::state)
            .select((items::state, count_star()))
            .load(&mut self.connection)
            .stored()?;
        let mut counts = ItemCounts::default();
        for (state, count) in groups {
            let slot = match state.as_str() {
                OPEN => &mut counts.open,
                TOPPED_UP => &mut counts.topped_up,
                REFUSED => &mut counts.refused,
                _ => return Err(corrupt("replenishment_items.state")),
            };
            *slot = natural(count, "replenishment_items")?;
        }
        Ok(counts)
    }

    fn release_cards(&mut self, partner: PartnerId, id: ReplenishmentId) -> Result<(), StoreError> {
        let claimed = items::table
            .filter(items::partner_id.eq(partner.key()))
            .filter(items::replenishment_id.eq(id.key()))
            .filter(items::claimed);
        update(claimed).set(items::claimed.eq(false)).execute(&mut self.connection).stored().map(drop)
    }

    fn list(
        &mut self,
        partner: PartnerId,
        status: Option<RequestState>,
        page: Page,
    ) -> Result<Listed<Replenishment>, StoreError> {
        let key = partner.key();
        let own = replenishments::table.filter(replenishments::partner_id.eq(&key));
        let (total, rows): (i64, Vec<ReplenishmentRow>) = if let Some(status) = status {
            let fitting = own.filter(replenishments::state.eq(status.as_str()));
            let total = fitting.count().get_result(&mut self.connection).stored()?;
            let (limit, offset) = window(page);
            let rows = fitting
                .order(replenishments::seq.desc())
                .limit(limit)
                .offset(offset)
                .select(ReplenishmentRow::as_select())
                .load(&mut self.connection)
                .stored()?;
            (total, rows)
        } else {
            let total = counters::last(&mut self.connection, &key, List::Replenishments)?.unwrap_or(0);
            let (after, up_to) = descending(page, total);
            let rows = own
                .filter(replenishments::seq.gt(after))
                .filter(replenishments::seq.le(up_to))
                .order(replenishments::seq.desc())
                .select(ReplenishmentRow::as_select())
                .load(&mut self.connection)
                .stored()?;
            (total, rows)
        };
        let items = rows.into_iter().map(ReplenishmentRow::request).collect::<Result<_, _>>()?;
        Ok(Listed { items, total: length(total, "counters.last")? })
    }
}
