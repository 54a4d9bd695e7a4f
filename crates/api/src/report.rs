//! What moved on the cards of each employee in a month.

use uuid::Uuid;

use crate::shape::body;

body! {
    /// What moved on the cards of an employee in a month: `opening + given - spent + refunded - returned + correction + late =
    /// closing`.
    pub struct ReportRow as "ReportRow" {
        /// The employee; `null` in the row of the cards that no employee has had.
        id_employee: Option<Uuid>,
        /// Your own identifier of the employee; `null`, as the names, if the employee is erased.
        custom_id: Option<String>,
        /// The surname.
        surname: Option<String>,
        /// The first name.
        name: Option<String>,
        /// The patronymic.
        patronymic: Option<String>,
        /// The name of the category.
        category: Option<String>,
        /// On the cards at the start of the month, kopecks.
        opening: i64,
        /// What orders and top-ups brought.
        given: i64,
        /// What was paid with the cards.
        spent: i64,
        /// What merchants gave back.
        refunded: i64,
        /// What went back to your balance.
        returned: i64,
        /// What the bank corrected.
        correction: i64,
        /// By how much transactions of closed months that the service learnt of later changed the cards.
        late: i64,
        /// On the cards at the end of the month, kopecks.
        closing: i64,
        /// How many payments there were.
        payments: u64,
    }
}

body! {
    /// The sums of all rows.
    pub struct ReportTotals as "ReportTotals" {
        /// On the cards at the start of the month, kopecks.
        opening: i64,
        /// What orders and top-ups brought.
        given: i64,
        /// What was paid with the cards.
        spent: i64,
        /// What merchants gave back.
        refunded: i64,
        /// What went back to your balance.
        returned: i64,
        /// What the bank corrected.
        correction: i64,
        /// By how much transactions of closed months changed the cards.
        late: i64,
        /// On the cards at the end of the month, kopecks.
        closing: i64,
        /// How many payments there were.
        payments: u64,
    }
}

body! {
    /// What moved on the cards of each employee in a month.
    pub struct Report as "Report" {
        /// The month.
        month: String,
        /// Whether the month is over.
        complete: bool,
        /// SHA-256 of the plain CSV file, in hexadecimal digits, as of when the month was closed; `null` if it is not closed.
        sha256: Option<String>,
        /// Whether an employee of the closed month was erased since: the file then has another SHA-256.
        changed_by_erasure: bool,
        /// A row for each employee with a balance or a movement, in the order in which they were added.
        data: Vec<ReportRow>,
        /// The sums of all rows.
        totals: ReportTotals,
    }
}

body! {
    /// A month that is closed.
    pub struct ReportClosed as "ReportClosed" {
        /// The month.
        month: String,
        /// SHA-256 of the plain CSV file of its report, in hexadecimal digits.
        sha256: String,
    }
}
