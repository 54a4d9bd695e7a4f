//! Exit codes.

use std::process::ExitCode;

use kopeck_client::{Error, ErrorCode};

/// The result of a command. The numbers are part of the interface, see `docs/COMMAND-LINE.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// A local error: a profile, a file, an unreadable response.
    Failed = 1,
    /// The command line is not understood, as clap has it.
    Usage = 2,
    /// The service refused the values, or the balance does not cover them.
    Refused = 3,
    /// There is no such thing.
    NotFound = 4,
    /// The credentials are not accepted.
    NotAllowed = 5,
    /// Something is in no state for that.
    Conflict = 6,
    /// Too many tries.
    Throttled = 7,
    /// The service is unreachable or unavailable.
    Unavailable = 8,
    /// A negative response: a request was declined, cancelled or done in part; a card would not pay.
    OtherwiseThanAsked = 9,
    /// A request was not finished within the time to wait for it.
    StillWaiting = 10,
    /// A file has faulty rows.
    FaultyRows = 11,
    /// Interrupted from the keyboard, as shells have it.
    Interrupted = 130,
}

impl Exit {
    /// The exit code for an error of the client.
    pub(crate) fn of(error: &Error) -> Self {
        match error {
            Error::Transport { .. } | Error::Tls { .. } | Error::Timeout => Self::Unavailable,
            Error::Invalid { .. } => Self::Refused,
            Error::Cards { status, .. } | Error::Api { status, .. } => Self::of_status(*status, error.code()),
            Error::Unfinished { .. } => Self::StillWaiting,
            _ => Self::Failed,
        }
    }

    /// The word for it, for programs.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Usage => "usage",
            Self::Refused => "refused",
            Self::NotFound => "not_found",
            Self::NotAllowed => "not_allowed",
            Self::Conflict => "conflict",
            Self::Throttled => "throttled",
            Self::Unavailable => "unavailable",
            Self::OtherwiseThanAsked => "otherwise_than_asked",
            Self::StillWaiting => "still_waiting",
            Self::FaultyRows => "faulty_rows",
            Self::Interrupted => "interrupted",
        }
    }

    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    fn of_status(status: u16, code: Option<&ErrorCode>) -> Self {
        use ErrorCode::{BadCredentials, OrderCancelled, OrderDeclined, OrderNotProcessed};
        match (status, code) {
            (_, Some(BadCredentials)) | (401 | 403, _) => Self::NotAllowed,
            // The service says 404 of a result that is not there; the order is.
            (_, Some(OrderCancelled | OrderDeclined | OrderNotProcessed)) | (409, _) => Self::Conflict,
            (404, _) => Self::NotFound,
            (429, _) => Self::Throttled,
            (408 | 500.., _) => Self::Unavailable,
            _ => Self::Refused,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exit(status: u16, code: Option<&str>) -> Exit {
        Exit::of(&Error::Api {
            status,
            code: code.map(ErrorCode::from),
            message: String::new(),
            request_id: None,
            retry_after: None,
        })
    }

    #[test]
    fn a_script_can_tell_refusals_apart() {
        for (status, code, expected) in [
            (400, Some("bad_credentials"), Exit::NotAllowed),
            (401, Some("unauthorized"), Exit::NotAllowed),
            (402, Some("insufficient_balance"), Exit::Refused),
            (404, Some("employee_not_found"), Exit::NotFound),
            (404, Some("order_not_processed"), Exit::Conflict),
            (404, None, Exit::NotFound),
            (409, Some("category_in_use"), Exit::Conflict),
            (413, Some("payload_too_large"), Exit::Refused),
            (429, Some("too_many_requests"), Exit::Throttled),
            (502, None, Exit::Unavailable),
            (503, Some("bank_unavailable"), Exit::Unavailable),
        ] {
            assert_eq!(exit(status, code), expected, "{status} {code:?}");
        }
        assert_eq!(Exit::of(&Error::Timeout), Exit::Unavailable);
        assert_eq!(Exit::of(&Error::Unfinished { last: None }), Exit::StillWaiting);
        assert_eq!(Exit::of(&Error::Sealing(String::new())), Exit::Failed);
    }
}
