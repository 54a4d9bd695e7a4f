//! Imports of most files of operations.

pub(crate) use crate::error::ApiError;
pub(crate) use crate::handler_context::HandlerContext;
pub(crate) use crate::input::reader::Reader;
pub(crate) use crate::operation::{Needs, Operation, handler, reads};
pub(crate) use crate::response::HandlerResult;
pub(crate) use kopeck_api::{self as api, Code, operations};
pub(crate) use kopeck_domain::access::Scope;
