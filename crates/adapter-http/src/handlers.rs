//! The handlers: read the values, run the use case, serialize its result. No rule lives here.

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

/// Page and state filter of a list of requests.
pub(crate) fn read_list_of_requests(r: &mut Reader<'_>) -> Option<(Page, Option<RequestState>)> {
    let page = r.page(employees::LIST_SIZE);
    let status = r.param("status", string_enum::<RequestState>().about("Only those in this state."));
    Some((page?, status))
}
