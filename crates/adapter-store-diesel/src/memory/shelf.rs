//! Where the memory keeps what was looked up, one shelf for each kind.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use diesel::pg::PgConnection;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use crate::dialect::AnyConnection;
use crate::memory::Shelves;

/// A question to the database that can be asked for many units of work at once.
pub(crate) trait LookUp: Clone + Eq + Hash + 'static {
    /// The answer. What the database does not have is the default.
    type Found: Clone + Default;

    /// Whose data it is about.
    fn partner(&self) -> PartnerId;

    /// Asks it by itself.
    ///
    /// # Errors
    /// [`StoreError`] of the database.
    fn one(&self, connection: &mut AnyConnection) -> Result<Self::Found, StoreError>;

    /// Asks many with one statement. What is not among the answers is not there.
    ///
    /// The statement finds each by an index, LATERAL and with `OFFSET 0`, which keeps the planner from turning it round:
    /// where it knows a table to be small, it would read all of it, and go on to do so when the table has grown.
    ///
    /// # Errors
    /// [`StoreError`] of the database, or of any of the answers.
    fn many(wanted: &[Self], connection: &mut PgConnection) -> Result<Vec<(Self, Self::Found)>, StoreError>;

    /// Where the answers stand.
    fn shelf(shelves: &mut Shelves) -> &mut Shelf<Self>;
}

/// Answers to questions of one kind.
pub(crate) struct Shelf<L: LookUp> {
    /// What holds for every unit of work of the transaction.
    known: HashMap<L, L::Found>,
    /// What the unit of work that runs has changed.
    changed: HashMap<L, L::Found>,
    /// What is to be asked next.
    wanted: HashSet<L>,
}

impl<L: LookUp> Default for Shelf<L> {
    fn default() -> Self {
        Self { known: HashMap::new(), changed: HashMap::new(), wanted: HashSet::new() }
    }
}

impl<L: LookUp> Shelf<L> {
    pub(super) fn get(&self, question: &L) -> Option<&L::Found> {
        self.changed.get(question).or_else(|| self.known.get(question))
    }

    pub(super) fn want(&mut self, question: L) {
        self.wanted.insert(question);
    }

    pub(super) fn change(&mut self, question: L, answer: L::Found) {
        self.changed.insert(question, answer);
    }

    pub(super) fn keep_changes(&mut self) {
        self.known.extend(self.changed.drain());
    }

    pub(super) fn undo_changes(&mut self) {
        self.changed.clear();
    }

    pub(super) fn forget(&mut self, partner: Option<PartnerId>) {
        match partner {
            Some(partner) => self.known.retain(|question, _| question.partner() != partner),
            None => self.known.clear(),
        }
    }

    pub(super) fn is_wanting(&self) -> bool {
        !self.wanted.is_empty()
    }

    pub(super) fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        let wanted: Vec<L> = self.wanted.drain().collect();
        let found = L::many(&wanted, connection)?;
        self.known.extend(wanted.into_iter().map(|question| (question, L::Found::default())));
        self.known.extend(found);
        Ok(())
    }
}
