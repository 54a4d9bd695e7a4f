//! The row of a request in its partner's request log: this module alone decides which requests have one, and what it holds.
//!
//! A row holds no value of the request. Names of fields are those that the operation declares: another name is the client's
//! own text.

use std::sync::Arc;

use actix_web::http::StatusCode;
use kopeck_api::operations;
use kopeck_domain::access::Actor;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::RequestRecord;
use time::Duration;

use crate::client_address::ClientAddress;
use crate::operation::Operation;
use crate::request_id::RequestId;
use crate::response::HandlerResult;
use crate::state::Shared;

/// The most faulty fields of a row.
const MAX_FIELDS: usize = 20;

/// What a row says of the outcome of a request.
pub(crate) struct LoggedOutcome {
    code: Option<&'static str>,
    fields: Vec<String>,
    replayed: bool,
}

impl LoggedOutcome {
    pub(crate) fn of(operation: &Operation, outcome: &HandlerResult) -> Self {
        match outcome {
            Ok(response) => Self { code: None, fields: Vec::new(), replayed: response.replayed },
            Err(error) => {
                let mut fields: Vec<String> = Vec::new();
                for field in error.fields().take(MAX_FIELDS) {
                    let name = operation.declared_name(field);
                    if !fields.contains(&name) {
                        fields.push(name);
                    }
                }
                Self { code: error.shown_code(), fields, replayed: false }
            }
        }
    }
}

/// A request that was answered.
pub(crate) struct AnsweredRequest<'a> {
    pub(crate) operation: &'static Operation,
    /// The partner, once authenticated.
    pub(crate) partner: Option<PartnerId>,
    /// Who acted for it.
    pub(crate) actor: Option<Actor>,
    pub(crate) request_id: &'a RequestId,
    pub(crate) address: ClientAddress,
    pub(crate) status: StatusCode,
    pub(crate) took: Duration,
}

/// Queues the row of an authenticated request. Successful reads of the log have none: who follows it would see nothing else.
pub(crate) fn record(shared: &Arc<Shared>, request: &AnsweredRequest<'_>, outcome: LoggedOutcome) {
    let AnsweredRequest { operation, partner, actor, request_id, address, status, took } = request;
    let is_read_of_log = operation.name == operations::REQUEST_LIST.name && status.is_success();
    let Some(partner) = partner.filter(|_| *status != StatusCode::UNAUTHORIZED && !is_read_of_log) else {
        return;
    };
    let LoggedOutcome { code, fields, replayed } = outcome;
    let record = RequestRecord {
        at: shared.parts.env.now(),
        request_id: request_id.shown().to_owned(),
        operation: operation.name.to_owned(),
        status: status.as_u16(),
        code: code.map(str::to_owned),
        fields,
        duration_ms: u32::try_from(took.whole_milliseconds()).unwrap_or(u32::MAX),
        credential: match actor {
            Some(Actor::Credential(id)) => Some(*id),
            _ => None,
        },
        address: address.is_known().then(|| address.to_string()),
        replayed,
    };
    shared.parts.requests.push(partner, record);
}
