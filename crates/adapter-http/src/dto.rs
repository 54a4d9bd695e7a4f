//! Parts that several response bodies share.

pub(crate) mod entry;
mod page;

pub(crate) use kopeck_api::from_domain::{local, to_the_second};
pub(crate) use page::page;
