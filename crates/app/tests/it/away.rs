//! The database is away, and comes back: what partners see of it, and what becomes of the work.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::api_client::virtual_order;
use crate::deployment::{Deployment, Plan};
use crate::raw_http::{RawRequest, RawResponse, fresh_nonce, get, login_call, optional, post};
use crate::server::{START, TestPartner, TestServer};
use kopeck_test_support::Proxy;

/// The store answers for a silent database after one and a half seconds. Without that response a test would wait for ever:
/// the limit is there to say so.
const IN_TIME: Duration = Duration::from_secs(60);

/// How long a test waits for the service to be well again before it fails.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the work of a worker is its own.
const LEASE: time::Duration = time::Duration::seconds(31);

const CALLS: usize = 50;

struct Distant {
    /// Dropped before its way to the database.
    server: TestServer,
    proxy: Proxy,
    partner: TestPartner,
    token: String,
}

impl Distant {
    fn new() -> Self {
        let (deployment, proxy) = Deployment::behind_a_proxy(START);
        let server = TestServer::open(Arc::new(deployment), Plan::default());
        let (partner, token) = optional(&server);
        Self { server, proxy, partner, token }
    }

    /// Calls that read, calls that add an employee each, and logins.
    fn calls(&self) -> Vec<RawRequest> {
        let call = |number: usize| match number % 5 {
            0 => get("/v1/balance").token(&self.token),
            1 => get("/v1/employees").token(&self.token),
            2 => login_call(&self.partner.api_key, &self.partner.login, &self.partner.password),
            _ => {
                let body = json!({"customId": format!("E-{number}")});
                post("/v1/employee/add", &body).token(&self.token).key(&format!("add-{number}"))
            }
        };
        (0..CALLS).map(call).collect()
    }

    /// Sends all of them at the same time; every response comes in time.
    fn send(&self, calls: &[RawRequest]) -> Vec<RawResponse> {
        thread::scope(|scope| {
            let sent: Vec<_> = calls
                .iter()
                .map(|call| {
                    scope.spawn(move || {
                        let began = Instant::now();
                        let got = call.send(&self.server);
                        assert!(began.elapsed() < IN_TIME, "{:?}: {got:?}", began.elapsed());
                        got
                    })
                })
                .collect();
            sent.into_iter().map(|sent| sent.join().unwrap()).collect()
        })
    }

    fn is_away(&self, calls: &[RawRequest]) {
        for got in self.send(calls) {
            assert_eq!((got.status, got.header("retry-after")), (503, Some("1")), "{got:?}");
        }
    }

    /// Calls again until all is well, and finds each effect there once.
    fn comes_back(&self, calls: &[RawRequest]) {
        let began = Instant::now();
        for call in calls {
            let got = loop {
                let got = call.send(&self.server);
                if got.status != 503 {
                    break got;
                }
                assert!(began.elapsed() < PATIENCE, "the service does not come back");
                thread::sleep(Duration::from_millis(20));
            };
            // A login that was carried out before its answer was lost has spent its nonce.
            let is_spent = call.target.ends_with("/get_access_token") && got.status == 422;
            let got = if is_spent { call.clone().nonce(&fresh_nonce()).send(&self.server) } else { got };
            assert!([200, 201].contains(&got.status), "{call:?}: {got:?}");
        }
        let listed = get("/v1/employees").token(&self.token).send(&self.server).json();
        assert_eq!(listed["meta"]["total"], json!(CALLS * 2 / 5), "{listed}");
    }
}

#[test]
fn a_database_that_is_cut_off_and_comes_back() {
    let distant = Distant::new();
    let calls = distant.calls();
    distant.proxy.refuse(true);
    distant.proxy.cut();
    distant.is_away(&calls);
    distant.is_away(&calls);
    distant.proxy.refuse(false);
    distant.comes_back(&calls);
}

#[test]
fn a_database_that_freezes_and_thaws() {
    let distant = Distant::new();
    let calls = distant.calls();
    distant.proxy.freeze();
    distant.is_away(&calls);
    // Under the same keys: a retry after a 503 does not get `request_in_progress`.
    distant.is_away(&calls);
    distant.proxy.thaw();
    distant.comes_back(&calls);
}

#[test]
fn a_database_whose_old_connections_stay_frozen() {
    let distant = Distant::new();
    let calls = distant.calls();
    distant.proxy.freeze();
    distant.is_away(&calls);
    distant.proxy.thaw_new_ones_only();
    distant.comes_back(&calls);
}

/// Cut at the moment when calls are under way: each is answered as it went or by 503, and happens once.
#[test]
fn a_database_that_is_cut_off_again_and_again_under_way() {
    let distant = Distant::new();
    let calls = distant.calls();
    for _ in 0..10 {
        thread::scope(|scope| {
            let sent = scope.spawn(|| distant.send(&calls));
            while !sent.is_finished() {
                distant.proxy.cut();
                thread::yield_now();
            }
            for got in sent.join().unwrap() {
                assert!([200, 201, 503].contains(&got.status), "{got:?}");
                assert_eq!(got.header("retry-after").is_some(), got.status == 503, "{got:?}");
            }
        });
    }
    distant.comes_back(&calls);
}

#[test]
fn workers_fail_in_time_and_go_on_where_they_were() {
    let distant = Distant::new();
    let server = &distant.server;
    let ordered = post("/v1/order/virtualcards", &virtual_order(3, 5_000)).token(&distant.token).send(server);
    let id = ordered.json()["orderId"].as_str().unwrap().to_owned();
    server.clock.advance(crate::server::SETTINGS.processing_delay);
    for frozen in [true, false] {
        if frozen {
            distant.proxy.freeze();
        } else {
            distant.proxy.refuse(true);
            distant.proxy.cut();
        }
        for _ in 0..3 {
            let began = Instant::now();
            assert!(server.try_work_now().is_err());
            assert!(began.elapsed() < 2 * IN_TIME, "{:?}", began.elapsed());
        }
        distant.proxy.thaw();
        distant.proxy.refuse(false);
        let began = Instant::now();
        while server.try_work_now().is_err() {
            assert!(began.elapsed() < PATIENCE, "the workers do not go on");
        }
    }
    // Jobs claimed by a unit of work without a response are free again when the lease ends.
    server.clock.advance(LEASE);
    server.work_now();
    let status = get(&format!("/v1/order/status/{id}")).token(&distant.token).send(server);
    assert!(status.text.contains("SUCCESS"), "{status:?}");
    let bank = kopeck_port_bank::BankKey::new(format!("order/{id}")).unwrap();
    assert_eq!(server.bank.applied(&bank).unwrap(), 1);
}
