//! Recently authenticated tokens, with their partners.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use kopeck_api::Code;
use kopeck_domain::access::{Actor, Authority};
use kopeck_domain::credential::Credential;
use kopeck_domain::ids::{CredentialId, PartnerId, SessionId, TokenPairId};
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::{KeyId, SealingKey};
use kopeck_service::tokens::AcceptedKey;
use lru::LruCache;
use secrecy::ExposeSecret as _;
use time::{Duration, OffsetDateTime};

use crate::client_address::ClientAddress;
use crate::error::ApiError;

/// The lifetime of a cache entry. A revoked token, a suspended partner and a rotated key have to take effect within
/// five seconds on every instance; the other three are for the request itself.
const MEMORY: Duration = Duration::seconds(2);

/// The most cached tokens.
const CAPACITY: NonZeroUsize = NonZeroUsize::MIN.saturating_add(9_999);

/// A partner with the actor and the actor's keys.
#[derive(Debug)]
pub(crate) struct Identity {
    pub(crate) partner: PartnerId,
    /// Who acts for the partner, and what it may do.
    pub(crate) authority: Authority,
    /// The scoped credential, if it is one.
    credential: Option<Credential>,
    /// Whether it has to seal.
    pub(crate) policy: SealingPolicy,
    /// Its sealing keys, the default one first.
    pub(crate) keys: Vec<SealingKey>,
    /// Keys with which the partner has never sealed a request.
    unused: Vec<KeyId>,
}

impl Identity {
    pub(crate) fn new(
        partner: PartnerId,
        credential: Option<Credential>,
        policy: SealingPolicy,
        keys: &[AcceptedKey],
    ) -> Self {
        let authority = credential.as_ref().map_or(Authority::LOGIN, |credential| Authority {
            actor: Actor::Credential(credential.id),
            scopes: credential.scopes,
        });
        let unused = keys.iter().filter(|key| !key.is_used).map(|key| KeyId::from_bytes(key.id)).collect();
        let (default, others): (Vec<&AcceptedKey>, Vec<&AcceptedKey>) =
            keys.iter().partition(|key| key.is_default);
        let keys = default.into_iter().chain(others).filter_map(|key| sealing_key(key, partner)).collect();
        Self { partner, authority, credential, policy, keys, unused }
    }

    /// A user of the partner, who seals nothing.
    pub(crate) const fn of_user(partner: PartnerId, authority: Authority) -> Self {
        let policy = SealingPolicy::Optional;
        Self { partner, authority, credential: None, policy, keys: Vec::new(), unused: Vec::new() }
    }

    /// The scoped credential, if it is one.
    pub(crate) fn credential(&self) -> Option<CredentialId> {
        self.credential.as_ref().map(|credential| credential.id)
    }

    /// Refuses a credential with a list of addresses from any other.
    ///
    /// # Errors
    /// 403.
    pub(crate) fn check_address(&self, address: ClientAddress) -> Result<(), ApiError> {
        let is_accepted = |credential: &Credential| credential.is_accepted_from(address.ip());
        if self.credential.as_ref().is_none_or(is_accepted) {
            return Ok(());
        }
        Err(ApiError::new(Code::Forbidden, "not accepted from this address"))
    }

    /// The key of a request, if the partner has never used it before.
    pub(crate) fn first_use(&self, used: Option<KeyId>) -> Option<KeyId> {
        used.filter(|key| self.unused.contains(key))
    }

    /// The key to seal a response: the key of the request, else the default one.
    pub(crate) fn response_key(&self, used: Option<KeyId>) -> Option<&SealingKey> {
        self.keys.iter().find(|key| Some(key.id()) == used).or_else(|| self.keys.first())
    }
}

fn sealing_key(key: &AcceptedKey, partner: PartnerId) -> Option<SealingKey> {
    let Ok(secret) = <[u8; 32]>::try_from(key.secret.expose_secret()) else {
        log::error!(partner:% = partner; "a stored sealing key does not have 32 bytes: skipped");
        return None;
    };
    Some(SealingKey::new(KeyId::from_bytes(key.id), secret))
}

/// Recently authenticated tokens: their requests need neither a signature check nor a read of the store.
pub(crate) struct CallerCache {
    seen: Mutex<LruCache<Box<str>, CacheEntry>>,
}

/// An authenticated token.
pub(crate) struct CacheEntry {
    /// The time of authentication on the steady clock.
    pub(crate) at: Duration,
    /// The end of the token, in Unix seconds.
    pub(crate) expires_at: i64,
    pub(crate) caller: AuthenticatedCaller,
}

/// The caller of a request.
#[derive(Debug, Clone)]
pub(crate) struct AuthenticatedCaller {
    pub(crate) pair: TokenPairId,
    pub(crate) session: SessionId,
    pub(crate) identity: Arc<Identity>,
}

impl Default for CallerCache {
    fn default() -> Self {
        Self { seen: Mutex::new(LruCache::new(CAPACITY)) }
    }
}

impl CallerCache {
    /// `steady` judges the age of the entry, `now` the end of the token.
    pub(crate) fn recall(
        &self,
        token: &str,
        steady: Duration,
        now: OffsetDateTime,
    ) -> Option<AuthenticatedCaller> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let CacheEntry { at, expires_at, caller } = seen.get(token)?;
        if steady - *at < MEMORY && now.unix_timestamp() < *expires_at {
            return Some(caller.clone());
        }
        seen.pop(token);
        None
    }

    pub(crate) fn remember(&self, token: &str, seen: CacheEntry) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).put(token.into(), seen);
    }

    /// Removes every token of a session that was revoked here, so that a thief does not keep it for two seconds.
    pub(crate) fn forget(&self, session: SessionId) {
        self.forget_where(|caller| caller.session == session);
    }

    /// Removes every token of a partner whose keys have changed here.
    pub(crate) fn forget_partner(&self, partner: PartnerId) {
        self.forget_where(|caller| caller.identity.partner == partner);
    }

    fn forget_where(&self, is_stale: impl Fn(&AuthenticatedCaller) -> bool) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let stale: Vec<Box<str>> = seen
            .iter()
            .filter(|(_, entry)| is_stale(&entry.caller))
            .map(|(token, _)| token.clone())
            .collect();
        for token in stale {
            seen.pop(&token);
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretSlice;
    use uuid::Uuid;

    use super::*;

    fn key(id: u8, is_default: bool, length: usize) -> AcceptedKey {
        let secret = SecretSlice::from(vec![id; length]);
        AcceptedKey { id: [id; 8], secret, is_default, is_used: id == 2 }
    }

    fn identity(keys: &[AcceptedKey]) -> Identity {
        Identity::new(PartnerId::new(Uuid::nil()), None, SealingPolicy::Optional, keys)
    }

    #[test]
    fn responses_are_sealed_with_the_key_of_the_request_or_the_default_one() {
        let identity = identity(&[key(1, false, 32), key(2, true, 32), key(3, false, 31)]);
        let answering = |used: Option<u8>| {
            let used = used.map(|id| KeyId::from_bytes([id; 8]));
            identity.response_key(used).map(|key| key.id().as_bytes()[0])
        };
        assert_eq!(answering(None), Some(2));
        assert_eq!(answering(Some(1)), Some(1));
        assert_eq!(answering(Some(3)), Some(2));
        let [first, second] = [1, 2].map(|id| KeyId::from_bytes([id; 8]));
        assert_eq!(identity.first_use(Some(first)), Some(first));
        assert_eq!((identity.first_use(Some(second)), identity.first_use(None)), (None, None));
    }

    #[test]
    fn a_caller_is_remembered_for_two_seconds_and_no_longer_than_the_token_holds() {
        let (start, at) = (OffsetDateTime::UNIX_EPOCH, Duration::minutes(3));
        let session = SessionId::new(Uuid::from_u128(1));
        let knowing = |expires_at| {
            let pair = TokenPairId::new(Uuid::nil());
            let caller = AuthenticatedCaller { pair, session, identity: Arc::new(identity(&[])) };
            let callers = CallerCache::default();
            callers.remember("token", CacheEntry { at, expires_at, caller });
            callers
        };
        let knows = |expires_at, passed: Duration| {
            knowing(expires_at).recall("token", at + passed, start + passed).is_some()
        };
        assert!(knows(9, Duration::ZERO) && knows(9, Duration::milliseconds(1_999)) && !knows(9, MEMORY));
        assert!(knows(1, Duration::milliseconds(999)) && !knows(1, Duration::SECOND));
        let set_back = start - Duration::DAY;
        assert!(knowing(9).recall("token", at + MEMORY, set_back).is_none(), "the clock was set back");

        let callers = knowing(9);
        assert!(callers.recall("other", at, start).is_none());
        callers.forget(SessionId::new(Uuid::from_u128(2)));
        callers.forget_partner(PartnerId::new(Uuid::from_u128(7)));
        assert!(callers.recall("token", at, start).is_some());
        callers.forget(session);
        assert!(callers.recall("token", at, start).is_none());
        let callers = knowing(9);
        callers.forget_partner(PartnerId::new(Uuid::nil()));
        assert!(callers.recall("token", at, start).is_none());

        let callers = knowing(9);
        assert!(callers.recall("token", at + MEMORY, start).is_none());
        assert!(callers.seen.lock().unwrap().is_empty(), "what is stale is not kept");
    }
}
