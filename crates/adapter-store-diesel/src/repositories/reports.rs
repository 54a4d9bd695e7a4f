//! What moved on the cards of each person in a month, and months that are closed.

use std::collections::BTreeMap;
use std::ops::Range;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId, ProgrammeId};
use kopeck_domain::report::{ReportAmounts, ReportPart};
use kopeck_port_store::{ClosedMonth, ReportPeriod, ReportPerson, ReportRepository, ReportRow, StoreError};
use time::OffsetDateTime;

use super::closed_month_row::ClosedMonthRow;
use crate::convert::{AsKey, corrupt, natural, word};
use crate::counters::List;
use crate::error::{Stored, StoredRows};
use crate::schema::{closed_month_rows, closed_months};
use crate::sql_types::{Day, Id, UtcTimestamp, sql};
use crate::statements::{self, Bind, binds, row};
use crate::transaction::DieselTransaction;

/// A person among those of a page.
#[derive(QueryableByName)]
struct PersonRow {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = sql::Id)]
    id: Id,
    #[diesel(sql_type = Nullable<Text>)]
    custom_id: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    surname: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    name: Option<String>,
    #[diesel(sql_type = Nullable<Text>)]
    patronymic: Option<String>,
    #[diesel(sql_type = Nullable<sql::Id>)]
    category_id: Option<Id>,
    #[diesel(sql_type = Nullable<Text>)]
    category: Option<String>,
}

/// The transactions of a person of one type and part.
#[derive(QueryableByName)]
struct SumRow {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = BigInt)]
    part: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// What a programme gave a person.
#[derive(QueryableByName)]
struct GivenRow {
    #[diesel(sql_type = BigInt)]
    place: i64,
    #[diesel(sql_type = BigInt)]
    amount: i64,
}

const PEOPLE: &str = "SELECT e.seq AS place, e.id, \
    CASE WHEN e.erased_at IS NULL THEN e.custom_id END AS custom_id, e.surname, e.name, e.patronymic, \
    e.category_id, g.name AS category \
    FROM employees e LEFT JOIN categories g ON g.partner_id = e.partner_id AND g.id = e.category_id \
    WHERE e.partner_id = ? AND e.seq >= ? AND e.seq < ? ORDER BY e.seq";

/// The part of the report, then sum and number. Its values: the month's beginning, and what was known before.
macro_rules! sums {
    ($place:literal) => {
        concat!(
            "SELECT ",
            $place,
            " AS place, t.kind, \
             CAST(CASE WHEN t.executed_at >= ? THEN 1 WHEN t.seq <= ? THEN 0 ELSE 2 END AS BIGINT) AS part, \
             CAST(SUM(t.amount) AS BIGINT) AS amount, COUNT(*) AS number "
        )
    };
}

/// A card that nobody had before. Its history is that of its holder, from the beginning on. With CROSS JOIN SQLite keeps the
/// order of tables; otherwise it reads all transactions for each page.
const ONLY_HOLDER: &str = concat!(
    sums!("e.seq"),
    "FROM employees e \
     CROSS JOIN cards c CROSS JOIN transactions t \
     WHERE c.partner_id = e.partner_id AND c.employee_id = e.id \
     AND t.partner_id = c.partner_id AND t.card_id = c.id AND e.partner_id = ? AND e.seq >= ? AND e.seq < ? AND t.executed_at < ? AND t.seq <= ? \
     AND NOT EXISTS (SELECT 1 FROM former_card_holders f WHERE f.partner_id = c.partner_id AND f.card_id = c.id) \
     GROUP BY 1, 2, 3"
);

/// A card that was unlinked: each transaction belongs to whoever had the card then or got it next, else to who had it last.
const FORMER_HOLDERS: &str = concat!(
    sums!("e.seq"),
    "FROM (\
         SELECT x.partner_id, x.kind, x.executed_at, x.seq, x.amount, COALESCE(\
             (SELECT f.employee_id FROM former_card_holders f WHERE f.partner_id = c.partner_id AND f.card_id = c.id \
              AND f.until >= x.executed_at ORDER BY f.number LIMIT 1), \
             c.employee_id, \
             (SELECT f.employee_id FROM former_card_holders f WHERE f.partner_id = c.partner_id AND f.card_id = c.id \
              ORDER BY f.number DESC LIMIT 1)\
         ) AS holder_id \
         FROM (\
             SELECT f.partner_id, f.card_id FROM employees e CROSS JOIN former_card_holders f \
             WHERE f.partner_id = e.partner_id AND f.employee_id = e.id AND e.partner_id = ? AND e.seq >= ? AND e.seq < ? \
             UNION \
             SELECT f.partner_id, f.card_id \
             FROM employees e CROSS JOIN cards c CROSS JOIN former_card_holders f \
             WHERE c.partner_id = e.partner_id AND c.employee_id = e.id \
             AND f.partner_id = c.partner_id AND f.card_id = c.id \
             AND e.partner_id = ? AND e.seq >= ? AND e.seq < ?\
         ) k \
         CROSS JOIN cards c CROSS JOIN transactions x \
         WHERE c.partner_id = k.partner_id AND c.id = k.card_id \
         AND x.partner_id = c.partner_id AND x.card_id = c.id AND x.executed_at < ? AND x.seq <= ?\
     ) t \
     JOIN employees e ON e.partner_id = t.partner_id AND e.id = t.holder_id \
     WHERE e.seq >= ? AND e.seq < ? GROUP BY 1, 2, 3"
);

/// Cards that nobody has had.
const UNASSIGNED: &str = concat!(
    sums!("CAST(0 AS BIGINT)"),
    "FROM cards c CROSS JOIN transactions t \
     WHERE t.partner_id = c.partner_id AND t.card_id = c.id AND c.partner_id = ? AND c.employee_id IS NULL AND t.executed_at < ? AND t.seq <= ? \
     AND NOT EXISTS (SELECT 1 FROM former_card_holders f WHERE f.partner_id = c.partner_id AND f.card_id = c.id) \
     GROUP BY 2, 3"
);

/// Whether the bank had executed a top-up by a time, as far as it matters in which month: its request had ended, or the
/// transaction is there.
macro_rules! executed {
    () => {
        "(b.state_since < ? OR EXISTS (SELECT 1 FROM transactions t \
         WHERE t.partner_id = i.partner_id AND t.card_id = i.card_id AND t.kind = 'REPLENISHMENT' AND t.amount = i.amount \
         AND t.executed_at >= b.created_at AND t.executed_at < ?))"
    };
}

/// What a programme brought. Whatever becomes of a top-up around midnight, it is in one month. The items of a person are found by
/// an index that has no more than their keys: SQLite prefers the primary key to one that leads to rows.
const GIVEN_BY: &str = concat!(
    "SELECT e.seq AS place, CAST(SUM(i.amount) AS BIGINT) AS amount \
     FROM employees e CROSS JOIN run_items k CROSS JOIN runs r CROSS JOIN run_requests q CROSS JOIN card_batches b \
     CROSS JOIN run_items i \
     WHERE k.partner_id = e.partner_id AND k.employee_id = e.id \
     AND i.partner_id = k.partner_id AND i.run_id = k.run_id AND i.ordinal = k.ordinal AND i.outcome = 'DONE' \
     AND r.partner_id = k.partner_id AND r.id = k.run_id AND r.kind = 'TOP_UP' \
     AND q.partner_id = r.partner_id AND q.run_id = r.id AND b.partner_id = q.partner_id AND b.id = q.request_id \
     AND r.programme_id = ? AND e.partner_id = ? AND e.seq >= ? AND e.seq < ? AND b.created_at < ? AND ",
    executed!(),
    " AND NOT (b.created_at < ? AND ",
    executed!(),
    ") GROUP BY e.seq"
);

const NOTE_HOLDER: &str = "INSERT INTO former_card_holders (partner_id, card_id, number, employee_id, until) \
    SELECT partner_id, id, \
    (SELECT COUNT(*) + 1 FROM former_card_holders f WHERE f.partner_id = cards.partner_id AND f.card_id = cards.id), \
    ?, ? FROM cards WHERE partner_id = ? AND id = ?";

/// A month as its table has it.
struct ClosedMonthKey {
    partner_id: Id,
    month: Day,
    known: i64,
    kept_up_to: i64,
    erasures: i64,
    is_changed: bool,
}

row!(ClosedMonthKey, closed_months: partner_id, month, known, kept_up_to, erasures, is_changed);

impl SumRow {
    fn add_to(self, amounts: &mut ReportAmounts) -> Result<(), StoreError> {
        let part = match self.part {
            0 => ReportPart::Before,
            1 => ReportPart::Within,
            _ => ReportPart::Late,
        };
        let kind = word(&self.kind, "transactions.kind")?;
        let number = natural(self.number, "transactions")?;
        amounts.add(part, kind, Kopecks::new(self.amount), number).map_err(|_| corrupt("transactions.amount"))
    }
}

impl PersonRow {
    fn person(self) -> Result<ReportPerson, StoreError> {
        let category = match (self.category_id, self.category) {
            (Some(id), Some(name)) => Some((id.to(), name)),
            (None, None) => None,
            _ => return Err(corrupt("employees.category_id")),
        };
        let Self { id, custom_id, surname, name, patronymic, .. } = self;
        Ok(ReportPerson { id: id.to(), custom_id, surname, name, patronymic, category })
    }
}

/// What one part of the values of [`sums!`] is.
fn bounds(period: &ReportPeriod) -> (UtcTimestamp, i64, UtcTimestamp, i64) {
    let ReportPeriod { within, known_before, known } = period;
    (UtcTimestamp::of(within.start), *known_before, UtcTimestamp::of(within.end), *known)
}

impl DieselTransaction {
    fn sums(
        &mut self,
        partner: PartnerId,
        statement: &'static str,
        values: Vec<Bind<'_>>,
        sums: &mut BTreeMap<i64, ReportAmounts>,
    ) -> Result<(), StoreError> {
        let rows: Vec<SumRow> = statements::load(self.of(partner)?, statement, values).stored()?;
        rows.into_iter().try_for_each(|row| {
            let place = row.place;
            row.add_to(sums.entry(place).or_default())
        })
    }

    /// Takes the names of an employee out of closed months.
    pub(super) fn erase_name_in_closed_months(
        &mut self,
        partner: PartnerId,
        employee: EmployeeId,
    ) -> Result<(), StoreError> {
        let months = "UPDATE closed_months SET erasures = erasures + 1, is_changed = (sha256 IS NOT NULL)
            WHERE partner_id = ? AND month IN
            (SELECT month FROM closed_month_rows WHERE partner_id = ? AND employee_id = ?)";
        self.change(partner, months, binds![partner.key(), partner.key(), employee.key()])?;
        let rows =
            "UPDATE closed_month_rows SET custom_id = NULL, surname = NULL, name = NULL, patronymic = NULL,
            category_id = NULL, category = NULL WHERE partner_id = ? AND (month, place) IN
            (SELECT month, place FROM closed_month_rows WHERE partner_id = ? AND employee_id = ?)";
        self.change(partner, rows, binds![partner.key(), partner.key(), employee.key()])
    }
}

impl ReportRepository for DieselTransaction {
    fn note_former_holder(
        &mut self,
        partner: PartnerId,
        card: CardId,
        employee: EmployeeId,
        until: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let values = binds![employee.key(), UtcTimestamp::of(until), partner.key(), card.key()];
        self.change(partner, NOTE_HOLDER, values)
    }

    fn last_transaction(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.last_number(partner, List::Transactions)?.unwrap_or(0))
    }

    fn last_person(&mut self, partner: PartnerId) -> Result<i64, StoreError> {
        Ok(self.last_number(partner, List::Employees)?.unwrap_or(0))
    }

    fn known_since(&mut self, partner: PartnerId, month: CalendarMonth) -> Result<Option<i64>, StoreError> {
        closed_months::table
            .filter(closed_months::partner_id.eq(partner.key()))
            .filter(closed_months::month.ge(Day::of(month.first_day())))
            .select(diesel::dsl::min(closed_months::known))
            .get_result(self.of(partner)?)
            .stored()
    }

    fn people(
        &mut self,
        partner: PartnerId,
        places: Range<i64>,
        period: &ReportPeriod,
    ) -> Result<Vec<ReportRow>, StoreError> {
        let (key, Range { start, end }) = (partner.key(), places);
        let (since, known_before, before, known) = bounds(period);
        let mut sums = BTreeMap::new();
        let values = binds![since, known_before, key, start, end, before, known];
        self.sums(partner, ONLY_HOLDER, values, &mut sums)?;
        let values = binds![since, known_before, key, start, end, key, start, end, before, known, start, end];
        self.sums(partner, FORMER_HOLDERS, values, &mut sums)?;
        sums.retain(|_, amounts| !amounts.is_empty());
        if sums.is_empty() {
            return Ok(Vec::new());
        }
        let people: Vec<PersonRow> =
            statements::load(self.of(partner)?, PEOPLE, binds![key, start, end]).stored()?;
        let rows = people.into_iter().filter_map(|row| {
            let amounts = sums.remove(&row.place)?;
            let place = row.place;
            Some(row.person().map(|person| ReportRow { place, person: Some(person), amounts }))
        });
        rows.collect()
    }

    fn given_by(
        &mut self,
        partner: PartnerId,
        programme: ProgrammeId,
        places: Range<i64>,
        within: &Range<OffsetDateTime>,
    ) -> Result<BTreeMap<i64, Kopecks>, StoreError> {
        let (start, end) = (UtcTimestamp::of(within.start), UtcTimestamp::of(within.end));
        let Range { start: first, end: behind } = places;
        let (programme, key) = (programme.key(), partner.key());
        let values = binds![programme, key, first, behind, end, end, end, start, start, start];
        let rows: Vec<GivenRow> = statements::load(self.of(partner)?, GIVEN_BY, values).stored()?;
        Ok(rows.into_iter().map(|row| (row.place, Kopecks::new(row.amount))).collect())
    }

    fn unassigned(&mut self, partner: PartnerId, period: &ReportPeriod) -> Result<ReportAmounts, StoreError> {
        let (since, known_before, before, known) = bounds(period);
        let mut sums = BTreeMap::new();
        let values = binds![since, known_before, partner.key(), before, known];
        self.sums(partner, UNASSIGNED, values, &mut sums)?;
        Ok(sums.remove(&0).unwrap_or_default())
    }

    fn closed(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
    ) -> Result<Option<ClosedMonth>, StoreError> {
        type Row = (i64, i64, i64, bool, Option<Vec<u8>>);
        let found: Option<Row> = closed_months::table
            .find((partner.key(), Day::of(month.first_day())))
            .select((
                closed_months::known,
                closed_months::kept_up_to,
                closed_months::erasures,
                closed_months::is_changed,
                closed_months::sha256,
            ))
            .get_result(self.of(partner)?)
            .optional()
            .stored()?;
        let month = |(known, kept_up_to, erasures, is_changed, sha256): Row| {
            let sha256 = sha256.map(<[u8; 32]>::try_from).transpose();
            Ok(ClosedMonth {
                known,
                kept_up_to,
                sha256: sha256.map_err(|_| corrupt("closed_months.sha256"))?,
                erasures: u32::try_from(erasures).map_err(|_| corrupt("closed_months.erasures"))?,
                is_changed,
            })
        };
        found.map(month).transpose()
    }

    fn begin_closing(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        known: i64,
    ) -> Result<(), StoreError> {
        let row = ClosedMonthKey {
            partner_id: partner.key(),
            month: Day::of(month.first_day()),
            known,
            kept_up_to: 0,
            erasures: 0,
            is_changed: false,
        };
        statements::insert(self.of(partner)?, &[row]).stored()
    }

    fn keep_rows(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        rows: &[ReportRow],
        up_to: i64,
    ) -> Result<(), StoreError> {
        for some in rows.chunks(statements::INSERT_CHUNK) {
            let rows: Vec<_> =
                some.iter().map(|row| ClosedMonthRow::new(partner, month, row)).collect::<Result<_, _>>()?;
            statements::insert(self.of(partner)?, &rows).stored()?;
        }
        let text = "UPDATE closed_months SET kept_up_to = ? WHERE partner_id = ? AND month = ?";
        self.change(partner, text, binds![up_to, partner.key(), Day::of(month.first_day())])
    }

    fn kept_rows(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        after: i64,
        limit: u32,
    ) -> Result<Vec<ReportRow>, StoreError> {
        closed_month_rows::table
            .filter(closed_month_rows::partner_id.eq(partner.key()))
            .filter(closed_month_rows::month.eq(Day::of(month.first_day())))
            .filter(closed_month_rows::place.gt(after))
            .order(closed_month_rows::place)
            .limit(i64::from(limit))
            .select(ClosedMonthRow::as_select())
            .load(self.of(partner)?)
            .all(ClosedMonthRow::row)
    }

    fn end_closing(
        &mut self,
        partner: PartnerId,
        month: CalendarMonth,
        sha256: [u8; 32],
        is_changed: bool,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let text = "UPDATE closed_months SET sha256 = ?, is_changed = ?, closed_at = ?
            WHERE partner_id = ? AND month = ? AND sha256 IS NULL";
        let values =
            binds![&sha256[..], is_changed, UtcTimestamp::of(at), partner.key(), Day::of(month.first_day())];
        self.change(partner, text, values)
    }
}
