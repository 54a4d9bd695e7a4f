//! The operations port of a process.

use std::sync::Arc;
use std::time::{Duration, Instant};

use kopeck::operations::Operations;
use kopeck_adapter_workers::LivenessRegistry;
use kopeck_client::VirtualItem;
use serde_json::{Value, json};

use crate::deployment::{Deployment, Plan};
use crate::process::{Installation, ask};
use crate::raw_http::{RawRequest, get, login_call, post};
use crate::server::{START, TestServer};

const TELLS: &[&str] = &["--operations-listen", "127.0.0.1:0"];

/// Asks until the response has this status.
fn ask_until(url: &str, path: &str, status: u16) -> Value {
    let patience = Instant::now() + Duration::from_secs(30);
    loop {
        let (got, text) = ask(url, path);
        if got == status {
            return serde_json::from_str(&text).unwrap();
        }
        assert!(Instant::now() < patience, "{path} stays {got}: {text}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[track_caller]
fn shows(text: &str, line: &str) {
    assert!(text.lines().any(|other| other == line), "{line} is not in {text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_service_tells_that_it_is_ready_and_what_it_did() {
    let installation = Installation::new();
    let partner = installation.create_partner(&[
        "--sealing",
        "optional",
        "--deposit",
        "10000.00",
        "--login",
        "acme-47",
    ]);
    let running = installation.serve(&[TELLS, &["--processing-delay", "1h", "--workers", "2"]].concat());
    assert_eq!(running.ask("/health/live"), (200, r#"{"status":"live"}"#.to_owned()));
    let (status, ready) = running.ask("/health/ready");
    let parts = json!({"process": "ready", "database": "ready", "migrations": "ready", "workers": "ready"});
    assert_eq!(status, 200, "{ready}");
    let expected = json!({"status": "ready", "sandbox": true, "parts": parts,
        "bank": {"without": [], "largestBatch": 1_000}, "warnings": []});
    assert_eq!(serde_json::from_str::<Value>(&ready).unwrap(), expected);

    let client = running.client(&partner);
    client.orders().virtual_cards(&[VirtualItem::new(3, 5_000)]).await.unwrap();
    // A bare call blocks its thread.
    let send = |call: RawRequest| tokio::task::block_in_place(|| call.send_to(&running.base_url));
    let token = send(login_call(&partner.api_key, &partner.login, &partner.password)).text_of("accessToken");
    assert_eq!(send(get("/v1/balance").token(&token)).status, 200);
    assert_eq!(send(get("/v1/balance")).status, 401);
    assert_eq!(send(post("/v1/category", &json!({"sealed": "s1.garbage"})).token(&token)).status, 422);
    for _ in 0..10 {
        assert_eq!(send(login_call(&partner.api_key, &partner.login, "wrong")).status, 400);
    }
    assert_eq!(send(login_call(&partner.api_key, &partner.login, "wrong")).status, 429);
    let (status, text) = running.ask("/metrics");
    assert_eq!(status, 200);
    for line in [
        r#"kopeck_http_requests_total{method="GET",route="/v1/balance",status="200"} 1"#,
        r#"kopeck_http_requests_total{method="GET",route="/v1/balance",status="401"} 1"#,
        r#"kopeck_http_requests_total{method="POST",route="/v1/order/virtualcards",status="202"} 1"#,
        r#"kopeck_http_request_seconds_count{method="GET",route="/v1/balance"} 2"#,
        "kopeck_refused_seals_total 1",
        "kopeck_throttled_logins_total 1",
        "kopeck_database_up 1",
        "kopeck_work_requests 1",
        "kopeck_work_due 0",
        "kopeck_work_oldest_due_seconds 0",
        "kopeck_work_stuck 0",
        "kopeck_money_held_kopecks 15000",
        // Two workers; blocks, webhooks, the bank's feed, the daily refresh, the housekeeping.
        "kopeck_worker_threads 10",
        "kopeck_worker_threads_ended 0",
    ] {
        shows(&text, line);
    }
    let figure = |name: &str| -> f64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
    };
    let (open, most) = (figure("process_open_fds"), figure("process_max_fds"));
    assert!(open > 3.0 && open <= most, "{open} of {most}");
    let (resident, all) = (figure("process_resident_memory_bytes"), figure("process_virtual_memory_bytes"));
    assert!(resident > 1_048_576.0 && resident < all, "{resident} of {all}");
    assert!(figure("process_threads") > 4.0, "{text}");
    assert!(figure("process_cpu_seconds_total") > 0.0, "Argon2 takes more than a tick");
    assert!(figure("process_start_time_seconds") > 0.0);
    for access in ["read", "write"] {
        let pool = |what: &str| figure(&format!("kopeck_database_pool_{what}{{access=\"{access}\"}}"));
        assert!(pool("open") >= 1.0 && pool("idle") <= pool("open"), "{text}");
    }
    let used = r#"kopeck_database_use_seconds_count{access="write"} 0"#;
    assert!(text.contains("kopeck_database_use_seconds_count") && !text.contains(used));
    for personal in [&*partner.id, "acme-47", &partner.api_key, &token] {
        assert!(!text.contains(personal), "{personal}");
    }
    assert_eq!(running.ask("/elsewhere").0, 404);
    assert_eq!(ask(&running.base_url, "/metrics").0, 404, "partners are not told");
}

#[test]
fn a_stopping_service_reports_it_before_it_refuses_requests() {
    let installation = Installation::new();
    let running = installation.serve(&[TELLS, &["--drain-pause", "1h"]].concat());
    assert_eq!(running.ask("/health/ready").0, 200);
    running.signal("TERM");
    let told = ask_until(&running.operations, "/health/ready", 503);
    assert_eq!((&told["status"], &told["parts"]["process"]), (&json!("not ready"), &json!("stopping")));
    assert_eq!(get("/v1/balance").send_to(&running.base_url).status, 401, "calls are served on");
    assert_eq!(running.ask("/health/live").0, 200);
    // A second signal ends the pause.
    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());
}

#[test]
fn a_worker_has_an_operations_port_too() {
    let installation = Installation::on_a_server();
    installation.succeed(&["migrate"]);
    let running = installation.worker(&[TELLS, &["--workers", "2"]].concat());
    assert_eq!(running.ask("/health/ready").0, 200);
    shows(&running.ask("/metrics").1, "kopeck_worker_threads 10");
    let (_, good) = running.stop("TERM");
    assert!(good, "{}", installation.log());
    let server = installation.serve(&[TELLS, &["--no-workers"]].concat());
    assert_eq!(server.ask("/health/ready").0, 200);
    shows(&server.ask("/metrics").1, "kopeck_worker_threads 0");
}

/// Half of them read and half write, each on its own thread.
#[test]
fn the_environment_sets_the_number_of_database_connections() {
    let installation = Installation::on_a_server();
    installation.succeed(&["migrate"]);
    for (setting, expected) in [(None, 6), (Some("10"), 10), (Some("3"), 3)] {
        let mut command = installation.command(&["serve", "--listen", "127.0.0.1:0", "--no-workers"]);
        command.envs(setting.map(|number| ("KOPECK_DATABASE_CONNECTIONS", number)));
        let running = installation.start_command(command);
        let threads = running.threads(&["store-plain", "store-read", "store-write"]);
        assert_eq!(threads, expected, "{setting:?}: {}", installation.log());
    }
}

#[test]
fn a_silent_database_makes_the_process_unready_until_it_is_back() {
    let (deployment, proxy) = Deployment::behind_a_proxy(START);
    let server = TestServer::open(Arc::new(deployment), Plan::default());
    let operations = Operations::new().unwrap();
    operations.health.store_is_open(&server.application.store);
    operations.health.workers_are_started(Arc::new(LivenessRegistry::default()));
    let operations_server = operations.serve("127.0.0.1:0".parse().unwrap(), None).unwrap();
    let url = format!("http://{}", operations_server.address());
    ask_until(&url, "/health/ready", 200);
    proxy.freeze();
    let told = ask_until(&url, "/health/ready", 503);
    assert_eq!(told["parts"]["database"], "does not answer");
    assert_eq!((ask(&url, "/health/live").0, ask(&url, "/metrics").0), (200, 200));
    proxy.thaw();
    ask_until(&url, "/health/ready", 200);
}

#[test]
fn the_log_is_json_on_request() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&["--log-format", "json"]);
    let call =
        login_call(&partner.api_key, &partner.login, &partner.password).with("x-request-id", "trace-1");
    let token = call.send_to(&running.base_url).text_of("accessToken");
    let sealed = post("/v1/category", &json!({"sealed": "s1.garbage"})).token(&token);
    assert_eq!(sealed.send_to(&running.base_url).status, 422);
    let (shown, good) = running.stop("TERM");
    assert!(good);
    for line in shown {
        serde_json::from_str::<Value>(&line).expect("what is said on standard output too");
    }
    let log = installation.log();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    for event in &events {
        for name in ["time", "level", "target", "message"] {
            assert!(event[name].is_string(), "{event}");
        }
    }
    let access = events.iter().find(|event| event["caller_request_id"] == "trace-1").unwrap();
    assert_eq!(
        (&access["target"], &access["status"], &access["partner"]),
        (&json!("kopeck::access"), &json!(200), &json!(partner.id))
    );
    assert!(access["micros"].is_u64());
    for secret in [&*partner.api_key, &partner.password, &partner.sealing_key, &token] {
        assert!(!log.contains(secret), "{secret} stands in the log");
    }
}
