//! Nonces of sealed requests.

use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Rule, SealedNonceRepository, SpentNonce, StoreError};
use time::OffsetDateTime;

use crate::convert::AsKey;
use crate::error::Stored;
use crate::schema::sealed_nonces;
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, Bind, InsertRow, binds, row};
use crate::transaction::DieselTransaction;
use crate::transaction::loader::BatchLoad;

/// A spent nonce as its table has it.
#[derive(Queryable, QueryableByName, Selectable)]
#[diesel(table_name = sealed_nonces)]
pub(crate) struct NonceRow {
    partner_id: Id,
    nonce: String,
    idempotency_key: Option<String>,
    spent_at: UtcTimestamp,
}

impl NonceRow {
    fn new(partner: PartnerId, nonce: &str, spent: &SpentNonce) -> Self {
        Self {
            partner_id: partner.key(),
            nonce: nonce.to_owned(),
            idempotency_key: spent.idempotency_key.clone(),
            spent_at: UtcTimestamp::of(spent.spent_at),
        }
    }

    fn spent(self) -> Result<SpentNonce, StoreError> {
        let spent_at = self.spent_at.time("sealed_nonces.spent_at")?;
        Ok(SpentNonce { idempotency_key: self.idempotency_key, spent_at })
    }
}

/// How a nonce of a sealed request was spent.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct NonceOf(String);

impl BatchLoad for NonceOf {
    type Loaded = Option<SpentNonce>;
    type Row = NonceRow;

    const SELECT: &'static str = "
        SELECT partner_id, nonce, idempotency_key, spent_at FROM sealed_nonces WHERE partner_id = ? AND nonce = ?";

    fn values(&self, partner: Id) -> Vec<Bind<'_>> {
        binds![partner, &self.0]
    }

    fn of_rows(rows: Vec<NonceRow>) -> Result<Option<SpentNonce>, StoreError> {
        rows.into_iter().next().map(NonceRow::spent).transpose()
    }
}

/// Overwrites a nonce that was spent before.
const SPEND: &str = "
    INSERT INTO sealed_nonces (partner_id, nonce, idempotency_key, spent_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (partner_id, nonce) DO UPDATE
    SET idempotency_key = excluded.idempotency_key, spent_at = excluded.spent_at
    WHERE sealed_nonces.spent_at < ?";

row!(NonceRow, sealed_nonces: partner_id, nonce, idempotency_key, spent_at);

impl SealedNonceRepository for DieselTransaction {
    fn find(&mut self, partner: PartnerId, nonce: &str) -> Result<Option<SpentNonce>, StoreError> {
        self.load(partner, NonceOf(nonce.to_owned()))
    }

    fn spend(
        &mut self,
        partner: PartnerId,
        nonce: &str,
        spent: &SpentNonce,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let row = NonceRow::new(partner, nonce, spent);
        let key = NonceOf(nonce.to_owned());
        // A stale nonce is overwritten at once; a new one waits to be written with those of other units of work.
        if self.run.is_batched()
            && self.load(partner, key.clone())?.is_none()
            && let Some(pending) = self.pending(partner)?
        {
            pending.add(row);
            self.remember(partner, key, Some(spent.clone()));
            return Ok(());
        }
        let mut values = row.values();
        values.push(UtcTimestamp::of(stale_before).into());
        match statements::execute(self.of(partner)?, SPEND, values).stored()? {
            0 => Err(StoreError::Conflict(Rule::SealedNonce)),
            _ => Ok(()),
        }
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let old = "sealed_nonces WHERE spent_at < ? ORDER BY spent_at";
        self.sweep("DELETE FROM sealed_nonces", "partner_id, nonce", old, UtcTimestamp::of(moment), limit)
            .map(u64::from)
    }
}
