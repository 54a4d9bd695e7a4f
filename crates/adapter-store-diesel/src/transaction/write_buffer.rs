//! Write buffer: adds rows of many units of work with one statement for each table.

use std::any::{Any, TypeId};

use diesel::QueryResult;

use crate::connection::AnyConnection;
use crate::statements::{self, InsertRow};

/// A row that can wait for others of its kind.
pub(crate) trait BufferedRow: Sized + Send + 'static {
    /// Adds rows with one statement.
    fn insert_many(rows: &[Self], connection: &mut AnyConnection) -> QueryResult<()>;
}

impl<R: InsertRow + Send + 'static> BufferedRow for R {
    fn insert_many(rows: &[Self], connection: &mut AnyConnection) -> QueryResult<()> {
        statements::insert(connection, rows)
    }
}

/// Rows of one kind: a `Vec` of any [`BufferedRow`].
trait AnyRows: Any + Send {
    /// Takes the rows of a buffer of the same kind.
    fn append(&mut self, other: &mut dyn Any);
    fn write(&self, connection: &mut AnyConnection) -> QueryResult<()>;
}

impl<R: BufferedRow> AnyRows for Vec<R> {
    fn append(&mut self, other: &mut dyn Any) {
        if let Some(other) = other.downcast_mut::<Self>() {
            Vec::append(self, other);
        }
    }

    fn write(&self, connection: &mut AnyConnection) -> QueryResult<()> {
        R::insert_many(self, connection)
    }
}

/// Rows that are added and not in the database yet. Kinds are written in the order in which they first came.
#[derive(Default)]
pub(crate) struct WriteBuffer(Vec<(TypeId, Box<dyn AnyRows>)>);

impl WriteBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a row.
    pub(crate) fn add<R: BufferedRow>(&mut self, row: R) {
        self.append(&mut Self(vec![(TypeId::of::<R>(), Box::new(vec![row]))]));
    }

    /// Takes the rows of another buffer.
    pub(super) fn append(&mut self, other: &mut Self) {
        for (kind, mut rows) in other.0.drain(..) {
            match self.0.iter_mut().find(|(own, _)| *own == kind) {
                Some((_, own)) => own.append(&mut *rows),
                None => self.0.push((kind, rows)),
            }
        }
    }

    /// Writes everything, with one statement for each kind.
    pub(super) fn write(&self, connection: &mut AnyConnection) -> QueryResult<()> {
        self.0.iter().try_for_each(|(_, rows)| rows.write(connection))
    }
}
