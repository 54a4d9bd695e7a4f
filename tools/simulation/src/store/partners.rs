//! Partners and their keys.

use std::cmp::Reverse;

use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_port_store::{
    Credentials, PartnerRepository, ReencryptionCursor, Rule, SealingKeyRecord, StoreError,
};
use time::OffsetDateTime;

use super::Unit;
use super::ledger::AccountsRow;

#[derive(Clone)]
pub(super) struct PartnerRow {
    pub(super) credentials: Credentials,
    former_api_key: Option<([u8; 32], OffsetDateTime)>,
}

#[derive(Clone)]
pub(super) struct SealingKeyRow {
    partner: PartnerId,
    key: SealingKeyRecord,
}

impl PartnerRepository for Unit {
    fn insert(&mut self, credentials: &Credentials) -> Result<(), StoreError> {
        let state = self.writing()?;
        let taken = |row: &PartnerRow| row.credentials.partner.login == credentials.partner.login;
        if state.partners.iter().any(taken) {
            return Err(StoreError::Conflict(Rule::PartnerLogin));
        }
        state.partners.push(PartnerRow { credentials: credentials.clone(), former_api_key: None });
        let Partner { id, created_at, .. } = credentials.partner;
        state.accounts.push(AccountsRow::empty(id, created_at));
        Ok(())
    }

    fn by_api_key(
        &mut self,
        api_key_hash: &[u8; 32],
        now: OffsetDateTime,
    ) -> Result<Option<Credentials>, StoreError> {
        let has_it = |row: &&PartnerRow| {
            let former = row.former_api_key.filter(|(_, until)| *until > now).map(|(hash, _)| hash);
            row.credentials.api_key_hash == *api_key_hash || former == Some(*api_key_hash)
        };
        Ok(self.state.partners.iter().find(has_it).map(|row| row.credentials.clone()))
    }

    fn replace_api_key(
        &mut self,
        id: PartnerId,
        api_key_hash: &[u8; 32],
        former_until: OffsetDateTime,
    ) -> Result<(), StoreError> {
        for row in self.writing()?.partners.iter_mut().filter(|row| row.credentials.partner.id == id) {
            let former = std::mem::replace(&mut row.credentials.api_key_hash, *api_key_hash);
            row.former_api_key = Some((former, former_until));
        }
        Ok(())
    }

    fn former_api_key_until(&mut self, id: PartnerId) -> Result<Option<OffsetDateTime>, StoreError> {
        let found = self.state.partners.iter().find(|row| row.credentials.partner.id == id);
        Ok(found.and_then(|row| row.former_api_key).map(|(_, until)| until))
    }

    fn get(&mut self, id: PartnerId) -> Result<Option<Partner>, StoreError> {
        let found = self.state.partners.iter().find(|row| row.credentials.partner.id == id);
        Ok(found.map(|row| row.credentials.partner.clone()))
    }

    fn list(&mut self) -> Result<Vec<Partner>, StoreError> {
        let mut partners: Vec<Partner> =
            self.state.partners.iter().map(|row| row.credentials.partner.clone()).collect();
        partners.sort_by_key(|partner| (partner.created_at, partner.id));
        Ok(partners)
    }

    fn set_password_hash(&mut self, id: PartnerId, password_hash: &str) -> Result<(), StoreError> {
        for row in self.writing()?.partners.iter_mut().filter(|row| row.credentials.partner.id == id) {
            password_hash.clone_into(&mut row.credentials.password_hash);
        }
        Ok(())
    }

    fn set_status(&mut self, id: PartnerId, status: PartnerStatus) -> Result<(), StoreError> {
        for row in self.writing()?.partners.iter_mut().filter(|row| row.credentials.partner.id == id) {
            row.credentials.partner.status = status;
        }
        Ok(())
    }

    fn set_name(&mut self, id: PartnerId, name: &str) -> Result<(), StoreError> {
        for row in self.writing()?.partners.iter_mut().filter(|row| row.credentials.partner.id == id) {
            name.clone_into(&mut row.credentials.partner.name);
        }
        Ok(())
    }

    /// Its rows alone: no run deletes a partner.
    fn delete(&mut self, id: PartnerId) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.partners.retain(|row| row.credentials.partner.id != id);
        state.accounts.retain(|row| row.partner != id);
        state.sealing_keys.retain(|row| row.partner != id);
        Ok(())
    }

    fn set_sealing(&mut self, id: PartnerId, policy: SealingPolicy) -> Result<(), StoreError> {
        for row in self.writing()?.partners.iter_mut().filter(|row| row.credentials.partner.id == id) {
            row.credentials.partner.sealing = policy;
        }
        Ok(())
    }

    fn sealing_keys(&mut self, id: PartnerId) -> Result<Vec<SealingKeyRecord>, StoreError> {
        let own = self.state.sealing_keys.iter().filter(|row| row.partner == id);
        let mut keys: Vec<SealingKeyRecord> = own.map(|row| row.key.clone()).collect();
        // Of two keys of one moment, the one without an end is the newer.
        keys.sort_by_key(|key| (Reverse(key.created_at), key.accepted_until.is_some()));
        Ok(keys)
    }

    fn add_sealing_key(&mut self, id: PartnerId, key: &SealingKeyRecord) -> Result<(), StoreError> {
        let state = self.writing()?;
        state.known_partner(id)?;
        state.sealing_keys.push(SealingKeyRow { partner: id, key: key.clone() });
        Ok(())
    }

    fn end_sealing_key(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        until: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let keys = self.writing()?.sealing_keys.iter_mut();
        for row in keys.filter(|row| row.partner == id && row.key.key_id == key_id) {
            row.key.accepted_until = Some(until);
        }
        Ok(())
    }

    fn mark_sealing_key_used(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let keys = self.writing()?.sealing_keys.iter_mut();
        for row in keys.filter(|row| row.partner == id && row.key.key_id == key_id) {
            row.key.first_used_at.get_or_insert(at);
        }
        Ok(())
    }

    fn reencrypt_columns(
        &mut self,
        _: ReencryptionCursor,
        _: u32,
    ) -> Result<(u64, Option<ReencryptionCursor>), StoreError> {
        Ok((0, None))
    }

    fn reencrypt_sealing_key(
        &mut self,
        id: PartnerId,
        key_id: [u8; 8],
        encrypted_secret: &[u8],
    ) -> Result<(), StoreError> {
        let keys = self.writing()?.sealing_keys.iter_mut();
        for row in keys.filter(|row| row.partner == id && row.key.key_id == key_id) {
            row.key.encrypted_secret = encrypted_secret.to_vec();
        }
        Ok(())
    }
}
