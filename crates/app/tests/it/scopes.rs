//! What a scoped credential may do: its scopes, its addresses, its secrets, and how it ends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use kopeck_adapter_http::HttpSettings;
use kopeck_client::NewEmployee;
use kopeck_domain::access::{Role, Scope, Scopes};
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};

use crate::process::{Installation, PartnerSecrets, Running};
use crate::raw_http::{RawResponse, Tokens, get, login, login_call, optional, post, refresh_call};
use crate::server::{TestPartner, TestServer};
use crate::world::{Sample, Things, samples, token_operations};

/// The scopes that a credential can have.
fn of_credentials() -> impl Iterator<Item = Scope> {
    Scope::ALL.iter().copied().filter(|scope| scope.is_for_credentials())
}

fn is_forbidden(got: &RawResponse) -> bool {
    let forbidden = got.status == 403;
    assert!(!forbidden || got.code() == (403, "forbidden".to_owned()), "{got:?}");
    forbidden
}

/// The scopes of each role, each scope alone, and all but each.
fn kinds() -> Vec<Scopes> {
    let all: Vec<Scope> = of_credentials().collect();
    let of_role = |role: &Role| {
        let scopes: Vec<Scope> = role.scopes().iter().filter(|scope| scope.is_for_credentials()).collect();
        Scopes::of(&scopes)
    };
    let roles = Role::ALL.iter().filter(|role| **role != Role::Operator).map(of_role);
    let single = all.iter().map(|scope| Scopes::of(&[*scope]));
    let without = all.iter().map(|missing| {
        let others: Vec<Scope> = all.iter().copied().filter(|scope| scope != missing).collect();
        Scopes::of(&others)
    });
    roles.chain(single).chain(without).collect()
}

/// The whole matrix: every operation with every kind of credential, and the technical login, which may do everything. The
/// things that they ask for do not exist, which the refusal does not tell.
#[test]
fn an_operation_is_for_those_who_have_its_scopes() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let (began, nothing) = (Instant::now(), Things::nothing());
    let mut calls: Vec<Sample> = Vec::new();
    for sample in samples() {
        if calls.last().is_none_or(|last| last.operation.name != sample.operation.name) {
            calls.push(sample);
        }
    }
    assert_eq!(calls.len(), token_operations().count());
    for call in &calls {
        assert!(!is_forbidden(&call.call(&nothing).token(&token).send(&server)), "{}", call.operation.name);
    }
    let (mut allowed, mut refused) = (0, 0);
    let kinds = kinds();
    for scopes in &kinds {
        let token = login(&server, &server.credential(&partner, *scopes, None)).access;
        // A wrong present password counts as a failed login, and ten lock the address.
        for call in calls.iter().filter(|call| call.operation.name != "password.change") {
            let operation = call.operation;
            let mut may = operation.scopes.iter().all(|scope| scopes.contains(scope));
            // Who makes or changes a programme needs the scope of what it becomes, too: here of top-ups.
            if ["programme.create", "programme.change"].contains(&operation.name) {
                may &= scopes.contains(Scope::ReplenishmentsWrite);
            }
            let got = call.call(&nothing).token(&token).send(&server);
            assert_eq!(is_forbidden(&got), !may, "{} with {scopes}: {got:?}", operation.name);
            if may { allowed += 1 } else { refused += 1 }
        }
    }
    server.run_jobs();
    assert!(allowed > 500 && refused > 500, "{allowed} {refused}");
    eprintln!(
        "matrix: {} kinds of credentials × {} operations, {allowed} allowed, {refused} refused, {:?}",
        kinds.len(),
        calls.len(),
        began.elapsed()
    );
}

/// Whatever else is wrong with the request, and whether or not the thing exists; nothing is spent.
#[test]
fn a_refusal_comes_right_behind_the_authentication() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let reader = server.credential(&partner, Scopes::of(&[Scope::CategoriesRead]), None);
    let access = login(&server, &reader).access;
    let made = post("/v1/category", &json!({"nameCategory": "Drivers"})).token(&token).send(&server);
    let path = format!("/v1/category/{}", made.text_of("idCategory"));
    let unknown = "/v1/category/00000000-0000-0000-0000-000000000001";
    let rename = |path: &str| {
        crate::raw_http::RawRequest::new("PUT", path).json(&json!({"nameCategory": "Cooks"})).token(&access)
    };
    let known = rename(&path).send(&server);
    assert!(is_forbidden(&known) && known.text.contains("categories:write"), "{known:?}");
    for other in [
        rename(unknown),
        rename("/v1/category/no-uuid"),
        rename(&path).without("x-nonce"),
        rename(&path).with("idempotency-key", ""),
        rename(&path).bytes("application/json", "no JSON"),
    ] {
        known.same_but_for_its_id(&other.send(&server));
    }
    assert_eq!(rename(&path).token("no token").send(&server).status, 401);
    assert_eq!(rename(&path).nonce("the-same-nonce-0001").send(&server).status, 403);
    let own = rename(&path).nonce("the-same-nonce-0001").token(&token).send(&server);
    assert_eq!((own.status, own.replayed()), (200, false), "{own:?}");
    assert_eq!(get("/v1/categories").token(&access).send(&server).status, 200);
}

/// Each half of the secrets with the other's fails, sessions do not pass over, and failures lock one alone.
#[test]
fn a_credential_has_its_own_login() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let [one, other] =
        [(); 2].map(|()| server.credential(&partner, Scopes::of(&[Scope::StatementsRead]), None));
    let logins = [&partner, &one, &other];
    let ask = |key: &TestPartner, login: &TestPartner, password: &TestPartner| {
        login_call(&key.api_key, &login.login, &password.password).send(&server).status
    };
    assert_eq!(ask(&one, &one, &one), 200);
    for [key, login, password] in [[0, 1, 1], [1, 0, 0], [1, 1, 0], [1, 2, 2], [1, 2, 1]] {
        assert_eq!(ask(logins[key], logins[login], logins[password]), 400);
    }
    let tokens = login(&server, &one);
    for stranger in [&partner, &other] {
        assert_eq!(refresh_call(stranger, &tokens.refresh).send(&server).status, 401);
    }
    let tokens = Tokens::of(&refresh_call(&one, &tokens.refresh).send(&server));
    assert_eq!(get("/v1/balance").token(&tokens.access).send(&server).status, 200);

    let wrong = |from| login_call(&one.api_key, &one.login, "wrong").from(from).send(&server).status;
    let tries: Vec<u16> = (10..22).map(|host| wrong([127, 0, 0, host])).collect();
    assert_eq!(tries.last(), Some(&429), "{tries:?}");
    assert_eq!([&partner, &other].map(|of| ask(of, of, of)), [200; 2]);
}

/// A retry of the other is a retry.
#[test]
fn keys_of_retries_are_the_partners() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let writer = server.credential(&partner, Scopes::of(&[Scope::CategoriesWrite]), None);
    let call = || post("/v1/category", &json!({"nameCategory": "Drivers"})).key("setup");
    let first = call().token(&token).send(&server);
    let again = call().token(&login(&server, &writer).access).send(&server);
    assert_eq!((first.status, again.status, again.replayed()), (201, 201, true));
    assert_eq!(first.text, again.text);
}

/// Log-in, refresh and requests; what is refused is not spent. The technical login has no list.
#[test]
fn a_credential_is_accepted_from_its_addresses_alone() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let scopes = Scopes::of(&[Scope::StatementsRead]);
    let listed = server.credential(&partner, scopes, Some("127.0.0.16/28,2001:db8::/32"));
    let (inside, outside) = ([127, 0, 0, 17], [127, 0, 0, 40]);
    let login = |from| {
        login_call(&listed.api_key, &listed.login, &listed.password)
            .nonce("login-nonce-0000001")
            .from(from)
            .send(&server)
    };
    for _ in 0..12 {
        assert!(is_forbidden(&login(outside)), "never a 429");
    }
    let tokens = Tokens::of(&login(inside));
    let balance = |from| get("/v1/balance").token(&tokens.access).from(from).send(&server);
    assert!(balance(inside).status == 200 && is_forbidden(&balance(outside)));
    let refresh =
        |from| refresh_call(&listed, &tokens.refresh).nonce("refresh-nonce-00001").from(from).send(&server);
    assert!(is_forbidden(&refresh(outside)));
    assert_eq!(refresh(inside).status, 200, "neither token nor nonce was spent");
    let own = login_call(&partner.api_key, &partner.login, &partner.password).from(outside);
    assert_eq!(own.send(&server).status, 200);
}

#[test]
fn a_list_goes_by_the_address_that_a_trusted_proxy_reports() {
    let trusted_proxies = "127.0.0.1".parse().unwrap();
    let http = HttpSettings { workers: 1, trusted_proxies, ..HttpSettings::default() };
    let server = TestServer::start_with(true, http);
    let partner = server.partner(SealingPolicy::Optional, 0);
    let scopes = Scopes::of(&[Scope::StatementsRead]);
    let listed = server.credential(&partner, scopes, Some("192.0.2.0/24"));
    let call = || login_call(&listed.api_key, &listed.login, &listed.password);
    assert!(is_forbidden(&call().send(&server)), "a proxy without an address");
    assert!(is_forbidden(&call().with("x-forwarded-for", "198.51.100.1").send(&server)));
    assert!(is_forbidden(&call().with("x-forwarded-for", "192.0.2.1, 198.51.100.1").send(&server)));
    assert_eq!(call().with("x-forwarded-for", "192.0.2.1").send(&server).status, 200);
    let lies = call().with("x-forwarded-for", "192.0.2.1").from([127, 0, 0, 9]);
    assert!(is_forbidden(&lies.send(&server)), "not from a trusted proxy");
}

/// With its own key; the partner's does not open it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_seals_with_its_own_key() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 0);
    let scopes = Scopes::of(&[Scope::EmployeesWrite]);
    let credential = server.credential(&partner, scopes, None);
    let client = server.client(&credential);
    let employee = client.employees().add(&NewEmployee::new("E-1")).await.unwrap();
    assert_eq!(client.employees().get(employee.id_employee).await.unwrap().employee.custom_id, "E-1");
    let refused = client.balance().await.unwrap_err();
    assert_eq!(refused.status(), Some(403), "{refused}");
    let wrong = TestPartner { key: partner.key.clone(), ..server.credential(&partner, scopes, None) };
    assert!(server.client(&wrong).employees().add(&NewEmployee::new("E-2")).await.is_err());
}

/// The secrets of `partner credential create --json`.
fn secrets(shown: &str, partner: &PartnerSecrets) -> (PartnerSecrets, String) {
    let mut shown: Value = serde_json::from_str(shown).unwrap();
    let id = shown["credentialId"].as_str().unwrap().to_owned();
    shown["partnerId"] = json!(partner.id);
    (Installation::secrets(&shown.to_string()), id)
}

fn access(running: &Running, of: &PartnerSecrets) -> RawResponse {
    login_call(&of.api_key, &of.login, &of.password).send_to(&running.base_url)
}

/// By the commands, beside a running server. The audit log names the credential; nothing shows its secrets again.
#[test]
fn operators_create_list_and_revoke_credentials() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let run = |arguments: &[&str]| installation.run(&[&["partner", "credential"], arguments].concat());
    let create = |more: &[&str]| run(&[&["create", &partner.id, "--json"], more].concat());
    let created = create(&["--scopes", "categories:write, orders:write", "--name", "Отдел кадров"]);
    let shown = String::from_utf8(created.stdout).unwrap();
    let (credential, id) = secrets(&shown, &partner);
    let running = installation.serve(&[]);
    let token = access(&running, &credential).text_of("accessToken");
    let make = post("/v1/category", &json!({"nameCategory": "Drivers"})).token(&token);
    assert_eq!(make.send_to(&running.base_url).status, 201);
    assert_eq!(get("/v1/balance").token(&token).send_to(&running.base_url).status, 403);

    let list = installation.succeed(&["partner", "credential", "list", &partner.id, "--json"]);
    let show = installation.succeed(&["partner", "show", &partner.id, "--json"]);
    let listed: Value = serde_json::from_str(&list).unwrap();
    let overview: Value = serde_json::from_str(&show).unwrap();
    assert_eq!(listed, overview["credentials"]);
    assert_eq!(listed[0]["scopes"], json!(["categories:write", "orders:write"]));
    assert_eq!((&listed[0]["name"], &listed[0]["revokedAt"]), (&json!("Отдел кадров"), &Value::Null));
    let tables = [["partner", "credential", "list"].as_slice(), &["partner", "show"]]
        .map(|command| installation.succeed(&[command, &[&partner.id]].concat()));
    for text in [&list, &show, &tables[0], &tables[1]] {
        assert!(text.contains(&id) && text.contains("orders:write"), "{text}");
        for secret in [&credential.api_key, &credential.password, &credential.sealing_key] {
            assert!(!text.contains(secret.as_str()));
        }
    }

    let revoke = || run(&["revoke", &partner.id, &id, "--json"]);
    let ended = |output: std::process::Output| -> Value {
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["sessionsEnded"].clone()
    };
    assert_eq!([ended(revoke()), ended(revoke())], [json!(1), json!(0)]);
    assert_eq!(access(&running, &credential).status, 400);
    drop(running);
    let entries = installation.succeed(&["audit", "list", "--json"]);
    let of = |action: &str| -> Value {
        let mut found = entries.lines().filter(|line| line.contains(&format!("\"{action}\"")));
        serde_json::from_str(found.next_back().unwrap_or_else(|| panic!("{action}: {entries}"))).unwrap()
    };
    for (action, outcome) in [("category.create", "DONE"), ("balance", "REFUSED")] {
        let entry = of(action);
        assert_eq!((&entry["actor"], &entry["outcome"]), (&json!("CREDENTIAL"), &json!(outcome)));
        assert_eq!((&entry["actorId"], &entry["partnerId"]), (&json!(id), &json!(partner.id)));
    }
    for action in ["partner.credential.create", "partner.credential.revoke"] {
        assert_eq!(of(action)["subject"], json!(format!("credential:{id}")), "{action}");
    }
    assert!(installation.succeed(&["audit", "verify"]).contains("the audit log is whole"));
}

#[test]
fn faulty_credentials_are_refused() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&[]);
    let create = |partner: &str, more: &[&str]| {
        let arguments = [&["partner", "credential", "create", partner, "--json"], more].concat();
        let output = installation.run(&arguments);
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for faulty in [
        &[][..],
        &["--scopes", ""],
        &["--scopes", "orders"],
        &["--scopes", "orders:read,everything"],
        &["--scopes", "orders:read", "--addresses", ""],
        &["--scopes", "orders:read", "--addresses", "10.0.0.0/33"],
    ] {
        assert_eq!(create(&partner.id, faulty).0, Some(2), "{faulty:?}");
    }
    let (code, said) = create(&partner.id, &["--scopes", "orders:read,sandbox:write"]);
    assert!(code == Some(1) && said.contains("sandbox:write"), "{said}");
    let nobody = "00000000-0000-0000-0000-000000000001";
    assert_eq!(create(nobody, &["--scopes", "orders:read"]).0, Some(1));
    for _ in 0..20 {
        assert_eq!(create(&partner.id, &["--scopes", "orders:read"]).0, Some(0));
    }
    let (code, said) = create(&partner.id, &["--scopes", "orders:read"]);
    assert!(code == Some(1) && said.contains("20 credentials"), "{said}");
    let revoke = ["partner", "credential", "revoke", &partner.id, nobody];
    assert_eq!(installation.run(&revoke).status.code(), Some(1));
}

/// The secret of its sealing key is encrypted anew with all others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_credential_outlives_the_master_key() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&[]);
    let scopes = ["--scopes", "statements:read", "--json"];
    let create = [&["partner", "credential", "create", &partner.id], &scopes[..]].concat();
    let (credential, _) = secrets(&installation.succeed(&create), &partner);
    installation.succeed(&["master-key", "rotate"]);
    installation.age_keys();
    installation.succeed(&["master-key", "retire"]);
    let running = installation.serve(&[]);
    assert_eq!(running.client(&credential).balance().await.unwrap().available, 0);
}

/// Fifty requests run on each server while it is revoked.
fn none_is_accepted_after_five_seconds(installation: &Installation, servers: &[Running]) {
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let scopes = ["--scopes", "statements:read", "--json"];
    let create = [&["partner", "credential", "create", &partner.id], &scopes[..]].concat();
    let (credential, id) = secrets(&installation.succeed(&create), &partner);
    let token = &access(&servers[0], &credential).text_of("accessToken");
    let (accepted, patience) = (&AtomicUsize::new(0), Duration::from_secs(60));
    let balance = |server: &Running| get("/v1/balance").token(token).send_to(&server.base_url).status;
    std::thread::scope(|scope| {
        let callers: Vec<_> = (0..50)
            .map(|number| {
                let server = &servers[number % servers.len()];
                scope.spawn(move || {
                    let (began, mut last) = (Instant::now(), Instant::now());
                    while began.elapsed() < patience {
                        let sent = Instant::now();
                        match balance(server) {
                            200 => last = sent,
                            401 => return last,
                            status => panic!("{status}"),
                        }
                        accepted.fetch_add(1, Ordering::Relaxed);
                    }
                    panic!("still accepted")
                })
            })
            .collect();
        while accepted.load(Ordering::Relaxed) < 100 {
            std::thread::yield_now();
        }
        installation.succeed(&["partner", "credential", "revoke", &partner.id, &id]);
        let revoked = Instant::now();
        let late =
            callers.into_iter().map(|caller| caller.join().unwrap().saturating_duration_since(revoked));
        let late = late.max().unwrap();
        assert!(late <= Duration::from_secs(5), "{late:?}");
        eprintln!("the last request was accepted {late:?} after the revocation");
    });
    for server in servers {
        assert_eq!(balance(server), 401);
        assert_eq!(access(server, &credential).status, 400);
        assert_eq!(access(server, &partner).status, 200, "the partner's own login goes on");
    }
}

#[test]
fn a_revoked_credential_ends_within_five_seconds() {
    let installation = Installation::new();
    let server = installation.serve(&["--rate-limit", "0"]);
    none_is_accepted_after_five_seconds(&installation, &[server]);
}

#[test]
fn a_revoked_credential_ends_on_every_server() {
    let installation = Installation::on_a_server();
    let unlimited = ["--rate-limit", "0"];
    let second = [&unlimited[..], &["--no-workers"]].concat();
    let servers = [installation.serve(&unlimited), installation.serve(&second)];
    none_is_accepted_after_five_seconds(&installation, &servers);
}
