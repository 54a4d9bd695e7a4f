//! Batch loader: loads the keys of many units of work with one statement for each kind of key.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use diesel::pg::PgConnection;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use crate::counters::LastNumber;
use crate::dialect::AnyConnection;
use crate::repositories::{
    AnswerTo, CardsOf, CategoryById, EmployeeById, EmployeeNamed, EmployeeWithCards, NonceOf, TopUpTargetOf,
};

/// A question to the database that can be asked for many units of work at once.
pub(crate) trait BatchLoad: Clone + Eq + Hash + 'static {
    /// The answer. What the database does not have is the default.
    type Loaded: Clone + Default;

    /// Whose data it is about.
    fn partner(&self) -> PartnerId;

    /// Asks it by itself.
    ///
    /// # Errors
    /// [`StoreError`] of the database.
    fn load_one(&self, connection: &mut AnyConnection) -> Result<Self::Loaded, StoreError>;

    /// Asks many with one statement. What is not among the answers is not there.
    ///
    /// The statement finds each by an index, LATERAL and with `OFFSET 0`, which keeps the planner from turning it round:
    /// where it knows a table to be small, it would read all of it, and go on to do so when the table has grown.
    ///
    /// # Errors
    /// [`StoreError`] of the database, or of any of the answers.
    fn load_many(
        wanted: &[Self],
        connection: &mut PgConnection,
    ) -> Result<Vec<(Self, Self::Loaded)>, StoreError>;

    /// Where the answers stand.
    fn cache(loader: &mut Loader) -> &mut LoadCache<Self>;
}

/// Answers to questions of one kind.
pub(crate) struct LoadCache<L: BatchLoad> {
    /// What holds for every unit of work of the transaction.
    known: HashMap<L, L::Loaded>,
    /// What the unit of work that runs has changed.
    changed: HashMap<L, L::Loaded>,
    /// What is to be asked next.
    wanted: HashSet<L>,
}

impl<L: BatchLoad> Default for LoadCache<L> {
    fn default() -> Self {
        Self { known: HashMap::new(), changed: HashMap::new(), wanted: HashSet::new() }
    }
}

impl<L: BatchLoad> LoadCache<L> {
    pub(super) fn get(&self, question: &L) -> Option<&L::Loaded> {
        self.changed.get(question).or_else(|| self.known.get(question))
    }

    pub(super) fn want(&mut self, question: L) {
        self.wanted.insert(question);
    }

    pub(super) fn change(&mut self, question: L, answer: L::Loaded) {
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
        let found = L::load_many(&wanted, connection)?;
        self.known.extend(wanted.into_iter().map(|question| (question, L::Loaded::default())));
        self.known.extend(found);
        Ok(())
    }
}

macro_rules! loader {
    ($($name:ident: $kind:ty;)*) => {
        /// The batch loader of a transaction: one cache for each kind of key.
        #[derive(Default)]
        pub(crate) struct Loader {
            $(pub(crate) $name: LoadCache<$kind>,)*
        }

        impl Loader {
            pub(super) fn keep_changes(&mut self) {
                $(self.$name.keep_changes();)*
            }

            pub(super) fn undo_changes(&mut self) {
                $(self.$name.undo_changes();)*
            }

            pub(super) fn forget(&mut self, partner: Option<PartnerId>) {
                $(self.$name.forget(partner);)*
            }

            /// Whether anything is to be asked.
            pub(crate) fn is_wanting(&self) -> bool {
                self.kinds_wanted() > 0
            }

            /// Of how many kinds anything is to be asked.
            pub(crate) fn kinds_wanted(&self) -> usize {
                0 $(+ usize::from(self.$name.is_wanting()))*
            }

            /// Asks what is to be asked, with one statement for each kind.
            pub(crate) fn fetch(&mut self, connection: &mut PgConnection) -> Result<(), StoreError> {
                $(self.$name.fetch(connection)?;)*
                Ok(())
            }
        }
    };
}

loader! {
    answers: AnswerTo;
    nonces: NonceOf;
    employees: EmployeeById;
    employees_with_cards: EmployeeWithCards;
    custom_ids: EmployeeNamed;
    cards_of: CardsOf;
    categories: CategoryById;
    top_up_targets: TopUpTargetOf;
    last_numbers: LastNumber;
}

impl Loader {
    pub(crate) fn get<L: BatchLoad>(&mut self, question: &L) -> Option<&L::Loaded> {
        L::cache(self).get(question)
    }

    pub(crate) fn want<L: BatchLoad>(&mut self, question: L) {
        L::cache(self).want(question);
    }

    pub(crate) fn change<L: BatchLoad>(&mut self, question: L, answer: L::Loaded) {
        L::cache(self).change(question, answer);
    }
}
