//! Replenishments.

use std::collections::HashSet;

use kopeck_domain::ids::{CardId, PartnerId, ReplenishmentId};
use kopeck_domain::page::{Listed, Page};
use kopeck_domain::replenishment::{ItemState, Replenishment, ReplenishmentItem};
use kopeck_domain::request::RequestState;
use kopeck_port_store::{ItemCounts, ReplenishmentRepository, Rule, StoreError};

use super::Unit;
use super::card_by_card::{self, Item, Request, Standing, card_by_card};

pub(super) type Row = card_by_card::Row<Replenishment>;

card_by_card! {
    ReplenishmentRepository, replenishments, Replenishment, ReplenishmentId, ReplenishmentItem, ItemState,
    CardInOneReplenishment, ToppedUp
}
