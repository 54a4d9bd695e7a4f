//! Parts that several response bodies share.

pub(crate) mod entry;
mod page;

pub(crate) use kopeck_api::from_domain::{local, to_the_second};
pub(crate) use page::page;

use crate::schema::api_type;

api_type! {
    /// Confirms that the request was carried out.
    #[derive(Clone, Copy)]
    pub(crate) struct SuccessDto as "Done" {
        /// `true`.
        success: bool,
    }
}

impl SuccessDto {
    pub(crate) const fn new() -> Self {
        Self { success: true }
    }
}
