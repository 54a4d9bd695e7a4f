//! Card batches: each keeps its cards from other batches of its lane until it releases them.

use std::collections::{BTreeSet, HashMap, HashSet};

use kopeck_domain::Kopecks;
use kopeck_domain::card_batch::{BatchFields, BatchItem, CardBatch, ItemState};
use kopeck_domain::closing::{Closing, ClosingItem, Closings};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::limit_change::{LimitChange, LimitChangeItem, LimitChanges};
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem, TopUps};
use kopeck_domain::withdrawal::{Withdrawal, WithdrawalItem, Withdrawals};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    BatchAmounts, BatchFacts, BatchFilter, BatchTarget, CardBatchRepository, CardClaims, CardRecord,
    ItemCounts, Lane, Rule, StoreError, StoredKind,
};

use super::reconciliation::sum;
use super::{State, Table, Unit, amount, count, fits, page_of};

/// A kind of batch, and where its batches are.
pub(super) trait Kind: StoredKind {
    fn table(state: &State) -> &Table<Row<Self>>;
    fn table_mut(state: &mut State) -> &mut Table<Row<Self>>;
    /// The money that a batch asks for, if it says so.
    fn asked(batch: &CardBatch<Self>) -> Option<Kopecks>;
    /// The money that a card asks for.
    fn amount(item: &BatchItem<Self>) -> Kopecks;
}

impl Kind for TopUps {
    fn table(state: &State) -> &Table<Row<Self>> {
        &state.replenishments
    }

    fn table_mut(state: &mut State) -> &mut Table<Row<Self>> {
        &mut state.replenishments
    }

    fn asked(batch: &Replenishment) -> Option<Kopecks> {
        Some(batch.amount())
    }

    fn amount(item: &ReplenishmentItem) -> Kopecks {
        item.amount()
    }
}

impl Kind for LimitChanges {
    fn table(state: &State) -> &Table<Row<Self>> {
        &state.limit_changes
    }

    fn table_mut(state: &mut State) -> &mut Table<Row<Self>> {
        &mut state.limit_changes
    }

    fn asked(_: &LimitChange) -> Option<Kopecks> {
        None
    }

    fn amount(_: &LimitChangeItem) -> Kopecks {
        Kopecks::ZERO
    }
}

impl Kind for Closings {
    fn table(state: &State) -> &Table<Row<Self>> {
        &state.closings
    }

    fn table_mut(state: &mut State) -> &mut Table<Row<Self>> {
        &mut state.closings
    }

    fn asked(_: &Closing) -> Option<Kopecks> {
        None
    }

    fn amount(_: &ClosingItem) -> Kopecks {
        Kopecks::ZERO
    }
}

impl Kind for Withdrawals {
    fn table(state: &State) -> &Table<Row<Self>> {
        &state.withdrawals
    }

    fn table_mut(state: &mut State) -> &mut Table<Row<Self>> {
        &mut state.withdrawals
    }

    fn asked(batch: &Withdrawal) -> Option<Kopecks> {
        *batch.terms()
    }

    fn amount(item: &WithdrawalItem) -> Kopecks {
        item.terms.unwrap_or_default()
    }
}

#[derive(Clone)]
pub(super) struct Row<K: Kind> {
    partner: PartnerId,
    pub(super) batch: CardBatch<K>,
    /// By ordinal.
    items: Vec<BatchItem<K>>,
    /// Whether it keeps its cards from other batches.
    claims: bool,
    /// Which of its cards are marked as sent to the bank, by ordinal.
    sent: BTreeSet<u32>,
}

impl<K: Kind> Row<K> {
    fn counts(&self) -> ItemCounts {
        let having = |wanted: fn(&ItemState<K::Refusal>) -> bool| {
            count(self.items.iter().filter(|item| wanted(&item.state)).count())
        };
        ItemCounts { open: having(is_open), done: having(is_done), refused: having(is_refused) }
    }

    fn amounts(&self) -> Result<BatchAmounts, StoreError> {
        let of = |wanted: fn(&ItemState<K::Refusal>) -> bool| {
            sum(self.items.iter().filter(|item| wanted(&item.state)).map(K::amount))
        };
        Ok(BatchAmounts {
            asked: K::asked(&self.batch),
            open: of(is_open)?,
            done: of(is_done)?,
            refused: of(is_refused)?,
            returned: self.batch.returned(),
            returned_by_cards: sum(self.items.iter().filter_map(|item| item.state.returned()))?,
        })
    }
}

fn is_open<R>(state: &ItemState<R>) -> bool {
    matches!(state, ItemState::Open)
}

fn is_done<R>(state: &ItemState<R>) -> bool {
    matches!(state, ItemState::Done | ItemState::Returned(_))
}

fn is_refused<R>(state: &ItemState<R>) -> bool {
    matches!(state, ItemState::Refused(_))
}

impl State {
    pub(super) fn batch<K: Kind>(&self, partner: PartnerId, id: K::Id) -> Option<&Row<K>> {
        K::table(self).iter().find(|row| row.partner == partner && row.batch.id() == id)
    }

    /// The cards of a batch that `wanted` lets through, by ordinal.
    fn items<K: Kind>(
        &self,
        partner: PartnerId,
        id: K::Id,
        wanted: impl Fn(&Row<K>, &BatchItem<K>) -> bool,
        limit: u32,
    ) -> Vec<BatchItem<K>> {
        let Some(row) = self.batch::<K>(partner, id) else { return Vec::new() };
        row.items.iter().filter(|item| wanted(row, item)).take(amount(limit)).cloned().collect()
    }

    /// The partner's cards that open batches of this kind keep, with their lanes.
    fn claimed_by<K: Kind>(&self, partner: PartnerId) -> impl Iterator<Item = (CardId, Lane)> {
        let claiming = K::table(self).iter().filter(move |row| row.partner == partner && row.claims);
        claiming.flat_map(|row| row.items.iter().map(|item| (item.card, K::lane(row.batch.terms()))))
    }

    /// Whether an open closing has the card as lost or stolen, and has no verdict on it.
    pub(super) fn is_being_closed(&self, partner: PartnerId, card: CardId) -> bool {
        let mut open = self.closings.iter().filter(|row| row.partner == partner && row.claims);
        open.any(|row| {
            let mut items = row.items.iter();
            items.any(|item| item.card == card && item.terms.is_urgent() && is_open(&item.state))
        })
    }

    /// The partner's cards that open batches keep.
    fn claims(&self, partner: PartnerId) -> HashMap<CardId, CardClaims> {
        let all = self
            .claimed_by::<TopUps>(partner)
            .chain(self.claimed_by::<LimitChanges>(partner))
            .chain(self.claimed_by::<Closings>(partner))
            .chain(self.claimed_by::<Withdrawals>(partner));
        let mut claims: HashMap<CardId, CardClaims> = HashMap::new();
        for (card, lane) in all {
            let known = claims.entry(card).or_default();
            *known = known.and(CardClaims::of(lane));
        }
        claims
    }
}

impl Unit {
    /// Changes a batch, if it is there.
    fn change<K: Kind>(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        change: impl FnOnce(&mut Row<K>),
    ) -> Result<(), StoreError> {
        let mut rows = K::table_mut(self.writing()?).iter_mut();
        if let Some(row) = rows.find(|row| row.partner == partner && row.batch.id() == id) {
            change(row);
        }
        Ok(())
    }
}

impl<K: Kind> CardBatchRepository<K> for Unit {
    fn targets(&mut self, partner: PartnerId, cards: &[CardId]) -> Result<Vec<BatchTarget>, StoreError> {
        let wanted: HashSet<CardId> = cards.iter().copied().collect();
        let claims = self.state.claims(partner);
        let records = self.state.cards_of(partner).map(|row| &row.record);
        let wanted = records.filter(|record| wanted.contains(&record.card.id()));
        let target = wanted.map(|CardRecord { card, bank, .. }| BatchTarget {
            card: card.id(),
            number: card.number(),
            status: card.link().map(|link| link.status),
            standing: bank.standing,
            valid_until: card.valid_until(),
            claims: claims.get(&card.id()).copied().unwrap_or_default(),
        });
        Ok(target.collect())
    }

    fn insert(
        &mut self,
        partner: PartnerId,
        batch: &CardBatch<K>,
        items: &[BatchItem<K>],
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        let known: HashSet<CardId> = state.cards_of(partner).map(|row| row.record.card.id()).collect();
        let own = CardClaims::of(K::lane(batch.terms()));
        let mut claims = state.claims(partner);
        for item in items {
            if !known.contains(&item.card) {
                return Err(StoreError::Conflict(Rule::Reference));
            }
            // Only the same lane: what else excludes a card is for the service to know.
            let before = claims.entry(item.card).or_default();
            if before.and(own) == *before {
                return Err(StoreError::Conflict(Rule::CardInOneBatch));
            }
            *before = before.and(own);
        }
        let mut items = items.to_vec();
        items.sort_by_key(|item| item.ordinal);
        let row = Row { partner, batch: batch.clone(), items, claims: true, sent: BTreeSet::new() };
        K::table_mut(state).push(row);
        Ok(())
    }

    fn get(&mut self, partner: PartnerId, id: K::Id) -> Result<Option<CardBatch<K>>, StoreError> {
        Ok(self.state.batch::<K>(partner, id).map(|row| row.batch.clone()))
    }

    fn set_state(&mut self, partner: PartnerId, batch: &CardBatch<K>) -> Result<(), StoreError> {
        self.change::<K>(partner, batch.id(), |row| {
            let (state, state_since) = (batch.state(), batch.state_since());
            let stored = row.batch.clone().into_fields();
            row.batch = CardBatch::from_stored(BatchFields { state, state_since, ..stored });
        })
    }

    fn items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        from_ordinal: u32,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        Ok(self.state.items::<K>(partner, id, |_, item| item.ordinal >= from_ordinal, limit))
    }

    fn open_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        Ok(self.state.items::<K>(partner, id, |_, item| is_open(&item.state), limit))
    }

    fn unsent_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        limit: u32,
    ) -> Result<Vec<BatchItem<K>>, StoreError> {
        let unsent =
            |row: &Row<K>, item: &BatchItem<K>| is_open(&item.state) && !row.sent.contains(&item.ordinal);
        Ok(self.state.items::<K>(partner, id, unsent, limit))
    }

    fn mark_sent(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        ordinals: &[u32],
        sent: bool,
    ) -> Result<(), StoreError> {
        self.change::<K>(partner, id, |row| {
            row.sent.retain(|ordinal| !ordinals.contains(ordinal));
            if sent {
                row.sent.extend(ordinals);
            }
        })
    }

    fn settle_items(
        &mut self,
        partner: PartnerId,
        id: K::Id,
        decided: &[(u32, ItemState<K::Refusal>)],
    ) -> Result<(), StoreError> {
        self.change::<K>(partner, id, |row| {
            for (ordinal, state) in decided {
                if let Ok(at) = row.items.binary_search_by_key(ordinal, |item| item.ordinal)
                    && let Some(item) = row.items.get_mut(at)
                    && is_open(&item.state)
                {
                    item.state = *state;
                }
            }
        })
    }

    fn add_returned(&mut self, partner: PartnerId, id: K::Id, amount: Kopecks) -> Result<(), StoreError> {
        let mut sum = Ok(());
        self.change::<K>(partner, id, |row| {
            let stored = row.batch.clone().into_fields();
            match stored.returned.plus(amount) {
                Ok(returned) => row.batch = CardBatch::from_stored(BatchFields { returned, ..stored }),
                Err(error) => sum = Err(StoreError::Corrupt(format!("card_batches.returned: {error}"))),
            }
        })?;
        sum
    }

    fn counts(&mut self, partner: PartnerId, id: K::Id) -> Result<ItemCounts, StoreError> {
        Ok(self.state.batch::<K>(partner, id).map(Row::counts).unwrap_or_default())
    }

    fn release_cards(&mut self, partner: PartnerId, id: K::Id) -> Result<(), StoreError> {
        self.change::<K>(partner, id, |row| row.claims = false)
    }

    fn list(
        &mut self,
        partner: PartnerId,
        filter: &BatchFilter,
        page: Page,
    ) -> Result<Listed<CardBatch<K>>, StoreError> {
        let own = K::table(&self.state).iter().rev().filter(|row| row.partner == partner);
        let fitting = own.filter(|row| {
            let batch = &row.batch;
            fits(filter, batch.state(), batch.reference(), batch.created_at())
        });
        Ok(page_of(fitting.map(|row| row.batch.clone()).collect(), page))
    }

    fn facts(&mut self, partner: PartnerId) -> Result<Vec<BatchFacts<K>>, StoreError> {
        let facts = |row: &Row<K>| {
            Ok(BatchFacts {
                id: row.batch.id(),
                state: row.batch.state(),
                cards: row.batch.cards(),
                counts: row.counts(),
                amounts: row.amounts()?,
                claimed_cards: if row.claims { count(row.items.len()) } else { 0 },
                has_job: self.state.has_work(partner, K::subject(row.batch.id())),
            })
        };
        K::table(&self.state).iter().filter(|row| row.partner == partner).map(facts).collect()
    }
}
