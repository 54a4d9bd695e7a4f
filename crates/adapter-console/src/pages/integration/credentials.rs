//! Scoped credentials: what a program may do, and from where.

use kopeck_audit::Entry;
use kopeck_domain::access::{Scope, Scopes};
use kopeck_domain::address_blocks::AddressBlocks;
use kopeck_domain::credential::Credential;
use kopeck_domain::ids::CredentialId;
use kopeck_domain::partner::parse_name;
use kopeck_port_store::{Access, UnitOfWork};
use kopeck_service::partners::{self, CredentialDraft, NewCredential, PartnerError};
use serde_json::{Value, json};

use crate::call::Problem;
use crate::pages::login::in_queue;
use crate::pages::partner_problems::{faulty, partner_problem};
use crate::pages::secrets;
use crate::texts::{Text, scope_text};
use crate::view::{Block, Cell, Field, FieldKind, Page, Table};
use crate::visit::{Outcome, Reply, Visit};

/// The page of a new credential.
const NEW: &str = "/integration/credentials";

async fn all(visit: &Visit<'_>) -> Result<Vec<Credential>, Problem> {
    visit.require(Scope::UsersRead)?;
    let partner = visit.partner()?;
    let list = visit.in_store(Access::Read, move |unit| partners::credentials(unit, partner)).await;
    list.map_err(|error| visit.failed(&error))
}

/// The credentials, and the way to a new one.
pub(super) async fn list(visit: &Visit<'_>, page: &mut Page) -> Result<(), Problem> {
    let found = all(visit).await?;
    let columns = [Text::NAME, Text::SCOPES, Text::ADDRESSES, Text::CREATED, Text::REVOKED];
    let columns = columns.map(|text| (text, false));
    let mut table =
        Table::new(visit.t(Text::CREDENTIALS), visit.columns(&columns), visit.t(Text::NO_CREDENTIALS));
    for one in &found {
        table.rows.push(vec![
            Cell::link(one.name.clone(), &format!("/credential/{}", one.id)),
            Cell::text(one.scopes.to_string().replace(',', ", ")),
            Cell::text(addresses(visit, one)),
            Cell::text(visit.instant(one.created_at)),
            Cell::text(one.revoked_at.map(|at| visit.instant(at)).unwrap_or_default()),
        ]);
    }
    page.push(Block::Table(table));
    if visit.may(Scope::UsersWrite) {
        page.push(Block::Links(vec![Cell::link(visit.t(Text::NEW_CREDENTIAL), NEW)]));
    }
    Ok(())
}

fn addresses(visit: &Visit<'_>, credential: &Credential) -> String {
    credential.addresses.as_ref().map_or_else(|| visit.t(Text::ANY_ADDRESS).to_owned(), ToString::to_string)
}

/// The things that a credential can be allowed to read or write, each by its name in scopes.
fn groups() -> impl Iterator<Item = &'static str> {
    let readers = Scope::ALL.iter().filter(|scope| scope.is_for_credentials());
    readers.filter_map(|scope| scope.as_str().strip_suffix(":read"))
}

/// The form of a new credential.
pub(super) fn form(visit: &Visit<'_>, problem: Option<&Problem>) -> Outcome {
    visit.require(Scope::UsersWrite)?;
    let mut page = Page::new(visit.t(Text::NEW_CREDENTIAL), "integration");
    page.push(Block::Text(visit.t(Text::CREDENTIAL_ABOUT).to_owned()));
    let value = |name| visit.form.get(name).to_owned();
    let name = Field::new("name", visit.t(Text::NAME), FieldKind::Text).required().max(128);
    let from = Field::new("addresses", visit.t(Text::ADDRESSES), FieldKind::Text).max(1_000);
    let mut form = visit
        .post(NEW, Text::CREATE)
        .field(name.value(value("name")))
        .field(from.value(value("addresses")).hint(visit.t(Text::ADDRESSES_HINT)));
    for group in groups() {
        let options = [("", Text::NOTHING), ("read", Text::MAY_READ), ("write", Text::MAY_WRITE)];
        let options = FieldKind::Select(visit.options(&options));
        let field = Field::new(group, scope_text(visit.language, group), options);
        form = form.field(field.value(value(group)));
    }
    page.push(Block::Form(form));
    Ok(Reply::Page(page.refused(problem)))
}

/// What the form asks for.
fn wanted(visit: &Visit<'_>) -> Result<NewCredential, Problem> {
    let name = parse_name(visit.form.get("name")).map_err(|invalid| faulty(visit, "name", invalid))?;
    let addresses: Option<AddressBlocks> = match visit.form.given("addresses") {
        Some(text) => Some(text.parse().map_err(|invalid| faulty(visit, "addresses", invalid))?),
        None => None,
    };
    let chosen = groups().filter_map(|group| Some(format!("{group}:{}", visit.form.given(group)?)));
    let scopes: Result<Vec<Scope>, _> = chosen.map(|name| name.parse::<Scope>()).collect();
    let scopes = scopes.map_err(|invalid| faulty(visit, "scopes", invalid))?;
    if scopes.is_empty() {
        return Err(Problem::new(422, visit.language, Text::NO_SCOPE));
    }
    Ok(NewCredential { name: Some(name), scopes: Scopes::of(&scopes), addresses })
}

/// Creates a credential, and shows its secrets.
pub(super) async fn create(visit: &Visit<'_>) -> Outcome {
    visit.require(Scope::UsersWrite)?;
    match made(visit).await {
        Ok((name, shown)) => Ok(secrets::page(visit, &name, "integration", &shown, "/integration")),
        Err(problem) => form(visit, Some(&problem)),
    }
}

async fn made(visit: &Visit<'_>) -> Result<(String, Value), Problem> {
    let (new, partner) = (wanted(visit)?, visit.partner()?);
    let name = new.name.clone().unwrap_or_default();
    let service = visit.parts.partners.clone();
    let prepared =
        in_queue(visit.host, visit.language, move || service.prepare_credential(partner, new)).await?;
    let CredentialDraft { record, secrets } = prepared.map_err(|error| partner_problem(visit, &error))?;
    let authority = visit.session.authority();
    let entry = visit.entry("partner.credential.create", Some(partner));
    let create = move |unit: &mut dyn UnitOfWork, entry: &mut Entry| {
        let id = record.credential.id;
        entry.subject = format!("credential:{id}");
        partners::create_credential(unit, &authority, partner, &record)?;
        Ok::<_, PartnerError>(secrets::all(&id.to_string(), &record.login, &secrets))
    };
    let shown = visit.once(partner, entry, create, |error| partner_problem(visit, error)).await?;
    Ok((name, shown))
}

/// A credential.
pub(super) async fn show(visit: &Visit<'_>, id: &str) -> Outcome {
    let found = all(visit).await?.into_iter().find(|one| one.id.to_string() == id);
    let one = found.ok_or_else(|| visit.nothing())?;
    let mut page = Page::new(one.name.clone(), "integration");
    let facts = [
        (Text::IDENTIFIER, one.id.to_string()),
        (Text::SCOPES, one.scopes.to_string().replace(',', ", ")),
        (Text::ADDRESSES, addresses(visit, &one)),
        (Text::CREATED, visit.instant(one.created_at)),
        (Text::REVOKED, one.revoked_at.map_or_else(|| visit.t(Text::NO).to_owned(), |at| visit.instant(at))),
    ];
    page.push(Block::Facts(visit.facts(facts)));
    if visit.may(Scope::UsersWrite) && one.revoked_at.is_none() {
        let form = visit.post(&format!("/credential/{id}/revoke"), Text::REVOKE).dangerous();
        let sure = Field::new("sure", visit.t(Text::REVOKE_SURE), FieldKind::Check).required();
        page.push(Block::Form(form.field(sure)));
    }
    Ok(Reply::Page(page.noting(visit.done())))
}

/// Revokes a credential for good.
pub(super) async fn revoke(visit: &Visit<'_>, id: &str) -> Outcome {
    visit.require(Scope::UsersWrite)?;
    if visit.form.get("sure") != "yes" {
        return Err(Problem::new(422, visit.language, Text::FORM_INCOMPLETE));
    }
    let credential: CredentialId = id.parse().map_err(|_| visit.nothing())?;
    let (partner, env, authority) = (visit.partner()?, visit.parts.env.clone(), visit.session.authority());
    let mut entry = visit.entry("partner.credential.revoke", Some(partner));
    entry.subject = format!("credential:{credential}");
    let revoke = move |unit: &mut dyn UnitOfWork, _: &mut Entry| {
        let ended = partners::revoke_credential(unit, &env, &authority, partner, credential)?;
        Ok::<_, PartnerError>(json!({"sessionsEnded": ended}))
    };
    visit.once(partner, entry, revoke, |error| partner_problem(visit, error)).await?;
    Ok(Reply::SeeOther(format!("/credential/{id}?done=revoked")))
}
