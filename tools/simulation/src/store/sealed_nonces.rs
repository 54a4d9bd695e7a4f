//! Nonces of sealed requests.

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Rule, SealedNonceRepository, SpentNonce, StoreError};
use time::OffsetDateTime;

use super::{Unit, amount};

#[derive(Clone)]
pub(super) struct SealedNonceRow {
    partner: PartnerId,
    nonce: String,
    spent: SpentNonce,
}

impl SealedNonceRepository for Unit {
    fn find(&mut self, partner: PartnerId, nonce: &str) -> Result<Option<SpentNonce>, StoreError> {
        let found = self.state.sealed_nonces.iter().find(|row| row.partner == partner && row.nonce == nonce);
        Ok(found.map(|row| row.spent.clone()))
    }

    fn spend(
        &mut self,
        partner: PartnerId,
        nonce: &str,
        spent: &SpentNonce,
        stale_before: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(partner)?;
        match state.sealed_nonces.iter_mut().find(|row| row.partner == partner && row.nonce == nonce) {
            Some(row) if row.spent.spent_at < stale_before => row.spent = spent.clone(),
            Some(_) => return Err(StoreError::Conflict(Rule::SealedNonce)),
            None => {
                let nonce = nonce.to_owned();
                state.sealed_nonces.push(SealedNonceRow { partner, nonce, spent: spent.clone() });
            }
        }
        Ok(())
    }

    fn forget_before(&mut self, moment: OffsetDateTime, limit: u32) -> Result<u64, StoreError> {
        let nonces = &mut self.writing()?.sealed_nonces;
        let old = nonces.iter().map(|row| row.spent.spent_at).filter(|spent_at| *spent_at < moment);
        let mut moments: Vec<OffsetDateTime> = old.collect();
        moments.sort_unstable();
        moments.truncate(amount(limit));
        let Some(last) = moments.last().copied() else { return Ok(0) };
        let mut room = moments.len();
        nonces.retain(|row| super::sessions::keep(row.spent.spent_at > last, &mut room));
        Ok(moments.len() as u64)
    }
}
