//! Reads the partner's request log.

use kopeck_domain::Invalid;
use kopeck_port_store::{LoggedRequest, RequestLogFilter};
use kopeck_service::request_log::{self, RequestLogQuery};

use crate::dto::to_the_second;
use crate::input::field_types::{FieldType, InputValue, integer_from, text};
use crate::json::object;
use crate::operations::prelude::*;

/// The most requests of a response.
const MOST: i64 = 500;
/// The requests of a response by default.
const LIMIT: i64 = 100;
/// The longest id of a request.
const LONGEST_ID: usize = 64;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::REQUEST_LIST, Needs::One(Scope::EventsRead), handler!(list))
        .reads(reads!(read))
        .responds::<api::RequestFeed>(200);

fn read(r: &mut Reader<'_>) -> Option<RequestLogQuery> {
    let number = |least, most| integer_from(least, most).may_be_clear();
    let after =
        r.param("after", number(0, i64::MAX).about("The number after which to begin. Default 0: the first."));
    let limit = r.param("limit", number(1, MOST).about("The most requests. Default 100."));
    let status = r.param("status", integer_from(100, 599).about("Only with this HTTP status."));
    let operation = r.param("operation", operation().about("Only of this operation."));
    let request_id = r.param("requestId", request_id().about("Only with this id."));
    Some(RequestLogQuery {
        after: after.unwrap_or(0),
        limit: limit.unwrap_or(LIMIT).try_into().ok()?,
        filter: RequestLogFilter {
            status: status.and_then(|status| status.try_into().ok()),
            operation,
            request_id,
        },
    })
}

fn operation() -> FieldType<impl Fn(InputValue<'_>) -> Result<String, Invalid>> {
    text(|name| {
        let known = operations::ALL.iter().any(|operation| operation.name == name);
        if known { Ok(name.to_owned()) } else { Err(Invalid::new("is no operation")) }
    })
    .looks_like(|_| object! {"type": "string", "examples": crate::json::Json::list(["employee.add"])})
}

fn request_id() -> FieldType<impl Fn(InputValue<'_>) -> Result<String, Invalid>> {
    text(|id| {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(fits) {
            Ok(id.to_owned())
        } else {
            Err(Invalid::new("must have 1 to 64 of A-Z a-z 0-9 . _ -"))
        }
    })
    .looks_like(|_| object! {"type": "string", "minLength": 1, "maxLength": 64})
}

async fn list(mut ctx: HandlerContext) -> HandlerResult {
    let query = ctx.values(read)?;
    let page =
        ctx.read(Ok(query), |unit, _env, partner, query| request_log::after(unit, partner, query)).await?;
    let data = page.requests.into_iter().map(body).collect();
    ctx.respond(&api::RequestFeed { data, next: page.next })
}

fn body(LoggedRequest { seq, record }: LoggedRequest) -> api::LoggedRequest {
    api::LoggedRequest {
        seq,
        at: to_the_second(record.at),
        request_id: record.request_id,
        operation: record.operation,
        status: record.status.into(),
        code: record.code,
        fields: record.fields,
        duration_ms: record.duration_ms.into(),
        credential: record.credential.map(|credential| credential.uuid()),
        address: record.address,
        replayed: record.replayed,
    }
}
