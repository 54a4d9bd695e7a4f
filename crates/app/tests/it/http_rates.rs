//! Partners over their rate limit, and clients that do not read.

use std::io::{ErrorKind, Write as _};
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use kopeck_adapter_http::{HttpSettings, RateLimit};
use kopeck_domain::partner::SealingPolicy;

use crate::raw_http::{RawResponse, connect, get, login, login_call};
use crate::server::TestServer;

fn with(settings: HttpSettings) -> TestServer {
    TestServer::start_with(true, HttpSettings { workers: 1, ..settings })
}

fn limited(per_second: u32, burst: u32) -> TestServer {
    let [per_second, burst] = [per_second, burst].map(|number| NonZeroU32::new(number).unwrap());
    with(HttpSettings { rate_limit: Some(RateLimit { per_second, burst }), ..HttpSettings::default() })
}

fn left(got: &RawResponse) -> (u16, &str) {
    assert_eq!(got.header("ratelimit-policy"), Some("\"partner\";q=3;w=2"), "{got:?}");
    (got.status, got.header("ratelimit").unwrap())
}

#[test]
fn a_partner_over_its_rate_gets_429_with_retry_after() {
    let server = limited(2, 3);
    let [one, other] = [(), ()].map(|()| server.partner(SealingPolicy::Optional, 0));
    let [token, others] = [&one, &other].map(|partner| login(&server, partner).access);
    let balance = |token: &str| get("/v1/balance").token(token).send(&server);
    let answers: Vec<RawResponse> = (0..4).map(|_| balance(&token)).collect();
    let shown: Vec<_> = answers.iter().map(left).collect();
    let all = "\"partner\";r=2;t=1";
    let some = "\"partner\";r=1;t=1";
    let none = "\"partner\";r=0;t=2";
    assert_eq!(shown, [(200, all), (200, some), (200, none), (429, none)]);
    assert_eq!(answers[3].code(), (429, "too_many_requests".to_owned()));
    assert_eq!(answers[3].header("retry-after"), Some("1"));
    let sealed = get("/v1/balance").token(&token).sealed_answer().send(&server);
    assert_eq!((sealed.status, sealed.header("content-type")), (429, Some("application/sealed+json")));

    assert_eq!(balance(&others).status, 200, "another partner is not concerned");
    let again = login_call(&one.api_key, &one.login, &one.password).send(&server);
    assert_eq!(
        (again.status, again.header("ratelimit")),
        (200, None),
        "logins are limited by their failures"
    );
    assert_eq!(get("/v1/balance").send(&server).header("ratelimit"), None, "the partner is unknown");

    server.clock.advance(time::Duration::SECOND);
    assert_eq!([(); 3].map(|()| balance(&token).status), [200, 200, 429]);
}

#[test]
fn without_a_limit_no_response_has_its_headers() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let token = login(&server, &partner).access;
    let got = get("/v1/balance").token(&token).send(&server);
    assert_eq!((got.status, got.header("ratelimit"), got.header("ratelimit-policy")), (200, None, None));
}

/// The server closes its socket; the client notices when it sends something more.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_does_not_read_its_responses_is_disconnected() {
    let server =
        with(HttpSettings { answer_deadline: Duration::from_millis(500), ..HttpSettings::default() });
    let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
    stream.set_nonblocking(true).unwrap();
    let call = "GET /v1/nowhere HTTP/1.1\r\nhost: kopeck\r\n\r\n".repeat(1_000).into_bytes();
    let patience = Instant::now() + Duration::from_secs(60);
    let mut stood_still = false;
    let end = loop {
        match stream.write(&call) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                stood_still = true;
                assert!(Instant::now() < patience, "the connection is kept for ever");
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(error) => break error.kind(),
        }
    };
    assert!(stood_still && [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe].contains(&end), "{end}");
    assert_eq!(get("/v1/nowhere").send(&server).status, 404, "others are served");
}
