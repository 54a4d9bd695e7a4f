//! Sessions and password of one's own, and the request log.

use time::OffsetDateTime;
use uuid::Uuid;

use crate::shape::body;

body! {
    /// A session: all tokens that grew from one login.
    pub struct Session as "Session" {
        /// Its identifier.
        id_session: Uuid,
        /// When it began, UTC.
        #[serde(with = "time::serde::rfc3339")]
        created_at: OffsetDateTime,
        /// When it was last used, UTC, to about a minute; `null` if it was never used.
        #[serde(with = "time::serde::rfc3339::option")]
        last_used_at: Option<OffsetDateTime>,
        /// The address from which it was used then; `null` if it is unknown.
        address: Option<String>,
        /// Whether it is the session of this request.
        current: bool,
    }
}

body! {
    /// A session that was ended.
    pub struct SessionEnded as "SessionEnded" {
        /// Its identifier.
        id_session: Uuid,
    }
}

body! {
    /// A password that was changed.
    pub struct PasswordChanged as "PasswordChanged" {
        /// Always `true`.
        success: bool,
        /// How many other sessions were ended by it.
        ended_sessions: u64,
    }
}

body! {
    /// A request of yours that was answered.
    pub struct LoggedRequest as "LoggedRequest" {
        /// Its number. A request that becomes visible later has a greater one.
        seq: i64,
        /// When it was answered, UTC.
        #[serde(with = "time::serde::rfc3339")]
        at: OffsetDateTime,
        /// The `x-request-id` of the response.
        request_id: String,
        /// The name of the operation, such as `employee.add`.
        operation: String,
        /// The HTTP status of the response.
        status: u64,
        /// The error code of the response; `null` if it has none.
        code: Option<String>,
        /// The names of faulty fields, 20 at most.
        fields: Vec<String>,
        /// How long the service took to answer, milliseconds.
        duration_ms: u64,
        /// The scoped credential that sent it; `null` for your own login.
        credential: Option<Uuid>,
        /// The address that it came from; `null` if it is unknown.
        address: Option<String>,
        /// Whether the response was the recorded one of an earlier request.
        replayed: bool,
    }
}

body! {
    /// A part of the request log.
    pub struct RequestFeed as "RequestFeed" {
        /// The requests, in the order of their numbers.
        data: Vec<LoggedRequest>,
        /// The `after` of the next request.
        next: i64,
    }
}
