//! Employees.

use actix_web::http::StatusCode;
use kopeck_domain::draft::Invalid;
use kopeck_domain::employee::{EmployeeStatus, EmployeeUpdate};
use kopeck_domain::ids::{CategoryId, EmployeeId};
use kopeck_domain::page::Page;
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};
use kopeck_domain::text::folded;
use kopeck_port_store::EmployeeFilter;
use kopeck_service::employees::{self, EmployeeDraft};

use crate::dto::{Data, EmployeeDto, EmployeeWithCardsDto, PageDto, PhoneAs};
use crate::handler_context::{HandlerContext, Response};
use crate::input::field_types::{id, string_enum, text};
use crate::input::reader::Reader;
use crate::openapi::json::{Json, object};
use crate::openapi::schema::integer;
use crate::route::HandlerResult;

/// The default number of records on a page.
pub(crate) const LIST_SIZE: u32 = 15;

/// The longest text to search for; no field that is searched is longer.
const MAX_QUERY_CHARS: usize = 64;

pub(crate) async fn add(ctx: HandlerContext) -> HandlerResult {
    // The use case adds what only the store knows to these faults, so that all of them are reported at once.
    let draft = ctx.input.gather(read_draft);
    ctx.mutate(StatusCode::OK, Ok(draft), |unit, env, partner, (draft, faults)| {
        employees::add(unit, env, partner, draft.clone(), faults.clone())
            .map(|employee| EmployeeDto::new(&employee, PhoneAs::Text, env.settings.zone))
    })
    .await
}

pub(crate) async fn update(ctx: HandlerContext) -> HandlerResult {
    let ((id, update), faults) = ctx.input.gather(read_update);
    // Without an identifier the store cannot be queried.
    let values = id.ok_or_else(|| faults.clone()).map(|id| (id, update, faults));
    ctx.mutate(StatusCode::OK, values, |unit, env, partner, (id, update, faults)| {
        employees::update(unit, env, partner, *id, update.clone(), faults.clone())
            .map(|employee| EmployeeDto::new(&employee, PhoneAs::Text, env.settings.zone))
    })
    .await
}

pub(crate) async fn get(ctx: HandlerContext) -> HandlerResult {
    let id = ctx.input.values(read_id);
    let found = ctx.read(id, |unit, _env, partner, id| employees::get(unit, partner, *id)).await?;
    Response::json(StatusCode::OK, &Data { data: EmployeeWithCardsDto::new(&found, ctx.zone()) })
}

pub(crate) async fn list(ctx: HandlerContext) -> HandlerResult {
    let (page, filter) = ctx.input.values(read_list)?;
    let listed = ctx
        .read(Ok(filter), move |unit, _env, partner, filter| employees::list(unit, partner, filter, page))
        .await?;
    let zone = ctx.zone();
    let show = |employee| EmployeeDto::new(employee, PhoneAs::Number, zone);
    Response::json(StatusCode::OK, &PageDto::new(&listed, page, &ctx.input.path, show))
}

/// The employee of the path.
pub(crate) fn read_id(r: &mut Reader<'_>) -> Option<EmployeeId> {
    r.id("idEmployee")
}

pub(crate) fn read_list(r: &mut Reader<'_>) -> Option<(Page, EmployeeFilter)> {
    let page = r.page(LIST_SIZE);
    let filter = EmployeeFilter {
        status: r.param("status", string_enum::<EmployeeStatus>().about("Only employees with this status.")),
        category: r.param("idCategory", id::<CategoryId>().about("Only employees of this category.")),
        custom_id: r
            .param("customId", text(CustomId::parse).about("Only the employee with this `customId`.")),
        query: r
            .param("q", text(search).looks_like(|_| searched()).about(SEARCHED))
            .filter(|q| !q.is_empty()),
    };
    Some((page?, filter))
}

pub(crate) fn read_draft(r: &mut Reader<'_>) -> EmployeeDraft {
    let mut body = r.body();
    EmployeeDraft {
        custom_id: body.required(
            "customId",
            text(CustomId::parse).about("Your own identifier, unique among your employees."),
        ),
        surname: body.optional("surname", text(PersonName::parse)),
        name: body.optional("name", text(PersonName::parse)),
        patronymic: body.optional("patronymic", text(PersonName::parse)),
        phone: body.optional("phone", text(Phone::parse).about("Without a country code.")),
        email: body.optional("email", text(Email::parse)),
        category: body.optional("idCategory", id::<CategoryId>().about("One of your categories.")),
        status: body.optional("status", string_enum::<EmployeeStatus>().about("`WORK` if absent.")),
    }
}

/// Employee and update; without a valid identifier the faults of the update are reported all the same.
pub(crate) fn read_update(r: &mut Reader<'_>) -> (Option<EmployeeId>, EmployeeUpdate) {
    let employee = read_id(r);
    let mut body = r.body();
    let update = EmployeeUpdate {
        custom_id: body.replacement(
            "customId",
            text(CustomId::parse).about("Your own identifier, unique among your employees."),
        ),
        surname: body.change("surname", text(PersonName::parse)),
        name: body.change("name", text(PersonName::parse)),
        patronymic: body.change("patronymic", text(PersonName::parse)),
        phone: body.change("phone", text(Phone::parse).about("Without a country code.")),
        email: body.change("email", text(Email::parse)),
        category: body.change("idCategory", id::<CategoryId>().about("One of your categories.")),
        status: body.replacement("status", string_enum::<EmployeeStatus>()),
    };
    (employee, update)
}

const SEARCHED: &str = "Only employees with this text in surname, name or `customId`, letter case aside.";

fn searched() -> Json {
    object! {
        "type": "string", "maxLength": integer(MAX_QUERY_CHARS), "pattern": r"^[^\u0000-\u001F\u007F-\u009F]*$", "x-form": "no control characters",
    }
}

/// The search text, in lower case and NFC. Control characters are refused: not every database stores them.
fn search(text: &str) -> Result<String, Invalid> {
    if text.chars().nth(MAX_QUERY_CHARS).is_some() {
        return Err(Invalid::new(format!("must have at most {MAX_QUERY_CHARS} characters")));
    }
    if text.chars().any(char::is_control) {
        return Err(Invalid::new("must not hold control characters"));
    }
    Ok(folded(text))
}
