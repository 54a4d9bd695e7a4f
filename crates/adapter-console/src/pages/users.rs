//! Users of the partner, and the audit log.

use kopeck_audit::{Actor, Entry, Record};
use kopeck_domain::access::{Role, Scope};
use kopeck_domain::user::{User, UserLogin, UserStatus};
use kopeck_port_store::{Access, AuditFilter, UnitOfWork};
use kopeck_service::partners;
use kopeck_service::users::{self, NewUser, Reset, UserError, UserOverview};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};

use super::account::{confirm, current_password};
use super::login::{in_queue, problem_of};
use super::names::Names;
use crate::call::Problem;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The pages of this part, and what their forms do.
pub(crate) async fn route(visit: &Visit<'_>, segments: &[&str]) -> Outcome {
    match (visit.request.is_post, segments) {
        (false, ["users"]) => show(visit, None).await,
        (true, ["users"]) => add(visit).await,
        (false, ["user", id]) => show_user(visit, &other(visit, id).await?, None),
        (true, ["user", id, action]) => act(visit, id, action).await,
        (false, ["audit"]) => audit(visit).await,
        _ => Err(visit.nothing()),
    }
}

/// The roles of a partner's users.
const ROLES: [Role; 4] = [Role::Owner, Role::Hr, Role::Finance, Role::Auditor];

/// How many entries of the audit log are shown.
const ENTRIES: u32 = 200;

async fn list(visit: &Visit<'_>) -> Result<Vec<UserOverview>, Problem> {
    visit.require(Scope::UsersRead)?;
    let (env, partner) = (visit.parts.env.clone(), visit.partner()?);
    let list = visit.in_store(Access::Read, move |unit| users::list(unit, &env, Some(partner))).await;
    list.map_err(|error| problem_of(&UserError::Store(error), visit.language))
}

/// The page of the users.
pub(crate) async fn show(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let users = list(visit).await?;
    let mut page = Page::new(visit.t(Text::USERS), "users");
    page.push(Block::Links(vec![Cell::link(visit.t(Text::AUDIT_LOG), "/audit")]));
    let columns = [Text::EMAIL, Text::ROLE, Text::STATUS, Text::SECOND_FACTOR, Text::LAST_LOGIN]
        .map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::USERS), visit.columns(&columns), "");
    for UserOverview { user, has_second_factor, last_login_at, .. } in &users {
        let is_active = user.status == UserStatus::Active;
        let login = user.login.as_str();
        table.rows.push(vec![
            if visit.may(Scope::UsersWrite) && user.id != visit.session.user.id {
                Cell::link(login, &format!("/user/{}", user.id))
            } else {
                Cell::text(login)
            },
            Cell::text(visit.t(Text::of_role(user.role))),
            Cell::text(visit.t(if is_active { Text::ACTIVE } else { Text::DISABLED })),
            Cell::text(visit.t(if *has_second_factor { Text::YES } else { Text::NO })),
            Cell::text(last_login_at.map(|at| visit.instant(at)).unwrap_or_default()),
        ]);
    }
    page.push(Block::Table(table));
    if visit.may(Scope::UsersWrite) {
        let email = Field::new("login", visit.t(Text::EMAIL), FieldKind::Email).required();
        let form = visit.post("/users", Text::ADD_USER).titled(visit.t(Text::ADD_USER));
        page.push(Block::Form(
            form.field(email.value(visit.form.get("login"))).field(role_field(visit, Role::Hr)),
        ));
    }
    visit.answer(page, problem)
}

fn role_field(visit: &Visit<'_>, role: Role) -> Field {
    let roles = ROLES.map(|role| (role.to_string(), visit.t(Text::of_role(role)).to_owned()));
    Field::new("role", visit.t(Text::ROLE), FieldKind::Select(roles.to_vec())).value(role.as_str())
}

/// The audit entry of a change to a user.
fn entry(visit: &Visit<'_>, action: &'static str, user: &User) -> Entry {
    Entry { subject: format!("user:{}", user.id), ..visit.entry(action, user.partner) }
}

/// Adds a user, and shows its first password.
pub(crate) async fn add(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::UsersWrite)?;
    let role: Option<Role> = visit.form.get("role").parse().ok().filter(|role| ROLES.contains(role));
    let (Some(role), Ok(login)) = (role, UserLogin::parse(visit.form.get("login"))) else {
        return show(visit, Some(&Problem::new(422, visit.language, Text::FORM_INCOMPLETE))).await;
    };
    let id = visit.partner()?;
    let found = visit.in_store(Access::Read, move |unit| partners::find(unit, id)).await;
    let partner = Some(found.map_err(|error| visit.failed(&error))?);
    let service = visit.parts.users.clone();
    let prepare = move || service.prepare(NewUser { partner, role, login, password: None });
    let draft = match in_queue(visit.host, visit.language, prepare).await? {
        Ok(draft) => draft,
        Err(error) => return show(visit, Some(&problem_of(&error, visit.language))).await,
    };
    let (service, entry) = (visit.parts.users.clone(), visit.entry("user.create", Some(id)));
    let create = move |unit: &mut dyn UnitOfWork, entry: &mut Entry| {
        let (user, password) = service.create(unit, &draft)?;
        entry.subject = format!("user:{} role:{role}", user.id);
        Ok::<_, UserError>(shown(&user, &password))
    };
    match visit.once(id, entry, create, |error| problem_of(error, visit.language)).await {
        Ok(shown) => Ok(password_page(visit, &shown)),
        Err(problem) => show(visit, Some(&problem)).await,
    }
}

/// What the page of a first password shows, once for each form.
fn shown(user: &User, password: &SecretString) -> Value {
    json!({"login": user.login.as_str(), "password": password.expose_secret()})
}

fn password_page(visit: &Visit<'_>, shown: &Value) -> Reply {
    let text = |name: &str| shown.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut page = Page::new(text("login"), "users");
    page.push(Block::Text(visit.t(Text::KEEP_PASSWORD).to_owned()));
    page.push(Block::Codes(vec![text("password")]));
    page.push(Block::Links(vec![Cell::link(visit.t(Text::CONTINUE), "/users")]));
    Reply::Page(page)
}

/// The user of the partner with this identifier, unless it is the one that asks.
async fn other(visit: &Visit<'_>, id: &str) -> Result<User, Problem> {
    visit.require(Scope::UsersWrite)?;
    let found = list(visit).await?.into_iter().find(|user| user.user.id.to_string() == id);
    let found = found.map(|found| found.user).filter(|user| user.id != visit.session.user.id);
    found.ok_or_else(|| visit.nothing())
}

/// The page of a user. What changes how it logs in, or what it may do, is confirmed by one's own password.
fn show_user(visit: &Visit<'_>, user: &User, problem: Option<&Problem>) -> Outcome {
    let id = user.id;
    let mut page = Page::new(user.login.as_str(), "users");
    let form = |action: &str, submit| visit.post(&format!("/user/{id}/{action}"), submit);
    let role = form("role", Text::SAVE).titled(visit.t(Text::ROLE)).field(role_field(visit, user.role));
    page.push(Block::Form(role.field(current_password(visit))));
    let toggle = if user.status == UserStatus::Active { Text::DISABLE } else { Text::ENABLE };
    for (action, submit) in
        [("password", Text::NEW_FIRST_PASSWORD), ("second-factor", Text::RESET_SECOND_FACTOR)]
    {
        page.push(Block::Form(form(action, submit).titled(visit.t(submit)).field(current_password(visit))));
    }
    page.push(Block::Form(
        form("status", toggle).hide("enabled", (toggle == Text::ENABLE).to_string()).dangerous(),
    ));
    visit.answer(page, problem)
}

/// The name of a change in the audit log, if one's own password confirms it.
fn confirmed_action(action: &str) -> Option<&'static str> {
    match action {
        "role" => Some("user.set_role"),
        "second-factor" | "password" => Some("user.reset"),
        _ => None,
    }
}

/// Carries out a form of the page of a user.
pub(crate) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let user = other(visit, id).await?;
    if let Some(name) = confirmed_action(action)
        && let Err(problem) = confirm(visit, entry(visit, name, &user)).await
    {
        return show_user(visit, &user, Some(&problem));
    }
    let done = match action {
        "role" => {
            let role: Option<Role> = visit.form.get("role").parse().ok().filter(|role| ROLES.contains(role));
            let role = role.ok_or_else(|| Problem::new(422, visit.language, Text::FORM_INCOMPLETE))?;
            change(visit, "user.set_role", &user, move |unit, user| users::set_role(unit, user, role)).await
        }
        "status" => {
            let (action, status) = match visit.form.get("enabled") {
                "true" => ("user.enable", UserStatus::Active),
                _ => ("user.disable", UserStatus::Disabled),
            };
            change(visit, action, &user, move |unit, user| users::set_status(unit, user, status)).await
        }
        "second-factor" => {
            let reset = Reset { password: None, second_factor: true };
            change(visit, "user.reset", &user, move |unit, user| users::reset(unit, user, &reset)).await
        }
        "password" => return reset_password(visit, &user).await,
        _ => return Err(visit.nothing()),
    };
    done?;
    Ok(Reply::SeeOther(format!("/user/{id}?done=saved")))
}

async fn change(
    visit: &Visit<'_>,
    action: &'static str,
    user: &User,
    mut body: impl FnMut(&mut dyn UnitOfWork, &User) -> Result<u64, UserError> + Send + 'static,
) -> Result<u64, Problem> {
    let (entry, user) = (entry(visit, action, user), user.clone());
    visit.audited(entry, move |unit, _| body(unit, &user), |error| problem_of(error, visit.language)).await
}

async fn reset_password(visit: &Visit<'_>, user: &User) -> Outcome {
    let (service, reset, partner) = (visit.parts.users.clone(), user.clone(), visit.partner()?);
    let made = in_queue(visit.host, visit.language, move || service.new_password(&reset, None, None)).await?;
    let password = made.map_err(|error| problem_of(&error, visit.language))?;
    let (user, entry) = (user.clone(), entry(visit, "user.reset", user));
    let answer = shown(&user, &password.password);
    let reset = Reset { password: Some(password), second_factor: false };
    let change = move |unit: &mut dyn UnitOfWork, _: &mut Entry| {
        users::reset(unit, &user, &reset)?;
        Ok::<_, UserError>(answer.clone())
    };
    let shown = visit.once(partner, entry, change, |error| problem_of(error, visit.language)).await?;
    Ok(password_page(visit, &shown))
}

/// The latest entries of the audit log that concern the partner.
pub(crate) async fn audit(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::UsersRead)?;
    let filter = AuditFilter { partner: Some(visit.partner()?), ..AuditFilter::default() };
    let list = visit.in_store(Access::Read, move |unit| unit.audit().list(&filter, ENTRIES)).await;
    let records = list.map_err(|error| visit.failed(&error))?;
    let table = audit_table(visit, &records, &Names::of(visit).await);
    let mut page = Page::new(visit.t(Text::AUDIT_LOG), "users");
    page.push(Block::Table(table));
    Ok(Reply::Page(page))
}

/// Entries of the audit log.
pub(crate) fn audit_table(visit: &Visit<'_>, records: &[Record], names: &Names) -> Table {
    let columns = [Text::DATE, Text::WHO, Text::OPERATION, Text::SUBJECT, Text::OUTCOME, Text::ADDRESS]
        .map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::AUDIT_LOG), visit.columns(&columns), "");
    for record in records.iter().map(|record| &record.entry) {
        table.rows.push(vec![
            Cell::text(visit.instant(record.at)),
            Cell::text(match &record.actor {
                Actor::User(id) => names.show(visit, &format!("user:{id}")),
                Actor::Partner(_) | Actor::Credential(..) => visit.t(Text::A_PROGRAM).to_owned(),
                Actor::Service => visit.t(Text::THE_SERVICE).to_owned(),
                Actor::Operator(_) => visit.t(Text::OPERATOR).to_owned(),
                Actor::Unknown => visit.t(Text::UNKNOWN).to_owned(),
            }),
            Cell::text(record.action.clone()),
            Cell::text(record.subject.clone()),
            Cell::text(record.code.clone().unwrap_or_else(|| record.outcome.as_str().into())),
            Cell::text(record.source.clone()),
        ]);
    }
    table
}
