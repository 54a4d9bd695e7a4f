//! Faults of the service itself.

use std::sync::Arc;

use actix_web::http::Method;
use kopeck_adapter_http::HttpState;
use kopeck_domain::partner::SealingPolicy::Optional;
use kopeck_port_store::{Access, Done, Store, StoreError, Work};

use crate::client::{call, send};
use crate::support::{api_over, parts, unit};

#[actix_web::test]
async fn a_panic_is_a_500_that_shows_nothing() {
    // The mock panics, because it expects no call of the ledger.
    let state = api_over(unit(Optional));
    let got = send(&state, call(Method::GET, "/v1/balance").insert_header(("x-request-id", "r-9"))).await;
    assert_eq!((got.status, got.code().as_str()), (500, "internal"));
    assert!(got.text.contains("r-9") && !got.text.contains("Mock"), "{}", got.text);
}

/// A store whose queue is full.
struct BusyStore;

impl Store for BusyStore {
    fn submit(&self, _access: Access, _work: Work, done: Done) {
        done(Err(StoreError::Busy));
    }
}

#[actix_web::test]
async fn a_busy_store_is_a_503_that_can_be_tried_again() {
    let state = HttpState::new(parts(Arc::new(BusyStore)));
    let got = send(&state, call(Method::GET, "/v1/balance")).await;
    assert_eq!((got.status, got.header("retry-after")), (503, Some("1")));
}
