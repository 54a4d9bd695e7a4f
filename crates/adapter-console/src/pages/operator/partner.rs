//! A partner, and what an operator does with it.

use kopeck_domain::Kopecks;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::partner::{PartnerStatus, SealingPolicy};
use kopeck_domain::run::row::roubles;
use kopeck_port_store::{Access, UnitOfWork};
use kopeck_sealing::KeyId;
use kopeck_service::partners::{self, FormerKey, KeyRotation, PartnerError, PartnerOverview};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use super::new_partner::policies;
use super::{balance, deposits, status_text};
use crate::call::Problem;
use crate::pages::partner_problems::{faulty, partner_problem};
use crate::pages::secrets;
use crate::texts::Text;
use crate::view::{Block, Cell, Field, FieldKind, Form, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The identifier of a path.
pub(super) fn id_of(visit: &Visit<'_>, id: &str) -> Result<PartnerId, Problem> {
    id.parse().map_err(|_| visit.nothing())
}

/// An amount of the form in roubles, zero or more.
pub(super) fn amount_of(visit: &Visit<'_>, name: &'static str) -> Result<Kopecks, Problem> {
    roubles(visit.form.get(name)).map(Kopecks::new).map_err(|invalid| faulty(visit, name, invalid))
}

/// A partner.
pub(super) async fn show(visit: &Visit<'_>, id: &str, problem: Option<&Problem>) -> Outcome {
    let partner = id_of(visit, id)?;
    let env = visit.parts.env.clone();
    let read = visit.in_store(Access::Read, move |unit| partners::overview(unit, &env, partner));
    let found = read.await.map_err(|error| partner_problem(visit, &error))?;
    let mut page = Page::new(found.partner.name.clone(), "partners");
    page.push(about(visit, &found));
    page.push(Block::Table(keys(visit, &found)));
    page.push(Block::Table(users(visit, &found)));
    page.push(Block::Form(deposits::form(visit, id)));
    forms(visit, &found, &mut page);
    visit.answer(page, problem)
}

fn about(visit: &Visit<'_>, found: &PartnerOverview) -> Block {
    let PartnerOverview { partner, sheet, credentials, sessions, open_requests, .. } = found;
    let sealing = match partner.sealing {
        SealingPolicy::Required => Text::SEALING_REQUIRED,
        SealingPolicy::Optional => Text::SEALING_OPTIONAL,
    };
    Block::Facts(visit.facts([
        (Text::IDENTIFIER, partner.id.to_string()),
        (Text::LOGIN, partner.login.clone()),
        (Text::STATUS, status_text(visit, partner.status).to_owned()),
        (Text::SEALING, visit.t(sealing).to_owned()),
        (Text::BALANCE, visit.money(balance(sheet))),
        (Text::HELD, visit.money(sheet.balances.held.get())),
        (Text::AVAILABLE, visit.money(sheet.balances.available.get())),
        (Text::APPROVAL_ABOVE, visit.money(sheet.approval_above.get())),
        (Text::THRESHOLD, visit.money(sheet.threshold.get())),
        (Text::CREDENTIALS, credentials.len().to_string()),
        (Text::OPEN_SESSIONS, sessions.to_string()),
        (Text::OPEN_REQUESTS, open_requests.to_string()),
    ]))
}

/// The keys that are accepted, without their secrets.
fn keys(visit: &Visit<'_>, found: &PartnerOverview) -> Table {
    let columns =
        [Text::KIND, Text::CREATED, Text::USED_SINCE, Text::ACCEPTED_UNTIL].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::KEYS), visit.columns(&columns), "");
    let former = found.former_api_key_until.map(|until| visit.instant(until));
    let blank = Cell::default;
    table.rows.push(vec![Cell::text(visit.t(Text::API_KEY)), blank(), blank(), blank()]);
    table.rows.extend(
        former.map(|until| {
            vec![Cell::text(visit.t(Text::FORMER_API_KEY)), blank(), blank(), Cell::text(until)]
        }),
    );
    for key in &found.sealing_keys {
        let moment =
            |at: Option<time::OffsetDateTime>| Cell::text(at.map(|at| visit.instant(at)).unwrap_or_default());
        table.rows.push(vec![
            Cell::text(format!("{} {}", visit.t(Text::SEALING_KEY), KeyId::from_bytes(key.id))),
            moment(Some(key.created_at)),
            moment(key.first_used_at),
            moment(key.accepted_until),
        ]);
    }
    table
}

fn users(visit: &Visit<'_>, found: &PartnerOverview) -> Table {
    let columns = [Text::EMAIL, Text::ROLE, Text::LAST_LOGIN].map(|text| (text, false));
    let mut table = Table::new(visit.t(Text::USERS), visit.columns(&columns), visit.t(Text::NOBODY_FOUND));
    for one in &found.users {
        table.rows.push(vec![
            Cell::text(one.user.login.as_str()),
            Cell::text(visit.t(Text::of_role(one.user.role))),
            Cell::text(one.last_login_at.map(|at| visit.instant(at)).unwrap_or_default()),
        ]);
    }
    table
}

/// What can be done with the partner.
fn forms(visit: &Visit<'_>, found: &PartnerOverview, page: &mut Page) {
    let id = found.partner.id;
    let form = |action: &str, submit: Text, title: Text| {
        visit.post(&format!("/partner/{id}/{action}"), submit).titled(visit.t(title))
    };
    let roubles = |kopecks: Kopecks| kopecks.to_string();
    let policy = Field::new("sealing", visit.t(Text::SEALING), policies(visit));
    let policy = policy.value(found.partner.sealing.as_str());
    page.push(Block::Form(form("policy", Text::SAVE, Text::SEALING).field(policy)));
    let amount = |label| Field::new("rubles", visit.t(label), FieldKind::Text).required().max(24);
    let above = amount(Text::AMOUNT_IN_ROUBLES).value(roubles(found.sheet.approval_above));
    let above = above.hint(visit.t(Text::APPROVAL_HINT));
    page.push(Block::Form(form("approval", Text::SAVE, Text::APPROVAL_ABOVE).field(above)));
    let threshold = amount(Text::AMOUNT_IN_ROUBLES).value(roubles(found.sheet.threshold));
    let threshold = threshold.hint(visit.t(Text::THRESHOLD_HINT));
    page.push(Block::Form(form("threshold", Text::SAVE, Text::THRESHOLD).field(threshold)));
    for (action, title) in
        [("rotate-sealing-key", Text::NEW_SEALING_KEY), ("rotate-api-key", Text::NEW_API_KEY)]
    {
        let at_once = Field::new("atOnce", visit.t(Text::FORMER_ENDS_AT_ONCE), FieldKind::Check);
        page.push(Block::Form(form(action, Text::ISSUE, title).field(at_once).field(sure(visit))));
    }
    page.push(Block::Form(match found.partner.status {
        PartnerStatus::Active => suspension(visit, form("suspend", Text::SUSPEND, Text::SUSPEND)),
        PartnerStatus::Suspended => form("resume", Text::RESUME_PARTNER, Text::RESUME_PARTNER),
    }));
}

fn suspension(visit: &Visit<'_>, form: Form) -> Form {
    form.field(Field::new("sure", visit.t(Text::SUSPEND_SURE), FieldKind::Check).required()).dangerous()
}

fn sure(visit: &Visit<'_>) -> Field {
    Field::new("sure", visit.t(Text::ROTATE_SURE), FieldKind::Check).required()
}

/// Carries out a form of the page of a partner.
pub(super) async fn act(visit: &Visit<'_>, id: &str, action: &str) -> Outcome {
    let partner = id_of(visit, id)?;
    let needs_yes = ["suspend", "rotate-sealing-key", "rotate-api-key"].contains(&action);
    if needs_yes && visit.form.get("sure") != "yes" {
        let problem = Problem::new(422, visit.language, Text::FORM_INCOMPLETE);
        return show(visit, id, Some(&problem)).await;
    }
    let done = match action {
        "suspend" => set_status(visit, partner, PartnerStatus::Suspended).await,
        "resume" => set_status(visit, partner, PartnerStatus::Active).await,
        "policy" => set_policy(visit, partner).await,
        "approval" => set_approval(visit, partner).await,
        "threshold" => set_threshold(visit, partner).await,
        "rotate-sealing-key" => {
            return rotate(visit, partner, "partner.rotate_keys", Text::NEW_SEALING_KEY).await;
        }
        "rotate-api-key" => return rotate(visit, partner, "partner.rotate_api_key", Text::NEW_API_KEY).await,
        _ => return Err(visit.nothing()),
    };
    match done {
        Ok(()) => Ok(Reply::SeeOther(format!("/partner/{id}?done=saved"))),
        Err(problem) if problem.status == 404 => Err(problem),
        Err(problem) => show(visit, id, Some(&problem)).await,
    }
}

/// A change to the partner that may be repeated, with its entry.
async fn change(
    visit: &Visit<'_>,
    partner: PartnerId,
    action: &'static str,
    subject: String,
    mut work: impl FnMut(&mut dyn UnitOfWork) -> Result<(), PartnerError> + Send + 'static,
) -> Result<(), Problem> {
    let mut entry = visit.entry(action, Some(partner));
    entry.subject = subject;
    visit.audited(entry, move |unit, _| work(unit), |error| partner_problem(visit, error)).await
}

async fn set_status(visit: &Visit<'_>, id: PartnerId, status: PartnerStatus) -> Result<(), Problem> {
    let action = match status {
        PartnerStatus::Active => "partner.resume",
        PartnerStatus::Suspended => "partner.suspend",
    };
    change(visit, id, action, String::new(), move |unit| partners::set_status(unit, id, status)).await
}

async fn set_policy(visit: &Visit<'_>, id: PartnerId) -> Result<(), Problem> {
    let policy = visit.form.get("sealing").parse::<SealingPolicy>();
    let policy = policy.map_err(|invalid| faulty(visit, "sealing", invalid))?;
    let subject = format!("sealing:{policy}");
    change(visit, id, "partner.set_policy", subject, move |unit| partners::set_sealing(unit, id, policy))
        .await
}

async fn set_approval(visit: &Visit<'_>, id: PartnerId) -> Result<(), Problem> {
    let above = amount_of(visit, "rubles")?;
    let subject = format!("approval:{}", above.get());
    change(visit, id, "partner.set_approval", subject, move |unit| partners::set_approval(unit, id, above))
        .await
}

async fn set_threshold(visit: &Visit<'_>, id: PartnerId) -> Result<(), Problem> {
    let (threshold, env) = (amount_of(visit, "rubles")?, visit.parts.env.clone());
    let subject = format!("threshold:{}", threshold.get());
    let set = move |unit: &mut dyn UnitOfWork| partners::set_threshold(unit, &env, id, threshold);
    change(visit, id, "partner.set_threshold", subject, set).await
}

/// Issues a new key, and shows it.
async fn rotate(visit: &Visit<'_>, id: PartnerId, action: &'static str, title: Text) -> Outcome {
    let at_once = visit.form.get("atOnce") == "yes";
    let former = if at_once { FormerKey::EndsAtOnce } else { FormerKey::Overlaps };
    let (service, zone) = (visit.parts.partners.clone(), visit.parts.env.settings.zone);
    let rotate =
        move |unit: &mut dyn UnitOfWork, _: &mut kopeck_audit::Entry| -> Result<Value, PartnerError> {
            let until = |until: Option<time::OffsetDateTime>| until.map(|until| zone.moment_text(until));
            Ok(if action == "partner.rotate_keys" {
                let KeyRotation { key, former_until } = service.rotate_keys(unit, id, former)?;
                json!({"sealingKey": secrets::sealing_key_text(&key), "formerUntil": until(former_until)})
            } else {
                let KeyRotation { key, former_until } = service.rotate_api_key(unit, id, former)?;
                json!({"apiKey": key.expose_secret(), "formerUntil": until(former_until)})
            })
        };
    let entry = visit.entry(action, Some(id));
    let shown = visit.once(id, entry, rotate, |error| partner_problem(visit, error)).await?;
    Ok(secrets::page(visit, visit.t(title), "partners", &shown, &format!("/partner/{id}")))
}
