//! The partners that were seeded, from memory.

use std::collections::HashMap;

use kopeck_domain::ids::{PartnerId, SessionId, TokenPairId};
use kopeck_domain::partner::{Partner, PartnerStatus, SealingPolicy};
use kopeck_port_security::{SecretBinding, SecretBox};
use kopeck_port_store::session::{PairState, TokenPair};
use kopeck_port_store::{SealingKeyRecord, StoredPair};
use secrecy::SecretSlice;
use time::{Duration, OffsetDateTime};

use crate::numbered;
use crate::targets::Targets;

/// What the token check asks of the store.
pub(super) struct SeededPartners {
    keys: HashMap<PartnerId, SealingKeyRecord>,
}

impl SeededPartners {
    /// The partners of `targets`, their keys encrypted as in the store.
    pub(super) fn new(targets: &Targets, secrets: &dyn SecretBox) -> anyhow::Result<Self> {
        let mut keys = HashMap::new();
        for target in &targets.partners {
            let partner = PartnerId::new(numbered::id(numbered::PARTNERS + target.number));
            let key = target.key()?;
            let key_id = *key.id().as_bytes();
            let place = SecretBinding {
                table: "sealing_keys",
                column: "encrypted_secret",
                partner,
                row: key_id.to_vec(),
            };
            let secret = SecretSlice::from(key.expose_secret().to_vec());
            let record = SealingKeyRecord {
                key_id,
                encrypted_secret: secrets.encrypt(&place, &secret)?,
                created_at: OffsetDateTime::UNIX_EPOCH,
                accepted_until: None,
                first_used_at: Some(OffsetDateTime::UNIX_EPOCH),
            };
            keys.insert(partner, record);
        }
        Ok(Self { keys })
    }

    /// The key of a partner.
    pub(super) fn key(&self, partner: PartnerId) -> Option<&SealingKeyRecord> {
        self.keys.get(&partner)
    }

    /// A partner.
    pub(super) fn partner(&self, id: PartnerId) -> Option<Partner> {
        self.keys.contains_key(&id).then(|| Partner {
            id,
            name: "Bench".to_owned(),
            login: "bench".to_owned(),
            status: PartnerStatus::Active,
            sealing: SealingPolicy::Optional,
            created_at: OffsetDateTime::UNIX_EPOCH,
        })
    }

    /// The one pair of a partner's tokens.
    pub(super) fn pair(&self, partner: PartnerId, pair: TokenPairId) -> Option<StoredPair> {
        self.keys.contains_key(&partner).then(|| StoredPair {
            session: SessionId::new(partner.uuid()),
            session_started_at: OffsetDateTime::UNIX_EPOCH + Duration::days(100_000),
            session_revoked: false,
            pair: TokenPair {
                id: pair,
                state: PairState::Fresh,
                used: true,
                successor: None,
                reissued: false,
                refresh_expires_at: OffsetDateTime::UNIX_EPOCH + Duration::days(100_000),
            },
        })
    }
}
