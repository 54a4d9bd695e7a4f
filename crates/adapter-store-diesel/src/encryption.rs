//! Encrypted columns: personal data, activation codes and recorded responses.
//!
//! The [`ColumnCipher`] of the store encrypts each value for its table, column, partner and row, so that a value that is copied
//! elsewhere does not decrypt.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_port_store::{ColumnCipher, ColumnPlace, ReencryptionCursor, StoreError};

use crate::connection::on_either;
use crate::convert::{AsKey, corrupt};
use crate::error::Stored;
use crate::sql_types::{Id, sql};
use crate::statements::{Bind, RawStatement};
use crate::transaction::DieselTransaction;

/// Encrypts and decrypts columns of one row.
pub(crate) struct RowCipher<'a> {
    pub(crate) cipher: &'a dyn ColumnCipher,
    pub(crate) table: &'static str,
    pub(crate) partner: PartnerId,
    pub(crate) row: &'a [u8],
}

impl RowCipher<'_> {
    fn place(&self, column: &'static str) -> ColumnPlace<'_> {
        ColumnPlace { table: self.table, column, partner: self.partner, row: self.row }
    }

    pub(crate) fn encrypt(&self, column: &'static str, plaintext: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.cipher.encrypt(&self.place(column), plaintext)
    }

    pub(crate) fn decrypt(&self, column: &'static str, stored: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.cipher.decrypt(&self.place(column), stored)
    }

    /// The text behind `stored`.
    pub(crate) fn text(&self, column: &'static str, stored: &[u8]) -> Result<String, StoreError> {
        let text = String::from_utf8(self.decrypt(column, stored)?);
        text.map_err(|_| StoreError::Corrupt(format!("{}.{column}", self.table)))
    }
}

/// The row of an order line, for its place.
pub(crate) fn line_row(order: OrderId, position: i64) -> Vec<u8> {
    [order.key().bytes(), &position.to_be_bytes()].concat()
}

/// An encrypted column, and the statements that encrypt it anew.
struct EncryptedColumn {
    table: &'static str,
    column: &'static str,
    /// Finds values after a row that do not begin with a prefix.
    stale: &'static str,
    /// Replaces a value, unless it has changed meanwhile.
    replace: &'static str,
    key: PrimaryKey,
}

/// The columns of a table's primary key, in their order.
#[derive(Clone, Copy)]
enum PrimaryKey {
    PartnerAndId,
    IdAndPartner,
    OrderLine,
    IdempotencyKey,
}

/// `$columns`: the primary key, and `$values` as many placeholders. `$id`, `$position` and `$key` select its parts.
macro_rules! encrypted {
    (
        $table:literal . $column:literal by $kind:ident ($columns:literal, $values:literal)
        $id:literal, $position:literal, $key:literal
    ) => {
        EncryptedColumn {
            table: $table,
            column: $column,
            stale: concat!(
                "SELECT partner_id, ", $id, " AS id, ", $position, " AS position, ", $key, " AS key, ", $column,
                " AS value FROM ", $table, " WHERE ", $column, " IS NOT NULL AND substr(", $column,
                ", 1, CAST(? AS INTEGER)) <> ? AND (", $columns, ") > (", $values, ") ORDER BY ", $columns, " LIMIT ?"
            ),
            replace: concat!(
                "UPDATE ", $table, " SET ", $column, " = ? WHERE ", $column, " = ? AND (", $columns, ") = (", $values, ")"
            ),
            key: PrimaryKey::$kind,
        }
    };
    ($table:literal . $column:literal by PartnerAndId) => {
        encrypted!(
            $table . $column by PartnerAndId ("partner_id, id", "?, ?") "id", "CAST(0 AS BIGINT)", "''"
        )
    };
    ($table:literal . $column:literal by IdAndPartner) => {
        encrypted!(
            $table . $column by IdAndPartner ("id, partner_id", "?, ?") "id", "CAST(0 AS BIGINT)", "''"
        )
    };
    ($table:literal . $column:literal by OrderLine) => {
        encrypted!(
            $table . $column by OrderLine ("partner_id, order_id, position", "?, ?, ?") "order_id", "position", "''"
        )
    };
    ($table:literal . $column:literal by IdempotencyKey) => {
        encrypted!(
            $table . $column by IdempotencyKey ("key, partner_id", "?, ?") "partner_id", "CAST(0 AS BIGINT)", "key"
        )
    };
}

const COLUMNS: [EncryptedColumn; 7] = [
    encrypted!("employees"."phone" by IdAndPartner),
    encrypted!("employees"."email" by IdAndPartner),
    encrypted!("order_lines"."address" by OrderLine),
    encrypted!("order_lines"."recipient" by OrderLine),
    encrypted!("order_lines"."phone" by OrderLine),
    encrypted!("cards"."activation_code" by PartnerAndId),
    encrypted!("recorded_responses"."body" by IdempotencyKey),
];

#[derive(QueryableByName)]
struct StaleRow {
    #[diesel(sql_type = sql::Id)]
    partner_id: Id,
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = BigInt)]
    position: i64,
    #[diesel(sql_type = Text)]
    key: String,
    #[diesel(sql_type = Binary)]
    value: Vec<u8>,
}

impl PrimaryKey {
    /// Its values of the row that the cursor names.
    fn values(self, row: &ReencryptionCursor) -> Vec<Bind<'_>> {
        let (partner, id) = (Bind::Id(Id::of(row.partner)), Bind::Id(Id::of(row.id)));
        match self {
            Self::PartnerAndId => vec![partner, id],
            Self::IdAndPartner => vec![id, partner],
            Self::OrderLine => vec![partner, id, Bind::Int(row.position)],
            Self::IdempotencyKey => vec![Bind::Text(&row.key), partner],
        }
    }

    /// The row's [`ColumnPlace::row`].
    fn row(self, row: &ReencryptionCursor) -> Vec<u8> {
        match self {
            Self::PartnerAndId | Self::IdAndPartner => row.id.to_vec(),
            Self::OrderLine => line_row(Id::of(row.id).to(), row.position),
            Self::IdempotencyKey => row.key.clone().into_bytes(),
        }
    }
}

impl DieselTransaction {
    /// Encrypts up to `limit` values anew that are under another key than the current one, from `cursor` on.
    pub(crate) fn reencrypt(
        &mut self,
        mut cursor: ReencryptionCursor,
        limit: u32,
    ) -> Result<(u64, ReencryptionCursor), StoreError> {
        let cipher = Arc::clone(&self.cipher);
        let prefix = cipher.current_prefix();
        let length = i64::try_from(prefix.len()).map_err(|_| corrupt("prefix"))?;
        let mut done = 0;
        while let Some(column) = COLUMNS.get(cursor.column) {
            let left = i64::from(limit) - done;
            let mut values = vec![Bind::Int(length), Bind::Bytes(&prefix)];
            values.extend(column.key.values(&cursor));
            values.push(Bind::Int(left));
            let stale = RawStatement::new(column.stale, values);
            let rows: Vec<StaleRow> = on_either!(self.unlocked()?, inner => stale.load(inner)).stored()?;
            for StaleRow { partner_id, id, position, key, value } in rows {
                let (partner, id) = (partner_id.0.into_bytes(), id.0.into_bytes());
                cursor = ReencryptionCursor { column: cursor.column, partner, id, position, key };
                self.replace(column, &cursor, &value, &*cipher)?;
                done += 1;
            }
            if done == i64::from(limit) {
                break;
            }
            cursor = ReencryptionCursor { column: cursor.column + 1, ..ReencryptionCursor::default() };
        }
        Ok((done.unsigned_abs(), cursor))
    }

    fn replace(
        &mut self,
        column: &EncryptedColumn,
        row: &ReencryptionCursor,
        stored: &[u8],
        cipher: &dyn ColumnCipher,
    ) -> Result<(), StoreError> {
        let key = column.key.row(row);
        let partner = Id::of(row.partner).to();
        let place = RowCipher { cipher, table: column.table, partner, row: &key };
        let value = place.encrypt(column.column, &place.decrypt(column.column, stored)?)?;
        let mut values = vec![Bind::Bytes(&value), Bind::Bytes(stored)];
        values.extend(column.key.values(row));
        let replace = RawStatement::new(column.replace, values);
        on_either!(self.unlocked()?, inner => replace.execute(inner)).stored().map(drop)
    }
}
