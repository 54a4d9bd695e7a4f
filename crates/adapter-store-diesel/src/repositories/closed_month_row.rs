//! The rows of closed months.

use diesel::prelude::*;
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::{ReportPerson, ReportRow, StoreError};

use crate::convert::{AsKey, corrupt, natural};
use crate::schema::closed_month_rows;
use crate::sql_types::{Day, Id};
use crate::statements::row;

/// A row as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = closed_month_rows)]
pub(super) struct ClosedMonthRow {
    partner_id: Id,
    month: Day,
    place: i64,
    employee_id: Option<Id>,
    custom_id: Option<String>,
    surname: Option<String>,
    name: Option<String>,
    patronymic: Option<String>,
    category_id: Option<Id>,
    category: Option<String>,
    opening: i64,
    given: i64,
    spent: i64,
    refunded: i64,
    returned: i64,
    correction: i64,
    late: i64,
    payments: i64,
    transactions: i64,
}

row!(ClosedMonthRow, closed_month_rows:
    partner_id, month, place, employee_id, custom_id, surname, name, patronymic, category_id, category, opening, given, spent,
    refunded, returned, correction, late, payments, transactions);

impl ClosedMonthRow {
    pub(super) fn new(partner: PartnerId, month: CalendarMonth, row: &ReportRow) -> Result<Self, StoreError> {
        let ReportAmounts { opening, given, spent, refunded, returned, correction, late, .. } = row.amounts;
        let count = |number: u64| i64::try_from(number).map_err(|_| corrupt("closed_month_rows"));
        let person = row.person.as_ref();
        let category = person.and_then(|person| person.category.as_ref());
        Ok(Self {
            partner_id: partner.key(),
            month: Day::of(month.first_day()),
            place: row.place,
            employee_id: person.map(|person| person.id.key()),
            custom_id: person.and_then(|person| person.custom_id.clone()),
            surname: person.and_then(|person| person.surname.clone()),
            name: person.and_then(|person| person.name.clone()),
            patronymic: person.and_then(|person| person.patronymic.clone()),
            category_id: category.map(|(id, _)| id.key()),
            category: category.map(|(_, name)| name.clone()),
            opening: opening.get(),
            given: given.get(),
            spent: spent.get(),
            refunded: refunded.get(),
            returned: returned.get(),
            correction: correction.get(),
            late: late.get(),
            payments: count(row.amounts.payments)?,
            transactions: count(row.amounts.transactions)?,
        })
    }

    pub(super) fn row(self) -> Result<ReportRow, StoreError> {
        let person = self.employee_id.map(|id| ReportPerson {
            id: id.to(),
            custom_id: self.custom_id,
            surname: self.surname,
            name: self.name,
            patronymic: self.patronymic,
            category: self.category_id.map(|id| id.to()).zip(self.category),
        });
        let amounts = ReportAmounts {
            opening: Kopecks::new(self.opening),
            given: Kopecks::new(self.given),
            given_otherwise: Kopecks::ZERO,
            spent: Kopecks::new(self.spent),
            refunded: Kopecks::new(self.refunded),
            returned: Kopecks::new(self.returned),
            correction: Kopecks::new(self.correction),
            late: Kopecks::new(self.late),
            payments: natural(self.payments, "closed_month_rows.payments")?,
            transactions: natural(self.transactions, "closed_month_rows.transactions")?,
        };
        Ok(ReportRow { place: self.place, person, amounts })
    }
}
