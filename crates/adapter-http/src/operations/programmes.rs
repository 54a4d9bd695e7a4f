//! Programmes: rules that make a run for each period.

mod approve;
mod body;
mod change;
mod create;
mod delete;
mod forecast;
mod get;
mod list;
mod pause;
mod preview;
mod refuse;
mod resume;
mod runs;
mod terms;

use kopeck_domain::access::Authority;
use kopeck_domain::ids::ProgrammeId;
use kopeck_service::programmes::ProgrammeError;

use crate::operations::prelude::*;

pub(super) static OPERATIONS: [&Operation; 12] = [
    &create::OPERATION,
    &list::OPERATION,
    &get::OPERATION,
    &change::OPERATION,
    &delete::OPERATION,
    &pause::OPERATION,
    &resume::OPERATION,
    &approve::OPERATION,
    &refuse::OPERATION,
    &runs::OPERATION,
    &forecast::OPERATION,
    &preview::OPERATION,
];

const NO_PROGRAMME: &[Code] = &[Code::ProgrammeNotFound];
const NOT_IN_STATE: &[Code] = &[Code::ProgrammeNotFound, Code::RunChanged];
const NOT_APPROVED: &[Code] = &[Code::Forbidden, Code::ProgrammeNotFound, Code::RunChanged];

fn read_id(r: &mut Reader<'_>) -> Option<ProgrammeId> {
    r.id("idProgramme")
}

/// Who acts.
fn authority(ctx: &HandlerContext) -> Authority {
    ctx.client.identity.authority.clone()
}

impl From<ProgrammeError> for ApiError {
    fn from(error: ProgrammeError) -> Self {
        match error {
            ProgrammeError::NotFound => Code::ProgrammeNotFound.into(),
            ProgrammeError::TooMany => Code::TooManyProgrammes.into(),
            ProgrammeError::Forbidden => Code::Forbidden.into(),
            ProgrammeError::State => Self::new(Code::RunChanged, error.to_string()),
            ProgrammeError::Terms(fault) => Self::field(fault.field, fault.detail),
            ProgrammeError::Store(error) => error.into(),
        }
    }
}
