//! The key ring: the current master key, and other accepted ones.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use jsonwebtoken::{DecodingKey, EncodingKey};
use zeroize::Zeroizing;

use crate::hs256;
use crate::master_key::{KEY_ID_LEN, KEY_LEN, MasterKey, Purpose};

/// A reloadable source of master keys.
pub(crate) trait KeySource: Send + Sync {
    /// The keys, the current one first, if they changed since the last call. A source that cannot be read logs the
    /// reason and counts as unchanged.
    fn changed(&self) -> Option<Vec<MasterKey>>;
}

/// The master keys of a service: the first signs and encrypts, all of them verify and decrypt. Every token and every
/// stored secret names its key.
///
/// An unknown key id causes a reload before a refusal, so that a key that another process has begun to use is found in time.
pub struct KeyRing {
    keys: RwLock<Arc<[Arc<DerivedKeys>]>>,
    source: Option<Box<dyn KeySource>>,
    /// Held during a reload, so that an earlier one does not overtake a later one.
    asking: Mutex<()>,
}

/// The keys derived from one master key.
pub(crate) struct DerivedKeys {
    pub(crate) token_id: String,
    pub(crate) signing: EncodingKey,
    pub(crate) verifying: DecodingKey,
    pub(crate) secret_id: [u8; KEY_ID_LEN],
    pub(crate) secrets: Zeroizing<[u8; KEY_LEN]>,
    pub(crate) fingerprints: Zeroizing<[u8; KEY_LEN]>,
    pub(crate) audit_id: [u8; KEY_ID_LEN],
    pub(crate) audit: Zeroizing<[u8; KEY_LEN]>,
}

impl DerivedKeys {
    fn new(master: &MasterKey) -> Self {
        hs256::install();
        let tokens = master.derive(Purpose::Tokens);
        Self {
            token_id: master.token_key_id(),
            signing: EncodingKey::from_secret(&tokens[..]),
            verifying: DecodingKey::from_secret(&tokens[..]),
            secret_id: master.secret_key_id(),
            secrets: master.derive(Purpose::Secrets),
            fingerprints: master.derive(Purpose::Fingerprints),
            audit_id: master.audit_key_id(),
            audit: master.derive(Purpose::Audit),
        }
    }
}

impl KeyRing {
    /// A ring of one fixed key.
    #[must_use]
    pub fn of(master: &MasterKey) -> Arc<Self> {
        Self::with_accepted(master, &[])
    }

    /// A current key, and other accepted ones.
    #[must_use]
    pub fn with_accepted(master: &MasterKey, accepted: &[MasterKey]) -> Arc<Self> {
        Arc::new(Self::made_of(std::iter::once(master).chain(accepted), None))
    }

    /// Keys that may change while the service runs; `None` if the source has none.
    #[must_use]
    pub(crate) fn following(source: Box<dyn KeySource>) -> Option<Arc<Self>> {
        let keys = source.changed().filter(|keys| !keys.is_empty())?;
        Some(Arc::new(Self::made_of(&keys, Some(source))))
    }

    fn made_of<'a>(
        keys: impl IntoIterator<Item = &'a MasterKey>,
        source: Option<Box<dyn KeySource>>,
    ) -> Self {
        Self { keys: RwLock::new(derived(keys)), source, asking: Mutex::default() }
    }

    /// The number of keys.
    #[must_use]
    pub fn count(&self) -> usize {
        self.keys().len()
    }

    /// Reloads the keys; returns whether they changed.
    pub fn refresh(&self) -> bool {
        let Some(source) = &self.source else { return false };
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(keys) = source.changed().filter(|keys| !keys.is_empty()) else { return false };
        *self.keys.write().unwrap_or_else(PoisonError::into_inner) = derived(&keys);
        true
    }

    /// All keys, the current one first.
    pub(crate) fn keys(&self) -> Arc<[Arc<DerivedKeys>]> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The current key.
    #[expect(clippy::expect_used, reason = "no ring is made of no key")]
    pub(crate) fn current(&self) -> Arc<DerivedKeys> {
        self.keys().first().map(Arc::clone).expect("a ring has a key")
    }

    /// The key that `is_meant`, after a reload if necessary.
    pub(crate) fn find(&self, is_meant: impl Fn(&DerivedKeys) -> bool) -> Option<Arc<DerivedKeys>> {
        let known = |keys: &[Arc<DerivedKeys>]| keys.iter().find(|keys| is_meant(keys)).map(Arc::clone);
        known(&self.keys()).or_else(|| {
            // Another thread may have reloaded meanwhile, so the result of the reload does not matter.
            self.refresh();
            known(&self.keys())
        })
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyRing([REDACTED])")
    }
}

fn derived<'a>(keys: impl IntoIterator<Item = &'a MasterKey>) -> Arc<[Arc<DerivedKeys>]> {
    keys.into_iter().map(|key| Arc::new(DerivedKeys::new(key))).collect()
}

#[cfg(test)]
pub(crate) mod testing {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// A source that tests change.
    #[derive(Clone, Default)]
    pub(crate) struct FakeKeySource(Arc<Mutex<Option<Vec<MasterKey>>>>);

    impl FakeKeySource {
        /// Sets the keys of the next reload.
        pub(crate) fn put(&self, keys: &[u8]) {
            let keys = keys.iter().map(|byte| MasterKey::from_bytes([*byte; 32])).collect();
            *self.0.lock().unwrap() = Some(keys);
        }
    }

    impl KeySource for FakeKeySource {
        fn changed(&self) -> Option<Vec<MasterKey>> {
            self.0.lock().unwrap().take()
        }
    }

    /// A ring over these keys, and its source.
    pub(crate) fn ring(keys: &[u8]) -> (Arc<KeyRing>, FakeKeySource) {
        let source = FakeKeySource::default();
        source.put(keys);
        (KeyRing::following(Box::new(source.clone())).unwrap(), source)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{FakeKeySource, ring};
    use super::*;

    #[test]
    fn a_key_that_is_not_known_is_looked_for_before_it_is_refused() {
        let id = |byte| MasterKey::from_bytes([byte; 32]).token_key_id();
        let (ring, source) = ring(&[1]);
        assert_eq!((ring.count(), &ring.current().token_id), (1, &id(1)));
        assert!(ring.find(|keys| keys.token_id == id(2)).is_none());
        source.put(&[2, 1]);
        assert!(ring.find(|keys| keys.token_id == id(1)).is_some());
        assert_eq!(ring.current().token_id, id(1), "no unknown key id");
        assert!(ring.find(|keys| keys.token_id == id(2)).is_some());
        assert_eq!((ring.count(), &ring.current().token_id), (2, &id(2)));
        source.put(&[2]);
        assert!(ring.refresh() && !ring.refresh());
        assert!(ring.find(|keys| keys.token_id == id(1)).is_none(), "a retired key is gone");
    }

    #[test]
    fn a_source_without_keys_changes_nothing() {
        let (ring, source) = ring(&[1]);
        source.put(&[]);
        assert!(!ring.refresh());
        assert_eq!(ring.count(), 1);
        assert!(KeyRing::following(Box::new(FakeKeySource::default())).is_none());
    }

    #[test]
    fn debug_shows_nothing() {
        assert_eq!(format!("{:?}", ring(&[1]).0), "KeyRing([REDACTED])");
    }
}
