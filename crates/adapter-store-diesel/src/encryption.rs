//! Encrypted columns: personal data, activation codes and recorded responses.
//!
//! The [`ColumnCipher`] of the store encrypts each value for its table, column, partner and row, so that a value that is copied
//! elsewhere does not decrypt.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Text};
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_port_store::{ColumnCipher, ColumnPlace, StoreError};

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
    /// Finds values that do not begin with a prefix.
    stale: &'static str,
    /// Replaces a value, unless it has changed meanwhile.
    replace: &'static str,
    key: RowKey,
}

/// The columns that identify a row of the partner.
#[derive(Clone, Copy)]
enum RowKey {
    Id,
    OrderLine,
    IdempotencyKey,
}

/// `$id`, `$position`, `$text`: what a row is identified by, as SQL; `$condition`: the same in a WHERE.
macro_rules! encrypted {
    ($table:literal . $column:literal by $key:ident ($id:literal, $position:literal, $text:literal) $condition:literal) => {
        EncryptedColumn {
            table: $table,
            column: $column,
            stale: concat!(
                "SELECT partner_id, ", $id, " AS id, ", $position, " AS position, ", $text, " AS key, ", $column,
                " AS value FROM ", $table, " WHERE ", $column, " IS NOT NULL AND substr(", $column,
                ", 1, CAST(? AS INTEGER)) <> ? LIMIT ?"
            ),
            replace: concat!(
                "UPDATE ", $table, " SET ", $column, " = ? WHERE partner_id = ? AND ", $column, " = ? AND ", $condition
            ),
            key: RowKey::$key,
        }
    };
    ($table:literal . $column:literal by Id) => {
        encrypted!($table . $column by Id ("id", "CAST(0 AS BIGINT)", "''") "id = ?")
    };
    ($table:literal . $column:literal by OrderLine) => {
        encrypted!($table . $column by OrderLine ("order_id", "position", "''") "order_id = ? AND position = ?")
    };
}

const COLUMNS: [EncryptedColumn; 7] = [
    encrypted!("employees"."phone" by Id),
    encrypted!("employees"."email" by Id),
    encrypted!("order_lines"."address" by OrderLine),
    encrypted!("order_lines"."recipient" by OrderLine),
    encrypted!("order_lines"."phone" by OrderLine),
    encrypted!("cards"."activation_code" by Id),
    encrypted!("recorded_responses"."body" by IdempotencyKey ("partner_id", "CAST(0 AS BIGINT)", "key") "key = ?"),
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

impl StaleRow {
    /// The row for its place.
    fn row(&self, key: RowKey) -> Result<Vec<u8>, StoreError> {
        Ok(match key {
            RowKey::Id => self.id.bytes().to_vec(),
            RowKey::OrderLine => line_row(self.id.to(), self.position),
            RowKey::IdempotencyKey => self.key.clone().into_bytes(),
        })
    }
}

impl DieselTransaction {
    /// Encrypts up to `limit` values anew that lie under another key than the current one; answers how many those were.
    pub(crate) fn reencrypt(&mut self, limit: u32) -> Result<u64, StoreError> {
        let cipher = Arc::clone(&self.cipher);
        let prefix = cipher.current_prefix();
        let length = i64::try_from(prefix.len()).map_err(|_| corrupt("prefix"))?;
        let mut done = 0;
        for column in &COLUMNS {
            let left = i64::from(limit) - done;
            let values = vec![Bind::Int(length), Bind::Bytes(&prefix), Bind::Int(left)];
            let stale = RawStatement::new(column.stale, values);
            let rows: Vec<StaleRow> = on_either!(self.unlocked()?, inner => stale.load(inner)).stored()?;
            for row in &rows {
                self.replace(column, row, &*cipher)?;
                done += 1;
            }
        }
        Ok(done.unsigned_abs())
    }

    fn replace(
        &mut self,
        column: &EncryptedColumn,
        row: &StaleRow,
        cipher: &dyn ColumnCipher,
    ) -> Result<(), StoreError> {
        let key = row.row(column.key)?;
        let partner = row.partner_id.to();
        let place = RowCipher { cipher, table: column.table, partner, row: &key };
        let value = place.encrypt(column.column, &place.decrypt(column.column, &row.value)?)?;
        let mut values = vec![Bind::Bytes(&value), Bind::Id(row.partner_id), Bind::Bytes(&row.value)];
        match column.key {
            RowKey::Id => values.push(Bind::Id(row.id)),
            RowKey::OrderLine => values.extend([Bind::Id(row.id), Bind::Int(row.position)]),
            RowKey::IdempotencyKey => values.push(Bind::Text(&row.key)),
        }
        let replace = RawStatement::new(column.replace, values);
        on_either!(self.unlocked()?, inner => replace.execute(inner)).stored().map(drop)
    }
}
