//! Scoped credentials.

use diesel::prelude::*;
use kopeck_domain::credential::Credential;
use kopeck_domain::ids::{CredentialId, PartnerId};
use kopeck_port_store::{CredentialRecord, CredentialRepository, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, corrupt, fixed};
use crate::error::{Stored, StoredRows};
use crate::schema::credentials;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

#[derive(Queryable, Selectable)]
#[diesel(table_name = credentials)]
struct CredentialRow {
    partner_id: Id,
    id: Id,
    name: String,
    scopes: String,
    addresses: Option<String>,
    login: String,
    api_key_hash: Vec<u8>,
    password_hash: String,
    key_id: Vec<u8>,
    encrypted_secret: Vec<u8>,
    created_at: UtcTimestamp,
    revoked_at: Option<UtcTimestamp>,
}

row!(CredentialRow, credentials:
    partner_id, id, name, scopes, addresses, login, api_key_hash, password_hash, key_id, encrypted_secret, created_at,
    revoked_at);

impl CredentialRow {
    fn new(partner: PartnerId, record: &CredentialRecord) -> Self {
        let CredentialRecord { credential, login, api_key_hash, password_hash, key_id, encrypted_secret } =
            record;
        let Credential { id, name, scopes, addresses, created_at, revoked_at } = credential;
        Self {
            partner_id: partner.key(),
            id: id.key(),
            name: name.clone(),
            scopes: scopes.to_string(),
            addresses: addresses.as_ref().map(ToString::to_string),
            login: login.clone(),
            api_key_hash: api_key_hash.to_vec(),
            password_hash: password_hash.clone(),
            key_id: key_id.to_vec(),
            encrypted_secret: encrypted_secret.clone(),
            created_at: UtcTimestamp::of(*created_at),
            revoked_at: revoked_at.map(UtcTimestamp::of),
        }
    }

    fn record(self) -> Result<CredentialRecord, StoreError> {
        let addresses = self.addresses.map(|text| text.parse()).transpose();
        Ok(CredentialRecord {
            credential: Credential {
                id: self.id.to(),
                name: self.name,
                scopes: self.scopes.parse().map_err(|_| corrupt("credentials.scopes"))?,
                addresses: addresses.map_err(|_| corrupt("credentials.addresses"))?,
                created_at: self.created_at.time("credentials.created_at")?,
                revoked_at: UtcTimestamp::optional(self.revoked_at, "credentials.revoked_at")?,
            },
            login: self.login,
            api_key_hash: fixed(self.api_key_hash, "credentials.api_key_hash")?,
            password_hash: self.password_hash,
            key_id: fixed(self.key_id, "credentials.key_id")?,
            encrypted_secret: self.encrypted_secret,
        })
    }
}

impl CredentialRepository for DieselTransaction {
    fn insert(&mut self, partner: PartnerId, record: &CredentialRecord) -> Result<(), StoreError> {
        let row = CredentialRow::new(partner, record);
        statements::insert(self.of(partner)?, &[row]).stored()
    }

    fn by_api_key(
        &mut self,
        api_key_hash: &[u8; 32],
    ) -> Result<Option<(PartnerId, CredentialRecord)>, StoreError> {
        let row: Option<CredentialRow> = credentials::table
            .filter(credentials::api_key_hash.eq(api_key_hash))
            .filter(credentials::revoked_at.is_null())
            .select(CredentialRow::as_select())
            .get_result(self.unlocked()?)
            .optional()
            .stored()?;
        row.map(|row| Ok((row.partner_id.to(), row.record()?))).transpose()
    }

    fn get(&mut self, partner: PartnerId, id: CredentialId) -> Result<Option<CredentialRecord>, StoreError> {
        credentials::table
            .find((partner.key(), id.key()))
            .select(CredentialRow::as_select())
            .get_result(self.of(partner)?)
            .found(CredentialRow::record)
    }

    fn list(&mut self, partner: PartnerId) -> Result<Vec<CredentialRecord>, StoreError> {
        let mut records: Vec<CredentialRecord> = credentials::table
            .filter(credentials::partner_id.eq(partner.key()))
            .select(CredentialRow::as_select())
            .load(self.of(partner)?)
            .all(CredentialRow::record)?;
        records.sort_by_key(|record| (record.credential.created_at, record.credential.id.uuid()));
        Ok(records)
    }

    fn revoke(&mut self, partner: PartnerId, id: CredentialId, at: OffsetDateTime) -> Result<(), StoreError> {
        let text =
            "UPDATE credentials SET revoked_at = ? WHERE partner_id = ? AND id = ? AND revoked_at IS NULL";
        self.change(partner, text, binds![UtcTimestamp::of(at), partner.key(), id.key()])
    }

    fn set_password_hash(
        &mut self,
        partner: PartnerId,
        id: CredentialId,
        password_hash: &str,
    ) -> Result<(), StoreError> {
        let text = "UPDATE credentials SET password_hash = ? WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![password_hash, partner.key(), id.key()])
    }

    fn reencrypt(
        &mut self,
        partner: PartnerId,
        id: CredentialId,
        encrypted_secret: &[u8],
    ) -> Result<(), StoreError> {
        let text = "UPDATE credentials SET encrypted_secret = ? WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![encrypted_secret, partner.key(), id.key()])
    }
}
