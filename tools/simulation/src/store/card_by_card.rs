//! What replenishments and limit changes have in common: a request with its cards, which it keeps from other
//! requests of its kind until it releases them.

use std::collections::{BTreeSet, HashSet};

use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::request::RequestState;
use kopeck_port_store::{ItemCounts, Rule, StoreError};

use super::{Table, amount, count, page_of};

/// How a card of a request stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    Open,
    Done,
    Refused,
}

/// A request.
pub(super) trait Request: Clone {
    type Id: Copy + PartialEq;
    type Item: Item;

    /// What keeps a card in one open request.
    const RULE: Rule;

    fn id(&self) -> Self::Id;
    fn state(&self) -> RequestState;
    /// Takes the state of `other`, and since when it is so.
    fn follow(&mut self, other: &Self);
}

/// A card of a request.
pub(super) trait Item: Clone {
    type State: Copy;

    fn ordinal(&self) -> u32;
    fn card(&self) -> CardId;
    fn standing(&self) -> Standing;
    fn decide(&mut self, state: Self::State);
}

#[derive(Clone)]
pub(super) struct Row<R: Request> {
    pub(super) partner: PartnerId,
    pub(super) request: R,
    /// By ordinal.
    pub(super) items: Vec<R::Item>,
    /// Whether it keeps its cards from other requests.
    claims: bool,
    /// Which of its cards are marked as sent to the bank, by ordinal.
    sent: BTreeSet<u32>,
}

impl<R: Request> Row<R> {
    pub(super) fn counts(&self) -> ItemCounts {
        let having = |standing| count(self.items.iter().filter(|item| item.standing() == standing).count());
        ItemCounts {
            open: having(Standing::Open),
            done: having(Standing::Done),
            refused: having(Standing::Refused),
        }
    }

    pub(super) fn claimed_cards(&self) -> u32 {
        if self.claims { count(self.items.len()) } else { 0 }
    }
}

impl<R: Request> Table<Row<R>> {
    /// The partner's cards that open requests keep.
    pub(super) fn claimed(&self, partner: PartnerId) -> HashSet<CardId> {
        let claiming = self.iter().filter(|row| row.partner == partner && row.claims);
        claiming.flat_map(|row| &row.items).map(R::Item::card).collect()
    }

    /// Adds a request; `known` are the partner's cards.
    pub(super) fn add(
        &mut self,
        partner: PartnerId,
        request: &R,
        items: &[R::Item],
        known: &HashSet<CardId>,
    ) -> Result<(), StoreError> {
        let mut claimed = self.claimed(partner);
        for item in items {
            if !known.contains(&item.card()) {
                return Err(StoreError::Conflict(Rule::Reference));
            }
            if !claimed.insert(item.card()) {
                return Err(StoreError::Conflict(R::RULE));
            }
        }
        let mut items = items.to_vec();
        items.sort_by_key(R::Item::ordinal);
        self.push(Row { partner, request: request.clone(), items, claims: true, sent: BTreeSet::new() });
        Ok(())
    }

    pub(super) fn find(&self, partner: PartnerId, id: R::Id) -> Option<&Row<R>> {
        self.iter().find(|row| row.partner == partner && row.request.id() == id)
    }

    pub(super) fn items(
        &self,
        partner: PartnerId,
        id: R::Id,
        wanted: impl Fn(&R::Item) -> bool,
        limit: u32,
    ) -> Vec<R::Item> {
        let items = self.find(partner, id).into_iter().flat_map(|row| &row.items);
        items.filter(|item| wanted(item)).take(amount(limit)).cloned().collect()
    }

    /// Its undecided cards that are not marked as sent.
    pub(super) fn unsent(&self, partner: PartnerId, id: R::Id, limit: u32) -> Vec<R::Item> {
        let Some(row) = self.find(partner, id) else { return Vec::new() };
        let unsent =
            |item: &R::Item| item.standing() == Standing::Open && !row.sent.contains(&item.ordinal());
        self.items(partner, id, unsent, limit)
    }

    pub(super) fn mark_sent(&mut self, partner: PartnerId, id: R::Id, ordinals: &[u32], sent: bool) {
        let Some(row) = self.find_mut(partner, id) else { return };
        if sent {
            row.sent.extend(ordinals);
        } else {
            row.sent.retain(|ordinal| !ordinals.contains(ordinal));
        }
    }

    pub(super) fn set_state(&mut self, partner: PartnerId, request: &R) {
        if let Some(row) = self.find_mut(partner, request.id()) {
            row.request.follow(request);
        }
    }

    pub(super) fn settle(
        &mut self,
        partner: PartnerId,
        id: R::Id,
        decided: &[(u32, <R::Item as Item>::State)],
    ) {
        let Some(row) = self.find_mut(partner, id) else { return };
        for (ordinal, state) in decided {
            if let Ok(at) = row.items.binary_search_by_key(ordinal, R::Item::ordinal)
                && let Some(item) = row.items.get_mut(at)
                && item.standing() == Standing::Open
            {
                item.decide(*state);
            }
        }
    }

    pub(super) fn release(&mut self, partner: PartnerId, id: R::Id) {
        if let Some(row) = self.find_mut(partner, id) {
            row.claims = false;
        }
    }

    pub(super) fn page(&self, partner: PartnerId, status: Option<RequestState>, page: Page) -> Listed<R> {
        let own = self.iter().rev().filter(|row| row.partner == partner).map(|row| &row.request);
        let fitting = own.filter(|request| status.is_none_or(|status| request.state() == status));
        page_of(fitting.cloned().collect(), page)
    }

    fn find_mut(&mut self, partner: PartnerId, id: R::Id) -> Option<&mut Row<R>> {
        self.iter_mut().find(|row| row.partner == partner && row.request.id() == id)
    }
}

/// The repository of one kind of request, each method of which is that of the table.
macro_rules! card_by_card {
    ($repository:ident, $table:ident, $request:ident, $id:ident, $item:ident, $state:ident, $rule:ident, $done:ident) => {
        impl Request for $request {
            type Id = $id;
            type Item = $item;

            const RULE: Rule = Rule::$rule;

            fn id(&self) -> $id {
                self.id
            }

            fn state(&self) -> RequestState {
                self.state
            }

            fn follow(&mut self, other: &Self) {
                (self.state, self.state_since) = (other.state, other.state_since);
            }
        }

        impl Item for $item {
            type State = $state;

            fn ordinal(&self) -> u32 {
                self.ordinal
            }

            fn card(&self) -> CardId {
                self.card
            }

            fn standing(&self) -> Standing {
                match self.state {
                    $state::Open => Standing::Open,
                    $state::$done => Standing::Done,
                    $state::Refused(_) => Standing::Refused,
                }
            }

            fn decide(&mut self, state: $state) {
                self.state = state;
            }
        }

        impl $repository for Unit {
            fn insert(
                &mut self,
                partner: PartnerId,
                request: &$request,
                items: &[$item],
            ) -> Result<(), StoreError> {
                let state = self.writing()?;
                state.known_partner(partner)?;
                let known: HashSet<CardId> = state.cards_of(partner).map(|row| row.record.card.id).collect();
                state.$table.add(partner, request, items, &known)
            }

            fn get(&mut self, partner: PartnerId, id: $id) -> Result<Option<$request>, StoreError> {
                Ok(self.state.$table.find(partner, id).map(|row| row.request.clone()))
            }

            fn set_state(&mut self, partner: PartnerId, request: &$request) -> Result<(), StoreError> {
                self.writing()?.$table.set_state(partner, request);
                Ok(())
            }

            fn items(
                &mut self,
                partner: PartnerId,
                id: $id,
                from_ordinal: u32,
                limit: u32,
            ) -> Result<Vec<$item>, StoreError> {
                Ok(self.state.$table.items(partner, id, |item| item.ordinal >= from_ordinal, limit))
            }

            fn open_items(
                &mut self,
                partner: PartnerId,
                id: $id,
                limit: u32,
            ) -> Result<Vec<$item>, StoreError> {
                Ok(self.state.$table.items(partner, id, |item| item.state == $state::Open, limit))
            }

            fn unsent_items(
                &mut self,
                partner: PartnerId,
                id: $id,
                limit: u32,
            ) -> Result<Vec<$item>, StoreError> {
                Ok(self.state.$table.unsent(partner, id, limit))
            }

            fn mark_sent(
                &mut self,
                partner: PartnerId,
                id: $id,
                ordinals: &[u32],
                sent: bool,
            ) -> Result<(), StoreError> {
                self.writing()?.$table.mark_sent(partner, id, ordinals, sent);
                Ok(())
            }

            fn settle_items(
                &mut self,
                partner: PartnerId,
                id: $id,
                decided: &[(u32, $state)],
            ) -> Result<(), StoreError> {
                self.writing()?.$table.settle(partner, id, decided);
                Ok(())
            }

            fn counts(&mut self, partner: PartnerId, id: $id) -> Result<ItemCounts, StoreError> {
                Ok(self.state.$table.find(partner, id).map(Row::counts).unwrap_or_default())
            }

            fn release_cards(&mut self, partner: PartnerId, id: $id) -> Result<(), StoreError> {
                self.writing()?.$table.release(partner, id);
                Ok(())
            }

            fn list(
                &mut self,
                partner: PartnerId,
                status: Option<RequestState>,
                page: Page,
            ) -> Result<Listed<$request>, StoreError> {
                Ok(self.state.$table.page(partner, status, page))
            }
        }
    };
}

pub(super) use card_by_card;
