//! Several processes on one database server.

use std::time::{Duration, Instant};

use kopeck_client::{
    BankBehaviour, ProgrammeAmount, ProgrammePeriod, ProgrammeTerms, RequestState, RunState, VirtualItem,
    Wait,
};

use crate::http_sessions::StolenCredentials;
use crate::kill::{CARDS, set_up};
use crate::process::Installation;

/// How long work is a worker's own.
const LEASE: Duration = Duration::from_secs(30);
const NOTHING_WAITS: &[&str] = &["--processing-delay", "0s"];

#[test]
fn a_database_on_a_server_needs_its_key_and_its_tables() {
    let installation = Installation::on_a_server();
    for command in [&["check"][..], &["partner", "list"]] {
        let output = installation.run(command);
        assert!(!output.status.success(), "{command:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("lacks the migrations"), "{said}");
    }
    for command in [&["migrate"][..], &["serve", "--listen", "127.0.0.1:0"], &["worker"], &["check"]] {
        let output = installation.command(command).env_remove("KOPECK_MASTER_KEY").output().unwrap();
        assert!(!output.status.success(), "{command:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("KOPECK_MASTER_KEY"), "{command:?}: {said}");
    }
    installation.succeed(&["migrate"]);
    installation.create_partner(&[]);
    let other = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
    let output = installation.run(&["check", "--master-key", other]);
    assert!(String::from_utf8(output.stderr).unwrap().contains("not the one"));
    assert!(!installation.path().join("master.key").exists(), "no key is made up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_servers_share_a_database_and_leave_the_work_to_a_worker() {
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    let serve = [NOTHING_WAITS, &["--no-workers"]].concat();
    let (first, second) = (installation.serve(&serve), installation.serve(&serve));
    let (ours, theirs) = (first.client(&partner), second.client(&partner));
    let order = ours.orders().virtual_cards(&[VirtualItem::new(3, 5_000)]).await.unwrap();
    let balance = theirs.balance().await.unwrap();
    assert_eq!((balance.available, balance.hold), (985_000, 15_000));
    assert_eq!(theirs.orders().status(order.order_id).await.unwrap().state, RequestState::New);

    let worker = installation.worker(NOTHING_WAITS);
    let wait = Wait::up_to(Duration::from_secs(30));
    let state = theirs.orders().wait(order.order_id, wait, |_| {}).await.unwrap();
    assert_eq!(state, RequestState::Success);
    let balance = theirs.balance().await.unwrap();
    assert_eq!((balance.available, balance.hold), (985_000, 0));
    assert_eq!(ours.orders().result(order.order_id).await.unwrap().data.len(), 3);
    for running in [first, second, worker] {
        let (_, good) = running.stop("TERM");
        assert!(good, "{}", installation.log());
    }
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
}

/// Who makes a run, and who carries it out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_workers_on_one_payday_have_one_effect() {
    const PROGRAMMES: usize = 3;
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    set_up(&installation, &partner).await;
    let server = installation.serve(&[NOTHING_WAITS, &["--no-workers"]].concat());
    let client = server.client(&partner);
    let before = client.balance().await.unwrap();
    // Due in the middle of a week, so that none is too late.
    let day = before.updated_at.weekday().number_days_from_monday() + 3;
    let amount = ProgrammeAmount { fixed: Some(1_000), ..ProgrammeAmount::default() };
    let terms = ProgrammeTerms::new("Lunches", amount, ProgrammePeriod::Week, i64::from(day % 7 + 1));
    for _ in 0..PROGRAMMES {
        client.programmes().create(&terms).await.unwrap();
    }
    client.sandbox().advance_clock(7 * 24 * 60 * 60).await.unwrap();
    // A process reads the sandbox's clock when it starts.
    let workers = [installation.worker(NOTHING_WAITS), installation.worker(NOTHING_WAITS)];
    let patience = Instant::now() + Duration::from_secs(60);
    let programmes = client.programmes().all().collect().await.unwrap();
    for programme in &programmes {
        let run = loop {
            let runs = client.programmes().runs(programme.id_programme).collect().await.unwrap();
            assert!(runs.len() <= 1, "{runs:?}");
            match runs.into_iter().find(|run| run.state.is_final()) {
                Some(run) => break run,
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
            assert!(Instant::now() < patience, "{}", installation.log());
        };
        assert_eq!((&run.state, run.number, run.requests.len()), (&RunState::Success, CARDS as u64, 1));
    }
    let spent = 1_000 * i64::try_from(CARDS * PROGRAMMES).unwrap();
    let after = client.balance().await.unwrap();
    assert_eq!((after.available, after.hold), (before.available - spent, 0));
    for running in workers.into_iter().chain([server]) {
        let (_, good) = running.stop("TERM");
        assert!(good, "{}", installation.log());
    }
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
}

/// Each remembers callers for itself.
#[test]
fn sessions_end_on_every_server() {
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let servers = [installation.serve(&[]), installation.serve(&["--no-workers"])];
    let tokens = StolenCredentials::from_login(&servers[0], &partner);
    assert_eq!(servers.each_ref().map(|server| tokens.status(server)), [200; 2]);
    installation.succeed(&["partner", "end-sessions", &partner.id]);
    for server in &servers {
        tokens.must_end(server);
        assert_eq!(tokens.refresh(server, &partner.api_key), 401);
    }
}

/// A lease lasts thirty seconds. Jobs that a worker releases on SIGTERM do not wait for its end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_of_a_stopping_worker_go_to_another_at_once() {
    const SECRET: &str = "correct-horse-battery";
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--deposit", "10000.00"]);
    let bank = installation.bank_simulator("127.0.0.1:0", SECRET);
    let across = [NOTHING_WAITS, &["--bank-url", &bank.base_url, "--bank-secret", SECRET]].concat();
    let server = installation.serve(&[&across[..], &["--no-workers", "--sandbox", "true"]].concat());
    let client = server.client(&partner);
    let slow = BankBehaviour { latency_ms: 100, ..BankBehaviour::default() };
    client.sandbox().bank(&slow).await.unwrap();
    let mut orders = Vec::new();
    for _ in 0..24 {
        orders.push(client.orders().virtual_cards(&[VirtualItem::new(1, 5_000)]).await.unwrap().order_id);
    }

    let first = installation.worker(&[&across[..], &["--workers", "1"]].concat());
    let last_taken = orders[15];
    while client.orders().status(last_taken).await.unwrap().state == RequestState::New {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let told = Instant::now();
    let (_, good) = first.stop("TERM");
    assert!(good, "{}", installation.log());
    let state = client.orders().status(last_taken).await.unwrap().state;
    assert_eq!(state, RequestState::InProcess, "it had more in hand than it could finish");
    let second = installation.worker(&across);
    for order in orders {
        let wait = Wait::up_to(Duration::from_secs(60));
        assert_eq!(client.orders().wait(order, wait, |_| {}).await.unwrap(), RequestState::Success);
    }
    let took = told.elapsed();
    println!("from SIGTERM to the end of what was in hand: {took:.1?}");
    assert!(took < LEASE, "{took:.1?}");
    for running in [server, second, bank] {
        let (_, good) = running.stop("TERM");
        assert!(good, "{}", installation.log());
    }
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
}

#[test]
fn a_wrong_database_url_is_refused_and_does_not_show_its_password() {
    let installation = Installation::on_a_server();
    let url = "postgres://kopeck:hunter2@127.0.0.1:1/kopeck";
    let output = installation.run(&["check", "--database-url", url]);
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("cannot open the database") && !said.contains("hunter2"), "{said}");
}
