//! An operation of the document.

use actix_web::http::Method;
use kopeck_api::Code;

use super::components as shared;
use super::guide::Guide;
use crate::input::schema::{InputField, Location, Presence, object_schema};
use crate::json::{Json, object};
use crate::operation::{Effect, Operation};
use crate::schema::{Components, reference};

/// The field of a JSON body that holds a file, which is no parameter.
const FILE: &str = "file";

/// The most examples in one place.
const EXAMPLES: usize = 3;

/// Describes an operation.
pub(super) fn describe(
    operation: &Operation,
    sandbox: bool,
    guide: &Guide<'_>,
    components: &mut Components,
) -> Json {
    let about = OperationBuilder { operation, sandbox, guide, inputs: operation.inputs() };
    let (tag, title, text) = guide.operation(operation);
    object! {
        "tags": [tag],
        "operationId": operation.name,
        "summary": title,
        "description": text,
    }
    .with_some("x-sandbox", sandbox.then_some(true))
    .with("x-changes", operation.is_mutation())
    .with("security", vec![shared::security(operation)])
    .with("parameters", about.parameters(components))
    .with_some("requestBody", about.body(components))
    .with("responses", about.responses(components))
}

/// The sources of an operation.
struct OperationBuilder<'a> {
    operation: &'a Operation,
    sandbox: bool,
    guide: &'a Guide<'a>,
    inputs: Vec<InputField>,
}

impl OperationBuilder<'_> {
    /// Whether it needs an access token.
    fn of_partner(&self) -> bool {
        matches!(self.operation.effect, Effect::Read(_) | Effect::Mutate(_))
    }

    /// Whether its parameters are in the query.
    fn asks_by_query(&self) -> bool {
        self.operation.method == Method::GET
    }

    fn parameters(&self, components: &mut Components) -> Json {
        let mut all = vec![reference("parameters", "Nonce")];
        all.extend(self.operation.is_mutation().then(|| reference("parameters", "IdempotencyKey")));
        all.push(reference("parameters", "RequestId"));
        all.extend(self.operation.is_conditional.then(|| reference("parameters", "IfMatch")));
        for input in &self.inputs {
            match input.location {
                Location::Path => all.push(Self::parameter(input, "path", components)),
                Location::Parameter if self.asks_by_query() => {
                    all.push(Self::parameter(input, "query", components));
                }
                Location::Body if self.is_beside_a_file(input) => {
                    all.push(Self::beside_a_file(input, components));
                }
                Location::Parameter | Location::Body => {}
            }
        }
        Json::List(all)
    }

    /// Whether it is a parameter of the query if the body is a file.
    fn is_beside_a_file(&self, input: &InputField) -> bool {
        !self.operation.uploads.is_empty() && input.items().is_empty() && input.name != FILE
    }

    fn beside_a_file(input: &InputField, components: &mut Components) -> Json {
        let about = format!("Beside a file as the body: the field of this name. {}", input.about());
        object! {"name": input.name, "in": "query", "required": false, "description": about.trim_end()}
            .with("schema", input.schema(components))
            .with("x-seal-slot", format!("query:{}", input.name))
    }

    fn parameter(input: &InputField, place: &str, components: &mut Components) -> Json {
        let about = input.about();
        object! {"name": input.name, "in": place, "required": input.presence == Presence::Required}
            .with_some("description", (!about.is_empty()).then_some(about))
            .with("schema", input.schema(components))
            .with("x-seal-slot", format!("{place}:{}", input.name))
    }

    fn body(&self, components: &mut Components) -> Option<Json> {
        let by_query = self.asks_by_query();
        let fields = || self.inputs.iter().filter(|input| input.location != Location::Path);
        // Lists accept their parameters in a body too.
        let paged = fields().any(|input| input.default.is_some());
        if fields().next().is_none() || (by_query && !paged) {
            return None;
        }
        let bodies = self.guide.examples(self.operation).filter(|example| example.status < 300);
        let bodies = bodies.filter_map(|example| example.body.clone());
        let schema = if by_query {
            // The query overrides them, so any value is valid. One type for all lists, for the sake of generators.
            components.named("ListRequest", |_| {
                object! {"type": "object", "description": "Parameters of a list, named as in the query."}
            })
        } else {
            let name =
                self.operation.shared_body.map_or_else(|| request_name(self.operation.name), str::to_owned);
            components.named(&name, |components| object_schema(fields(), components))
        };
        let clear: Vec<&str> =
            fields().filter(|input| input.may_be_clear()).map(|input| input.name).collect();
        let description = if by_query {
            "The parameters may stand in a body instead of the query, and are the same there; where both have one, the \
             query wins."
        } else {
            "The fields. Under the policy `required` they come sealed."
        };
        let media = with_examples(object! {"schema": schema}, bodies);
        Some(
            object! {
                "description": description,
                "required": self.operation.needs_body,
                "content": shared::and_files(shared::content(media), self.operation.uploads),
            }
            .with_some("x-may-be-clear", (!clear.is_empty()).then(|| Json::list(clear))),
        )
    }

    /// The responses by status code.
    fn responses(&self, components: &mut Components) -> Json {
        let mut statuses = vec![(self.operation.status, self.success(components))];
        for status in [400, 401, 402, 403, 404, 405, 408, 409, 410, 412, 413, 414, 415, 422, 429, 500, 503] {
            statuses.extend(self.refusal(status, components).map(|response| (status, response)));
        }
        Json::Object(statuses.into_iter().map(|(status, response)| (status.to_string(), response)).collect())
    }

    fn success(&self, components: &mut Components) -> Json {
        let schema = (self.operation.response)(components);
        let of_partner: &[&str] = if self.of_partner() { &shared::OF_PARTNER } else { &[] };
        let of_change: &[&str] = if self.operation.is_mutation() { &["IdempotentReplayed"] } else { &[] };
        let of_files: &[&str] = if self.operation.files.is_empty() { &[] } else { &["ContentDisposition"] };
        let of_tagged: &[&str] = if self.operation.is_tagged { &["EntityTag"] } else { &[] };
        let headers = [of_partner, of_change, of_tagged, of_files].concat();
        let description = match self.operation.status {
            201 => "Created.",
            202 => "Accepted, and carried out afterwards.",
            _ => "Done.",
        };
        let sealed = if self.operation.discloses {
            " Under the policy `required` always sealed, whatever `accept` says."
        } else {
            ""
        };
        let description = &format!("{description}{sealed}");
        let response = shared::response(description, schema, &headers, self.examples(self.operation.status));
        shared::or_files(response, self.operation.files)
    }

    fn refusal(&self, status: u16, components: &mut Components) -> Option<Json> {
        let with_status = |codes: &[Code]| -> Vec<Code> {
            codes.iter().copied().filter(|code| code.status() == status).collect()
        };
        let mut coded = with_status(self.operation.errors);
        let cards = with_status(self.operation.card_errors);
        let special = !coded.is_empty() || !cards.is_empty();
        coded.extend(self.common(status));
        if status == 404 && self.sandbox {
            coded.push(Code::NotFound);
        }
        coded.dedup();
        let examples = self.examples(status);
        match (coded.is_empty() && cards.is_empty(), status) {
            (true, 422) if !examples.is_empty() => {}
            (true, 422) => return Some(reference("responses", shared::FAULTY)),
            (true, _) => return None,
            (false, _) if special || (status == 404 && self.sandbox) => {}
            (false, _) => return Some(reference("responses", shared::common_name(status))),
        }
        Some(shared::refusal(status, (&coded, &cards), examples, self.guide, components))
    }

    /// The common error code with this status code.
    fn common(&self, status: u16) -> Option<Code> {
        match status {
            401 if !matches!(self.operation.effect, Effect::Login) => Some(Code::Unauthorized),
            403 => Some(Code::Forbidden),
            409 if self.operation.is_mutation() => Some(Code::RequestInProgress),
            429 if !self.of_partner() => None,
            405 | 408 | 413 | 414 | 415 | 429 | 500 | 503 => shared::common_code(status),
            _ => None,
        }
    }

    fn examples(&self, status: u16) -> Vec<Json> {
        let examples = self.guide.examples(self.operation).filter(|example| example.status == status);
        examples.map(|example| example.answer.clone()).collect()
    }
}

/// The name of a request body: `EmployeeAddRequest` for `employee.add`.
fn request_name(operation: &str) -> String {
    operation
        .split(['.', '_'])
        .map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        })
        .chain(["Request".to_owned()])
        .collect()
}

/// Adds numbered examples to a media object.
pub(super) fn with_examples(media: Json, examples: impl IntoIterator<Item = Json>) -> Json {
    let mut told: Vec<Json> = Vec::new();
    for example in examples {
        if told.len() < EXAMPLES && !told.contains(&example) {
            told.push(example);
        }
    }
    if told.is_empty() {
        return media;
    }
    let named = (1..).zip(told).map(|(number, value)| (number.to_string(), object! {"value": value}));
    media.with("examples", Json::Object(named.collect()))
}
