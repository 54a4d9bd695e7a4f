//! What units of work that are run together look up and write.
//!
//! A database across a network, or even across a socket, is paid by the round trip. So the look-ups that many units of
//! work need are asked with one statement for all, and the rows they add go in with one statement for all. No use case
//! knows: a unit of work whose look-up is not known yet ends there, is forgotten, and is run again from the start once
//! it is ([`kopeck_port_store::Work`] may be run several times). What it adds is kept until everyone has run; look-ups
//! see it at once. A statement that is neither goes past the memory: whatever is kept is written first, and a savepoint
//! is set for the unit of work that sends it. See `docs/adr/0011-looked-up-together.md`.

mod pending;
mod shelf;

pub(crate) use pending::{Pending, WorkToDo};
pub(crate) use shelf::{LookUp, Shelf};

use diesel::pg::PgConnection;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::StoreError;

use crate::counters::LastNumber;
use crate::repositories::{
    AnswerTo, CardsOf, CategoryById, EmployeeById, EmployeeNamed, EmployeeWithCards, NonceOf, TopUpTargetOf,
};

/// How a unit of work is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// By itself: every statement goes to the database at once.
    #[default]
    Alone,
    /// Among others, in a savepoint; or, for as long as none has to be undone, without.
    Among,
    /// Among others, without one. If any is to be undone, all are, to be run again in another mode. The last numbers of
    /// lists are noted for all of them.
    Trusting,
    /// Among others, with the memory.
    Remembering,
}

/// Which data a unit of work has changed or may have changed past the memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Past {
    #[default]
    Nobody,
    Some(Vec<PartnerId>),
    Everybody,
}

/// The unit of work that runs.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) mode: Mode,
    /// It met something that is not known yet.
    pub(crate) missed: bool,
    /// What it or others added could not be written.
    pub(crate) broke: bool,
    /// The locks that it uses.
    pub(crate) uses: Vec<i64>,
    /// How many locks were held when its savepoint was set, if it was.
    pub(crate) savepoint: Option<usize>,
    past: Past,
}

impl Run {
    pub(crate) fn new(mode: Mode) -> Self {
        Self { mode, ..Self::default() }
    }

    /// Whether it is undone by itself.
    pub(crate) const fn is_apart(&self) -> bool {
        matches!(self.mode, Mode::Among | Mode::Remembering)
    }

    /// Whether its look-ups and rows go through the memory.
    pub(crate) fn remembers(&self) -> bool {
        self.mode == Mode::Remembering && self.savepoint.is_none()
    }

    pub(crate) fn use_lock(&mut self, key: i64) {
        if !self.uses.contains(&key) {
            self.uses.push(key);
        }
    }

    /// It goes past the memory, to the data of this partner or of any.
    pub(crate) fn goes_past(&mut self, partner: Option<PartnerId>) {
        match (&mut self.past, partner) {
            (past, None) => *past = Past::Everybody,
            (past @ Past::Nobody, Some(partner)) => *past = Past::Some(vec![partner]),
            (Past::Some(partners), Some(partner)) if !partners.contains(&partner) => partners.push(partner),
            (Past::Some(_) | Past::Everybody, Some(_)) => {}
        }
    }
}

/// What is remembered for as long as a transaction is open.
#[derive(Default)]
pub(crate) struct Memory {
    pub(crate) shelves: Shelves,
    /// Rows of units of work that have ended well.
    pub(crate) kept: Pending,
    /// Rows of the one that runs.
    pub(crate) own: Pending,
}

impl Memory {
    /// The unit of work has ended: its changes hold or never were.
    pub(crate) fn end(&mut self, run: &Run, keep: bool) {
        if keep {
            self.shelves.keep_changes();
            self.kept.append(&mut self.own);
        } else {
            self.shelves.undo_changes();
            self.own = Pending::default();
        }
        match &run.past {
            Past::Nobody => {}
            Past::Some(partners) => {
                partners.iter().for_each(|partner| self.shelves.forget(Some(*partner)));
            }
            Past::Everybody => self.shelves.forget(None),
        }
    }
}

macro_rules! shelves {
    ($($name:ident: $kind:ty;)*) => {
        /// One shelf for each kind of look-up.
        #[derive(Default)]
        pub(crate) struct Shelves {
            $(pub(crate) $name: Shelf<$kind>,)*
        }

        impl Shelves {
            fn keep_changes(&mut self) {
                $(self.$name.keep_changes();)*
            }

            fn undo_changes(&mut self) {
                $(self.$name.undo_changes();)*
            }

            fn forget(&mut self, partner: Option<PartnerId>) {
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

shelves! {
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

impl Shelves {
    pub(crate) fn get<L: LookUp>(&mut self, question: &L) -> Option<&L::Found> {
        L::shelf(self).get(question)
    }

    pub(crate) fn want<L: LookUp>(&mut self, question: L) {
        L::shelf(self).want(question);
    }

    pub(crate) fn change<L: LookUp>(&mut self, question: L, answer: L::Found) {
        L::shelf(self).change(question, answer);
    }
}
