//! What orders, replenishments and limit changes share.

use kopeck_domain::request::RequestState;
use kopeck_port_store::page::Page;

use crate::input::field_types::string_enum;
use crate::operations::prelude::*;

/// The message of an accepted request.
pub(super) const ACCEPTED: &str = "the request is accepted and awaits execution";

/// Page and state filter of a list of requests.
pub(super) fn read_list(r: &mut Reader<'_>) -> Option<(Page, Option<RequestState>)> {
    let page = r.page();
    let status = r.param("status", string_enum::<RequestState>().about("Only those in this state."));
    Some((page?, status))
}
