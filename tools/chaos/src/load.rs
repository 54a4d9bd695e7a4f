//! The load of partners: requests, their retries, and polling of accepted requests.

mod call;
mod caller;
mod endpoints;
mod feed;
mod month;
mod partner;
mod payday;
mod programmes;
mod reads;
mod report;
mod runs;
mod set_up;
mod tracked;
mod watch;

pub(crate) use call::{Answer, Change, RequestKind};
pub(crate) use caller::{answer_all, call_until};
pub(crate) use endpoints::{Endpoint, create_endpoints};
pub(crate) use feed::{follow, read_on};
pub(crate) use month::{close_month, end_month, months};
pub(crate) use partner::{MainCard, Partner};
pub(crate) use payday::{OPENING, PEOPLE, conclude as conclude_programmes, create_programmes, pass_days};
pub(crate) use programmes::{Paydays, runs_of_programmes};
pub(crate) use report::sum_of_report;
pub(crate) use runs::conclude as conclude_runs;
pub(crate) use set_up::set_up;
pub(crate) use tracked::TrackedRequest;
pub(crate) use watch::{all_ended, status, watch};
