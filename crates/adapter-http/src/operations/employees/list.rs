//! Lists employees.

use kopeck_domain::Invalid;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::ids::CategoryId;
use kopeck_domain::person::CustomId;
use kopeck_domain::text::folded;
use kopeck_port_store::EmployeeFilter;
use kopeck_port_store::page::Page;
use kopeck_service::employees;

use super::body_of_read;
use crate::input::field_types::{id, string_enum, text};
use crate::json::{Json, object};
use crate::operations::prelude::*;
use crate::schema::integer;

/// The longest text to search for; no field that is searched is longer.
const MAX_QUERY_CHARS: usize = 64;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::EMPLOYEE_LIST, Needs::One(Scope::EmployeesRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::Page<api::Employee>>(200);

fn read(r: &mut Reader<'_>) -> Option<(Page, EmployeeFilter)> {
    let page = r.page();
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

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let (page, filter) = ctx.values(read)?;
    let listed = ctx
        .read(Ok(filter), move |unit, _env, partner, filter| employees::list(unit, partner, filter, page))
        .await?;
    let zone = ctx.zone();
    ctx.respond_page(&listed, page, |employee| body_of_read(employee, zone))
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
