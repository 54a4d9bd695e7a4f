//! Programmes and the calendar of holidays.

use diesel::prelude::*;
use diesel::sql_types::Text;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::{PartnerId, ProgrammeId};
use kopeck_domain::programme::{Audience, DayKind, Notice, Programme, ProgrammeFields, Proposal, Workdays};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{CardHolder, CardView, Member, ProgrammeRepository, StoreError};
use time::{Date, OffsetDateTime};

use super::card_row::{BankRow, PlainRow};
use super::{listed, window};
use crate::convert::{AsKey, corrupt, word};
use crate::error::{Stored, StoredRows};
use crate::schema::{calendar_days, programmes};
use crate::sql_types::{Day, Id, UtcTimestamp, sql};
use crate::statements::{self, Bind, InsertRow as _, OneOf, binds, row};
use crate::terms_text;
use crate::transaction::DieselTransaction;

const UPDATE: &str = "
    UPDATE programmes SET name = ?, terms = ?, state = ?, proposed_terms = ?, proposed_by = ?, proposed_at = ?, created_by = ?,
        created_at = ?, since = ?, last_period = ?, notice_period = ?, is_of_the_day = ?, told_short = ?, look_at = ?
    WHERE partner_id = ? AND id = ?";

/// Members of an audience with their MAIN cards; erased ones are in none.
macro_rules! members {
    ($those:literal) => {
        concat!(
            "SELECT e.custom_id, e.status, e.created_at, c.id, c.number, c.kind, c.order_id, c.valid_until, c.employee_id,
                c.link_status, c.block_state, c.block_change, c.balance, c.remaining_top_up, c.activated_at, c.standing,
                c.seen_at
            FROM employees e
            JOIN cards c ON c.partner_id = e.partner_id AND c.employee_id = e.id AND c.link_status = 'MAIN'
            WHERE e.partner_id = ? AND e.erased_at IS NULL AND e.status ?",
            $those
        )
    };
}

// Those of many go on behind a custom identifier.
const EVERYBODY: &str = members!(" AND e.custom_id > ? ORDER BY e.custom_id LIMIT ?");
const OF_CATEGORIES: &str = members!(" AND e.category_id ? AND e.custom_id > ? ORDER BY e.custom_id LIMIT ?");
const BY_ID: &str = members!(" AND e.id ?");

/// Each partner as often as it has something to do.
const DUE: &str = "
    SELECT due.partner_id AS partner_id FROM (
        SELECT partner_id, look_at AS at FROM programmes WHERE look_at <= ?
        UNION ALL
        SELECT partner_id, retry_at AS at FROM runs WHERE retry_at <= ?
    ) due
    JOIN partners ON partners.id = due.partner_id AND partners.status = 'ACTIVE'
    WHERE NOT EXISTS (
        SELECT 1 FROM runs
        WHERE runs.partner_id = due.partner_id AND runs.programme_id IS NOT NULL AND runs.state = 'IN_PROCESS'
            AND runs.state_since >= ?
    )
    GROUP BY due.partner_id ORDER BY MIN(due.at), due.partner_id LIMIT ?";

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = sql::Id)]
    partner_id: Id,
}

#[derive(QueryableByName)]
struct MemberRow {
    #[diesel(sql_type = Text)]
    custom_id: String,
    #[diesel(sql_type = Text)]
    status: String,
    #[diesel(sql_type = sql::UtcTimestamp)]
    created_at: UtcTimestamp,
    #[diesel(embed)]
    card: PlainRow,
    #[diesel(embed)]
    bank: BankRow,
}

impl MemberRow {
    fn member(self) -> Result<Member, StoreError> {
        let card = CardView { card: self.card.card()?, bank: self.bank.view()? };
        let holder = CardHolder {
            id: card.card.link().ok_or_else(|| corrupt("cards.employee_id"))?.employee,
            custom_id: word(&self.custom_id, "employees.custom_id")?,
            status: word(&self.status, "employees.status")?,
        };
        Ok(Member { holder, created_at: self.created_at.time("employees.created_at")?, card })
    }
}

/// A programme as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = programmes)]
struct ProgrammeRow {
    partner_id: Id,
    id: Id,
    name: String,
    terms: String,
    state: String,
    proposed_terms: Option<String>,
    proposed_by: Option<String>,
    proposed_at: Option<UtcTimestamp>,
    created_by: String,
    created_at: UtcTimestamp,
    since: UtcTimestamp,
    last_period: Option<String>,
    notice_period: Option<String>,
    is_of_the_day: bool,
    told_short: bool,
    look_at: Option<UtcTimestamp>,
}

row!(
    ProgrammeRow, programmes: partner_id, id, name, terms, state, proposed_terms, proposed_by, proposed_at, created_by,
    created_at, since, last_period, notice_period, is_of_the_day, told_short, look_at
);

impl ProgrammeRow {
    fn new(
        partner: PartnerId,
        programme: &Programme,
        look_at: Option<OffsetDateTime>,
    ) -> Result<Self, StoreError> {
        let (proposal, notice) = (programme.proposal(), programme.notice());
        Ok(Self {
            partner_id: partner.key(),
            id: programme.id().key(),
            name: programme.terms().fields().name.as_str().to_owned(),
            terms: terms_text::text(programme.terms())?,
            state: programme.state().as_str().to_owned(),
            proposed_terms: proposal.map(|proposal| terms_text::text(&proposal.terms)).transpose()?,
            proposed_by: proposal.map(|proposal| proposal.by.to_string()),
            proposed_at: proposal.map(|proposal| UtcTimestamp::of(proposal.at)),
            created_by: programme.created_by().to_string(),
            created_at: UtcTimestamp::of(programme.created_at()),
            since: UtcTimestamp::of(programme.since()),
            last_period: programme.last().map(|period| period.to_string()),
            notice_period: notice.map(|notice| notice.period.to_string()),
            is_of_the_day: notice.is_some_and(|notice| notice.is_of_the_day),
            told_short: notice.is_some_and(|notice| notice.told_short),
            look_at: look_at.map(UtcTimestamp::of),
        })
    }

    fn programme(self) -> Result<Programme, StoreError> {
        let proposal = match (self.proposed_terms, self.proposed_by, self.proposed_at) {
            (Some(terms), Some(by), Some(at)) => Some(Proposal {
                terms: terms_text::parse(&terms, "programmes.proposed_terms")?,
                by: word(&by, "programmes.proposed_by")?,
                at: at.time("programmes.proposed_at")?,
            }),
            (None, None, None) => None,
            _ => return Err(corrupt("programmes.proposed_terms")),
        };
        let (is_of_the_day, told_short) = (self.is_of_the_day, self.told_short);
        let notice = |text: String| {
            let period = word(&text, "programmes.notice_period")?;
            Ok::<_, StoreError>(Notice { period, is_of_the_day, told_short })
        };
        Ok(Programme::from_stored(ProgrammeFields {
            id: self.id.to(),
            terms: terms_text::parse(&self.terms, "programmes.terms")?,
            state: word(&self.state, "programmes.state")?,
            proposal,
            created_by: word(&self.created_by, "programmes.created_by")?,
            created_at: self.created_at.time("programmes.created_at")?,
            since: self.since.time("programmes.since")?,
            last: self.last_period.map(|text| word(&text, "programmes.last_period")).transpose()?,
            notice: self.notice_period.map(notice).transpose()?,
        }))
    }
}

/// A day of the calendar as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = calendar_days)]
struct DayRow {
    day: Day,
    kind: String,
}

row!(DayRow, calendar_days: day, kind);

impl DieselTransaction {
    /// Some members by a statement, which has these values behind the partner and the statuses.
    fn some_members(
        &mut self,
        partner: PartnerId,
        text: &'static str,
        statuses: &[EmployeeStatus],
        values: Vec<Bind<'_>>,
    ) -> Result<Vec<Member>, StoreError> {
        let statuses = OneOf(statuses.iter().map(|status| status.as_str().to_owned()).collect());
        let values = binds![partner.key(), statuses].into_iter().chain(values).collect();
        let rows: Vec<MemberRow> = statements::load(self.of(partner)?, text, values).stored()?;
        rows.into_iter().map(MemberRow::member).collect()
    }

    /// All members by a statement that goes on behind a custom identifier, in the order of these.
    fn members_in_order(
        &mut self,
        partner: PartnerId,
        statuses: &[EmployeeStatus],
        categories: Option<&[Id]>,
    ) -> Result<Vec<Member>, StoreError> {
        let text = if categories.is_some() { OF_CATEGORIES } else { EVERYBODY };
        let mut members: Vec<Member> = Vec::new();
        loop {
            // All are behind the empty one.
            let last = members.last().map_or("", |member| member.holder.custom_id.as_str()).to_owned();
            let mut values: Vec<Bind<'_>> = Vec::new();
            values.extend(categories.map(|ids| Bind::from(OneOf(ids.to_vec()))));
            values.extend(binds![&last, i64::from(statements::UPDATE_CHUNK)]);
            let some = self.some_members(partner, text, statuses, values)?;
            let is_last = some.len() < statements::UPDATE_CHUNK as usize;
            members.extend(some);
            if is_last {
                return Ok(members);
            }
        }
    }
}

impl ProgrammeRepository for DieselTransaction {
    fn insert(
        &mut self,
        partner: PartnerId,
        programme: &Programme,
        look_at: Option<OffsetDateTime>,
    ) -> Result<(), StoreError> {
        let row = ProgrammeRow::new(partner, programme, look_at)?;
        statements::insert(self.of(partner)?, &[row]).stored()
    }

    fn update(
        &mut self,
        partner: PartnerId,
        programme: &Programme,
        look_at: Option<OffsetDateTime>,
    ) -> Result<(), StoreError> {
        let row = ProgrammeRow::new(partner, programme, look_at)?;
        let mut values = row.values();
        // The key, which comes first in the row, comes last in the statement.
        values.rotate_left(2);
        self.change(partner, UPDATE, values)
    }

    fn delete(&mut self, partner: PartnerId, id: ProgrammeId) -> Result<(), StoreError> {
        let text = "DELETE FROM programmes WHERE partner_id = ? AND id = ?";
        self.change(partner, text, binds![partner.key(), id.key()])
    }

    fn get(&mut self, partner: PartnerId, id: ProgrammeId) -> Result<Option<Programme>, StoreError> {
        programmes::table
            .find((partner.key(), id.key()))
            .select(ProgrammeRow::as_select())
            .get_result(self.of(partner)?)
            .found(ProgrammeRow::programme)
    }

    fn list(&mut self, partner: PartnerId, page: Page) -> Result<Listed<Programme>, StoreError> {
        let own = programmes::table.filter(programmes::partner_id.eq(partner.key()));
        let total: i64 = own.count().get_result(self.of(partner)?).stored()?;
        let (limit, offset) = window(page);
        // Identifiers ascend with time.
        let rows = own.order(programmes::id).limit(limit).offset(offset).select(ProgrammeRow::as_select());
        listed(total, rows.load(self.of(partner)?), ProgrammeRow::programme)
    }

    fn members(
        &mut self,
        partner: PartnerId,
        audience: &Audience,
        statuses: &[EmployeeStatus],
    ) -> Result<Vec<Member>, StoreError> {
        let mut members = Vec::new();
        match audience {
            Audience::All => return self.members_in_order(partner, statuses, None),
            Audience::Categories(ids) => {
                for some in ids.chunks(statements::UPDATE_CHUNK as usize) {
                    let some: Vec<Id> = some.iter().map(AsKey::key).collect();
                    members.extend(self.members_in_order(partner, statuses, Some(&some))?);
                }
            }
            Audience::Employees(ids) => {
                for some in ids.chunks(statements::UPDATE_CHUNK as usize) {
                    let some = OneOf(some.iter().map(AsKey::key).collect());
                    members.extend(self.some_members(partner, BY_ID, statuses, binds![some])?);
                }
            }
        }
        members.sort_unstable_by(|one, other| {
            one.holder.custom_id.as_str().cmp(other.holder.custom_id.as_str())
        });
        Ok(members)
    }

    fn due(
        &mut self,
        now: OffsetDateTime,
        open_since: OffsetDateTime,
        limit: u32,
    ) -> Result<Vec<PartnerId>, StoreError> {
        let (now, open_since) = (UtcTimestamp::of(now), UtcTimestamp::of(open_since));
        let values = binds![now, now, open_since, i64::from(limit)];
        let rows: Vec<DueRow> = statements::load(self.unlocked()?, DUE, values).stored()?;
        Ok(rows.into_iter().map(|row| row.partner_id.to()).collect())
    }

    fn due_of(&mut self, partner: PartnerId, now: OffsetDateTime) -> Result<Vec<Programme>, StoreError> {
        programmes::table
            .filter(programmes::partner_id.eq(partner.key()))
            .filter(programmes::look_at.le(UtcTimestamp::of(now)))
            .order(programmes::id)
            .select(ProgrammeRow::as_select())
            .load(self.of(partner)?)
            .all(ProgrammeRow::programme)
    }

    fn workdays(&mut self) -> Result<Workdays, StoreError> {
        calendar_days::table.select(DayRow::as_select()).load(self.unlocked()?).all(|row: DayRow| {
            Ok((row.day.date("calendar_days.day")?, word::<DayKind>(&row.kind, "calendar_days.kind")?))
        })
    }

    fn set_workdays(&mut self, days: &[(Date, DayKind)]) -> Result<(), StoreError> {
        let connection = self.unlocked()?;
        statements::execute(connection, "DELETE FROM calendar_days", Vec::new()).done()?;
        let row =
            |(day, kind): &(Date, DayKind)| DayRow { day: Day::of(*day), kind: kind.as_str().to_owned() };
        let rows: Vec<DayRow> = days.iter().map(row).collect();
        for rows in rows.chunks(statements::INSERT_CHUNK) {
            statements::insert(connection, rows).stored()?;
        }
        let text = "UPDATE programmes SET look_at = ? WHERE look_at IS NOT NULL";
        let values = binds![UtcTimestamp::of(OffsetDateTime::UNIX_EPOCH)];
        statements::execute(connection, text, values).done()
    }
}
