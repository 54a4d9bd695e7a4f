//! Reports and statements of a month, their files, and the closing of a month.

use kopeck_api::operations::{BALANCE, REPORT_CLOSE, REPORT_EMPLOYEES, STATEMENT};
use kopeck_api::{Balance, EntryType, Statement};
use kopeck_domain::Kopecks;
use kopeck_domain::access::Scope;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::report::ReportAmounts;
use kopeck_port_store::{Access, ReportRow};
use kopeck_service::report::{self, ReportError, ReportOutline};
use serde_json::json;

use crate::call::Problem;
use crate::host::FileForm;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Pages, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["reports"]) => show(visit, None).await,
        (true, ["reports"]) => close(visit).await,
        (false, [what @ ("statement" | "report"), month, end]) => file(visit, what, month, end).await,
        _ => Err(visit.nothing()),
    }
}

/// The most persons on a page.
const PAGE: usize = 100;

/// The most pieces of the report that a page reads.
const MAX_PIECES: usize = 5;

/// The files of a report and of a statement, each with the end of its path.
const REPORT_FILES: [(Text, &str, FileForm); 3] = [
    (Text::SPREADSHEET, "xlsx", FileForm::Xlsx),
    (Text::EXCEL_CSV, "excel", FileForm::ExcelCsv),
    (Text::PLAIN_CSV, "csv", FileForm::Csv),
];
const STATEMENT_FILES: [(Text, &str, FileForm); 5] = [
    (Text::SPREADSHEET, "xlsx", FileForm::Xlsx),
    (Text::EXCEL_CSV, "excel", FileForm::ExcelCsv),
    (Text::PLAIN_CSV, "csv", FileForm::Csv),
    (Text::FOR1_C, "1c", FileForm::OneC),
    (Text::CAMT, "camt", FileForm::Camt),
];

/// The month that the page is asked for; the present one otherwise.
fn month(visit: &Visit<'_>) -> String {
    let today = visit.parts.env.settings.zone.day(visit.parts.env.now());
    let present = format!("{:04}-{:02}", today.year(), u8::from(today.month()));
    visit.query.given("month").map_or(present, str::to_owned)
}

/// The page of a month.
pub(crate) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let month = month(visit);
    let Ok(parsed) = CalendarMonth::parse(&month) else { return Err(visit.nothing()) };
    let balance: Balance = visit.get(&BALANCE, &[], &[]).await?;
    let mut page = Page::new(format!("{} {month}", visit.t(Text::REPORTS)), "reports");
    let field = Field::new("month", visit.t(Text::MONTH), FieldKind::Month).value(&*month).max(7);
    page.push(Block::Form(Form::search("/reports", visit.t(Text::SHOW)).field(field)));
    page.push(Block::Facts(vec![
        (visit.t(Text::AVAILABLE).to_owned(), Cell::text(visit.money(balance.available))),
        (visit.t(Text::HELD).to_owned(), Cell::text(visit.money(balance.hold))),
    ]));
    let statement: Statement = visit.get(&STATEMENT, &[&month], &[]).await?;
    page.push(Block::Table(statement_table(visit, &statement)));
    page.push(Block::Links(links(visit, "statement", &month, &STATEMENT_FILES)));
    let report = report_page(visit, parsed).await?;
    page.push(Block::Table(report_table(visit, &month, &report)));
    if report.after > 0 || report.next.is_some() {
        page.push(Block::Text(visit.t(Text::MORE_IN_FILE).to_owned()));
    }
    page.push(Block::Links(links(visit, "report", &month, &REPORT_FILES)));
    match &report.outline.closed {
        Some((sum, _)) => {
            let sum = report::sum_text(sum);
            page.push(Block::Text(format!("{} SHA-256: {sum}", visit.t(Text::MONTH_IS_CLOSED))));
        }
        None if visit.may(Scope::StatementsWrite) => {
            let sure = Field::new("sure", visit.t(Text::CLOSE_MONTH_SURE), FieldKind::Check).required();
            let form = visit.post("/reports", Text::CLOSE_MONTH).titled(visit.t(Text::CLOSE_MONTH));
            page.push(Block::Form(form.hide("month", month).field(sure).dangerous()));
        }
        None => {}
    }
    visit.answer(page, problem)
}

fn links(visit: &Visit<'_>, what: &str, month: &str, files: &[(Text, &str, FileForm)]) -> Vec<Cell> {
    let link = |(text, end, _): &(Text, &str, FileForm)| {
        Cell::link(visit.t(*text), &format!("/{what}/{month}/{end}"))
    };
    files.iter().map(link).collect()
}

/// A file of a report or a statement.
pub(crate) async fn file(visit: &Visit<'_>, what: &str, month: &str, end: &str) -> Outcome {
    let (operation, files) = match what {
        "statement" => (&STATEMENT, &STATEMENT_FILES[..]),
        _ => (&REPORT_EMPLOYEES, &REPORT_FILES[..]),
    };
    let Some((_, _, form)) = files.iter().find(|(_, known, _)| *known == end) else {
        return Err(visit.nothing());
    };
    visit.file(operation, &[month], &[], *form).await
}

/// Closes the month of the form.
pub(crate) async fn close(visit: &Visit<'_>) -> Outcome {
    let month = visit.form.get("month");
    if visit.form.get("sure") != "yes" {
        return Err(Problem::new(422, visit.language, Text::FORM_INCOMPLETE));
    }
    visit.change(&REPORT_CLOSE, &[month], Some(json!({}))).await?;
    Ok(Reply::SeeOther(format!("/reports?month={month}&done=closed_month")))
}

fn entry_text<'e>(visit: &Visit<'_>, kind: &'e EntryType) -> &'e str {
    match kind {
        EntryType::Deposit => visit.t(Text::DEPOSITS),
        EntryType::Hold => visit.t(Text::HOLDS),
        EntryType::Debit => visit.t(Text::DEBITS),
        EntryType::Release => visit.t(Text::RELEASES),
        EntryType::Return => visit.t(Text::RETURNS),
        EntryType::Withdrawal => visit.t(Text::PAID_OUT),
        EntryType::Correction => visit.t(Text::CORRECTIONS),
        other => other.as_str(),
    }
}

fn statement_table(visit: &Visit<'_>, statement: &Statement) -> Table {
    let columns = [(Text::KIND, false), (Text::NUMBER, true), (Text::AMOUNT, true)];
    let mut table = Table::new(visit.t(Text::STATEMENT_OF_MONTH), visit.columns(&columns), "");
    let row = |text: &str, number: String, amount: i64| {
        vec![Cell::text(text), Cell::number(number), Cell::number(visit.money(amount))]
    };
    table.rows.push(row(visit.t(Text::OPENING), String::new(), statement.opening));
    for total in &statement.totals {
        let text = entry_text(visit, &total.entry_type);
        table.rows.push(row(text, total.number.to_string(), total.amount));
    }
    table.rows.push(row(visit.t(Text::CLOSING_BALANCE), String::new(), statement.closing));
    table
}

/// A part of a month's report.
struct ReportPage {
    outline: ReportOutline,
    /// The place behind which it begins.
    after: i64,
    rows: Vec<ReportRow>,
    /// The place behind which the next part begins.
    next: Option<i64>,
}

/// The part of the report that the page is asked for. It reads a bounded number of pieces, however many persons there are.
async fn report_page(visit: &Visit<'_>, month: CalendarMonth) -> Result<ReportPage, Problem> {
    visit.require(Scope::StatementsRead)?;
    let after = visit.query.get("after").parse().unwrap_or(0).max(0);
    let (env, partner) = (visit.parts.env.clone(), visit.partner()?);
    let found = visit.in_store(Access::Read, move |unit| {
        let outline = report::outline(unit, &env, partner, month)?;
        let (mut rows, mut next) = (Vec::new(), Some(after));
        for _ in 0..MAX_PIECES {
            let Some(behind) = next.filter(|_| rows.len() < PAGE) else { break };
            let (found, further) = report::piece(unit, partner, &outline, behind)?;
            rows.extend(found);
            next = further;
        }
        if rows.len() > PAGE {
            rows.truncate(PAGE);
            next = rows.last().map(|row: &ReportRow| row.place);
        }
        Ok::<_, ReportError>(ReportPage { outline, after, rows, next })
    });
    found.await.map_err(|error| match error {
        ReportError::ToCome => visit.nothing(),
        ReportError::Store(error) => visit.failed(&error),
    })
}

fn report_table(visit: &Visit<'_>, month: &str, report: &ReportPage) -> Table {
    let columns = [
        (Text::PERSONNEL_NUMBER, false),
        (Text::NAME, false),
        (Text::CATEGORY, false),
        (Text::OPENING, true),
        (Text::GIVEN, true),
        (Text::SPENT, true),
        (Text::REFUNDED_SUM, true),
        (Text::RETURNED_SUM, true),
        (Text::CORRECTIONS, true),
        (Text::LATE, true),
        (Text::CLOSING_BALANCE, true),
        (Text::PAYMENTS, true),
    ];
    let mut table =
        Table::new(visit.t(Text::REPORT_OF_MONTH), visit.columns(&columns), visit.t(Text::NOTHING_MOVED));
    table.rows.extend(report.rows.iter().map(|row| report_row(visit, row)));
    let total = report.rows.iter().try_fold(ReportAmounts::default(), |sums, row| sums.plus(&row.amounts));
    if let Ok(total) = total
        && report.after == 0
        && report.next.is_none()
        && !report.rows.is_empty()
    {
        let first = [Cell::text(visit.t(Text::TOTAL)), Cell::default(), Cell::default()];
        table.rows.push(with_amounts(visit, first, &total));
    }
    let link = |text, after: i64| Cell::link(visit.t(text), &format!("/reports?month={month}&after={after}"));
    table.pages = (report.after > 0 || report.next.is_some()).then(|| Pages {
        label: String::new(),
        previous: (report.after > 0).then(|| link(Text::FROM_THE_BEGINNING, 0)),
        next: report.next.map(|next| link(Text::NEXT, next)),
    });
    table
}

fn report_row(visit: &Visit<'_>, row: &ReportRow) -> Vec<Cell> {
    let Some(person) = &row.person else {
        let first = [Cell::default(), Cell::text(visit.t(Text::UNASSIGNED_CARDS)), Cell::default()];
        return with_amounts(visit, first, &row.amounts);
    };
    let names = [&person.surname, &person.name, &person.patronymic];
    let name = names.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
    let category = person.category.as_ref().map(|(_, name)| name.clone());
    let path = format!("/person/{}", person.id);
    let first = [
        // An erased person has no number, and no page.
        person.custom_id.clone().map_or_else(Cell::default, |number| Cell::link(number, &path)),
        Cell::text(name),
        Cell::text(category.unwrap_or_default()),
    ];
    with_amounts(visit, first, &row.amounts)
}

fn with_amounts(visit: &Visit<'_>, first: [Cell; 3], amounts: &ReportAmounts) -> Vec<Cell> {
    let closing = amounts.closing().map(Kopecks::get).ok();
    let money = [
        amounts.opening,
        amounts.given,
        amounts.spent,
        amounts.refunded,
        amounts.returned,
        amounts.correction,
        amounts.late,
    ];
    let cells = money.map(|amount| Some(amount.get())).into_iter().chain([closing]);
    let cells =
        cells.map(|kopecks| Cell::number(kopecks.map(|kopecks| visit.money(kopecks)).unwrap_or_default()));
    first.into_iter().chain(cells).chain([Cell::number(amounts.payments.to_string())]).collect()
}
