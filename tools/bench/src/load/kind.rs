//! What can be called.

use clap::ValueEnum;

/// A request of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LoadKind {
    /// `GET /v1/employee/{id}` of any employee.
    Read,
    /// The same with no identifier in its path: token check and a response of the service, and no database.
    Refused,
    /// `POST /v1/employee/add`.
    Add,
    /// `POST /v1/replenishment` of ten cards that no other call has.
    Replenish,
    /// `GET /v1/employees`, the first page.
    First,
    /// `POST /v1/limits/status`, which changes nothing.
    Status,
    /// `GET /v1/balance`.
    Balance,
}

impl LoadKind {
    /// The status of its response.
    pub(crate) const fn status(self) -> u16 {
        match self {
            Self::Replenish => 202,
            Self::Refused => 422,
            Self::Read | Self::Add | Self::First | Self::Status | Self::Balance => 200,
        }
    }
}
