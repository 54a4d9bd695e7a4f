//! The values of a request: decoding and reading.

pub(crate) mod faults;
pub(crate) mod field_types;
pub(crate) mod json_text;
pub(crate) mod limit;
pub(crate) mod object;
pub(crate) mod period;
pub(crate) mod query;
pub(crate) mod reader;
pub(crate) mod schema;

use std::borrow::Cow;
use std::collections::BTreeMap;

use actix_web::web::Bytes;

use self::json_text::{JsonText, OwnedJson};
use self::object::Object;
use crate::entity_tag::IfMatch;
use crate::file_format::FileFormat;
use crate::wording::Language;

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Param {
    /// Text of the path or query, for a number too.
    Text(String),
    /// A value of a JSON body.
    Json(OwnedJson),
}

/// The values of a request, none of them sealed. Only fields and parameters that the operation names are kept.
#[derive(Debug, Default)]
pub(crate) struct RequestInput {
    /// The path without query and final slash, a sealed identifier as `*`.
    pub(crate) path: String,
    /// The form of a file that `Accept` asks for.
    pub(crate) file: Option<FileFormat>,
    /// `If-Match`.
    pub(crate) if_match: IfMatch,
    /// The language that `Accept-Language` prefers.
    pub(crate) language: Language,
    /// The identifiers of the path by their placeholder.
    pub(crate) ids: Vec<(&'static str, String)>,
    /// Parameters of the query; for a read, the fields of its body too.
    pub(crate) params: BTreeMap<String, Param>,
    /// The file that stands in the place of a JSON body.
    pub(crate) upload: Option<Bytes>,
    /// The fields of the body of a mutation; beside a file, those of the query.
    pub(crate) body: Vec<(String, OwnedJson)>,
}

impl RequestInput {
    /// The fields of the body.
    pub(crate) fn object(&self) -> Object<'_> {
        Object {
            fields: self
                .body
                .iter()
                .map(|(name, value)| (Cow::Borrowed(name.as_str()), value.text()))
                .collect(),
        }
    }

    /// A field of the body.
    pub(crate) fn field(&self, name: &str) -> Option<JsonText<'_>> {
        self.body.iter().find(|(other, _)| other == name).map(|(_, value)| value.text())
    }

    /// Frees the values once they are read: a request that waits holds none of them.
    pub(crate) fn clear(&mut self) {
        self.params = BTreeMap::new();
        self.upload = None;
        self.body = Vec::new();
    }
}
