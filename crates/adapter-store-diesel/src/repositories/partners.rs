//! Partners and their keys.

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_port_store::{Credentials, PartnerRepository, ReencryptionCursor, SealingKeyRecord, StoreError};
use time::OffsetDateTime;

use crate::convert::{AsKey, fixed, word};
use crate::counters;
use crate::dialect;
use crate::error::{Stored, StoredRows};
use crate::schema::{partners, sealing_keys};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};
use crate::transaction::DieselTransaction;

#[derive(Queryable, Selectable)]
#[diesel(table_name = partners)]
struct PartnerRow {
    id: Id,
    name: String,
    login: String,
    api_key_hash: Vec<u8>,
    password_hash: String,
    status: String,
    sealing: String,
    created_at: UtcTimestamp,
}

row!(PartnerRow, partners: id, name, login, api_key_hash, password_hash, status, sealing, created_at);

impl PartnerRow {
    fn new(credentials: &Credentials) -> Self {
        let Credentials { partner, api_key_hash, password_hash } = credentials;
        Self {
            id: partner.id.key(),
            name: partner.name.clone(),
            login: partner.login.clone(),
            api_key_hash: api_key_hash.to_vec(),
            password_hash: password_hash.clone(),
            status: partner.status.as_str().to_owned(),
            sealing: partner.sealing.as_str().to_owned(),
            created_at: UtcTimestamp::of(partner.created_at),
        }
    }

    fn partner(self) -> Result<Partner, StoreError> {
        Ok(Partner {
            id: self.id.to(),
            name: self.name,
            login: self.login,
            status: word(&self.status, "partners.status")?,
            sealing: word(&self.sealing, "partners.sealing")?,
            created_at: self.created_at.time("partners.created_at")?,
        })
    }

    fn credentials(mut self) -> Result<Credentials, StoreError> {
        let api_key_hash = fixed(std::mem::take(&mut self.api_key_hash), "partners.api_key_hash")?;
        let password_hash = std::mem::take(&mut self.password_hash);
        Ok(Credentials { partner: self.partner()?, api_key_hash, password_hash })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = sealing_keys)]
struct SealingKeyRow {
    partner_id: Id,
    key_id: Vec<u8>,
    encrypted_secret: Vec<u8>,
    created_at: UtcTimestamp,
    accepted_until: Option<UtcTimestamp>,
    first_used_at: Option<UtcTimestamp>,
}

row!(SealingKeyRow, sealing_keys: partner_id, key_id, encrypted_secret, created_at, accepted_until, first_used_at);

impl SealingKeyRow {
    fn new(partner: PartnerId, key: &SealingKeyRecord) -> Self {
        Self {
            partner_id: partner.key(),
            key_id: key.key_id.to_vec(),
            encrypted_secret: key.encrypted_secret.clone(),
            created_at: UtcTimestamp::of(key.created_at),
            accepted_until: key.accepted_until.map(UtcTimestamp::of),
            first_used_at: key.first_used_at.map(UtcTimestamp::of),
        }
    }

    fn record(self) -> Result<SealingKeyRecord, StoreError> {
        Ok(SealingKeyRecord {
            key_id: fixed(self.key_id, "sealing_keys.key_id")?,
            encrypted_secret: self.encrypted_secret,
            created_at: self.created_at.time("sealing_keys.created_at")?,
            accepted_until: UtcTimestamp::optional(self.accepted_until, "sealing_keys.accepted_until")?,
            first_used_at: UtcTimestamp::optional(self.first_used_at, "sealing_keys.first_used_at")?,
        })
    }
}

/// What removes a partner: its rows of every table, those that refer to others first.
const DELETIONS: &[&str] = &[
    "DELETE FROM entries WHERE partner_id = ?",
    "DELETE FROM movements WHERE partner_id = ?",
    "DELETE FROM webhook_deliveries WHERE partner_id = ?",
    "DELETE FROM webhooks WHERE partner_id = ?",
    "DELETE FROM events WHERE partner_id = ?",
    "DELETE FROM bank_declines WHERE partner_id = ?",
    "DELETE FROM jobs WHERE partner_id = ?",
    "DELETE FROM run_requests WHERE partner_id = ?",
    "DELETE FROM programmes WHERE partner_id = ?",
    "DELETE FROM run_items WHERE partner_id = ?",
    "DELETE FROM runs WHERE partner_id = ?",
    "DELETE FROM closed_month_rows WHERE partner_id = ?",
    "DELETE FROM closed_months WHERE partner_id = ?",
    "DELETE FROM former_card_holders WHERE partner_id = ?",
    "DELETE FROM leaver_cards WHERE partner_id = ?",
    "DELETE FROM leavers WHERE partner_id = ?",
    "DELETE FROM pending_deposits WHERE partner_id = ?",
    "DELETE FROM transactions WHERE partner_id = ?",
    "DELETE FROM card_batch_items WHERE partner_id = ?",
    "DELETE FROM card_batches WHERE partner_id = ?",
    "DELETE FROM cards WHERE partner_id = ?",
    "DELETE FROM order_lines WHERE partner_id = ?",
    "DELETE FROM orders WHERE partner_id = ?",
    "DELETE FROM employees WHERE partner_id = ?",
    "DELETE FROM categories WHERE partner_id = ?",
    "DELETE FROM recorded_responses WHERE partner_id = ?",
    "DELETE FROM sealed_nonces WHERE partner_id = ?",
    "DELETE FROM request_log WHERE partner_id = ?",
    "DELETE FROM token_pairs WHERE partner_id = ?",
    "DELETE FROM sessions WHERE partner_id = ?",
    "DELETE FROM user_recovery_codes WHERE partner_id = ?",
    "DELETE FROM user_sessions WHERE partner_id = ?",
    "DELETE FROM user_uploads WHERE partner_id = ?",
    "DELETE FROM users WHERE partner_id = ?",
    "DELETE FROM credentials WHERE partner_id = ?",
    "DELETE FROM balances WHERE partner_id = ?",
    "DELETE FROM counters WHERE partner_id = ?",
    "DELETE FROM sealing_keys WHERE partner_id = ?",
    "DELETE FROM partners WHERE id = ?",
];

impl PartnerRepository for DieselTransaction {
    fn insert(&mut self, credentials: &Credentials) -> Result<(), StoreError> {
        let connection = self.of(credentials.partner.id)?;
        let row = PartnerRow::new(credentials);
        dialect::guarded(connection, |connection| statements::insert(connection, &[row])).stored()?;
        let partner = credentials.partner.id.key();
        counters::start(connection, partner)?;
        super::ledger::open(connection, partner, credentials.partner.created_at)
    }

    fn by_api_key(
        &mut self,
        api_key_hash: &[u8; 32],
        now: OffsetDateTime,
    ) -> Result<Option<Credentials>, StoreError> {
        let mut row: Option<PartnerRow> = partners::table
            .filter(partners::api_key_hash.eq(api_key_hash))
            .select(PartnerRow::as_select())
            .get_result(self.unlocked()?)
            .optional()
            .stored()?;
        // A question of its own: no database finds one or the other by two indexes as surely.
        if row.is_none() {
            row = partners::table
                .filter(partners::former_api_key_hash.eq(api_key_hash))
                .filter(partners::former_api_key_until.gt(UtcTimestamp::of(now)))
                .select(PartnerRow::as_select())
                .get_result(self.unlocked()?)
                .optional()
                .stored()?;
        }
        row.map(PartnerRow::credentials).transpose()
    }

    fn replace_api_key(
        &mut self,
        id: PartnerId,
        api_key_hash: &[u8; 32],
        former_until: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "UPDATE partners SET
            former_api_key_hash = api_key_hash, former_api_key_until = ?, api_key_hash = ? WHERE id = ?";
        self.change(id, text, binds![UtcTimestamp::of(former_until), &api_key_hash[..], id.key()])
    }

    fn former_api_key_until(&mut self, id: PartnerId) -> Result<Option<OffsetDateTime>, StoreError> {
        let until: Option<Option<UtcTimestamp>> = partners::table
            .find(id.key())
            .select(partners::former_api_key_until)
            .get_result(self.of(id)?)
            .optional()
            .stored()?;
        UtcTimestamp::optional(until.flatten(), "partners.former_api_key_until")
    }

    fn get(&mut self, id: PartnerId) -> Result<Option<Partner>, StoreError> {
        partners::table
            .find(id.key())
            .select(PartnerRow::as_select())
            .get_result(self.of(id)?)
            .found(PartnerRow::partner)
    }

    fn credentials(&mut self, id: PartnerId) -> Result<Option<Credentials>, StoreError> {
        partners::table
            .find(id.key())
            .select(PartnerRow::as_select())
            .get_result(self.of(id)?)
            .found(PartnerRow::credentials)
    }

    fn list(&mut self) -> Result<Vec<Partner>, StoreError> {
        partners::table
            .order((partners::created_at, partners::id))
            .select(PartnerRow::as_select())
            .load(self.unlocked()?)
            .all(PartnerRow::partner)
    }

    fn set_password_hash(&mut self, id: PartnerId, password_hash: &str) -> Result<(), StoreError> {
        let text = "UPDATE partners SET password_hash = ? WHERE id = ?";
        self.change(id, text, binds![password_hash, id.key()])
    }

    fn set_status(&mut self, id: PartnerId, status: PartnerStatus) -> Result<(), StoreError> {
        self.change(id, "UPDATE partners SET status = ? WHERE id = ?", binds![status.as_str(), id.key()])
    }

    fn set_sealing(&mut self, id: PartnerId, policy: SealingPolicy) -> Result<(), StoreError> {
        self.change(id, "UPDATE partners SET sealing = ? WHERE id = ?", binds![policy.as_str(), id.key()])
    }

    fn set_name(&mut self, id: PartnerId, name: &str) -> Result<(), StoreError> {
        self.change(id, "UPDATE partners SET name = ? WHERE id = ?", binds![name, id.key()])
    }

    fn delete(&mut self, id: PartnerId) -> Result<(), StoreError> {
        for text in DELETIONS {
            self.change(id, text, binds![id.key()])?;
        }
        Ok(())
    }

    fn sealing_keys(&mut self, id: PartnerId) -> Result<Vec<SealingKeyRecord>, StoreError> {
        let mut keys: Vec<SealingKeyRecord> = sealing_keys::table
            .filter(sealing_keys::partner_id.eq(id.key()))
            .select(SealingKeyRow::as_select())
            .load(self.of(id)?)
            .all(SealingKeyRow::record)?;
        // Of two keys of one timestamp, the one without an end is the newer.
        keys.sort_by_key(|key| (std::cmp::Reverse(key.created_at), key.accepted_until.is_some()));
        Ok(keys)
    }

    fn add_sealing_key(&mut self, id: PartnerId, key: &SealingKeyRecord) -> Result<(), StoreError> {
        statements::insert(self.of(id)?, &[SealingKeyRow::new(id, key)]).stored()
    }

    fn end_sealing_key(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        until: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "UPDATE sealing_keys SET accepted_until = ? WHERE partner_id = ? AND key_id = ?";
        self.change(id, text, binds![UtcTimestamp::of(until), id.key(), &key_id[..]])
    }

    fn mark_sealing_key_used(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "UPDATE sealing_keys SET first_used_at = ?
            WHERE partner_id = ? AND key_id = ? AND first_used_at IS NULL";
        self.change(id, text, binds![UtcTimestamp::of(at), id.key(), &key_id[..]])
    }

    fn reencrypt_columns(
        &mut self,
        cursor: ReencryptionCursor,
        limit: u32,
    ) -> Result<(u64, Option<ReencryptionCursor>), StoreError> {
        self.reencrypt(cursor, limit)
    }

    fn reencrypt_sealing_key(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        encrypted_secret: &[u8],
    ) -> Result<(), StoreError> {
        let text = "UPDATE sealing_keys SET encrypted_secret = ? WHERE partner_id = ? AND key_id = ?";
        self.change(id, text, binds![encrypted_secret, id.key(), &key_id[..]])
    }
}

#[cfg(test)]
mod tests {
    use super::DELETIONS;

    /// Of the tables in `schema.rs` and its module with a partner.
    #[test]
    fn no_table_of_partners_is_forgotten() {
        let schemas = [include_str!("../schema.rs"), include_str!("../schema/access.rs")];
        let lists = schemas.iter().filter_map(|schema| Some(schema.split_once("\ntables! {")?.1));
        let tables = lists
            .flat_map(|list| list.split("\n    }\n"))
            .filter(|table| table.contains("partner_id -> Id,"));
        let names = tables.filter_map(|table| {
            let (before, _) = table.split_once(" (")?;
            before.split_whitespace().last()
        });
        let mut count = 0;
        for name in names.filter(|name| !name.starts_with("audit_")) {
            count += 1;
            let text = format!("DELETE FROM {name} WHERE partner_id = ?");
            assert!(DELETIONS.contains(&text.as_str()), "{name}");
        }
        assert!(count >= 20, "{count}");
    }
}
