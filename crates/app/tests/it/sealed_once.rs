//! A sealed request works once: a copy of it under another idempotency key, or without one, is refused and changes nothing.

use std::io::Write as _;
use std::net::Ipv4Addr;

use kopeck_domain::partner::SealingPolicy;
use serde_json::json;

use crate::api_client::virtual_order;
use crate::copies::{Part, Remote, Sealer, copies};
use crate::faults::observe;
use crate::process::Installation;
use crate::raw_http::{RawRequest, RawResponse, connect, fresh_nonce, get, login, now, optional, post};
use crate::server::{TestPartner, TestServer};
use crate::world::{Sample, Things, samples};

/// Twenty minutes, for which a nonce is spent.
const NONCE_LIFE: i64 = 20 * 60;

fn sealer<'a>(server: &TestServer, partner: &'a TestPartner) -> Sealer<'a> {
    Sealer { key: &partner.key, now: now(server) }
}

fn changing() -> impl Iterator<Item = Sample> {
    samples().filter(|sample| sample.operation.changes)
}

/// Sends copies of a request that was answered, and sees that nothing comes of it.
fn refuse_copies(server: &TestServer, token: &str, things: &Things, call: &RawRequest) {
    let before = observe(server, token, things);
    for copy in copies(call) {
        assert_eq!(copy.send(server).fields(), "x-nonce", "{copy:?}");
    }
    assert_eq!(observe(server, token, things), before, "{call:?}");
}

/// Sends a request, its copies, and its rightful repeats with their copies.
fn works_once(
    server: &TestServer,
    partner: &TestPartner,
    token: &str,
    things: &Things,
    case: (&Sample, Part, Option<&str>),
) {
    let (sample, part, key) = case;
    let path = sample.operation.path;
    let clear = sample.call(things).token(token);
    let clear = key.map_or_else(|| clear.clone(), |key| clear.clone().key(key));
    let Some(call) = sealer(server, partner).seal(path, &clear, part) else { return };
    let first = call.send(server);
    assert!((200..=202).contains(&first.status) && !first.replayed(), "{call:?}: {first:?}");
    refuse_copies(server, token, things, &call);
    let is_replay =
        |got: &RawResponse| (got.status, got.replayed(), &got.text) == (first.status, true, &first.text);
    let again = call.send(server);
    assert!(is_replay(&again), "{again:?}");
    if key.is_some() {
        let renewed = sealer(server, partner).seal(path, &clear.nonce(&fresh_nonce()), part).unwrap();
        let again = renewed.send(server);
        assert!(is_replay(&again), "{again:?}");
        refuse_copies(server, token, things, &renewed);
        let again = call.send(server);
        assert!(is_replay(&again), "{again:?}");
    }
}

/// Operations for which one partner is observed again and again: what it has grows with each.
const SHARE: usize = 8;

/// Every operation that changes something, with this part of it sealed: first those that `with_key` names, with a key, then
/// those that `without` names.
fn every_operation_works_once(part: Part, with_key: impl Fn(usize) -> bool, without: impl Fn(usize) -> bool) {
    let server = TestServer::start();
    let has_part = |sample: &Sample| part != Part::Path || sample.operation.placeholders().next().is_some();
    let keyed = changing().filter(has_part).enumerate().filter(|(number, _)| with_key(*number));
    let bare = changing().filter(has_part).enumerate().filter(|(number, _)| without(*number));
    let cases = keyed.map(|(_, sample)| (sample, true)).chain(bare.map(|(_, sample)| (sample, false)));
    for share in (0..).zip(cases).collect::<Vec<_>>().chunks(SHARE) {
        let (partner, token) = optional(&server);
        for (tag, (sample, is_keyed)) in share {
            let things = Things::make(&server, &token, *tag);
            let key = format!("original-{tag}");
            let key = is_keyed.then_some(key.as_str());
            works_once(&server, &partner, &token, &things, (sample, part, key));
        }
    }
    server.run_jobs();
}

/// Every operation both ways with a sealed body; otherwise half of them with a key, and the others without one.
fn is_even(number: usize) -> bool {
    number.is_multiple_of(2)
}

#[test]
fn a_copy_of_a_sealed_body_is_refused() {
    every_operation_works_once(Part::Body, |_| true, |_| true);
}

#[test]
fn a_copy_of_a_sealed_field_is_refused() {
    every_operation_works_once(Part::Field, is_even, |number| !is_even(number));
}

#[test]
fn a_copy_of_a_sealed_identifier_is_refused() {
    every_operation_works_once(Part::Path, is_even, |number| !is_even(number));
}

#[test]
fn a_copy_of_a_sealed_parameter_is_refused() {
    every_operation_works_once(Part::Query, is_even, |number| !is_even(number));
}

fn order() -> RawRequest {
    post("/v1/order/virtualcards", &virtual_order(1, 5_000))
}

/// A partner that must seal pays for one order, however often its request is copied.
#[test]
fn no_money_is_held_for_copies() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 10_000_000);
    let token = login(&server, &partner).access;
    let call = sealer(&server, &partner).body(&order().token(&token));
    let first = call.send(&server).ok(202);
    for number in 0..5 {
        let copy = call.clone().key(&format!("evil-{number}"));
        assert_eq!(copy.send(&server).fields(), "x-nonce");
    }
    let again = call.send(&server);
    assert_eq!((again.replayed(), again.json()), (true, first));
    let balance = get("/v1/balance").token(&token).send(&server).ok(200);
    assert_eq!((&balance["hold"], &balance["available"]), (&json!(5_000), &json!(9_995_000)));
    server.run_jobs();
}

/// A refused request changes nothing, so it may be sent again in any form.
#[test]
fn only_a_success_spends_the_nonce() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let make = post("/v1/category", &json!({"nameCategory": "A"})).token(&token);
    let taken = make.send(&server).text_of("idCategory");
    let call = sealer(&server, &partner).body(&make.clone().nonce(&fresh_nonce()));
    for call in [call.clone(), call.clone().key("other")] {
        assert_eq!(call.send(&server).code(), (409, "category_exists".to_owned()));
    }
    let gone = RawRequest::new("DELETE", &format!("/v1/category/{taken}")).token(&token).send(&server);
    assert_eq!(gone.status, 200);
    assert_eq!(call.clone().key("other").send(&server).status, 201);
    assert_eq!(call.send(&server).fields(), "x-nonce", "the copy has had the effect");
    assert!(call.key("other").send(&server).replayed());
}

/// Which of two faults is reported.
#[test]
fn the_fault_names_what_was_used_before() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let sealer = sealer(&server, &partner);
    let category = |name: &str| post("/v1/category", &json!({"nameCategory": name})).token(&token);
    let first = category("A").key("k");
    let nonce = first.its_nonce().to_owned();
    assert_eq!(sealer.body(&first).send(&server).status, 201);
    let same = |name: &str| category(name).nonce(&nonce);
    assert_eq!(sealer.body(&same("B").key("k")).send(&server).fields(), "idempotency-key");
    assert_eq!(category("B").key("known").send(&server).status, 201);
    assert_eq!(sealer.body(&same("B").key("known")).send(&server).fields(), "x-nonce");
    // The values are looked at afterwards.
    assert_eq!(sealer.body(&same("").key("other")).send(&server).fields(), "x-nonce");
    // A plaintext request proves nothing about the partner, and a nonce is no secret.
    assert_eq!(same("C").key("clear").send(&server).status, 201);
    assert_eq!(same("D").send(&server).status, 201);
    assert_eq!(same("D").send(&server).ok(201)["nameCategory"], "D");
    // A clear request spends nothing.
    let clear = category("E").key("clear-2");
    assert_eq!(clear.send(&server).status, 201);
    let sealed = sealer.body(&category("F").nonce(clear.its_nonce()).key("sealed"));
    assert_eq!(sealed.send(&server).status, 201);
}

/// Two partners may use the same nonce.
#[test]
fn a_nonce_is_the_partners_own() {
    let server = TestServer::start();
    let nonce = fresh_nonce();
    for key in ["a", "b"] {
        let (partner, token) = optional(&server);
        let call = sealer(&server, &partner).body(&order().token(&token).nonce(&nonce).key(key));
        assert_eq!(call.send(&server).status, 202);
    }
    server.run_jobs();
}

/// By the service's clock, which the sandbox moves. Sealing uses real time.
#[test]
fn a_nonce_is_spent_for_twenty_minutes() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let move_clock = |token: &str, seconds: i64| {
        post("/sandbox/v1/clock/advance", &json!({"seconds": seconds})).token(token).send(&server)
    };
    let call = sealer(&server, &partner).body(&order().token(&token).key("k"));
    assert_eq!(call.send(&server).status, 202);
    let copy = call.key("other");
    assert_eq!(move_clock(&token, NONCE_LIFE).status, 200);
    // The access token has ended meanwhile.
    let token = login(&server, &partner).access;
    let copy = copy.token(&token);
    assert_eq!(copy.send(&server).fields(), "x-nonce");
    assert_eq!(move_clock(&token, 1).status, 200);
    assert_eq!((copy.send(&server).status, copy.send(&server).replayed()), (202, true));
    server.work_now();
    server.run_jobs();
}

/// Each under another key, at the same time: one has an effect, and the others are refused.
#[test]
fn of_simultaneous_copies_one_has_an_effect() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let things = Things::make(&server, &token, 1);
    let purchase = format!("/sandbox/v1/card/{}/purchase", things.id("card"));
    let total = || {
        let orders = get("/v1/orders").token(&token).send(&server).ok(200)["meta"]["total"].clone();
        let path = format!("/v1/card/{}/transactions", things.id("card"));
        let payments = get(&path).token(&token).send(&server).ok(200)["meta"]["total"].clone();
        (orders.as_u64().unwrap(), payments.as_u64().unwrap())
    };
    for _ in 0..10 {
        let before = total();
        for call in [order(), post(&purchase, &json!({"amount": 1}))] {
            let call = sealer(&server, &partner).body(&call.token(&token));
            let mut senders = vec![call.clone()];
            senders.extend((0..5).map(|number| call.clone().key(&format!("{number}-{}", call.its_nonce()))));
            let answers: Vec<RawResponse> = std::thread::scope(|scope| {
                let sent: Vec<_> = senders.iter().map(|call| scope.spawn(|| call.send(&server))).collect();
                sent.into_iter().map(|sent| sent.join().unwrap()).collect()
            });
            let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|got| got.status < 300);
            assert_eq!(done.len(), 1, "{answers:?}");
            refused.iter().for_each(|got| assert_eq!(got.fields(), "x-nonce"));
        }
        assert_eq!(total(), (before.0 + 1, before.1 + 1));
    }
    server.run_jobs();
}

const NO_WORKERS: &[&str] = &["--no-workers"];

/// Two processes on one database server, at the same moment and one after the other.
#[test]
fn of_copies_at_two_processes_one_has_an_effect() {
    const ROUNDS: i64 = 12;
    let installation = Installation::on_a_server();
    let secrets = installation.create_partner(&["--deposit", "10000.00"]);
    let (first, second) = (installation.serve(NO_WORKERS), installation.serve(NO_WORKERS));
    let partner = Remote::login(&first.base_url, &secrets);
    for round in 0..ROUNDS {
        let call = partner.seal(order().key(&format!("round-{round}")));
        let copy = copies(&call).swap_remove(usize::try_from(round).unwrap() % 3);
        let answers: Vec<RawResponse> = std::thread::scope(|scope| {
            let sent = [(&call, &first), (&copy, &second)]
                .map(|(call, server)| scope.spawn(|| call.send_to(&server.base_url)));
            sent.into_iter().map(|sent| sent.join().unwrap()).collect()
        });
        let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|got| got.status == 202);
        assert_eq!((done.len(), refused.len()), (1, 1), "{answers:?}");
        assert_eq!(refused[0].fields(), "x-nonce");
        let winner = if answers[0].status == 202 { &call } else { &copy };
        for server in [&first, &second] {
            let again = winner.send_to(&server.base_url);
            assert_eq!((again.replayed(), &again.text), (true, &done[0].text));
            let another = call.clone().key("one-more").send_to(&server.base_url);
            assert_eq!(another.fields(), "x-nonce");
        }
    }
    let orders = partner.read(&second.base_url, "/v1/orders");
    assert_eq!(orders["meta"]["total"], ROUNDS);
    assert_eq!(partner.read(&first.base_url, "/v1/balance")["hold"], ROUNDS * 5_000);
}

/// A request that was answered, and one that met the kill on its way.
#[test]
fn a_killed_process_remembers_which_nonces_are_spent() {
    let installation = Installation::new();
    let secrets = installation.create_partner(&["--deposit", "10000.00"]);
    let mut running = installation.serve(NO_WORKERS);
    let partner = Remote::login(&running.base_url, &secrets);
    for (round, key) in (1..).zip([Some("a"), None, Some("b"), None]) {
        let call = order().nonce(&fresh_nonce());
        let call = partner.seal(key.map_or_else(|| call.clone(), |key| call.clone().key(key)));
        let first = (round <= 2).then(|| call.send_to(&running.base_url).ok(202));
        if first.is_none() {
            let mut stream = connect(&running.base_url, Ipv4Addr::LOCALHOST);
            stream.write_all(&call.to_bytes()).unwrap();
        }
        running.kill();
        running = installation.serve(NO_WORKERS);
        let sent: Vec<RawResponse> =
            copies(&call).iter().map(|copy| copy.send_to(&running.base_url)).collect();
        let again = call.send_to(&running.base_url);
        let (done, refused): (Vec<_>, Vec<_>) =
            sent.iter().chain([&again]).partition(|got| got.status == 202);
        assert_eq!(done.len(), 1, "{sent:?} {again:?}");
        refused.iter().for_each(|got| assert_eq!(got.fields(), "x-nonce"));
        if let Some(first) = first {
            assert_eq!((again.replayed(), again.json()), (true, first));
        }
        let orders = partner.read(&running.base_url, "/v1/orders");
        assert_eq!(orders["meta"]["total"], round);
        assert_eq!(partner.read(&running.base_url, "/v1/balance")["hold"], round * 5_000);
    }
}
