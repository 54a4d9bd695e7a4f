//! Encryption of columns with personal data.
#![expect(clippy::missing_errors_doc, reason = "every method fails with the store, and with nothing else")]

use kopeck_domain::ids::PartnerId;

use crate::StoreError;

/// The place of a value in the database. A cipher binds each value to its place, so that it does not decrypt anywhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnPlace<'a> {
    /// Table.
    pub table: &'static str,
    /// Column of the table.
    pub column: &'static str,
    /// The partner that the row belongs to.
    pub partner: PartnerId,
    /// The rest of the row's primary key.
    pub row: &'a [u8],
}

/// Where the next step of a re-encryption begins: at a column of the store, after a row.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReencryptionCursor {
    /// The column's number in the store.
    pub column: usize,
    /// The partner of the row.
    pub partner: [u8; 16],
    /// The identifier of the row, or of the order whose line it is.
    pub id: [u8; 16],
    /// The position of the line.
    pub position: i64,
    /// The idempotency key of the response.
    pub key: String,
}

/// Encrypts values of columns under a key that may be rotated. The store calls it; use cases do not know of it.
pub trait ColumnCipher: Send + Sync {
    /// The bytes to store for `plaintext`.
    fn encrypt(&self, place: &ColumnPlace<'_>, plaintext: &[u8]) -> Result<Vec<u8>, StoreError>;

    /// The plaintext of `stored`; [`StoreError::Corrupt`] if no accepted key encrypted it for this place.
    fn decrypt(&self, place: &ColumnPlace<'_>, stored: &[u8]) -> Result<Vec<u8>, StoreError>;

    /// Keyed digests of `plaintext` for look-ups, under every accepted key, the current one first.
    fn digests(&self, column: &'static str, plaintext: &[u8]) -> Vec<[u8; 32]>;

    /// The first bytes of every value that is encrypted under the current key, and of no other.
    fn current_prefix(&self) -> Vec<u8>;
}
