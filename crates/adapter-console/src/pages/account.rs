//! The user's own password and sessions.

use kopeck_audit::Entry;
use kopeck_port_store::{Access, StoreError};
use kopeck_service::users::{Confirmation, EndedSessions, UserError};
use secrecy::SecretString;

use super::login::{in_queue, problem_of};
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The form of a new password.
pub(crate) fn password(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::ChangePassword), "sessions");
    if visit.session.must_change_password {
        page.push(Block::Text(visit.t(Text::ReplaceFirstPassword).to_owned()));
    }
    let field = |name, label, autocomplete| {
        let field = Field::new(name, visit.t(label), FieldKind::Password);
        field.required().autocomplete(autocomplete)
    };
    let form = visit
        .post("/password", Text::ChangePassword)
        .field(field("current", Text::CurrentPassword, "current-password"))
        .field(field("new", Text::NewPassword, "new-password").hint(visit.t(Text::PasswordRule)))
        .field(field("again", Text::NewPasswordAgain, "new-password"));
    page.push(Block::Form(form));
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice))))
}

/// Changes the password.
pub(crate) async fn change_password(visit: &Visit<'_>) -> Outcome {
    let [current, new, again] = ["current", "new", "again"].map(|name| visit.form.raw(name).to_owned());
    if new != again {
        let problem = Problem::new(422, visit.language, Text::PasswordsDiffer);
        return password(visit, Some(&problem));
    }
    let confirmation = confirmation(visit, current, "password.change");
    let (users, store, session) =
        (visit.parts.users.clone(), visit.parts.store.clone(), visit.session.clone());
    let new = SecretString::from(new);
    let change = move || users.change_password(&*store, &session, &new, confirmation);
    match in_queue(visit.host, visit.language, change).await? {
        Ok(_) => Ok(Reply::SeeOther("/sessions?done=password".to_owned())),
        Err(error) => password(visit, Some(&refusal(visit, &error))),
    }
}

/// The user's sessions.
pub(crate) async fn sessions(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let (users, session) = (visit.parts.users.clone(), visit.session.clone());
    let list = visit.in_store(Access::Read, move |unit| users.sessions(unit, &session));
    let found = list.await.map_err(|error| problem_of(&UserError::Store(error), visit.language))?;
    let mut page = Page::new(visit.t(Text::Account), "sessions");
    page.push(Block::Facts(vec![
        (visit.t(Text::Email).to_owned(), Cell::text(visit.session.user.login.as_str())),
        (visit.t(Text::Role).to_owned(), Cell::text(visit.t(Text::of_role(visit.session.user.role)))),
    ]));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::ChangePassword), "/password")]));
    let columns = [Text::Began, Text::LastUsed, Text::Address, Text::ThisSession].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::Sessions), visit.columns(&columns), "");
    for session in &found {
        table.rows.push(vec![
            Cell::text(visit.instant(session.created_at)),
            Cell::text(visit.instant(session.last_used_at)),
            Cell::text(session.address.clone().unwrap_or_default()),
            Cell::text(if session.is_current { visit.t(Text::Yes) } else { "" }),
        ]);
    }
    page.push(Block::Table(table));
    if found.len() > 1 {
        let password = Field::new("current", visit.t(Text::CurrentPassword), FieldKind::Password);
        let form = visit.post("/sessions", Text::EndOtherSessions).dangerous();
        page.push(Block::Form(form.field(password.required().autocomplete("current-password"))));
    }
    page.status = problem.map_or(200, |problem| problem.status);
    Ok(Reply::Page(page.noting(problem.map(Problem::notice).or_else(|| visit.done()))))
}

/// Ends the user's other sessions.
pub(crate) async fn end_others(visit: &Visit<'_>) -> Outcome {
    let confirmation = confirmation(visit, visit.form.raw("current").to_owned(), "session.end");
    let (users, store, session) =
        (visit.parts.users.clone(), visit.parts.store.clone(), visit.session.clone());
    let end = move || users.end_sessions(&*store, &session, EndedSessions::Others, confirmation);
    match in_queue(visit.host, visit.language, end).await? {
        Ok(_) => Ok(Reply::SeeOther("/sessions?done=sessions".to_owned())),
        Err(error) => sessions(visit, Some(&refusal(visit, &error))).await,
    }
}

/// Ends this session.
pub(crate) async fn log_out(visit: &Visit<'_>) -> Outcome {
    let (users, session) = (visit.parts.users.clone(), visit.session.clone());
    let entry: Entry = visit.host.audit_entry("user.logout");
    let ended = visit.in_store(Access::Write, move |unit| -> Result<(), StoreError> {
        users.log_out(unit, &session, &entry)
    });
    ended.await.map_err(|error| problem_of(&UserError::Store(error), visit.language))?;
    Ok(Reply::LoggedOut)
}

fn confirmation(visit: &Visit<'_>, password: String, action: &'static str) -> Confirmation {
    Confirmation {
        password: SecretString::from(password),
        address: visit.host.network(),
        entry: visit.host.audit_entry(action),
    }
}

/// The refusal of a change to one's own account: only the present password can be wrong.
fn refusal(visit: &Visit<'_>, error: &UserError) -> Problem {
    match error {
        UserError::BadCredentials => Problem::new(422, visit.language, Text::WrongPassword),
        error => problem_of(error, visit.language),
    }
}
