//! Requests of operations within this process, and their responses.

use std::pin::Pin;

use futures_util::stream::Stream;
use kopeck_domain::access::Authority;
use kopeck_domain::ids::{PartnerId, SessionId};

use crate::file_format::FileFormat;
use crate::wording::Language;

/// Who sends a request within this process.
#[derive(Debug, Clone)]
pub struct LocalUser {
    /// The partner.
    pub partner: PartnerId,
    /// Who acts for it, and what it may do.
    pub authority: Authority,
    /// Its session.
    pub session: SessionId,
}

/// A request of an operation.
#[derive(Debug, Clone, Default)]
pub struct LocalRequest {
    /// The name of the operation.
    pub operation: &'static str,
    /// The identifiers of its path, in their order.
    pub ids: Vec<String>,
    /// Its query string.
    pub query: String,
    /// Its body, JSON or empty.
    pub body: Vec<u8>,
    /// Its idempotency key: visible ASCII. A change needs one.
    pub key: Option<String>,
    /// The form of the file, if the response is one.
    pub file: Option<FileFormat>,
    /// The language of the file.
    pub language: Language,
}

/// The chunks of a file, each made when the connection can take it. An error ends the connection.
pub type FileChunks = Pin<Box<dyn Stream<Item = Result<Vec<u8>, FileCutOff>>>>;

/// A file could not be made to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the file is cut off")]
pub struct FileCutOff;

/// The response of an operation.
pub struct LocalResponse {
    /// The status code.
    pub status: u16,
    /// The body, as a client of the API gets it; empty if it comes in chunks.
    pub body: Vec<u8>,
    /// The body of a file that is made while it is sent.
    pub chunks: Option<FileChunks>,
    /// Media type and name of a file.
    pub file: Option<(&'static str, String)>,
    /// Seconds until a retry may succeed.
    pub retry_after: Option<u64>,
}
