//! What the tables of requests have in common. Macros, because to diesel each table is a type of its own.

use std::str::FromStr;

use kopeck_domain::card_batch::ItemState;
use kopeck_port_store::StoreError;

use crate::convert::{corrupt, word};

/// The words of a card's state in a request; why it was refused stands beside.
pub(super) const OPEN: &str = "OPEN";
pub(super) const DONE: &str = "DONE";
pub(super) const REFUSED: &str = "REFUSED";

/// The columns of a card's state.
pub(super) fn state_words<R: Into<&'static str>>(
    state: ItemState<R>,
) -> (&'static str, Option<&'static str>) {
    match state {
        ItemState::Open => (OPEN, None),
        ItemState::Done => (DONE, None),
        ItemState::Refused(refusal) => (REFUSED, Some(refusal.into())),
    }
}

/// A card's state from its columns.
pub(super) fn item_state<R: FromStr>(
    state: &str,
    refusal: Option<&str>,
    column: &'static str,
) -> Result<ItemState<R>, StoreError> {
    match (state, refusal) {
        (OPEN, None) => Ok(ItemState::Open),
        (DONE, None) => Ok(ItemState::Done),
        (REFUSED, Some(refusal)) => Ok(ItemState::Refused(word(refusal, column)?)),
        _ => Err(corrupt(column)),
    }
}

/// A page of the partner's requests in `$requests`, newest first, as a `Result<Listed<_>, StoreError>`; each row
/// becomes a request by `$show`.
macro_rules! list_requests {
    ($unit:ident, $requests:ident as $row:ident by $show:path, $list:expr, $partner:ident, $status:ident, $page:ident) => {{
        let key = $partner.key();
        let own = $requests::table.filter($requests::partner_id.eq(&key));
        let (total, rows): (i64, Vec<$row>) = if let Some(status) = $status {
            let fitting = own.filter($requests::state.eq(status.as_str()));
            let total = fitting.count().get_result($unit.of($partner)?).stored()?;
            let (limit, offset) = super::window($page);
            let rows = fitting
                .order($requests::seq.desc())
                .limit(limit)
                .offset(offset)
                .select($row::as_select())
                .load($unit.of($partner)?)
                .stored()?;
            (total, rows)
        } else {
            let total = $unit.last_number($partner, $list)?.unwrap_or(0);
            let (after, up_to) = super::descending($page, total);
            let rows = own
                .filter($requests::seq.gt(after))
                .filter($requests::seq.le(up_to))
                .order($requests::seq.desc())
                .select($row::as_select())
                .load($unit.of($partner)?)
                .stored()?;
            (total, rows)
        };
        let items = rows.into_iter().map($show).collect::<Result<_, _>>()?;
        Ok(Listed { items, total: crate::convert::length(total, "counters.last")? })
    }};
}
pub(super) use list_requests;

/// Cards of the request `$id` that fit every condition, `$limit` at most, by ordinal, as a `Result<Vec<_>, StoreError>`.
macro_rules! some_items {
    (
        $unit:ident, $partner:ident, $id:ident, $limit:ident, $items:ident of $belongs:ident as $row:ident;
        $($condition:expr),+
    ) => {{
        let rows: Vec<$row> = $items::table
            .filter($items::partner_id.eq($partner.key()))
            .filter($items::$belongs.eq($id.key()))
            $(.filter($condition))+
            .order($items::ordinal)
            .limit(i64::from($limit))
            .select($row::as_select())
            .load($unit.of($partner)?)
            .stored()?;
        rows.into_iter().map($row::item).collect()
    }};
}
pub(super) use some_items;

/// So many cards a request may have whose rows wait to be written with those of others.
pub(super) const FEW_CARDS: usize = 100;

/// Implements the repository of a kind of card batch.
macro_rules! card_by_card_repository {
    (
        $kind:ident {
            request: $request:ident as $request_row:ident in $requests:ident, $id:ident, $list:expr;
            item: $item:ident as $item_row:ident in $items:ident of $belongs:ident, $refusal:ident;
            bulk: $bulk:ident;
            put_off: $put_off:path;
            targets: $targets:path;
            facts: $facts:expr;
        }
    ) => {
        /// None if there is no such request.
        fn number_of_cards(unit: &mut DieselTransaction, partner: PartnerId, id: $id) -> Result<i64, StoreError> {
            let request = CardBatchRepository::<$kind>::get(unit, partner, id)?;
            Ok(request.map_or(0, |request| i64::from(request.cards)))
        }

        /// The request's undecided cards, `limit` at most, by ordinal, with those marked as sent or without.
        fn undecided(
            unit: &mut DieselTransaction,
            partner: PartnerId,
            id: $id,
            limit: u32,
            sent_too: bool,
        ) -> Result<Vec<$item>, StoreError> {
            let mut found: Vec<$item> = Vec::new();
            let mut left = limit;
            for (first, end) in statements::ordinal_ranges(number_of_cards(unit, partner, id)?, statements::SCAN_CHUNK) {
                let mut from = first;
                while from < end && left > 0 {
                    let most = left.min(statements::UPDATE_CHUNK);
                    let some: Result<Vec<$item>, StoreError> = some_items!(
                        unit, partner, id, most, $items of $belongs as $item_row;
                        $items::ordinal.ge(from),
                        $items::ordinal.lt(end),
                        $items::state.eq(OPEN),
                        $items::sent.eq(false).or($items::sent.eq(sent_too))
                    );
                    let some = some?;
                    let count = u32::try_from(some.len()).unwrap_or(most);
                    // Where it found fewer than it might there are no more.
                    let last = some.last().filter(|_| count == most);
                    from = last.map_or(end, |last| i64::from(last.ordinal) + 1);
                    left -= count;
                    found.extend(some);
                }
            }
            Ok(found)
        }

        impl CardBatchRepository<$kind> for DieselTransaction {
            fn targets(&mut self, partner: PartnerId, cards: &[CardId]) -> Result<Vec<BatchTarget>, StoreError> {
                $targets(self, partner, cards)
            }

            fn insert(
                &mut self,
                partner: PartnerId,
                request: &$request,
                items: &[$item],
            ) -> Result<(), StoreError> {
                let seq = self.next_number(partner, $list)?;
                let row = $request_row::new(partner, seq, request);
                let Some(row) = $put_off(self, partner, request, items, row)? else {
                    return self.give_out(partner, $list, seq);
                };
                diesel::insert_into($requests::table).values(row).execute(self.of(partner)?).stored()?;
                self.give_out(partner, $list, seq)?;
                let insert = |connection: &mut _, items: &[$item]| {
                    let rows: Vec<$item_row> =
                        items.iter().map(|item| $item_row::new(partner, request.id, item)).collect();
                    bulk::$bulk::insert(connection, &rows)
                };
                dialect::guarded(self.of(partner)?, |connection| {
                    items.chunks(statements::INSERT_CHUNK).try_for_each(|items| insert(connection, items))
                })
                .stored()
            }

            fn get(&mut self, partner: PartnerId, id: $id) -> Result<Option<$request>, StoreError> {
                $requests::table
                    .find((partner.key(), id.key()))
                    .select($request_row::as_select())
                    .get_result(self.of(partner)?)
                    .optional()
                    .stored()?
                    .map($request_row::request)
                    .transpose()
            }

            fn set_state(&mut self, partner: PartnerId, request: &$request) -> Result<(), StoreError> {
                update($requests::table.find((partner.key(), request.id.key())))
                    .set((
                        $requests::state.eq(request.state.as_str()),
                        $requests::state_since.eq(Moment::of(request.state_since)),
                    ))
                    .execute(self.of(partner)?)
                    .stored()
                    .map(drop)
            }

            fn items(
                &mut self,
                partner: PartnerId,
                id: $id,
                from_ordinal: u32,
                limit: u32,
            ) -> Result<Vec<$item>, StoreError> {
                some_items!(self, partner, id, limit, $items of $belongs as $item_row; $items::ordinal.ge(i64::from(from_ordinal)))
            }

            fn open_items(
                &mut self,
                partner: PartnerId,
                id: $id,
                limit: u32,
            ) -> Result<Vec<$item>, StoreError> {
                undecided(self, partner, id, limit, true)
            }

            fn unsent_items(
                &mut self,
                partner: PartnerId,
                id: $id,
                limit: u32,
            ) -> Result<Vec<$item>, StoreError> {
                undecided(self, partner, id, limit, false)
            }

            fn mark_sent(
                &mut self,
                partner: PartnerId,
                id: $id,
                ordinals: &[u32],
                sent: bool,
            ) -> Result<(), StoreError> {
                let connection = self.of(partner)?;
                let mark = |some: &[u32]| {
                    bulk::$bulk::mark_sent(connection, partner.key(), id.key(), some, sent).stored()
                };
                ordinals.chunks(statements::UPDATE_CHUNK as usize).try_for_each(mark)
            }

            fn settle_items(
                &mut self,
                partner: PartnerId,
                id: $id,
                decided: &[(u32, ItemState<$refusal>)],
            ) -> Result<(), StoreError> {
                let decision = |(ordinal, state): &(u32, ItemState<$refusal>)| {
                    let (state, refusal) = state_words(*state);
                    Decision { ordinal: i64::from(*ordinal), state, refusal }
                };
                let connection = self.of(partner)?;
                let settle = |some: &[(u32, ItemState<$refusal>)]| {
                    let decisions: Vec<Decision> = some.iter().map(decision).collect();
                    bulk::$bulk::settle(connection, partner.key(), id.key(), &decisions).stored()
                };
                decided.chunks(statements::UPDATE_CHUNK as usize).try_for_each(settle)
            }

            fn counts(&mut self, partner: PartnerId, id: $id) -> Result<ItemCounts, StoreError> {
                let mut counts = ItemCounts::default();
                for (first, end) in statements::ordinal_ranges(number_of_cards(self, partner, id)?, statements::COUNT_CHUNK) {
                    let groups: Vec<(String, i64)> = $items::table
                        .filter($items::partner_id.eq(partner.key()))
                        .filter($items::$belongs.eq(id.key()))
                        .filter($items::ordinal.ge(first))
                        .filter($items::ordinal.lt(end))
                        .group_by($items::state)
                        .select(($items::state, count_star()))
                        .load(self.of(partner)?)
                        .stored()?;
                    for (state, count) in groups {
                        let slot = match state.as_str() {
                            OPEN => &mut counts.open,
                            DONE => &mut counts.done,
                            REFUSED => &mut counts.refused,
                            _ => return Err(corrupt(concat!(stringify!($items), ".state"))),
                        };
                        *slot += natural(count, stringify!($items))?;
                    }
                }
                Ok(counts)
            }

            fn release_cards(&mut self, partner: PartnerId, id: $id) -> Result<(), StoreError> {
                for (first, end) in statements::ordinal_ranges(number_of_cards(self, partner, id)?, statements::UPDATE_CHUNK) {
                    // With `claimed` as a value PostgreSQL cannot take the index of claimed cards, which has those of
                    // all of the partner's requests.
                    let claimed = $items::table
                        .filter($items::partner_id.eq(partner.key()))
                        .filter($items::$belongs.eq(id.key()))
                        .filter($items::ordinal.ge(first))
                        .filter($items::ordinal.lt(end))
                        .filter($items::claimed.eq(true));
                    update(claimed).set($items::claimed.eq(false)).execute(self.of(partner)?).stored()?;
                }
                Ok(())
            }

            fn list(
                &mut self,
                partner: PartnerId,
                status: Option<BatchState>,
                page: Page,
            ) -> Result<Listed<$request>, StoreError> {
                list_requests!(self, $requests as $request_row by $request_row::request, $list, partner, status, page)
            }

            fn facts(&mut self, partner: PartnerId) -> Result<Vec<BatchFacts<$kind>>, StoreError> {
                batch_facts::all(self.of(partner)?, partner, &$facts)
            }
        }
    };
}
pub(super) use card_by_card_repository;
