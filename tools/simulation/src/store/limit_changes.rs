//! Limit changes.

use std::collections::HashSet;

use kopeck_domain::ids::{CardId, LimitChangeId, PartnerId};
use kopeck_domain::limit_change::{ItemState, LimitChange, LimitChangeItem};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::request::RequestState;
use kopeck_port_store::{ItemCounts, LimitChangeRepository, Rule, StoreError};

use super::Unit;
use super::card_by_card::{self, Item, Request, Standing, card_by_card};

pub(super) type Row = card_by_card::Row<LimitChange>;

card_by_card! {
    LimitChangeRepository, limit_changes, LimitChange, LimitChangeId, LimitChangeItem, ItemState,
    CardInOneLimitChange, Done
}
