//! Requests of operations within this process, and their responses.

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

/// The response of an operation.
#[derive(Debug)]
pub struct LocalResponse {
    /// The status code.
    pub status: u16,
    /// The body, as a client of the API gets it.
    pub body: Vec<u8>,
    /// Media type and name of a file.
    pub file: Option<(&'static str, String)>,
    /// Seconds until a retry may succeed.
    pub retry_after: Option<u64>,
}
