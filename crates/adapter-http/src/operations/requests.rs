//! Parts that requests of all kinds share.

use kopeck_domain::calendar::Zone;
use kopeck_domain::request::{RequestReference, RequestState};
use kopeck_port_store::RequestFilter;
use kopeck_port_store::page::Page;

use crate::input::field_types::{string_enum, text};
use crate::input::period::{self, Period};
use crate::input::reader::Fields;
use crate::operations::prelude::*;

/// The message of an accepted request.
pub(super) const ACCEPTED: &str = "the request is accepted and awaits execution";

/// Page and filter of a list of requests; its days are those of `zone`.
pub(super) fn read_list(r: &mut Reader<'_>, zone: Zone) -> Option<(Page, RequestFilter<RequestState>)> {
    let page = r.page();
    let state = r.param("status", string_enum::<RequestState>().about("Only those in this state."));
    let reference =
        r.param("reference", text(RequestReference::parse).about("Only those with exactly this reference."));
    let Period { from, before } = period::read(r, zone);
    Some((page?, RequestFilter { state, reference, from, before }))
}

/// The reference of a new request.
pub(super) fn read_reference(body: &mut Fields<'_>) -> Option<RequestReference> {
    let about =
        "Your own name for the request, such as its number in your accounting system; it need not be unique.";
    body.optional("reference", text(RequestReference::parse).about(about))
}

/// The text of a reference.
pub(super) fn shown(reference: Option<&RequestReference>) -> Option<String> {
    reference.map(|reference| reference.as_str().to_owned())
}
