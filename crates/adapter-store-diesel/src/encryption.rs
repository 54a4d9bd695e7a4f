//! Encrypted columns: personal data, activation codes, recorded responses, and secrets of webhooks and users.
//!
//! The [`ColumnCipher`] of the store encrypts each value for its table, column, partner and row, so that a value that
//! is copied elsewhere does not decrypt.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{ColumnCipher, ColumnPlace, ReencryptionCursor, StoreError};

use crate::convert::corrupt;
use crate::error::Stored;
use crate::repositories::users::rows::LOGIN;
use crate::sql_types::{Id, sql};
use crate::statements::{self, Bind, binds};
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

/// The row of an order line, or of an item of a run, for its place.
pub(crate) fn part_row(whole: Id, position: i64) -> Vec<u8> {
    [whole.bytes(), &position.to_be_bytes()].concat()
}

/// An encrypted column: its table, its name, and what identifies a row.
struct EncryptedColumn(&'static str, &'static str, PrimaryKey);

/// The columns of a table's primary key, in their order.
#[derive(Clone, Copy)]
enum PrimaryKey {
    PartnerAndId,
    IdAndPartner,
    OrderLine,
    RunItem,
    IdempotencyKey,
}

const COLUMNS: [EncryptedColumn; 14] = [
    EncryptedColumn("employees", "phone", PrimaryKey::IdAndPartner),
    EncryptedColumn("employees", "email", PrimaryKey::IdAndPartner),
    EncryptedColumn("order_lines", "address", PrimaryKey::OrderLine),
    EncryptedColumn("order_lines", "recipient", PrimaryKey::OrderLine),
    EncryptedColumn("order_lines", "phone", PrimaryKey::OrderLine),
    EncryptedColumn("cards", "activation_code", PrimaryKey::PartnerAndId),
    EncryptedColumn("recorded_responses", "body", PrimaryKey::IdempotencyKey),
    EncryptedColumn("run_items", "cells", PrimaryKey::RunItem),
    EncryptedColumn("webhooks", "secret", PrimaryKey::PartnerAndId),
    EncryptedColumn("webhooks", "former_secret", PrimaryKey::PartnerAndId),
    EncryptedColumn("users", "login", PrimaryKey::PartnerAndId),
    EncryptedColumn("users", "totp_secret", PrimaryKey::PartnerAndId),
    EncryptedColumn("user_sessions", "setup", PrimaryKey::PartnerAndId),
    EncryptedColumn("user_uploads", "content", PrimaryKey::PartnerAndId),
];

impl EncryptedColumn {
    /// Reads rows after one, with their values that do not begin with a prefix.
    fn rows(&self) -> String {
        let Self(table, column, key) = self;
        let (columns, values) = key.columns();
        let parts = match key {
            PrimaryKey::PartnerAndId | PrimaryKey::IdAndPartner => {
                "id, CAST(0 AS BIGINT) AS position, '' AS key"
            }
            PrimaryKey::OrderLine => "order_id AS id, position, '' AS key",
            PrimaryKey::RunItem => "run_id AS id, ordinal AS position, '' AS key",
            PrimaryKey::IdempotencyKey => "partner_id AS id, CAST(0 AS BIGINT) AS position, key",
        };
        format!(
            "SELECT partner_id, {parts}, \
             CASE WHEN substr({column}, 1, CAST(? AS INTEGER)) <> ? THEN {column} END AS stale FROM {table} \
             WHERE ({columns}) > ({values}) ORDER BY {columns} LIMIT ?"
        )
    }

    /// Replaces a value, and its digest if it has one, unless it has changed meanwhile.
    fn replace(&self) -> String {
        let Self(table, column, key) = self;
        let (columns, values) = key.columns();
        let digest = if self.has_digest() { format!(", {column}_digest = ?") } else { String::new() };
        format!("UPDATE {table} SET {column} = ?{digest} WHERE {column} = ? AND ({columns}) = ({values})")
    }

    /// Whether a column beside it has a digest under the same master key, for look-ups.
    fn has_digest(&self) -> bool {
        (self.0, self.1) == ("users", "login")
    }
}

#[derive(QueryableByName)]
struct KeyedRow {
    #[diesel(sql_type = sql::Id)]
    partner_id: Id,
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = BigInt)]
    position: i64,
    #[diesel(sql_type = Text)]
    key: String,
    /// The value, if it is under another key than the current one.
    #[diesel(sql_type = Nullable<Binary>)]
    stale: Option<Vec<u8>>,
}

impl PrimaryKey {
    /// The columns, and as many placeholders.
    fn columns(self) -> (&'static str, &'static str) {
        match self {
            Self::PartnerAndId => ("partner_id, id", "?, ?"),
            Self::IdAndPartner => ("id, partner_id", "?, ?"),
            Self::OrderLine => ("partner_id, order_id, position", "?, ?, ?"),
            Self::RunItem => ("partner_id, run_id, ordinal", "?, ?, ?"),
            Self::IdempotencyKey => ("key, partner_id", "?, ?"),
        }
    }

    /// Its values of the row that the cursor names.
    fn values(self, row: &ReencryptionCursor) -> Vec<Bind<'_>> {
        let (partner, id) = (Id::of(row.partner), Id::of(row.id));
        match self {
            Self::PartnerAndId => binds![partner, id],
            Self::IdAndPartner => binds![id, partner],
            Self::OrderLine | Self::RunItem => binds![partner, id, row.position],
            Self::IdempotencyKey => binds![&row.key, partner],
        }
    }

    /// The row's [`ColumnPlace::row`].
    fn row(self, row: &ReencryptionCursor) -> Vec<u8> {
        match self {
            Self::PartnerAndId | Self::IdAndPartner => row.id.to_vec(),
            Self::OrderLine | Self::RunItem => part_row(Id::of(row.id), row.position),
            Self::IdempotencyKey => row.key.clone().into_bytes(),
        }
    }
}

impl DieselTransaction {
    /// Looks at `limit` rows from `cursor` on, and encrypts the values anew that are under another key than the current one. Rows
    /// count, not values: where hardly any is left, a search would be one long transaction.
    pub(crate) fn reencrypt(
        &mut self,
        mut cursor: ReencryptionCursor,
        limit: u32,
    ) -> Result<(u64, Option<ReencryptionCursor>), StoreError> {
        let cipher = Arc::clone(&self.cipher);
        let prefix = cipher.current_prefix();
        let length = i64::try_from(prefix.len()).map_err(|_| corrupt("prefix"))?;
        let (mut looked_at, mut done) = (0, 0);
        while let Some(column) = COLUMNS.get(cursor.column) {
            let (left, text) = (i64::from(limit) - looked_at, column.rows());
            let mut values = binds![length, &prefix];
            values.extend(column.2.values(&cursor));
            values.push(left.into());
            let rows: Vec<KeyedRow> = statements::load(self.unlocked()?, &text, values).stored()?;
            for KeyedRow { partner_id, id, position, key, stale } in rows {
                let (partner, id) = (partner_id.0.into_bytes(), id.0.into_bytes());
                cursor = ReencryptionCursor { column: cursor.column, partner, id, position, key };
                looked_at += 1;
                if let Some(value) = stale {
                    self.replace(column, &cursor, &value, &*cipher)?;
                    done += 1;
                }
            }
            if looked_at == i64::from(limit) {
                return Ok((done, Some(cursor)));
            }
            cursor = ReencryptionCursor { column: cursor.column + 1, ..ReencryptionCursor::default() };
        }
        Ok((done, None))
    }

    fn replace(
        &mut self,
        column: &EncryptedColumn,
        row: &ReencryptionCursor,
        stored: &[u8],
        cipher: &dyn ColumnCipher,
    ) -> Result<(), StoreError> {
        let EncryptedColumn(table, name, key) = *column;
        let place = RowCipher { cipher, table, partner: Id::of(row.partner).to(), row: &key.row(row) };
        let plaintext = place.decrypt(name, stored)?;
        let value = place.encrypt(name, &plaintext)?;
        let digest = cipher.digests(LOGIN, &plaintext).first().copied().filter(|_| column.has_digest());
        let mut values = binds![&value];
        values.extend(digest.as_ref().map(|digest| Bind::from(&digest[..])));
        values.push(stored.into());
        values.extend(key.values(row));
        statements::execute(self.unlocked()?, &column.replace(), values).done()
    }
}
