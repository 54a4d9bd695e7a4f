//! The user's own password and sessions.

use kopeck_audit::Entry;
use kopeck_port_store::{Access, StoreError};
use kopeck_service::users::{Confirmation, EndedSessions, UserError};
use secrecy::SecretString;

use super::login::{in_queue, problem_of};
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Page, StillOpen, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["password"]) => password(visit, None),
        (true, ["password"]) => change_password(visit).await,
        (true, ["logout"]) => log_out(visit).await,
        (false, ["poll", "session"]) => visit.fragment(&StillOpen),
        (false, ["sessions"]) => sessions(visit, None).await,
        (true, ["sessions"]) => end_others(visit).await,
        _ => Err(visit.nothing()),
    }
}

/// The form of a new password.
pub(crate) fn password(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::CHANGE_PASSWORD), "sessions");
    if visit.session.must_change_password {
        page.push(Block::Text(visit.t(Text::REPLACE_FIRST_PASSWORD).to_owned()));
    }
    let field = |name, label, autocomplete| {
        let field = Field::new(name, visit.t(label), FieldKind::Password);
        field.required().autocomplete(autocomplete)
    };
    let form = visit
        .post("/password", Text::CHANGE_PASSWORD)
        .field(field("current", Text::CURRENT_PASSWORD, "current-password"))
        .field(field("new", Text::NEW_PASSWORD, "new-password").hint(visit.t(Text::PASSWORD_RULE)))
        .field(field("again", Text::NEW_PASSWORD_AGAIN, "new-password"));
    page.push(Block::Form(form));
    Ok(Reply::Page(page.refused(problem)))
}

/// Changes the password.
pub(crate) async fn change_password(visit: &Visit<'_>) -> Outcome {
    let [current, new, again] = ["current", "new", "again"].map(|name| visit.form.raw(name).to_owned());
    if new != again {
        let problem = Problem::new(422, visit.language, Text::PASSWORDS_DIFFER);
        return password(visit, Some(&problem));
    }
    let entry = visit.entry("password.change", visit.session.user.partner);
    let confirmation = confirmation(visit, current, entry.clone());
    let (users, store, session) =
        (visit.parts.users.clone(), visit.parts.store.clone(), visit.session.clone());
    let new = SecretString::from(new);
    let change = move || users.change_password(&*store, &session, &new, confirmation);
    match in_queue(visit.host, visit.language, change).await? {
        Ok(renewed) => {
            visit.renew(renewed.token);
            Ok(Reply::SeeOther("/sessions?done=password".to_owned()))
        }
        Err(error) => password(visit, Some(&refusal(visit, entry, &error))),
    }
}

/// The user's sessions.
pub(crate) async fn sessions(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let (users, session) = (visit.parts.users.clone(), visit.session.clone());
    let list = visit.in_store(Access::Read, move |unit| users.sessions(unit, &session));
    let found = list.await.map_err(|error| problem_of(&UserError::Store(error), visit.language))?;
    let mut page = Page::new(visit.t(Text::ACCOUNT), "sessions");
    page.push(Block::Facts(vec![
        (visit.t(Text::EMAIL).to_owned(), Cell::text(visit.session.user.login.as_str())),
        (visit.t(Text::ROLE).to_owned(), Cell::text(visit.t(Text::of_role(visit.session.user.role)))),
    ]));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::CHANGE_PASSWORD), "/password")]));
    let columns = [Text::BEGAN, Text::LAST_USED, Text::ADDRESS, Text::THIS_SESSION].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::SESSIONS), visit.columns(&columns), "");
    for session in &found {
        table.rows.push(vec![
            Cell::text(visit.instant(session.created_at)),
            Cell::text(visit.instant(session.last_used_at)),
            Cell::text(session.address.clone().unwrap_or_default()),
            Cell::text(if session.is_current { visit.t(Text::YES) } else { "" }),
        ]);
    }
    page.push(Block::Table(table));
    if found.len() > 1 {
        let form = visit.post("/sessions", Text::END_OTHER_SESSIONS).dangerous();
        page.push(Block::Form(form.field(current_password(visit))));
    }
    visit.answer(page, problem)
}

/// Ends the user's other sessions.
pub(crate) async fn end_others(visit: &Visit<'_>) -> Outcome {
    let entry = visit.entry("session.end", visit.session.user.partner);
    let confirmation = confirmation(visit, visit.form.raw("current").to_owned(), entry.clone());
    let (users, store, session) =
        (visit.parts.users.clone(), visit.parts.store.clone(), visit.session.clone());
    let end = move || users.end_sessions(&*store, &session, EndedSessions::Others, confirmation);
    match in_queue(visit.host, visit.language, end).await? {
        Ok(renewed) => {
            visit.renew(renewed.token);
            Ok(Reply::SeeOther("/sessions?done=sessions".to_owned()))
        }
        Err(error) => sessions(visit, Some(&refusal(visit, entry, &error))).await,
    }
}

/// The field of the present password, which confirms a change.
pub(super) fn current_password(visit: &Visit<'_>) -> Field {
    let password = Field::new("current", visit.t(Text::CURRENT_PASSWORD), FieldKind::Password);
    password.required().autocomplete("current-password")
}

/// Has the user give the present password once more, before the change of this entry.
pub(super) async fn confirm(visit: &Visit<'_>, entry: Entry) -> Result<(), Problem> {
    let confirmation = confirmation(visit, visit.form.raw("current").to_owned(), entry.clone());
    let (users, store, session) =
        (visit.parts.users.clone(), visit.parts.store.clone(), visit.session.clone());
    let check = move || users.reauthenticate(&*store, &session, confirmation);
    let token = in_queue(visit.host, visit.language, check).await?;
    visit.renew(token.map_err(|error| refusal(visit, entry, &error))?);
    Ok(())
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

fn confirmation(visit: &Visit<'_>, password: String, entry: Entry) -> Confirmation {
    Confirmation { password: SecretString::from(password), address: visit.host.network(), entry }
}

/// The refusal of a change that the present password confirms: nothing else can be wrong. The use case has recorded a wrong
/// one.
fn refusal(visit: &Visit<'_>, entry: Entry, error: &UserError) -> Problem {
    match error {
        UserError::BadCredentials => Problem::new(422, visit.language, Text::WRONG_PASSWORD),
        error => visit.record_refusal(entry, problem_of(error, visit.language)),
    }
}
