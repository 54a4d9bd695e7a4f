//! The handlers: read the values, run the use case, show its result. No rule lives here.

pub(crate) mod balance;
pub(crate) mod cards;
pub(crate) mod categories;
pub(crate) mod employees;
pub(crate) mod limits;
pub(crate) mod orders;
pub(crate) mod replenishments;
pub(crate) mod sandbox;

use kopeck_domain::page::Page;
use kopeck_domain::request::RequestState;

use crate::input::field_types::string_enum;
use crate::input::reader::Reader;

/// The page of a list of requests, and the state of those that it shows.
pub(crate) fn read_list_of_requests(r: &mut Reader<'_>) -> Option<(Page, Option<RequestState>)> {
    let page = r.page(employees::LIST_SIZE);
    let status = r.param("status", string_enum::<RequestState>().about("Only those in this state."));
    Some((page?, status))
}
