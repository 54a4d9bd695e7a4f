//! All that an operator may want to know of one partner.

use kopeck_domain::credential::Credential;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::Partner;
use kopeck_port_store::{BalanceSheet, UnitOfWork};
use time::OffsetDateTime;

use super::{PartnerError, find};
use crate::users::{self, UserOverview};
use crate::{Env, balance};

/// A partner, its money, its keys, and what it has open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartnerOverview {
    /// The partner.
    pub partner: Partner,
    /// Its balances.
    pub sheet: BalanceSheet,
    /// Until when its former API key is accepted beside the present one; `None` if none is.
    pub former_api_key_until: Option<OffsetDateTime>,
    /// The sealing keys that are accepted, newest first.
    pub sealing_keys: Vec<SealingKeyOverview>,
    /// The scoped credentials that are not revoked, oldest first.
    pub credentials: Vec<Credential>,
    /// Sessions that have not ended.
    pub sessions: u64,
    /// Its users, oldest first.
    pub users: Vec<UserOverview>,
    /// Orders and card batches that are not finished.
    pub open_requests: u64,
}

/// A sealing key without its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SealingKeyOverview {
    /// Its id.
    pub id: [u8; 8],
    /// When it was issued.
    pub created_at: OffsetDateTime,
    /// Until when it is accepted; `None` for the active key.
    pub accepted_until: Option<OffsetDateTime>,
    /// When the partner first sealed with it; `None` if it never did.
    pub first_used_at: Option<OffsetDateTime>,
}

/// Gathers what there is to know of a partner now.
///
/// # Errors
/// [`PartnerError::NotFound`].
pub fn overview(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    id: PartnerId,
) -> Result<PartnerOverview, PartnerError> {
    let partner = find(unit, id)?;
    let now = env.now();
    let keys = unit.partners().sealing_keys(id)?.into_iter();
    let accepted = keys.filter(|key| key.accepted_until.is_none_or(|until| until > now));
    let credentials = unit.credentials().list(id)?.into_iter().map(|record| record.credential);
    Ok(PartnerOverview {
        partner,
        sheet: balance::get(unit, id)?,
        former_api_key_until: unit.partners().former_api_key_until(id)?.filter(|until| *until > now),
        sealing_keys: accepted
            .map(|key| SealingKeyOverview {
                id: key.key_id,
                created_at: key.created_at,
                accepted_until: key.accepted_until,
                first_used_at: key.first_used_at,
            })
            .collect(),
        credentials: credentials.filter(|one| one.revoked_at.is_none()).collect(),
        sessions: unit.sessions().active(id, now)?,
        users: users::list(unit, env, Some(id))?,
        open_requests: unit.jobs().count_of(id)?,
    })
}
