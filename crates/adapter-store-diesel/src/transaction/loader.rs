//! Batch loader: loads the keys of many units of work with one statement for each kind of key.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use diesel::pg::PgConnection;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use crate::connection::AnyConnection;

/// A key whose value can be loaded for many units of work at once.
pub(crate) trait BatchLoad: Clone + Eq + Hash + Send + 'static {
    /// The value. What the database does not have is the default.
    type Loaded: Clone + Default + Send + 'static;

    /// Whose data it is about.
    fn partner(&self) -> PartnerId;

    /// Loads one value.
    ///
    /// # Errors
    /// [`StoreError`] of the database.
    fn load_one(&self, connection: &mut AnyConnection) -> Result<Self::Loaded, StoreError>;

    /// Loads many values with one statement. A key without a value is left out.
    ///
    /// The statement finds each by an index, LATERAL and with `OFFSET 0`, which keeps the planner from turning it round:
    /// where it knows a table to be small, it would read all of it, and go on to do so when the table has grown.
    ///
    /// # Errors
    /// [`StoreError`] of the database, or of any of the values.
    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Self::Loaded)>, StoreError>;
}

/// Values of one kind of key.
struct Cache<L: BatchLoad> {
    /// For every unit of work of the transaction.
    known: HashMap<L, L::Loaded>,
    /// Changed by the unit of work that runs.
    changed: HashMap<L, L::Loaded>,
    /// To be loaded next.
    wanted: HashSet<L>,
}

/// A [`Cache`] of any kind of key.
trait AnyCache: Any + Send {
    fn end_run(&mut self, keep: bool);
    fn forget(&mut self, partner: Option<PartnerId>);
    fn is_wanting(&self) -> bool;
    fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError>;
}

impl<L: BatchLoad> AnyCache for Cache<L> {
    fn end_run(&mut self, keep: bool) {
        let changed = self.changed.drain();
        if keep {
            self.known.extend(changed);
        }
    }

    fn forget(&mut self, partner: Option<PartnerId>) {
        self.known.retain(|key, _| partner.is_some_and(|partner| key.partner() != partner));
    }

    fn is_wanting(&self) -> bool {
        !self.wanted.is_empty()
    }

    fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let wanted: Vec<L> = self.wanted.drain().collect();
        let found = L::load_many(&wanted, connection)?;
        self.known.extend(wanted.into_iter().map(|key| (key, L::Loaded::default())));
        self.known.extend(found);
        Ok(())
    }
}

/// The batch loader of a transaction: a cache for each kind of key.
#[derive(Default)]
pub(crate) struct Loader(BTreeMap<TypeId, Box<dyn AnyCache>>);

impl Loader {
    #[expect(clippy::expect_used, reason = "see the comment")]
    fn cache<L: BatchLoad>(&mut self) -> &mut Cache<L> {
        let (known, changed, wanted) = (HashMap::new(), HashMap::new(), HashSet::new());
        let cache = self
            .0
            .entry(TypeId::of::<L>())
            .or_insert_with(|| Box::new(Cache::<L> { known, changed, wanted }));
        let cache: &mut dyn Any = &mut **cache;
        // Nothing else is stored under the type of `L`.
        cache.downcast_mut().expect("a cache of this kind of key")
    }

    /// The loaded value of a key. One that is not loaded yet is loaded by the next [`fetch`](Self::fetch).
    pub(crate) fn get<L: BatchLoad>(&mut self, key: &L) -> Option<L::Loaded> {
        let cache = self.cache();
        let found = cache.changed.get(key).or_else(|| cache.known.get(key)).cloned();
        if found.is_none() {
            cache.wanted.insert(key.clone());
        }
        found
    }

    /// Changes the value of a key for the unit of work that runs.
    pub(crate) fn change<L: BatchLoad>(&mut self, key: L, value: L::Loaded) {
        self.cache().changed.insert(key, value);
    }

    /// The unit of work has ended, with its changes or without them.
    pub(super) fn end_run(&mut self, keep: bool) {
        self.0.values_mut().for_each(|cache| cache.end_run(keep));
    }

    /// Forgets the values of this partner, or all.
    pub(super) fn forget(&mut self, partner: Option<PartnerId>) {
        self.0.values_mut().for_each(|cache| cache.forget(partner));
    }

    /// The kinds of keys that are to be loaded.
    pub(crate) fn kinds_wanted(&self) -> usize {
        self.0.values().filter(|cache| cache.is_wanting()).count()
    }

    /// Loads the wanted keys, with one statement for each kind.
    pub(crate) fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
        self.0.values_mut().try_for_each(|cache| cache.fetch(connection))
    }
}
