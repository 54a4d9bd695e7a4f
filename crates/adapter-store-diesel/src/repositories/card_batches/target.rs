//! Cards as a new batch finds them.

use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::{BatchTarget, StoreError};

use crate::connection::AnyConnection;
use crate::convert::{AsKey, card_number, corrupt, word};
use crate::error::Stored;
use crate::sql_types::{Day, Id, sql};
use crate::statements::{self, Bind, OneOf, RawStatement};
use crate::transaction::loader::BatchLoad;

/// A card as a new batch of this kind finds it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct TargetOf {
    pub(super) partner: PartnerId,
    pub(super) kind: &'static str,
    pub(super) card: CardId,
}

#[derive(QueryableByName)]
struct TargetRow {
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
const TARGETS: &str = "
    SELECT c.id, c.number, c.link_status, c.valid_until, (
        SELECT i.claimed FROM card_batch_items i
        WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.kind = ? AND i.claimed
    ) IS NOT NULL AS claimed
    FROM cards c WHERE c.partner_id = ? AND c.id ?";

/// Those of `cards` that exist.
pub(super) fn load(
    connection: &mut AnyConnection,
    partner: PartnerId,
    kind: &str,
    cards: &[CardId],
) -> Result<Vec<BatchTarget>, StoreError> {
    let keys = cards.iter().map(AsKey::key).collect();
    let values = vec![Bind::Text(kind), Bind::Id(partner.key()), Bind::IsOneOfIds(OneOf(keys))];
    let rows: Vec<TargetRow> = statements::load(connection, TARGETS, values).stored()?;
    rows.into_iter().map(TargetRow::target).collect()
}

#[derive(QueryableByName)]
struct AnswerRow {
    /// Which of the keys it answers, from one on.
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(embed)]
    target: TargetRow,
}

const MANY_TARGETS: &str = "
    SELECT found.*
    FROM unnest(?, ?, ?) WITH ORDINALITY AS wanted (partner_id, kind, id, place) CROSS JOIN LATERAL (
        SELECT wanted.place, c.id, c.number, c.link_status, c.valid_until, (
            SELECT i.claimed FROM card_batch_items i
            WHERE i.partner_id = c.partner_id AND i.card_id = c.id AND i.kind = wanted.kind AND i.claimed
        ) IS NOT NULL AS claimed
        FROM cards c WHERE c.partner_id = wanted.partner_id AND c.id = wanted.id OFFSET 0
    ) found";

impl BatchLoad for TargetOf {
    type Loaded = Option<BatchTarget>;

    fn partner(&self) -> PartnerId {
        self.partner
    }

    fn load_one(&self, connection: &mut AnyConnection) -> Result<Self::Loaded, StoreError> {
        Ok(load(connection, self.partner, self.kind, &[self.card])?.pop())
    }

    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Self::Loaded)>, StoreError> {
        let columns = vec![
            Bind::Ids(wanted.iter().map(|one| one.partner.key()).collect()),
            Bind::Texts(wanted.iter().map(|one| one.kind).collect()),
            Bind::Ids(wanted.iter().map(|one| one.card.key()).collect()),
        ];
        let rows: Vec<AnswerRow> = RawStatement::new(MANY_TARGETS, columns).load(connection).stored()?;
        let found = |AnswerRow { place, target }: AnswerRow| {
            let key = usize::try_from(place - 1).ok().and_then(|index| wanted.get(index));
            Ok((key.ok_or_else(|| corrupt("place"))?.clone(), Some(target.target()?)))
        };
        rows.into_iter().map(found).collect()
    }
}
