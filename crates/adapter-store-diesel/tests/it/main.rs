//! The contract of the store on SQLite and on PostgreSQL, and what is this store's own.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

mod audit;
mod audit_signed;
mod away;
#[path = "../../../adapter-bank-http/tests/it/certificates.rs"]
mod certificates;
mod corrupt;
mod encryption;
mod erasure;
mod foreign;
mod history;
mod life;
mod malformed;
mod outages;
mod partners;
mod plans;
mod postgres;
mod reconciliation;
mod roles;
mod schemas;
mod structure;
mod support;
mod tls;
mod together;
mod views;

mod contract_on_sqlite {
    fn empty_store() -> crate::support::TestStore {
        crate::support::Kind::Sqlite.empty_store()
    }

    kopeck_port_store::contract_tests!(empty_store);
}

mod contract_on_postgres {
    fn empty_store() -> crate::support::TestStore {
        crate::support::Kind::Postgres.empty_store()
    }

    kopeck_port_store::contract_tests!(empty_store);
}

mod contract_on_plain_sqlite {
    fn empty_store() -> crate::support::TestStore {
        crate::support::Kind::PlainSqlite.empty_store()
    }

    kopeck_port_store::contract_tests!(empty_store);
}

mod contract_on_plain_postgres {
    fn empty_store() -> crate::support::TestStore {
        crate::support::Kind::PlainPostgres.empty_store()
    }

    kopeck_port_store::contract_tests!(empty_store);
}
