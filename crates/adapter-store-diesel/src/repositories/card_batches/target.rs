//! Cards as a new batch finds them.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::{BatchTarget, StoreError};

use crate::connection::AnyConnection;
use crate::convert::{AsKey, card_number, word};
use crate::error::Stored;
use crate::sql_types::{Day, Id, sql};
use crate::statements::{self, Bind, OneOf, binds};
use crate::transaction::loader::BatchLoad;

/// A card as a new batch of this kind finds it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct TargetOf {
    pub(super) kind: &'static str,
    pub(super) card: CardId,
}

#[derive(QueryableByName)]
pub(crate) struct TargetRow {
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Nullable<Text>)]
    link_status: Option<String>,
    #[diesel(sql_type = sql::Day)]
    valid_until: Day,
    #[diesel(sql_type = Bool)]
    claimed: bool,
}

impl TargetRow {
    fn target(self) -> Result<BatchTarget, StoreError> {
        let status = self.link_status.map(|text| word(&text, "cards.link_status")).transpose()?;
        Ok(BatchTarget {
            card: self.id.to(),
            number: card_number(self.number, "cards.number")?,
            status,
            valid_until: self.valid_until.date("cards.valid_until")?,
            in_batch: self.claimed,
        })
    }
}

/// With EXISTS, PostgreSQL's planner would read every claimed card of the partner, for ten.
macro_rules! targets {
    ($those:literal) => {
        concat!(
            "SELECT c.id, c.number, c.link_status, c.valid_until, (
                SELECT i.claimed FROM card_batch_items i
                WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.kind = ? AND i.claimed
            ) IS NOT NULL AS claimed
            FROM cards c WHERE c.partner_id = ? AND c.id ",
            $those
        )
    };
}

/// Those of `cards` that exist.
pub(super) fn load(
    connection: &mut AnyConnection,
    partner: PartnerId,
    kind: &str,
    cards: &[CardId],
) -> Result<Vec<BatchTarget>, StoreError> {
    let keys = cards.iter().map(AsKey::key).collect();
    let values = binds![kind, partner.key(), OneOf(keys)];
    let rows: Vec<TargetRow> = statements::load(connection, targets!("?"), values).stored()?;
    rows.into_iter().map(TargetRow::target).collect()
}

impl BatchLoad for TargetOf {
    type Loaded = Option<BatchTarget>;
    type Row = TargetRow;

    const SELECT: &'static str = targets!("= ?");

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![self.kind, partner, self.card.key()]
    }

    fn of_rows(rows: Vec<TargetRow>) -> Result<Option<BatchTarget>, StoreError> {
        rows.into_iter().next().map(TargetRow::target).transpose()
    }
}
