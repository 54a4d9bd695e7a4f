//! The contract of the store on SQLite, and what is this store's own.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail by panicking")]

mod books;
mod corrupt;
mod life;
mod partners;
mod plans;
mod support;

mod contract {
    use crate::support::empty_store;

    kopeck_port_store::contract_tests!(empty_store);
}
