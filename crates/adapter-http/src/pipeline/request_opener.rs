//! Opens a request: from head and body to a [`RequestInput`] without sealed values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::input::faults::Faults;
use actix_web::web::Bytes;
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::{Clear, KeyId, Slot, looks_sealed};
use zeroize::Zeroizing;

use super::head::{BodyType, Head};
use super::value_opener::{OpeningContext, RefusedSeals, ValueOpener};
use crate::error::MUST_BE_SEALED;
use crate::fingerprint::CanonicalBody;
use crate::ignored::IgnoredNames;
use crate::input::field_types::FieldEncoding;
use crate::input::json_text::{JsonText, OwnedJson};
use crate::input::object::{Object, bound_text};
use crate::input::query::{self, QUERY};
use crate::input::{Param, RequestInput};
use crate::operation::Operation;

/// The field name of a fault of the whole body.
const BODY: &str = "body";
/// The name of a body or query that is sealed as a whole.
const SEALED: &str = "sealed";

const FILE_IN_CLEAR: &str = "must be sealed: give the file within a sealed body";
const CLEAR_AND_SEALED: &str = "is given twice, and one of the two is sealed";
const SEALED_TWICE: &str = "is sealed twice";
/// The most sealed fields of a body; no operation has as many fields. Each sealed field is bound to all plaintext
/// fields, so the work grows with their number times the length of the body.
const MAX_SEALED_FIELDS: usize = 32;
const TOO_MANY_SEALED: &str = "has more than 32 sealed fields";
const UNREADABLE: &str = "holds a field that is given twice, a value nested too deeply, a number out of range, or half a character";

/// A request as received.
#[derive(Clone, Copy)]
pub(crate) struct RawRequest<'a> {
    pub(crate) operation: &'a Operation,
    pub(crate) head: &'a Head,
    pub(crate) body: &'a Bytes,
}

impl RawRequest<'_> {
    /// Whether the body is a file, and the fields are in the query.
    fn is_upload(&self) -> bool {
        self.head.body_type == Some(BodyType::File)
    }
}

/// A request without sealed values, or its faults.
pub(crate) struct OpenedRequest {
    /// The values, or their faults.
    pub(crate) input: Result<RequestInput, Faults>,
    /// The key of the sealed values, if there are any.
    pub(crate) used: Option<KeyId>,
    /// The sealed values that did not open.
    pub(crate) refused: Option<RefusedSeals>,
    /// The body by value, with the fields that the operation does not name. Absent if there are faults.
    pub(crate) canonical: Option<CanonicalBody>,
    /// Names of the caller that the operation does not have.
    pub(crate) ignored: IgnoredNames,
}

/// Opens `received` with the keys of `context`, and enforces `policy`. It opens every value, also after a failure: the
/// response names all faults at once, and its time tells less.
pub(crate) fn open(
    received: RawRequest<'_>,
    seals: OpeningContext<'_>,
    policy: SealingPolicy,
) -> OpenedRequest {
    let mut opener = RequestOpener { received, opener: ValueOpener::new(seals) };
    let ids = opener.ids();
    let query = opener.query();
    let body = opener.body(policy);
    if policy == SealingPolicy::Required {
        opener.require_proof_without_body();
    }
    let neighbours = neighbours(&query, &body);
    let ignored = ignored(received, &query, &body);
    let query = opener.query_values(query, &neighbours);
    let body = opener.body_values(body, &neighbours);
    let canonical = if received.is_upload() {
        Some(CanonicalBody::of_file(received.body, query.iter().map(|field| (&*field.name, &*field.value))))
    } else {
        opener.canonical(&body)
    };
    let input = opener.assemble(ids, query, body);
    let ValueOpener { faults, used, refused, .. } = opener.opener;
    OpenedRequest { input: faults.check().map(|()| input), used, refused, canonical, ignored }
}

/// A query or body: sealed as a whole and opened, or value by value.
enum Sealable<T> {
    Whole(Zeroizing<String>),
    ByValue(Vec<T>),
}

type QueryValues = Sealable<(String, String)>;
type BodyValues<'a> = Sealable<BodyField<'a>>;

struct BodyField<'a> {
    name: Cow<'a, str>,
    value: JsonText<'a>,
    /// Its text, if it looks sealed.
    sealed: Option<Cow<'a, str>>,
}

/// An opened value.
struct NamedValue<T> {
    name: String,
    value: T,
    was_sealed: bool,
}

struct RequestOpener<'a> {
    received: RawRequest<'a>,
    opener: ValueOpener<'a>,
}

impl<'a> RequestOpener<'a> {
    fn ids(&mut self) -> Vec<(&'static str, String)> {
        let mut ids = Vec::with_capacity(self.received.head.ids.len());
        for (name, text) in &self.received.head.ids {
            if !looks_sealed(text) {
                ids.push((*name, text.clone()));
            } else if let Some(id) = self.opener.open(Slot::Path(name), name, Clear::none(), text) {
                ids.push((*name, id.to_string()));
            }
        }
        ids
    }

    fn query(&mut self) -> QueryValues {
        let known = |name: &str| name == SEALED || self.received.operation.has_field(name);
        let parameters = query::parse(&self.received.head.query, known).unwrap_or_else(|faults| {
            self.opener.fault_all(&faults);
            Vec::new()
        });
        let Some((_, sealed)) = parameters.iter().find(|(name, _)| name == SEALED) else {
            return Sealable::ByValue(parameters);
        };
        // A sealed query binds nothing beside it, so an attacker could add parameters.
        for (name, _) in parameters.iter().filter(|(name, _)| name != SEALED) {
            let field = self.field(QUERY, name);
            self.opener.faults.push(field, "stands clear beside a sealed query");
        }
        let opened = self.opener.open(Slot::Query, SEALED, Clear::none(), sealed);
        opened.map_or_else(Sealable::nothing, Sealable::Whole)
    }

    fn body(&mut self, policy: SealingPolicy) -> BodyValues<'a> {
        let RawRequest { operation, head, body } = self.received;
        if body.is_empty() {
            if operation.needs_body {
                self.opener.faults.push(BODY, "is required");
            }
            return Sealable::nothing();
        }
        if self.received.is_upload() {
            if policy == SealingPolicy::Required {
                self.opener.faults.push(BODY, FILE_IN_CLEAR);
            }
            return Sealable::nothing();
        }
        let fields = match body_fields(body) {
            Ok(fields) => fields,
            Err(detail) => {
                self.opener.faults.push(BODY, detail);
                return Sealable::nothing();
            }
        };
        // A webhook has a field of this name too, which is never a string.
        let is_flag = |value: JsonText<'_>| {
            matches!(value.as_str(), "true" | "false" | "null") && operation.has_field(SEALED)
        };
        if let Some(field) = fields.iter().find(|field| field.name == SEALED && !is_flag(field.value)) {
            // Other fields beside it would make two bodies.
            let sealed = field.value.string().filter(|_| fields.len() == 1);
            return self.whole_body(sealed.as_deref());
        }
        if head.body_type == Some(BodyType::SealedJson) {
            return self.whole_body(None);
        }
        if fields.iter().filter(|field| field.sealed.is_some()).count() > MAX_SEALED_FIELDS {
            self.opener.faults.push(BODY, TOO_MANY_SEALED);
            return Sealable::nothing();
        }
        match policy {
            SealingPolicy::Required if !sealed_enough(operation, &fields) => {
                self.opener.faults.push(BODY, MUST_BE_SEALED);
                Sealable::nothing()
            }
            SealingPolicy::Required | SealingPolicy::Optional => Sealable::ByValue(fields),
        }
    }

    /// A mutation without a body needs a sealed identifier: the access token alone changes nothing.
    fn require_proof_without_body(&mut self) {
        let RawRequest { operation, head, body } = self.received;
        let is_sealed = || head.ids.iter().any(|(_, text)| looks_sealed(text));
        if operation.is_mutation() && !operation.needs_body && body.is_empty() && !is_sealed() {
            let field = head.ids.last().map_or(BODY, |(name, _)| name);
            self.opener.faults.push(field, MUST_BE_SEALED);
        }
    }

    fn whole_body(&mut self, sealed: Option<&str>) -> BodyValues<'a> {
        let Some(sealed) = sealed else {
            self.opener.refuse(BODY);
            return Sealable::nothing();
        };
        let opened = self.opener.open(Slot::Body, BODY, Clear::none(), sealed);
        opened.map_or_else(Sealable::nothing, Sealable::Whole)
    }

    /// The values of the query, as text.
    fn query_values(&mut self, query: QueryValues, neighbours: &Clear<'_>) -> Vec<NamedValue<String>> {
        let parameters = match query {
            Sealable::Whole(opened) => return self.query_of_whole(opened),
            Sealable::ByValue(parameters) => parameters,
        };
        let mut values = Vec::with_capacity(parameters.len());
        for (name, text) in parameters {
            if !looks_sealed(&text) {
                values.push(NamedValue { name, value: text, was_sealed: false });
                continue;
            }
            let field = self.field(QUERY, &name);
            let opened = self.opener.open(Slot::QueryParameter(&name), field, neighbours, &text);
            if let Some(value) = opened.and_then(|opened| self.once(field, opened.to_string())) {
                values.push(NamedValue { name, value, was_sealed: true });
            }
        }
        values
    }

    /// The parameters of a query that was sealed as a whole: a JSON object of strings and numbers.
    fn query_of_whole(&mut self, opened: Zeroizing<String>) -> Vec<NamedValue<String>> {
        let Some(values) = self.object_of_whole(SEALED, opened) else { return Vec::new() };
        let mut parameters = Vec::with_capacity(values.len());
        for NamedValue { name, value, was_sealed } in values {
            let value = value.text();
            if value.is_list() || value.is_object() {
                let field = self.field(SEALED, &name);
                self.opener.faults.push(field, "must be a string or a number");
            } else if !value.is_null() {
                parameters.push(NamedValue { name, value: bound_text(value), was_sealed });
            }
        }
        parameters
    }

    /// All fields of the body, also those that the operation does not name. None of their values is copied.
    fn body_values(&mut self, body: BodyValues<'_>, neighbours: &Clear<'_>) -> Vec<NamedValue<OwnedJson>> {
        let fields = match body {
            Sealable::Whole(opened) => {
                return self.object_of_whole(BODY, opened).unwrap_or_default();
            }
            Sealable::ByValue(fields) => fields,
        };
        let mut values = Vec::with_capacity(fields.len());
        for BodyField { name, value, sealed } in fields {
            let (value, was_sealed) = match sealed {
                None => (Some(OwnedJson::part(self.received.body, value)), false),
                Some(text) => {
                    let field = self.field(BODY, &name);
                    let opened = self.opener.open(Slot::Field(&name), field, neighbours, &text);
                    let once = opened.and_then(|opened| self.once(field, opened.to_string()));
                    (once.map(|text| field_value(self.received.operation.field_encoding(&name), &text)), true)
                }
            };
            values.extend(value.map(|value| NamedValue { name: name.into_owned(), value, was_sealed }));
        }
        values
    }

    /// The fields of an object that was sealed as a whole.
    fn object_of_whole(
        &mut self,
        container: &'static str,
        opened: Zeroizing<String>,
    ) -> Option<Vec<NamedValue<OwnedJson>>> {
        let opened = Bytes::from_owner(opened);
        let fields = body_fields(&opened);
        let fields = fields.map_err(|detail| self.opener.faults.push(container, detail)).ok()?;
        let mut values = Vec::with_capacity(fields.len());
        for BodyField { name, value, sealed } in fields {
            if sealed.is_some() {
                let field = self.field(container, &name);
                self.opener.faults.push(field, SEALED_TWICE);
            } else {
                let value = OwnedJson::part(&opened, value);
                values.push(NamedValue { name: name.into_owned(), value, was_sealed: true });
            }
        }
        Some(values)
    }

    /// The body by value. Duplicate names at any depth are a fault, also in fields that the operation does not name.
    fn canonical(&mut self, body: &[NamedValue<OwnedJson>]) -> Option<CanonicalBody> {
        let canonical = CanonicalBody::of(body.iter().map(|field| (field.name.as_str(), field.value.text())));
        if canonical.is_none() {
            self.opener.faults.push(BODY, UNREADABLE);
        }
        canonical
    }

    /// The field name for a fault: its own if the operation has it, else that of the container. Unknown names are
    /// client text, which is neither returned nor logged.
    fn field<'n>(&self, container: &'static str, name: &'n str) -> &'n str {
        if self.received.operation.has_field(name) { name } else { container }
    }

    /// Refuses a sealed value inside a sealed value.
    fn once(&mut self, field: &str, opened: String) -> Option<String> {
        if looks_sealed(&opened) {
            self.opener.faults.push(field, SEALED_TWICE);
            return None;
        }
        Some(opened)
    }

    /// Builds the input of what the operation names. A read merges query and body, and the query wins.
    fn assemble(
        &mut self,
        ids: Vec<(&'static str, String)>,
        query: Vec<NamedValue<String>>,
        body: Vec<NamedValue<OwnedJson>>,
    ) -> RequestInput {
        let RawRequest { operation, head, .. } = self.received;
        let mut input = RequestInput {
            path: head.path.clone(),
            file: head.file,
            if_match: head.if_match.clone(),
            language: head.language,
            ids,
            ..RequestInput::default()
        };
        if self.received.is_upload() {
            let named = query.into_iter().filter(|parameter| operation.has_field(&parameter.name));
            let field = |NamedValue { name, value, .. }: NamedValue<String>| {
                let value = field_value(operation.field_encoding(&name), &value);
                (name, value)
            };
            input.body = named.map(field).collect();
            input.upload = Some(self.received.body.clone());
            return input;
        }
        if !operation.is_read() || operation.reads_body {
            let named = body.into_iter().filter(|field| operation.has_field(&field.name));
            input.body = named.map(|field| (field.name, field.value)).collect();
            return input;
        }
        let parameters: BTreeMap<&str, bool> =
            query.iter().map(|parameter| (parameter.name.as_str(), parameter.was_sealed)).collect();
        for field in body {
            match parameters.get(field.name.as_str()) {
                Some(was_sealed) if *was_sealed || field.was_sealed => {
                    let name = self.field(BODY, &field.name);
                    self.opener.faults.push(name, CLEAR_AND_SEALED);
                }
                // `null` means absent.
                _ if field.value.text().is_null() || !operation.has_field(&field.name) => {}
                _ => drop(input.params.insert(field.name, Param::Json(field.value))),
            }
        }
        // After the body, so that the query wins.
        let named = query.into_iter().filter(|parameter| operation.has_field(&parameter.name));
        input.params.extend(named.map(|named| (named.name, Param::Text(named.value))));
        input
    }
}

/// The plaintext names that the operation does not have. Names within a sealed body or query stay sealed.
fn ignored(received: RawRequest<'_>, query: &QueryValues, body: &BodyValues<'_>) -> IgnoredNames {
    let operation = received.operation;
    let mut ignored = IgnoredNames::default();
    for field in body.values().iter().filter(|field| !operation.has_field(&field.name)) {
        ignored.add_field(&field.name);
    }
    let reads_query = operation.is_read() || received.is_upload();
    let is_read = |name: &str| reads_query && operation.has_field(name);
    for (name, _) in query.values().iter().filter(|(name, _)| !is_read(name)) {
        ignored.add_parameter(name);
    }
    ignored
}

/// All plaintext of query and body. Built only if a sealed value needs it: a list of 10,000 cards is not copied in
/// vain.
fn neighbours(query: &QueryValues, body: &BodyValues<'_>) -> Clear<'static> {
    let mut clear = Clear::new();
    let parameters = query.values();
    let fields = body.values();
    let sealed = parameters.iter().any(|(_, text)| looks_sealed(text))
        || fields.iter().any(|field| field.sealed.is_some());
    if sealed {
        for (name, text) in parameters.iter().filter(|(_, text)| !looks_sealed(text)) {
            clear.add(Slot::QueryParameter(name), text.clone());
        }
        for field in fields.iter().filter(|field| field.sealed.is_none()) {
            clear.add(Slot::Field(&field.name), bound_text(field.value));
        }
    }
    clear
}

impl<T> Sealable<T> {
    const fn nothing() -> Self {
        Self::ByValue(Vec::new())
    }

    fn values(&self) -> &[T] {
        match self {
            Self::Whole(_) => &[],
            Self::ByValue(values) => values,
        }
    }
}

/// Whether a body satisfies the policy `required`: some field is sealed, and so are all that the interface marks.
fn sealed_enough(operation: &Operation, fields: &[BodyField<'_>]) -> bool {
    fields.iter().any(|field| field.sealed.is_some())
        && fields.iter().all(|field| field.sealed.is_some() || operation.may_be_clear(&field.name))
}

/// The fields of a JSON object.
///
/// # Errors
/// See [`Object::parse`].
fn body_fields(text: &[u8]) -> Result<Vec<BodyField<'_>>, String> {
    fn field<'a>((name, value): (Cow<'a, str>, JsonText<'a>)) -> BodyField<'a> {
        let sealed = value.string().filter(|text| looks_sealed(text));
        BodyField { name, value, sealed }
    }
    Ok(Object::parse(text)?.fields.into_iter().map(field).collect())
}

/// The value of an opened field. Invalid JSON where JSON is expected stays a string, which the reader of
/// the field refuses.
fn field_value(kind: FieldEncoding, text: &str) -> OwnedJson {
    match kind {
        FieldEncoding::Text => OwnedJson::string(text),
        FieldEncoding::Json => OwnedJson::or_string(text),
    }
}

#[cfg(test)]
mod tests;
