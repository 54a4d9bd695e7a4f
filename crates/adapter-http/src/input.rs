//! The values of a request: decoding and reading.

pub(crate) mod distinct;
pub(crate) mod field_types;
pub(crate) mod limit;
pub(crate) mod object;
pub(crate) mod period;
pub(crate) mod query;
pub(crate) mod reader;
pub(crate) mod schema;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::statement_file::StatementFormat;

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Param {
    /// Text of the path or query, for a number too.
    Text(String),
    /// A value of a JSON body.
    Json(Value),
}

/// The values of a request, none of them sealed.
#[derive(Debug, Default)]
pub(crate) struct RequestInput {
    /// The path without query and final slash, a sealed identifier as `*`.
    pub(crate) path: String,
    /// The form of a file that `Accept` asks for.
    pub(crate) file: Option<StatementFormat>,
    /// The identifiers of the path by their placeholder.
    pub(crate) ids: Vec<(&'static str, String)>,
    /// Parameters of the query; for a read, the fields of its body too.
    pub(crate) params: BTreeMap<String, Param>,
    pub(crate) body: Map<String, Value>,
}
