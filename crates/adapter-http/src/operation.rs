//! The declaration of an operation. Each file in [`crate::operations`] has one.

use std::future::Future;
use std::pin::Pin;
use std::sync::OnceLock;

use actix_web::http::Method;
use kopeck_api::{Code, HasShape};
use kopeck_domain::access::{Authority, Forbidden, Scope};

use crate::file_format::FileFormat;
use crate::handler_context::HandlerContext;
use crate::input::field_types::FieldEncoding;
use crate::input::reader::Reader;
use crate::input::schema::{InputField, Location, inputs};
use crate::json::Json;
use crate::response::HandlerResult;
use crate::schema::{Components, of_shape};

/// Reads the values, runs the use case, serializes its result.
pub(crate) type Handler = fn(HandlerContext) -> Pin<Box<dyn Future<Output = HandlerResult>>>;

/// An operation of the interface, as router, pipeline, audit log and OpenAPI document use it.
pub(crate) struct Operation {
    /// The unique name in the interface.
    pub(crate) name: &'static str,
    /// The method. `PUT` includes `PATCH`.
    pub(crate) method: Method,
    /// The path with placeholders, without a final slash.
    pub(crate) path: &'static str,
    /// Its effect and handler.
    pub(crate) effect: Effect,
    /// What its actor has to have.
    pub(crate) needs: Needs,
    /// Whether a response shows secrets of the partner. The audit log records such requests, and under the policy
    /// `required` the response is always sealed.
    pub(crate) discloses: bool,
    /// Whether its response holds personal data of the employee whom it names.
    pub(crate) holds_person: bool,
    /// Whether its response has an entity tag.
    pub(crate) is_tagged: bool,
    /// Whether it takes `If-Match`.
    pub(crate) is_conditional: bool,
    /// Whether its body holds a password: no digest that is stored must help to guess it.
    pub(crate) keeps_secret: bool,
    /// Whether a request without a body is faulty.
    pub(crate) needs_body: bool,
    /// Whether it reads objects of its body without changing anything. Other reads take the values of a body as parameters.
    pub(crate) reads_body: bool,
    /// The status code of its response.
    pub(crate) status: u16,
    /// The schema of its response.
    pub(crate) response: fn(&mut Components) -> Json,
    /// Forms of files that it responds with, if `Accept` asks for one.
    pub(crate) files: &'static [FileFormat],
    /// Forms of files that it takes in the place of a JSON body, whose fields then stand in the query.
    pub(crate) uploads: &'static [FileFormat],
    /// Its errors, beside those of every operation.
    pub(crate) errors: &'static [Code],
    /// The error codes of its lists of faulty cards.
    pub(crate) card_errors: &'static [Code],
    /// The name of its body in the OpenAPI document, if other operations have the same body.
    pub(crate) shared_body: Option<&'static str>,
    /// Its reader, which declares the inputs.
    reads: fn(&mut Reader<'_>),
    fields: OnceLock<Vec<Field>>,
}

/// The effect of an operation, with its handler.
#[derive(Clone, Copy)]
pub(crate) enum Effect {
    /// Issues tokens for login and password. Identified by the API key, never replayed.
    Login,
    /// Issues tokens for a refresh token. Identified by the API key, never replayed.
    Refresh,
    /// Reads; records nothing.
    Read(Handler),
    /// Changes data; an idempotent retry gets the recorded response.
    Mutate(Handler),
}

/// What an actor needs for an operation.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Needs {
    /// Nothing: it is about the credentials of whoever sends it.
    Nothing,
    /// One scope.
    One(Scope),
    /// Two: it gives out what another operation reads.
    Both(Scope, Scope),
}

impl Needs {
    /// The scopes.
    pub(crate) fn scopes(self) -> impl Iterator<Item = Scope> {
        let (one, other) = match self {
            Self::Nothing => (None, None),
            Self::One(scope) => (Some(scope), None),
            Self::Both(one, other) => (Some(one), Some(other)),
        };
        one.into_iter().chain(other)
    }

    /// Refuses an actor that lacks one of them.
    ///
    /// # Errors
    /// The first that it lacks.
    pub(crate) fn check(self, authority: &Authority) -> Result<(), Forbidden> {
        self.scopes().try_for_each(|scope| authority.require(scope))
    }
}

/// A field of a body or a parameter of a read, by one of its names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    /// The content of a sealed value.
    encoding: FieldEncoding,
    /// Whether it may be plaintext beside sealed fields.
    may_be_clear: bool,
}

/// Wraps a handler for a declaration.
macro_rules! handler {
    ($handler:path) => {
        |context| Box::pin($handler(context))
    };
}
pub(crate) use handler;

/// Wraps a reader for a declaration.
macro_rules! reads {
    ($reader:path $(, $with:expr)?) => {
        |r| {
            $reader(r $(, $with)?);
        }
    };
}
pub(crate) use reads;

/// Names of faults that no operation declares: the whole body, the whole query, headers.
const COMMON_NAMES: [&str; 5] = ["body", "query", "sealed", "x-nonce", "idempotency-key"];

impl Operation {
    /// An operation of the interface with what it needs and its handler.
    pub(crate) const fn of(api: &kopeck_api::Operation, needs: Needs, handler: Handler) -> Self {
        Self::with_effect(
            api,
            needs,
            if api.changes { Effect::Mutate(handler) } else { Effect::Read(handler) },
        )
    }

    pub(crate) const fn with_effect(api: &kopeck_api::Operation, needs: Needs, effect: Effect) -> Self {
        let (method, needs_body) = match api.method {
            kopeck_api::Method::Get => (Method::GET, false),
            kopeck_api::Method::Post => (Method::POST, true),
            kopeck_api::Method::Put => (Method::PUT, true),
            kopeck_api::Method::Delete => (Method::DELETE, false),
        };
        Self {
            name: api.name,
            method,
            path: api.route(),
            effect,
            needs,
            discloses: false,
            holds_person: false,
            is_tagged: false,
            is_conditional: false,
            keeps_secret: false,
            needs_body,
            reads_body: false,
            status: 200,
            response: |_| Json::Null,
            files: &[],
            uploads: &[],
            errors: &[],
            card_errors: &[],
            shared_body: None,
            reads: |_| {},
            fields: OnceLock::new(),
        }
    }

    /// A request without a body is fine.
    pub(crate) const fn body_optional(mut self) -> Self {
        self.needs_body = false;
        self
    }

    /// It changes nothing, and has a body all the same, with objects in it.
    pub(crate) const fn reads_body(mut self) -> Self {
        self.reads_body = true;
        self
    }

    /// Its path identifiers, parameters and fields are those of this reader; see [`reads!`].
    pub(crate) const fn reads(mut self, reader: fn(&mut Reader<'_>)) -> Self {
        self.reads = reader;
        self
    }

    /// Other operations have the same body: the OpenAPI document describes it once, under this name.
    pub(crate) const fn shares_body(mut self, name: &'static str) -> Self {
        self.shared_body = Some(name);
        self
    }

    /// It responds with `T` under this status code.
    pub(crate) const fn responds<T: HasShape>(mut self, status: u16) -> Self {
        self.status = status;
        self.response = |components| of_shape(&T::SHAPE, components);
        self
    }

    /// It responds with files of these forms too.
    pub(crate) const fn or_files(mut self, forms: &'static [FileFormat]) -> Self {
        self.files = forms;
        self
    }

    /// Its body may be a file of these forms. The fields are in the query then.
    pub(crate) const fn takes_files(mut self, forms: &'static [FileFormat]) -> Self {
        self.uploads = forms;
        self
    }

    /// It has these errors, beside those of every operation.
    pub(crate) const fn refuses(mut self, errors: &'static [Code]) -> Self {
        self.errors = errors;
        self
    }

    /// It refuses with a list of cards, each with one of these errors.
    pub(crate) const fn refuses_cards(mut self, errors: &'static [Code]) -> Self {
        self.card_errors = errors;
        self
    }

    /// Its response shows secrets: activation codes, or what signs events.
    pub(crate) const fn discloses(mut self) -> Self {
        self.discloses = true;
        self
    }

    /// Its response holds personal data of the employee whom it names as `idEmployee`: a recorded one is erased with them.
    pub(crate) const fn holds_person(mut self) -> Self {
        self.holds_person = true;
        self
    }

    /// Its response has an entity tag.
    pub(crate) const fn tagged(mut self) -> Self {
        self.is_tagged = true;
        self
    }

    /// It takes `If-Match`.
    pub(crate) const fn conditional(mut self) -> Self {
        self.is_conditional = true;
        self
    }

    /// Its body holds a password.
    pub(crate) const fn keeps_secret(mut self) -> Self {
        self.keeps_secret = true;
        self
    }

    /// Its methods, as the OpenAPI document lists them.
    pub(crate) fn methods(&self) -> Vec<Method> {
        if self.method == Method::PUT { vec![Method::PUT, Method::PATCH] } else { vec![self.method.clone()] }
    }

    /// All methods that it takes: `HEAD` wherever there is `GET`.
    pub(crate) fn allowed(&self) -> Vec<Method> {
        let mut methods = self.methods();
        if self.method == Method::GET {
            methods.push(Method::HEAD);
        }
        methods
    }

    /// Whether it takes this method.
    pub(crate) fn takes(&self, method: &Method) -> bool {
        self.method == *method
            || (self.method == Method::PUT && *method == Method::PATCH)
            || (self.method == Method::GET && *method == Method::HEAD)
    }

    /// The names in the path, in their order.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &'static str> + use<> {
        kopeck_api::placeholders(self.path)
    }

    /// Whether it reads: the parameters of its query and body are one.
    pub(crate) const fn is_read(&self) -> bool {
        matches!(self.effect, Effect::Read(_))
    }

    /// Whether it reads up to hundreds of records, or a whole month: pages, feeds and the statement.
    pub(crate) fn reads_many(&self) -> bool {
        self.is_read()
            && (["per_page", "limit"].iter().any(|name| self.has_field(name)) || !self.files.is_empty())
    }

    /// Whether it changes data.
    pub(crate) const fn is_mutation(&self) -> bool {
        matches!(self.effect, Effect::Mutate(_))
    }

    /// Its path identifiers, parameters and fields, in the order of its reader.
    pub(crate) fn inputs(&self) -> Vec<InputField> {
        inputs(self.reads)
    }

    /// The fields of its body; for a read, its parameters.
    pub(crate) fn fields(&self) -> &[Field] {
        self.fields.get_or_init(|| {
            let inputs = self.inputs().into_iter().filter(|input| input.location != Location::Path);
            inputs.flat_map(|input| Field::by_each_name(&input)).collect()
        })
    }

    /// The encoding of a sealed field of its body.
    pub(crate) fn field_encoding(&self, name: &str) -> FieldEncoding {
        self.field(name).map_or(FieldEncoding::Text, |field| field.encoding)
    }

    /// Whether a field may be plaintext beside sealed fields.
    pub(crate) fn may_be_clear(&self, name: &str) -> bool {
        self.field(name).is_none_or(|field| field.may_be_clear)
    }

    /// `name` if the operation has such a field, parameter or placeholder, else `-`.
    pub(crate) fn own_name(&self, name: &str) -> &'static str {
        let field = self.field(name).map(|field| field.name);
        field.or_else(|| self.placeholders().find(|own| *own == name)).unwrap_or("-")
    }

    /// The name of a faulty field as far as the operation declares it, with places in lists: `cards[3].idCard`. What the
    /// caller called otherwise is `-`.
    pub(crate) fn declared_name(&self, field: &str) -> String {
        if let Some(common) = COMMON_NAMES.iter().find(|name| **name == field) {
            return (*common).to_owned();
        }
        let (first, rest) = field.split_at(field.find(['[', '.']).unwrap_or(field.len()));
        let own = self.own_name(first);
        match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((place, rest)) if own != "-" && place.parse::<usize>().is_ok() => {
                let item = rest.strip_prefix('.').and_then(|name| self.name_in_list(own, name));
                let item = item.map(|item| format!(".{item}")).unwrap_or_default();
                format!("{own}[{place}]{item}")
            }
            _ => own.to_owned(),
        }
    }

    /// `name` if the items of the list have such a field.
    fn name_in_list(&self, list: &str, name: &str) -> Option<&'static str> {
        let inputs = self.inputs();
        let items = inputs.iter().find(|input| input.name == list)?.items();
        items.iter().map(|item| item.name).find(|own| *own == name)
    }

    /// Whether it has a field or parameter of this name.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields().iter().find(|field| field.name == name)
    }
}

impl Field {
    fn by_each_name(input: &InputField) -> impl Iterator<Item = Self> + use<> {
        let (encoding, may_be_clear) = (input.encoding(), input.may_be_clear());
        let names = [Some(input.name), input.also].into_iter().flatten();
        names.map(move |name| Self { name, encoding, may_be_clear })
    }
}
