//! Rows that go in together.

use std::collections::BTreeMap;

use diesel::pg::PgConnection;
use diesel::prelude::*;

use crate::bulk::{self, column};
use crate::counters::List;
use crate::dialect::{self, AnyConnection};
use crate::repositories::{self, AnswerRow, NewEmployeeRow, NonceRow, ReplenishmentRow, TopUpRow};
use crate::sql_types::Id;
use crate::statements::{Bind, RawStatement};

/// Work that is not in its table yet.
pub(crate) struct NewJob {
    pub(crate) partner: Id,
    pub(crate) kind: &'static str,
    pub(crate) subject: Id,
    /// Microseconds until it is due, from the database's present.
    pub(crate) delay: i64,
}

/// Rows that are added and not in the database yet.
#[derive(Default)]
pub(crate) struct WriteBuffer {
    pub(crate) employees: Vec<NewEmployeeRow>,
    pub(crate) replenishments: Vec<ReplenishmentRow>,
    pub(crate) top_ups: Vec<TopUpRow>,
    pub(crate) work: Vec<NewJob>,
    pub(crate) answers: Vec<AnswerRow>,
    pub(crate) nonces: Vec<NonceRow>,
    /// The last number that was given out in a partner's list.
    pub(crate) counters: BTreeMap<(Id, List), i64>,
}

impl WriteBuffer {
    pub(crate) fn is_empty(&self) -> bool {
        let Self { employees, replenishments, top_ups, work, answers, nonces, counters } = self;
        employees.is_empty()
            && replenishments.is_empty()
            && top_ups.is_empty()
            && work.is_empty()
            && answers.is_empty()
            && nonces.is_empty()
            && counters.is_empty()
    }

    pub(crate) fn append(&mut self, other: &mut Self) {
        self.employees.append(&mut other.employees);
        self.replenishments.append(&mut other.replenishments);
        self.top_ups.append(&mut other.top_ups);
        self.work.append(&mut other.work);
        self.answers.append(&mut other.answers);
        self.nonces.append(&mut other.nonces);
        self.counters.append(&mut other.counters);
    }

    /// Writes everything, with one statement for each table; on SQLite, which has no memory, there are numbers at most.
    /// `ahead`: by how many microseconds the service is ahead of the database's clock.
    pub(crate) fn write(self, connection: &mut AnyConnection, ahead: i64) -> QueryResult<()> {
        let Self { employees, replenishments, top_ups, work, answers, nonces, counters } = self;
        if !replenishments.is_empty() {
            repositories::insert_replenishments(dialect::postgres(connection)?, &replenishments)?;
            bulk::top_ups::insert(connection, &top_ups)?;
        }
        if !employees.is_empty() {
            repositories::insert_employees(dialect::postgres(connection)?, &employees)?;
        }
        if !work.is_empty() {
            insert_work(dialect::postgres(connection)?, &work, ahead)?;
        }
        if !answers.is_empty() {
            repositories::insert_answers(dialect::postgres(connection)?, &answers)?;
        }
        if !nonces.is_empty() {
            repositories::insert_nonces(dialect::postgres(connection)?, &nonces)?;
        }
        if !counters.is_empty() {
            bulk::advance(connection, &counters)?;
        }
        Ok(())
    }
}

const INSERT_WORK: &str = "
    INSERT INTO jobs (partner_id, subject_kind, subject_id, due_at, attempt, failures, may_have_sent)
    SELECT n.partner_id, n.subject_kind, n.subject_id,
        CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) + n.later, 0, 0, false
    FROM unnest(?, ?, ?, ?) AS n (partner_id, subject_kind, subject_id, later)";

fn insert_work(connection: &mut PgConnection, work: &[NewJob], ahead: i64) -> QueryResult<()> {
    let columns = vec![
        column!(Ids: work, one => one.partner),
        column!(Texts: work, one => one.kind),
        column!(Ids: work, one => one.subject),
        column!(Ints: work, one => one.delay.saturating_add(ahead)),
    ];
    RawStatement::new(INSERT_WORK, columns).execute(connection).map(drop)
}
