//! Every operation of the API is called here once and succeeds, and has a method of the client. Its place in
//! `docs/API.md` is looked after in `api_examples`.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_adapter_http::{OperationInfo, operations};
use kopeck_client::OPERATIONS;

use crate::bare::{login, optional, refresh_call};
use crate::server::TestServer;
use crate::world::{Things, samples};

/// Operations that ask what another one asks in another spelling. The client has one method for both.
const OTHER_SPELLINGS: [&str; 2] = ["replenishment.status_by_path", "replenishment.result_by_path"];

#[test]
fn every_operation_succeeds() {
    call_every_operation(&TestServer::start());
}

/// And they succeed.
pub fn call_every_operation(server: &TestServer) {
    let (partner, _) = optional(server);
    let tokens = login(server, &partner);
    assert_eq!(refresh_call(&partner, &tokens.refresh).send(server).status, 200);
    let mut succeeded = BTreeSet::from(crate::world::TOKEN_CALLS);
    let token = login(server, &partner).access;
    for (tag, sample) in (0..).zip(samples()) {
        let things = Things::make(server, &token, tag);
        let call = sample.call(&things);
        let got = call.token(&token).send(server);
        assert!((200..=202).contains(&got.status), "{}: {got:?}", sample.operation.name);
        succeeded.insert(sample.operation.name);
    }
    assert_eq!(succeeded, operations().map(|operation| operation.name).collect());
    server.run_jobs();
}

/// The compiler tells of an operation in the client's list that no method calls, so the list is what it can do.
#[test]
fn the_client_has_a_method_for_every_operation_and_for_nothing_else() {
    let offered: BTreeMap<String, bool> = operations()
        .filter(|operation| !OTHER_SPELLINGS.contains(&operation.name))
        .map(|OperationInfo { method, path, changes, .. }| (format!("{method} {path}"), changes))
        .collect();
    let callable: BTreeMap<String, bool> = OPERATIONS
        .iter()
        .map(|operation| (operation.to_string().trim_end_matches('/').to_owned(), operation.changes()))
        .collect();
    assert_eq!(callable, offered, "and those that change something are the same");
}
