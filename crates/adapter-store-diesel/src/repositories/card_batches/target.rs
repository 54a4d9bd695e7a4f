//! Cards as a new batch finds them.

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::{BatchTarget, CardClaims, StoreError};

use crate::connection::AnyConnection;
use crate::convert::{AsKey, card_number, word};
use crate::error::StoredRows;
use crate::schema::cards;
use crate::sql_types::{Day, Id};
use crate::statements::{self, Bind, OneOf, binds};
use crate::transaction::loader::BatchLoad;

/// A card as a new batch finds it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct TargetOf {
    pub(super) card: CardId,
}

#[derive(QueryableByName)]
#[diesel(table_name = cards)]
pub(crate) struct TargetRow {
    id: Id,
    number: i64,
    link_status: Option<String>,
    standing: String,
    valid_until: Day,
    /// The sum of the lanes that claim it.
    #[diesel(sql_type = BigInt)]
    lanes: i64,
}

impl TargetRow {
    fn target(self) -> Result<BatchTarget, StoreError> {
        let status = self.link_status.map(|text| word(&text, "cards.link_status")).transpose()?;
        Ok(BatchTarget {
            card: self.id.to(),
            number: card_number(self.number, "cards.number")?,
            status,
            standing: word(&self.standing, "cards.standing")?,
            valid_until: self.valid_until.date("cards.valid_until")?,
            claims: CardClaims {
                limits: self.lanes & 1 != 0,
                money: self.lanes & 2 != 0,
                urgent: self.lanes & 4 != 0,
            },
        })
    }
}

/// The lanes of claims are those of the index, which has each once for a card: their sum says which there are.
///
/// That a lane is above zero says nothing, but without it SQLite's planner reads every item of the partner.
/// With EXISTS, PostgreSQL's planner would read every claimed card of the partner, for ten.
macro_rules! targets {
    ($those:literal) => {
        concat!(
            "SELECT c.id, c.number, c.link_status, c.standing, c.valid_until, CAST(COALESCE((
                SELECT SUM(CASE WHEN i.kind = 'LIMIT_CHANGE' THEN 1 WHEN i.is_urgent THEN 4 ELSE 2 END)
                FROM card_batch_items i
                WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.claimed
                    AND (CASE WHEN i.kind = 'LIMIT_CHANGE' THEN 1 WHEN i.is_urgent THEN 4 ELSE 2 END) > 0
            ), 0) AS BIGINT) AS lanes
            FROM cards c WHERE c.partner_id = ? AND c.id ",
            $those
        )
    };
}

/// Those of `cards` that exist.
pub(super) fn load(
    connection: &mut AnyConnection,
    partner: PartnerId,
    cards: &[CardId],
) -> Result<Vec<BatchTarget>, StoreError> {
    let keys = cards.iter().map(AsKey::key).collect();
    let values = binds![partner.key(), OneOf(keys)];
    statements::load(connection, targets!("?"), values).all(TargetRow::target)
}

impl BatchLoad for TargetOf {
    type Loaded = Option<BatchTarget>;
    type Row = TargetRow;

    const SELECT: &'static str = targets!("= ?");

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, self.card.key()]
    }

    fn of_rows(rows: Vec<TargetRow>) -> Result<Option<BatchTarget>, StoreError> {
        rows.into_iter().next().map(TargetRow::target).transpose()
    }
}
