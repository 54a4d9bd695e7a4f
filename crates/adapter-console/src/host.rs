//! The port to the server that the console is part of.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use futures_util::stream::Stream;
use kopeck_api::Operation;
use kopeck_audit::Entry;
use kopeck_domain::access::Authority;
use kopeck_domain::ids::{PartnerId, SessionId};
use time::OffsetDateTime;

use crate::texts::Language;

/// A future that stays on the thread of its request.
pub type Local<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// What the server does for one request.
pub trait Host {
    /// Calls an operation of the API in the name of `caller`, with all its checks, behind authentication.
    fn call<'a>(&'a self, caller: &'a Caller, request: ApiRequest) -> Local<'a, ApiResponse>;

    /// Runs the check of a password on a blocking thread, in the queue of logins: those of a session before those of strangers.
    ///
    /// # Errors
    /// [`Busy`] if the queue is too long.
    fn check_password(
        &self,
        in_session: bool,
        check: Box<dyn FnOnce() + Send>,
    ) -> Local<'_, Result<(), Busy>>;

    /// Notes that a login has succeeded.
    fn remember_login(&self);

    /// Runs the reading of a file on a blocking thread, in the partner's queue of spreadsheets.
    ///
    /// # Errors
    /// [`Busy`] if the queue is too long.
    fn read_file(&self, partner: PartnerId, read: Box<dyn FnOnce() + Send>) -> Local<'_, Result<(), Busy>>;

    /// The client's address, if it is known.
    fn address(&self) -> Option<String>;

    /// The client's network, which failures are counted by, if its address is known.
    fn network(&self) -> Option<String>;

    /// An audit entry of the request, without actor and outcome.
    fn audit_entry(&self, action: &'static str) -> Entry;

    /// Queues an audit entry, within the budget of its source.
    fn record(&self, entry: Entry);
}

/// Work that found no place in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Busy;

/// In whose name an operation is called.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The partner.
    pub partner: PartnerId,
    /// Who acts for it, and what it may do.
    pub authority: Authority,
    /// Its session.
    pub session: SessionId,
}

/// A request of an operation.
#[derive(Clone)]
pub struct ApiRequest {
    /// The operation.
    pub operation: &'static Operation,
    /// The identifiers of its path, in their order.
    pub ids: Vec<String>,
    /// Its query string.
    pub query: String,
    /// Its body, JSON or empty.
    pub body: Vec<u8>,
    /// Its idempotency key, if it changes something.
    pub key: Option<String>,
    /// The form of the file, if the response is one.
    pub file: Option<FileForm>,
    /// The language of the file.
    pub language: Language,
}

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileForm {
    /// A spreadsheet, in roubles.
    Xlsx,
    /// CSV that spreadsheet programs open, in roubles.
    ExcelCsv,
    /// CSV in kopecks, for programs.
    Csv,
    /// For accounting programs of 1C.
    OneC,
    /// ISO 20022 camt.053.
    Camt,
}

/// What follows of a file, made while it is sent. An error ends the connection.
pub struct Chunks(pub Pin<Box<dyn Stream<Item = Result<Vec<u8>, CutOff>>>>);

/// A file could not be made to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutOff;

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks")
    }
}

/// The response of an operation.
pub struct ApiResponse {
    /// The status code.
    pub status: u16,
    /// The body, as a client of the API gets it; empty if it comes in chunks.
    pub body: Vec<u8>,
    /// The body of a file that is made while it is sent.
    pub chunks: Option<Chunks>,
    /// Media type and name of a file.
    pub file: Option<(&'static str, String)>,
}

/// What the process knows of itself.
pub trait ServiceStatus: Send + Sync {
    /// The present state.
    fn report(&self) -> Local<'_, StatusReport>;
}

/// The state of the process, and of the work of all processes.
#[derive(Debug, Clone, Default)]
pub struct StatusReport {
    /// Parts of the process, each with what is wrong with it.
    pub parts: Vec<(&'static str, Option<String>)>,
    /// What needs attention before anything stops.
    pub warnings: Vec<String>,
    /// The work of all processes; `None` while the database is away.
    pub work: Option<WorkStatus>,
    /// Threads that do asynchronous work.
    pub threads: usize,
    /// The longest time since a sign of life of one of them.
    pub silence_seconds: u64,
    /// Requests to the bank since the process started, by their kind.
    pub bank: Vec<BankCallStatus>,
    /// Samples of the last hours, the oldest first.
    pub samples: Vec<StatusSample>,
}

/// Work that has not ended.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkStatus {
    /// Requests that have not ended.
    pub open: u64,
    /// Those that wait for a worker.
    pub due: u64,
    /// For how long the longest of these has been waiting.
    pub oldest_due_seconds: u64,
    /// Those without a response from the bank at their latest attempt.
    pub failing: u64,
    /// Those that need an operator.
    pub stuck: u64,
    /// Kopecks on hold, of all partners.
    pub held: i64,
    /// Deliveries to webhooks that have not ended.
    pub pending_deliveries: u64,
    /// Enabled webhooks whose latest attempt failed.
    pub failing_webhooks: u64,
}

/// Requests to the bank of one kind.
#[derive(Debug, Clone, Copy)]
pub struct BankCallStatus {
    /// The kind.
    pub name: &'static str,
    /// Carried out.
    pub done: u64,
    /// Declined by the bank.
    pub declined: u64,
    /// Without an effect, as the bank was not reached.
    pub unavailable: u64,
    /// With a lost response.
    pub unknown: u64,
    /// How long they took on average.
    pub mean_milliseconds: u64,
}

/// How work and the bank went up to a point in time.
#[derive(Debug, Clone, Copy)]
pub struct StatusSample {
    /// The point in time.
    pub at: OffsetDateTime,
    /// Requests that waited for a worker.
    pub due: u64,
    /// Requests without a response from the bank at their latest attempt.
    pub failing: u64,
    /// Requests to the bank since the sample before.
    pub calls: u64,
    /// Those of them without a response.
    pub lost: u64,
}
