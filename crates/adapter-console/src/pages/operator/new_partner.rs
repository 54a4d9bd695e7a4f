//! A new partner, whose secrets are shown once.

use kopeck_audit::Entry;
use kopeck_domain::partner::{SealingPolicy, parse_name};
use kopeck_port_store::{Access, UnitOfWork};
use kopeck_service::idempotency::{self, ExecuteError, Execution, PlaintextResponse};
use kopeck_service::partners::{self, NewPartner, PartnerError, parse_login};
use serde_json::Value;

use crate::call::Problem;
use crate::pages::login::in_queue;
use crate::pages::partner_problems::{faulty, partner_problem};
use crate::pages::secrets;
use crate::texts::Text;
use crate::view::{Block, Field, FieldKind, Page};
use crate::visit::{Outcome, Reply, Visit};

/// The page of a new partner.
const PATH: &str = "/partners/new";

/// The policies with their names.
pub(super) fn policies(visit: &Visit<'_>) -> FieldKind {
    let options = [
        (SealingPolicy::Required, Text::SEALING_REQUIRED),
        (SealingPolicy::Optional, Text::SEALING_OPTIONAL),
    ];
    FieldKind::Select(visit.options(&options))
}

/// The form of a new partner.
pub(super) fn form(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    let mut page = Page::new(visit.t(Text::NEW_PARTNER), "partners");
    let value = |name| visit.form.get(name).to_owned();
    let name = Field::new("name", visit.t(Text::NAME), FieldKind::Text).required().max(128);
    let login = Field::new("login", visit.t(Text::LOGIN), FieldKind::Text).max(64);
    let form = visit
        .post(PATH, Text::CREATE)
        .field(name.value(value("name")))
        .field(login.value(value("login")).hint(visit.t(Text::LOGIN_HINT)))
        .field(Field::new("sealing", visit.t(Text::SEALING), policies(visit)).value(value("sealing")));
    page.push(Block::Form(form));
    Ok(Reply::Page(page.refused(problem)))
}

/// Creates a partner, and shows its secrets.
pub(super) async fn create(visit: &Visit<'_>) -> Outcome {
    match made(visit).await {
        Ok(shown) => {
            let id = shown.get("id").and_then(Value::as_str).unwrap_or_default();
            let next = format!("/partner/{id}");
            Ok(secrets::page(visit, visit.t(Text::NEW_PARTNER), "partners", &shown, &next))
        }
        Err(problem) => form(visit, Some(&problem)),
    }
}

async fn made(visit: &Visit<'_>) -> Result<Value, Problem> {
    let name = parse_name(visit.form.get("name")).map_err(|invalid| faulty(visit, "name", invalid))?;
    let login = visit.form.given("login").map(parse_login).transpose();
    let login = login.map_err(|invalid| faulty(visit, "login", invalid))?;
    // A form of its own has a login of its own, by which a second sending is known.
    let digits: String = visit.key()?.chars().filter(char::is_ascii_alphanumeric).take(12).collect();
    let login = login.unwrap_or_else(|| format!("partner-{digits}"));
    let sealing = visit.form.get("sealing").parse::<SealingPolicy>();
    let sealing = sealing.map_err(|invalid| faulty(visit, "sealing", invalid))?;
    let new = NewPartner { name, login: Some(login.clone()), password: None, sealing };
    let service = visit.parts.partners.clone();
    let prepared = in_queue(visit.host, visit.language, move || service.prepare(new)).await?;
    let draft = prepared.map_err(|error| partner_problem(visit, &error))?;
    let (service, env, entry) =
        (visit.parts.partners.clone(), visit.parts.env.clone(), visit.entry("partner.create", None));
    let request = visit.keyed(draft.id())?;
    // The response is recorded under the new partner.
    let created = visit.in_store(Access::Write, move |unit| {
        let (partner, secrets) = service.create(unit, &draft).map_err(ExecuteError::UseCase)?;
        idempotency::execute(unit, &env, &request, |unit| {
            let shown = secrets::all(&partner.id.to_string(), &partner.login, &secrets);
            unit.audit().append(&Entry { partner: Some(partner.id), ..entry.clone() })?;
            let body = shown.to_string().into_bytes();
            Ok::<_, PartnerError>(PlaintextResponse { status: 200, body, employee: None })
        })
    });
    match created.await {
        Ok(Execution::First(response) | Execution::Replayed(response)) => visit.recorded(&response),
        Err(ExecuteError::UseCase(PartnerError::LoginTaken)) => made_before(visit, login).await,
        Err(ExecuteError::UseCase(error)) => Err(partner_problem(visit, &error)),
        Err(ExecuteError::Store(error)) => Err(visit.failed(&error)),
        Err(ExecuteError::KeyReused | ExecuteError::NonceSpent | ExecuteError::Erased) => {
            Err(visit.sent_before())
        }
    }
}

/// What this form showed when it was sent first, if it has made the partner with this login.
async fn made_before(visit: &Visit<'_>, login: String) -> Result<Value, Problem> {
    let find = move |unit: &mut dyn UnitOfWork| {
        Ok::<_, PartnerError>(partners::list(unit)?.into_iter().find(|partner| partner.login == login))
    };
    let taken = || partner_problem(visit, &PartnerError::LoginTaken);
    let found = visit.in_store(Access::Read, find).await.map_err(|error| partner_problem(visit, &error))?;
    let (env, request) = (visit.parts.env.clone(), visit.keyed(found.ok_or_else(taken)?.id)?);
    let found = visit.in_store(Access::Read, move |unit| idempotency::find(unit, &env, &request)).await;
    match found {
        Ok(Some(stored)) => visit.recorded(&stored.response),
        Ok(None) => Err(taken()),
        Err(_) => Err(visit.sent_before()),
    }
}
