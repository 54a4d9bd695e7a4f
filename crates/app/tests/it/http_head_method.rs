//! `HEAD` wherever there is `GET`: the same response without its body, and nothing is recorded.

use kopeck_audit::Record;
use kopeck_port_store::{Access, AuditFilter, StoreError, UnitOfWork, transact};

use crate::process::Installation;
use crate::raw_http::{RawRequest, RawResponse, get, optional};
use crate::server::TestServer;
use crate::world::{Things, samples};

/// The equal parts: all but the time, the id of the request and the counters.
fn in_common(got: &RawResponse) -> (u16, Vec<(String, String)>) {
    let mut headers = got.headers.clone();
    headers.retain(|(name, _)| !["date", "x-request-id", "ratelimit"].contains(&name.as_str()));
    (got.status, headers)
}

fn as_head(call: &RawRequest) -> RawRequest {
    RawRequest { method: "HEAD".to_owned(), ..call.clone() }
}

#[test]
fn every_get_operation_answers_head_and_records_nothing() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let own = Things::make(&server, &token, 1);
    for sample in samples().filter(|sample| sample.operation.method == "GET") {
        let call = sample.call(&own).token(&token);
        let nothing = sample.call(&Things::nothing()).token(&token);
        let path = sample.operation.path;
        for call in [call, nothing, get(path).without("x-nonce").token(&token), get(path)] {
            let head = as_head(&call).with("x-request-id", "a-head").send(&server);
            let got = call.with("x-request-id", "a-get").send(&server);
            assert_eq!(in_common(&head), in_common(&got), "{path}");
            assert_eq!(head.text, "", "{path}");
        }
    }
    for path in ["/docs", "/openapi.json", "/", "/nowhere", "/v1/employees?page=0&page=0"] {
        let ask = |method: &str| RawRequest::new(method, path).token(&token).to_bytes();
        let [head, got] = ["HEAD", "GET"].map(|method| {
            crate::raw_http::exchange(&server.base_url, std::net::Ipv4Addr::LOCALHOST, &ask(method))
        });
        assert_eq!((in_common(&head), head.text.as_str()), (in_common(&got), ""), "{path}");
    }
    // Entries are written in the order of their requests.
    let of_disclosures = |id: &str| {
        let filter = AuditFilter { action: Some("order.result".to_owned()), ..AuditFilter::default() };
        let read = move |unit: &mut dyn UnitOfWork| unit.audit().list(&filter, 100);
        let records = transact::<_, StoreError>(&*server.application.store, Access::Read, read).unwrap();
        let is_its = |record: &&Record| {
            record.entry.status == Some(200)
                && record.entry.request_id.as_ref().is_some_and(|both| both.ends_with(id))
        };
        records.iter().filter(is_its).count()
    };
    while of_disclosures(" a-get") == 0 {
        std::thread::yield_now();
    }
    assert_eq!(of_disclosures(" a-head"), 0);
    server.run_jobs();
}

/// The requests of load balancers and monitors.
#[test]
fn health_and_metrics_answer_head() {
    let installation = Installation::new();
    let running = installation.serve(&["--operations-listen", "127.0.0.1:0"]);
    for path in ["/health/live", "/health/ready", "/metrics"] {
        let ask = |method: &str| {
            let host = running.operations.strip_prefix("http://").unwrap();
            let text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
            crate::raw_http::read_all(&running.operations, text.as_bytes())
        };
        let (head, got) = (ask("HEAD"), ask("GET"));
        assert!(head.starts_with("HTTP/1.1 200") && head.ends_with("\r\n\r\n"), "{head}");
        let (of_got, body) = got.split_once("\r\n\r\n").unwrap();
        let names = |head: &str| {
            head.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(head.trim_end()), names(of_got), "{path}");
        assert!(!body.is_empty() && head.contains("content-length: "), "{path}");
        let refused = ask("POST");
        assert!(refused.starts_with("HTTP/1.1 405") && refused.contains("allow: GET, HEAD\r\n"), "{refused}");
    }
}
