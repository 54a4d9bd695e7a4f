//! Batch loader: loads the keys of many units of work with one statement for each kind of key.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;

use diesel::deserialize::{self, QueryableByName};
use diesel::pg::{Pg, PgConnection};
use diesel::prelude::*;
use diesel::row::NamedRow;
use diesel::sql_types::BigInt;
use diesel::sqlite::Sqlite;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use crate::connection::AnyConnection;
use crate::convert::AsKey;
use crate::error::Stored;
use crate::sql_types::Id;
use crate::statements::{self, Bind, RawStatement};

/// A key of a partner's data whose value can be loaded for many units of work at once.
pub(crate) trait BatchLoad: Clone + Eq + Hash + Send + 'static {
    /// The value. What the database does not have is the default.
    type Loaded: Clone + Default + Send + 'static;

    /// Selects the rows of one key, in both databases. Each `?` stands for the next of its [values](Self::values).
    const SELECT: &'static str;

    /// A row of it.
    type Row: QueryableByName<Sqlite> + QueryableByName<Pg> + 'static;

    /// Its values and the partner's in [`SELECT`](Self::SELECT).
    fn values(&self, partner: Id) -> Vec<Bind<'_>>;

    /// What the rows of one key say, one or more.
    ///
    /// # Errors
    /// [`StoreError`] if they are corrupt.
    fn of_rows(rows: Vec<Self::Row>) -> Result<Self::Loaded, StoreError>;
}

/// Loads the value of one key.
///
/// # Errors
/// [`StoreError`] of the database.
pub(super) fn load_one<L: BatchLoad>(
    partner: PartnerId,
    key: &L,
    connection: &mut AnyConnection,
) -> Result<L::Loaded, StoreError> {
    let rows = statements::load(connection, L::SELECT, key.values(partner.key())).stored()?;
    if rows.is_empty() { Ok(L::Loaded::default()) } else { L::of_rows(rows) }
}

/// A row, with the place of its key among those wanted.
struct Placed<R> {
    place: i64,
    row: R,
}

impl<R: QueryableByName<Pg>> QueryableByName<Pg> for Placed<R> {
    fn build<'a>(row: &impl NamedRow<'a, Pg>) -> deserialize::Result<Self> {
        Ok(Self { place: NamedRow::get::<BigInt, _>(row, "place")?, row: R::build(row)? })
    }
}

/// Loads the values of keys with one statement: a `SELECT` for each, one after another.
///
/// `OFFSET 0` keeps the planner from turning that round: where it knows a table to be small, it would read all of it, and go
/// on to do so when the table has grown.
fn load_many<L: BatchLoad>(
    wanted: &[(PartnerId, L)],
    connection: &mut PgConnection,
) -> Result<Vec<L::Loaded>, StoreError> {
    let columns = statements::columns(wanted.iter().map(|(partner, key)| key.values(partner.key())));
    let (marks, names): (Vec<_>, Vec<_>) = (1..=columns.len()).map(|n| ("?", format!("value_{n}"))).unzip();
    let select = names
        .iter()
        .fold(L::SELECT.to_owned(), |select, name| select.replacen('?', &format!("wanted.{name}"), 1));
    let text = format!(
        "SELECT wanted.place, found.*
        FROM unnest({}) WITH ORDINALITY AS wanted ({}, place) CROSS JOIN LATERAL ({select} OFFSET 0) found",
        marks.join(", "),
        names.join(", ")
    );
    let rows: Vec<Placed<L::Row>> = RawStatement::new(&text, columns).load(connection).stored()?;
    let mut rows = rows.into_iter().peekable();
    (1..)
        .take(wanted.len())
        .map(|place| {
            let of_key: Vec<L::Row> =
                std::iter::from_fn(|| rows.next_if(|row| row.place == place)).map(|row| row.row).collect();
            if of_key.is_empty() { Ok(L::Loaded::default()) } else { L::of_rows(of_key) }
        })
        .collect()
}

/// Values of one kind of key.
struct Cache<L: BatchLoad> {
    /// For every unit of work of the transaction.
    known: HashMap<(PartnerId, L), L::Loaded>,
    /// Changed by the unit of work that runs.
    changed: HashMap<(PartnerId, L), L::Loaded>,
    /// To be loaded next.
    wanted: HashSet<(PartnerId, L)>,
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
        self.known.retain(|(of, _), _| partner.is_some_and(|partner| *of != partner));
    }

    fn is_wanting(&self) -> bool {
        !self.wanted.is_empty()
    }

    fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = self.wanted.drain().collect();
        let found = load_many(&wanted, connection)?;
        self.known.extend(wanted.into_iter().zip(found));
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
    pub(crate) fn get<L: BatchLoad>(&mut self, partner: PartnerId, key: L) -> Option<L::Loaded> {
        let (cache, key) = (self.cache(), (partner, key));
        let found = cache.changed.get(&key).or_else(|| cache.known.get(&key)).cloned();
        if found.is_none() {
            cache.wanted.insert(key);
        }
        found
    }

    /// Changes the value of a key for the unit of work that runs.
    pub(crate) fn change<L: BatchLoad>(&mut self, partner: PartnerId, key: L, value: L::Loaded) {
        self.cache().changed.insert((partner, key), value);
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
