//! Runs: lists of changes for many people.

use kopeck_api::{Data, Page, Paging, Run, RunItem, RunOutcome, operations};
use serde_json::json;
use uuid::Uuid;

use crate::api::statements::StatementFile;
use crate::client::Client;
use crate::error::Error;
use crate::model::run::{NewRun, RunFilter};
use crate::model::statement::FileFormat;
use crate::records::Records;
use crate::request::Request;
use crate::write::Write;

/// Operations on runs; see [`Client::runs`].
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a> {
    client: &'a Client,
}

impl<'a> Runs<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Creates a run, and returns what it would come to. Nothing happens before it is submitted.
    pub fn create(&self, run: &NewRun) -> Write<Run> {
        self.client.write(Request::of(&operations::RUN_CREATE).body(run))
    }

    /// The run with this identifier.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn get(&self, id_run: Uuid) -> Result<Run, Error> {
        self.client.read(Request::of(&operations::RUN_GET).id(id_run)).await
    }

    /// The items of a run, with a fault or without, of one outcome or of all, in their order, page by page on demand.
    pub fn items(&self, id_run: Uuid, faulty: Option<bool>, outcome: Option<RunOutcome>) -> Records<RunItem> {
        let outcome = outcome.as_ref().map(RunOutcome::as_str).map(str::to_owned);
        let request = Request::of(&operations::RUN_ITEMS).id(id_run);
        let request = request.query("faulty", faulty.map(|faulty| faulty.to_string()));
        Records::new(self.client, request.query("outcome", outcome), |one| one.line.into())
    }

    /// Submits a run as its digest names it. Items with a fault keep it from being submitted, unless they are skipped.
    pub fn submit(&self, id_run: Uuid, digest: &str, skip_faulty: bool) -> Write<Run> {
        let body = json!({"digest": digest, "skipFaulty": skip_faulty});
        self.client.write(Request::of(&operations::RUN_SUBMIT).id(id_run).body(&body))
    }

    /// Approves a run that another has submitted, as its digest names it.
    pub fn approve(&self, id_run: Uuid, digest: &str) -> Write<Run> {
        self.client.write(Request::of(&operations::RUN_APPROVE).id(id_run).body(&json!({"digest": digest})))
    }

    /// Refuses to approve a run, for a reason or for none.
    pub fn refuse(&self, id_run: Uuid, reason: Option<&str>) -> Write<Run> {
        let body = reason.map_or_else(|| json!({}), |reason| json!({"reason": reason}));
        self.client.write(Request::of(&operations::RUN_REFUSE).id(id_run).body(&body))
    }

    /// Cancels a run that has not begun.
    pub fn cancel(&self, id_run: Uuid) -> Write<Run> {
        self.client.write(Request::of(&operations::RUN_CANCEL).id(id_run))
    }

    /// What became of each item of a run.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn result(&self, id_run: Uuid) -> Result<Vec<RunItem>, Error> {
        let whole: Data<Vec<RunItem>> =
            self.client.read(Request::of(&operations::RUN_RESULT).id(id_run)).await?;
        Ok(whole.data)
    }

    /// What became of each item as a file, [`FileFormat::Csv`] or [`FileFormat::Xlsx`]: the columns that the run was made of,
    /// under their own names, then `outcome` and `reason`. It is not sealed, even if the client seals.
    ///
    /// # Errors
    ///
    /// [`Error::Config`] for another form; see [`Error`].
    pub async fn result_file(&self, id_run: Uuid, format: FileFormat) -> Result<StatementFile, Error> {
        if !matches!(format, FileFormat::Csv | FileFormat::Xlsx) {
            return Err(Error::Config("the result of a run is CSV or XLSX".to_owned()));
        }
        self.client.read_file(Request::of(&operations::RUN_RESULT).id(id_run), format).await
    }

    /// Lists runs, newest first.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn list(&self, filter: &RunFilter, paging: Paging) -> Result<Page<Run>, Error> {
        self.all(filter).page(paging).await
    }

    /// The runs that fit, newest first, page by page on demand.
    pub fn all(&self, filter: &RunFilter) -> Records<Run> {
        let request = filter.add_to(Request::of(&operations::RUN_LIST));
        Records::new(self.client, request, |one| one.id_run.as_u128())
    }
}
