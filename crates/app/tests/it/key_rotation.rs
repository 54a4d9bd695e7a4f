//! Keys that are changed while the service runs, and no request fails.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use kopeck_client::{Client, EmployeeFilter, NewEmployee, Paging};
use tokio::task::JoinSet;

use crate::process::{Installation, PartnerSecrets, Running};
use crate::raw_http::{get, login_call};

/// Numbers the employees.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// Calls of all kinds that continue until the test ends them; the first that fails ends the test.
struct Load {
    calls: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    callers: JoinSet<()>,
}

impl Load {
    /// On each of these servers: one client that stays logged in, and one that logs in again and again.
    fn start(servers: &[&Running], partner: &PartnerSecrets) -> Self {
        let mut load = Self { calls: Arc::default(), stop: Arc::default(), callers: JoinSet::new() };
        for server in servers {
            let clients: Vec<Client> = (0..200).map(|_| server.client(partner)).collect();
            let (stays, calls, stop) =
                (server.client(partner), Arc::clone(&load.calls), Arc::clone(&load.stop));
            load.callers.spawn(async move {
                while !stop.load(Ordering::Relaxed) {
                    calls.fetch_add(1, Ordering::Relaxed);
                    let employee = NewEmployee::new(format!("E-{}", NEXT.fetch_add(1, Ordering::Relaxed)));
                    stays.employees().add(&employee).await.unwrap();
                    stays.employees().list(&EmployeeFilter::default(), Paging::default()).await.unwrap();
                }
            });
            let (calls, stop) = (Arc::clone(&load.calls), Arc::clone(&load.stop));
            load.callers.spawn(async move {
                for client in clients.iter().cycle() {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    client.balance().await.unwrap();
                    calls.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        load
    }

    /// Waits until some more calls have succeeded.
    async fn go_on(&mut self) {
        let (before, patience) =
            (self.calls.load(Ordering::Relaxed), Instant::now() + Duration::from_secs(60));
        while self.calls.load(Ordering::Relaxed) < before + 30 {
            assert!(Instant::now() < patience, "there are no requests");
            if let Some(ended) = self.callers.try_join_next() {
                panic!("a caller ended: {ended:?}");
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    async fn end(mut self) {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.callers.join_next().await {
            ended.unwrap();
        }
    }
}

fn access_token(server: &Running, partner: &PartnerSecrets) -> String {
    let call = login_call(&partner.api_key, &partner.login, &partner.password);
    // A bare call blocks its thread.
    tokio::task::block_in_place(|| call.send_to(&server.base_url)).text_of("accessToken")
}

fn balance(server: &Running, token: &str) -> u16 {
    let call = get("/v1/balance").token(token);
    tokio::task::block_in_place(|| call.send_to(&server.base_url)).status
}

/// Asks until the response has this status: changed files are seen within a second.
fn balance_until(server: &Running, token: &str, status: u16) {
    let patience = Instant::now() + Duration::from_secs(30);
    while balance(server, token) != status {
        assert!(Instant::now() < patience, "the answer is never {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_master_key_of_a_data_folder_is_changed_under_load() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let file = installation.path().join("master.key");
    let old = std::fs::read_to_string(&file).unwrap();
    let server = installation.serve(&[]);
    let token = access_token(&server, &partner);
    let mut load = Load::start(&[&server], &partner);
    load.go_on().await;
    assert!(installation.succeed(&["master-key", "rotate"]).contains("1 secrets of 1 partners"));
    load.go_on().await;
    assert!(installation.succeed(&["master-key", "rotate"]).contains("1 secrets of 1 partners"));
    load.go_on().await;
    load.end().await;
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    assert_eq!(balance(&server, &token), 200, "tokens live on");

    let newer = access_token(&server, &partner);
    let refused = installation.run(&["master-key", "retire"]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("may still use an old one"));
    installation.age_keys();
    assert!(installation.succeed(&["master-key", "retire"]).contains("given up: 2"));
    balance_until(&server, &token, 401);
    assert_eq!(balance(&server, &newer), 200);
    installation.age_keys();
    assert!(!installation.run(&["master-key", "retire"]).status.success(), "there is one key alone");
    let refused = installation.run(&["check", "--master-key", old.trim()]);
    assert!(String::from_utf8(refused.stderr).unwrap().contains("not the one"));
    drop(server);
    let server = installation.serve(&[]);
    assert_eq!(balance(&server, &newer), 200, "also after a restart");
    assert!(installation.succeed(&["check"]).contains("no discrepancies"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_master_key_of_several_processes_with_one_file_is_changed_under_load() {
    let installation = Installation::on_a_server().with_a_key_file();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let servers = [(); 2].map(|()| installation.serve(&["--no-workers"]));
    let worker = installation.worker(&[]);
    let token = access_token(&servers[0], &partner);
    let mut load = Load::start(&[&servers[0], &servers[1]], &partner);
    load.go_on().await;
    assert!(installation.succeed(&["master-key", "rotate"]).contains("1 secrets of 1 partners"));
    load.go_on().await;
    load.end().await;
    for server in &servers {
        assert_eq!(balance(server, &token), 200);
        let newer = access_token(server, &partner);
        assert!(servers.iter().all(|other| balance(other, &newer) == 200));
    }
    assert!(worker.stop("TERM").1, "{}", installation.log());
}

/// Rotation of keys in variables, as docs/operations/access.md has it: the processes are restarted one by one, twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_master_key_of_several_processes_with_variables_is_changed_under_load() {
    const OLD: &str = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let new = installation.succeed(&["master-key", "generate"]).trim().to_owned();
    let with = |arguments: &[&str], used: &str, accepted: &str| -> Command {
        let mut command = installation.command(arguments);
        command.env("KOPECK_MASTER_KEY", used).env("KOPECK_MASTER_KEYS_ACCEPTED", accepted);
        command
    };
    let serve = |used: &str, accepted: &str| {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--no-workers"];
        installation.start_command(with(&arguments, used, accepted))
    };
    // First all accept the new key, then all use it. In each round the last of the round before is still there.
    let before = serve(OLD, &new);
    let mut load = Load::start(&[&before], &partner);
    let after = serve(&new, OLD);
    let mut others = Load::start(&[&after], &partner);
    load.go_on().await;
    let (older, newer) = (access_token(&before, &partner), access_token(&after, &partner));
    assert!([&before, &after].iter().all(|server| balance(server, &older) == 200));
    assert!([&before, &after].iter().all(|server| balance(server, &newer) == 200));
    let output = with(&["master-key", "rotate"], &new, OLD).output().unwrap();
    assert!(String::from_utf8(output.stdout).unwrap().contains("1 secrets of 1 partners"));
    load.go_on().await;
    others.go_on().await;
    load.end().await;
    others.end().await;
    let last = serve(&new, "");
    assert_eq!((balance(&last, &newer), balance(&last, &older)), (200, 401));
}

#[test]
fn an_api_key_is_changed_and_the_old_one_is_accepted_for_a_while() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let server = installation.serve(&[]);
    let login = |api_key: &str| {
        login_call(api_key, &partner.login, &partner.password).send_to(&server.base_url).status
    };
    let token = access_token(&server, &partner);
    let rotate = || installation.succeed(&["partner", "rotate-api-key", &partner.id]).trim().to_owned();
    let second = rotate();
    assert_eq!((login(&partner.api_key), login(&second), balance(&server, &token)), (200, 200, 200));
    let third = rotate();
    assert_eq!((login(&partner.api_key), login(&second), login(&third)), (400, 200, 200));
    let unknown = "00000000-0000-0000-0000-000000000001";
    assert!(!installation.run(&["partner", "rotate-api-key", unknown]).status.success());
}

#[test]
fn keys_are_given_in_one_way() {
    let installation = Installation::embedded();
    installation.create_partner(&[]);
    let key = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc";
    for wrong in [
        &["--master-key", key, "--master-key-file", "keys"][..],
        &["--master-keys-accepted", key],
        &["--master-key", key, "--master-keys-accepted", "short"],
        &["--master-key-file", "nowhere"],
    ] {
        assert!(!installation.run(&[&["check"][..], wrong].concat()).status.success(), "{wrong:?}");
    }
}
