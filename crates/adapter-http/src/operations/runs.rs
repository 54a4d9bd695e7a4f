//! Runs: lists of changes for many people, which are checked and shown before anything happens.

mod approve;
pub(super) mod body;
mod cancel;
mod create;
mod file;
mod get;
mod items;
mod list;
mod refuse;
mod result;
mod submit;

use kopeck_domain::access::Authority;
use kopeck_domain::approval::Digest;
use kopeck_domain::ids::RunId;
use kopeck_domain::run::{ApproveRunError, CancelRunError, SubmitError};
use kopeck_service::runs::{ChangeRunError, CreateRunError, RunError};

use crate::input::field_types::text;
use crate::input::reader::Fields;
use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 9] = [
    &create::OPERATION,
    &get::OPERATION,
    &items::OPERATION,
    &submit::OPERATION,
    &approve::OPERATION,
    &refuse::OPERATION,
    &cancel::OPERATION,
    &result::OPERATION,
    &list::OPERATION,
];

const NO_RUN: &[Code] = &[Code::RunNotFound];
const NOT_APPROVED: &[Code] = &[Code::Forbidden, Code::RunNotFound, Code::RunChanged];

fn read_id(r: &mut Reader<'_>) -> Option<RunId> {
    r.id("idRun")
}

fn read_digest(body: &mut Fields<'_>) -> Option<Digest> {
    body.required("digest", text(str::parse::<Digest>).about("The digest of the run as you have seen it."))
}

/// Who acts.
fn authority(ctx: &HandlerContext) -> Authority {
    ctx.client.identity.authority.clone()
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::NotFound => Code::RunNotFound.into(),
            RunError::Store(error) => error.into(),
        }
    }
}

impl From<CreateRunError> for ApiError {
    fn from(error: CreateRunError) -> Self {
        match error {
            CreateRunError::ReferenceTaken(run) => Self::reference_taken(run),
            CreateRunError::Store(error) => error.into(),
        }
    }
}

impl<R: Into<ApiError>> From<ChangeRunError<R>> for ApiError {
    fn from(error: ChangeRunError<R>) -> Self {
        match error {
            ChangeRunError::NotFound => Code::RunNotFound.into(),
            ChangeRunError::Refused(refusal) => refusal.into(),
            ChangeRunError::Store(error) => error.into(),
        }
    }
}

impl From<SubmitError> for ApiError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Forbidden(_) => Code::Forbidden.into(),
            SubmitError::Changed => Code::RunChanged.into(),
            SubmitError::Faulty => Code::RunFaulty.into(),
        }
    }
}

impl From<ApproveRunError> for ApiError {
    fn from(error: ApproveRunError) -> Self {
        match error {
            ApproveRunError::Forbidden => Code::Forbidden.into(),
            ApproveRunError::Changed => Code::RunChanged.into(),
        }
    }
}

impl From<CancelRunError> for ApiError {
    fn from(error: CancelRunError) -> Self {
        Self::new(Code::RunNotCancellable, error.to_string())
    }
}
