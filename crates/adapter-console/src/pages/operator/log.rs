//! The audit log of all partners and of the service, and its verification.

use std::sync::Arc;

use kopeck_port_store::{Access, AuditFilter};
use kopeck_service::audit::{VerifyError, verify as verify_log};

use crate::pages::names::Names;
use crate::pages::users::audit_table;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Notice, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The page.
const PATH: &str = "/log";
/// How many entries are shown.
const ENTRIES: u32 = 200;

/// The latest entries, and the form that verifies all of them.
pub(super) async fn show(visit: &Visit<'_>, notice: Option<Notice>) -> Outcome {
    let action = visit.query.given("action").map(str::to_owned);
    let partner = visit.query.given("partner").map(str::parse).transpose().map_err(|_| visit.nothing())?;
    let filter = AuditFilter { action, partner, ..AuditFilter::default() };
    let list = visit.in_store(Access::Read, move |unit| unit.audit().list(&filter, ENTRIES)).await;
    let records = list.map_err(|error| visit.failed(&error))?;
    let mut page = Page::new(visit.t(Text::AUDIT_LOG), "service");
    page.push(Block::Form(visit.post(PATH, Text::VERIFY_LOG).titled(visit.t(Text::VERIFY_ABOUT))));
    let field = |name, label, max| {
        Field::new(name, visit.t(label), FieldKind::Text).value(visit.query.get(name)).max(max)
    };
    let search = Form::search(PATH, visit.t(Text::SEARCH));
    let search =
        search.field(field("action", Text::OPERATION, 64)).field(field("partner", Text::PARTNER, 36));
    page.push(Block::Form(search));
    page.push(Block::Table(audit_table(visit, &records, &Names::of(visit).await)));
    page.status = if notice.as_ref().is_some_and(|notice| notice.is_problem) { 409 } else { 200 };
    Ok(Reply::Page(page.noting(notice)))
}

/// Verifies the whole log: hashes, order and signatures.
pub(super) async fn verify(visit: &Visit<'_>) -> Outcome {
    let (store, signer) = (Arc::clone(&visit.parts.store), Arc::clone(&visit.parts.operators.signer));
    let verified = visit.blocking(move || verify_log(&*store, Some(&*signer), &[], 0)).await?;
    let line = |label: Text, value: u64| format!("{}: {value}", visit.t(label));
    let notice = match verified {
        Ok(report) => Notice {
            is_problem: false,
            lines: vec![
                visit.t(Text::LOG_IS_WHOLE).to_owned(),
                line(Text::LOG_ENTRIES, report.entries),
                line(Text::LOG_CHAINS, u64::try_from(report.heads.len()).unwrap_or(u64::MAX)),
                line(Text::LOG_PRUNED, report.pruned),
            ],
        },
        Err(VerifyError::Broken(violation)) => Notice {
            is_problem: true,
            lines: vec![visit.t(Text::LOG_IS_BROKEN).to_owned(), violation.to_string()],
        },
        Err(VerifyError::Store(error)) => return Err(visit.failed(&error)),
    };
    show(visit, Some(notice)).await
}

/// Links to the tools of operators.
pub(super) fn tools(visit: &Visit<'_>) -> Block {
    let mut links = vec![
        (Text::STUCK, "/stuck"),
        (Text::RECONCILIATION, "/reconciliation"),
        (Text::AUDIT_LOG, PATH),
        (Text::CALENDAR, "/calendar"),
    ];
    if visit.parts.operators.sandbox.is_some() {
        links.push((Text::SANDBOX, "/sandbox"));
    }
    Block::Links(links.into_iter().map(|(text, path)| Cell::link(visit.t(text), path)).collect())
}
