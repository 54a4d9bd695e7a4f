//! Every operation of the API is called here once and succeeds. Its place in `docs/API.md` is looked after in
//! `api_examples`.

use std::collections::BTreeSet;

use kopeck_adapter_http::operations;

use crate::raw_http::{login, optional, refresh_call};
use crate::server::TestServer;
use crate::world::{Things, samples};

#[test]
fn every_operation_succeeds() {
    call_every_operation(&TestServer::start());
}

/// Calls every operation; each succeeds.
pub fn call_every_operation(server: &TestServer) {
    let (partner, _) = optional(server);
    let tokens = login(server, &partner);
    assert_eq!(refresh_call(&partner, &tokens.refresh).send(server).status, 200);
    let mut succeeded = BTreeSet::from(crate::world::TOKEN_CALLS);
    let mut token = String::new();
    let (changing, reading): (Vec<_>, Vec<_>) = samples().partition(|sample| sample.operation.changes);
    let mut things = None;
    for (tag, sample) in (0..).zip(changing.into_iter().chain(reading)) {
        // Making things takes more of the server's time than a token lives.
        if tag % 50 == 0 {
            token = login(server, &partner).access;
        }
        // What changes something may use up its things.
        if sample.operation.changes || things.is_none() {
            things = Some(Things::make(server, &token, tag));
        }
        let call = sample.call(things.as_ref().unwrap());
        let got = call.token(&token).send(server);
        assert!((200..=202).contains(&got.status), "{}: {got:?}", sample.operation.name);
        succeeded.insert(sample.operation.name);
    }
    assert_eq!(succeeded, operations().map(|operation| operation.name).collect());
    server.run_jobs();
}
