//! Calls sent again under the same key: one effect, one response.

use kopeck_port_system::Clock;
use serde_json::{Value, json};
use time::Duration;

use crate::raw_http::{JSON, RawRequest, RawResponse, fresh_nonce, get, login, optional, post, seal_body};
use crate::server::TestServer;
use crate::world::{Things, samples};

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// A request that changes something, under a key; carried out, sent again, and misused.
fn repeat(server: &TestServer, token: &str, call: &RawRequest, status: u16) -> Value {
    let call = call.clone().token(token);
    let first = call.send(server);
    assert_eq!((first.status, first.replayed()), (status, false), "{call:?}: {first:?}");
    send_again(server, token, &call, &first);
    first.json()
}

/// Sends a request again that was answered so, and others under its key.
fn send_again(server: &TestServer, token: &str, call: &RawRequest, first: &RawResponse) {
    let by_header = call.clone().key(call.its_nonce()).nonce(&fresh_nonce());
    let target = call.target.strip_suffix('/').map_or_else(|| format!("{}/", call.target), str::to_owned);
    for again in [call.clone(), by_header.clone(), RawRequest { target, ..call.clone() }] {
        let got = again.send(server);
        assert_eq!((got.status, got.replayed(), &got.text), (first.status, true, &first.text), "{again:?}");
    }
    let mut body = if call.body.is_empty() { json!({}) } else { serde_json::from_slice(&call.body).unwrap() };
    body["another"] = json!("call");
    assert_eq!(call.clone().json(&body).send(server).fields(), "x-nonce", "{call:?}");
    assert_eq!(by_header.json(&body).send(server).fields(), "idempotency-key", "{call:?}");
    let elsewhere = post("/v1/category", &body).nonce(call.its_nonce()).token(token).send(server);
    assert_eq!(elsewhere.fields(), "x-nonce", "{call:?}");
    assert_eq!(call.send(server).text, first.text, "and the first answer is still there");
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_else(|| panic!("{name}: {value}")).to_owned()
}

#[test]
fn every_request_that_changes_something_can_be_retried() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let changing = samples().filter(|sample| sample.operation.changes);
    for (tag, sample) in (0..).zip(changing) {
        let call = sample.call(&Things::make(&server, &token, tag)).token(&token);
        let first = call.send(&server);
        assert!((200..=202).contains(&first.status) && !first.replayed(), "{call:?}: {first:?}");
        send_again(&server, &token, &call, &first);
    }
    server.run_jobs();
}

/// Other requests have no key, and are processed again.
#[test]
fn no_call_that_reads_is_recorded() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let things = Things::make(&server, &token, 1);
    for sample in samples().filter(|sample| !sample.operation.changes) {
        let call = sample.call(&things).token(&token).key("reading");
        for _ in 0..2 {
            let got = call.send(&server);
            assert_eq!((got.status, got.replayed()), (200, false), "{call:?}: {got:?}");
        }
    }
    server.run_jobs();
}

#[test]
fn the_effects_of_calls_for_staff_come_once() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let category = repeat(&server, &token, &post("/v1/category", &json!({"nameCategory": "A"})), 201);
    let category = text(&category, "idCategory");
    for (method, name) in [("PUT", "B"), ("PATCH", "C")] {
        let call =
            RawRequest::new(method, &format!("/v1/category/{category}")).json(&json!({"nameCategory": name}));
        assert_eq!(repeat(&server, &token, &call, 200)["nameCategory"], name);
    }
    let body = json!({"customId": "E-1", "idCategory": category});
    let employee = text(&repeat(&server, &token, &post("/v1/employee/add", &body), 200), "idEmployee");
    for (method, status) in [("PUT", "VACATION"), ("PATCH", "MEDICAL")] {
        let body = json!({"status": status, "idCategory": null});
        let call = RawRequest::new(method, &format!("/v1/employee/{employee}")).json(&body);
        assert_eq!(repeat(&server, &token, &call, 200)["status"], status);
    }
    repeat(&server, &token, &RawRequest::new("DELETE", &format!("/v1/category/{category}")), 200);
    let list = get("/v1/employees").token(&token).send(&server).ok(200);
    assert_eq!((&list["meta"]["total"], &list["data"][0]["status"]), (&json!(1), &json!("MEDICAL")));
    assert_eq!(get("/v1/categories").token(&token).send(&server).ok(200)["meta"]["total"], 0);
}

/// Large ones are taken apart on other threads, and are the same requests.
#[test]
fn a_large_call_is_carried_out_once_sealed_or_not() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let order = |address: &str| {
        let line = json!({
            "numberCards": 1, "typeCard": "KKL", "deliveryAddress": address, "recipient": "Ivan", "phone": "9031234567",
        });
        post("/v1/order/plasticcards", &json!({ "data": vec![line; 100] })).token(&token)
    };
    let call = order(&"Тверь ".repeat(40));
    assert!(call.body.len() > 50_000, "{} bytes", call.body.len());
    let first = repeat(&server, &token, &call, 202);
    let again = seal_body(&server, &partner.key, call.clone().nonce(&fresh_nonce()).key(call.its_nonce()));
    let again = again.send(&server);
    assert_eq!((again.replayed(), again.json()), (true, first), "the same call, sealed");
    let sealed = seal_body(&server, &partner.key, order(&"Омск ".repeat(40)));
    assert_eq!(sealed.send(&server).status, 202);
    let faulty = seal_body(&server, &partner.key, order(&"\u{7}".repeat(400)));
    let faults = faulty.send(&server).json()["data"].as_array().map_or(0, Vec::len);
    assert_eq!(faults, 100, "each line's");
    assert_eq!(get("/v1/orders").token(&token).send(&server).ok(200)["meta"]["total"], 2);
    server.run_jobs();
}

#[test]
fn the_effects_of_calls_for_cards_and_money_come_once() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let call = |path: &str, body: &Value, status| repeat(&server, &token, &post(path, body), status);
    let virtual_line = json!({"data": [{"numberCards": 1, "typeCard": "MLZ", "amount": 500_000}]});
    let order = call("/v1/order/virtualcards", &virtual_line, 202)["orderId"].clone();
    let cancelled = call("/v1/order/virtualcards", &virtual_line, 202)["orderId"].clone();
    let plastic = json!({"data": [{
        "numberCards": 1, "typeCard": "KKL", "deliveryAddress": "Tver", "recipient": "Ivan", "phone": "9031234567",
    }]});
    call("/v1/order/plasticcards", &plastic, 202);
    call("/v1/order/cancel/", &json!({"orderId": cancelled}), 200);
    server.run_jobs();
    call("/v1/order/confirm", &json!({"orderId": order}), 200);
    let orders = get("/v1/orders").token(&token).send(&server).ok(200);
    assert_eq!(orders["meta"]["total"], 3, "{orders}");

    let free = get("/v1/cards/available").token(&token).send(&server).ok(200);
    let card =
        free["data"].as_array().unwrap().iter().find(|card| card["typeCard"] == "KKL").unwrap().clone();
    let employee = text(&call("/v1/employee/add", &json!({"customId": "E-1"}), 200), "idEmployee");
    let link = json!({"customIdCard": card["customIdCard"], "statusCard": "ADDITIONAL"});
    call(&format!("/v1/employee/{employee}/link_card"), &link, 200);
    let switch = json!({"idCard": card["idCard"], "statusCard": "MAIN"});
    call(&format!("/v1/employee/{employee}/card/switch"), &switch, 200);
    let top_up = json!({"cards": [{"idCard": card["idCard"], "amountReplenishment": 1_000}]});
    let request = text(&call("/v1/replenishment", &top_up, 202), "replenishmentId");
    let cancel = RawRequest::new("DELETE", &format!("/v1/replenishment/{request}"));
    assert_eq!(repeat(&server, &token, &cancel, 200)["message"], "REJECTED");
    let request = call("/v1/replenishment", &top_up, 202);
    server.run_jobs();
    let status = format!("/v1/replenishment/{}/status", text(&request, "replenishmentId"));
    assert_eq!(get(&status).token(&token).send(&server).ok(200)["message"], "SUCCESS");
    call("/sandbox/v1/balance/deposit", &json!({"amount": 7}), 200);
    let balance = get("/v1/balance").token(&token).send(&server).ok(200);
    assert_eq!(balance["available"], 10_000_000 - 500_000 - 1_000 + 7, "each effect came once");
    for command in ["block", "unblock", "expire"] {
        let id = card["idCard"].as_str().unwrap();
        repeat(&server, &token, &RawRequest::new("POST", &format!("/sandbox/v1/card/{id}/{command}")), 200);
    }
}

#[test]
fn json_is_compared_by_value() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let send = |nonce: &str, body: &str| {
        RawRequest::new("POST", "/v1/employee/add").token(&token).nonce(nonce).bytes(JSON, body).send(&server)
    };
    let nonce = fresh_nonce();
    let first = send(&nonce, r#"{"customId":"E-1","name":"Пётр","x":{"a":[1,2.5],"b":null,"c":100}}"#);
    for same in [
        r#"{ "x" : {"b":null, "a":[1,2.5],"c":100 },"name":"Пётр", "customId":"E-1" }"#,
        r#"{"customId":"\u0045-1","name":"\u041f\u0451тр","x":{"a":[1.0,2.50],"b":null,"c":1e2}}"#,
        "\n{\"customId\":\"E-1\",\t\"name\":\"Пётр\",\r\n\"x\":{\"a\":[1,25e-1],\"b\":null,\"c\":100.0}}\n",
    ] {
        let again = send(&nonce, same);
        assert_eq!((again.replayed(), &again.text), (true, &first.text), "{same}: {again:?}");
    }
    for other in [
        r#"{"customId":"E-1","name":"Пётр","x":{"a":[2.5,1],"b":null,"c":100}}"#,
        r#"{"customId":"E-1","name":"Пётр","x":{"a":[1,2.5],"c":100}}"#,
        r#"{"customId":"E-1","name":"Пётр","x":{"a":[1,2.5],"b":null,"c":"100"}}"#,
        r#"{"customId":"E-1","name":"Петр","x":{"a":[1,2.5],"b":null,"c":100}}"#,
        r#"{"customId":"E-1","name":"Пётр"}"#,
        r"{}",
    ] {
        assert_eq!(send(&nonce, other).fields(), "x-nonce", "{other}");
    }
}

#[test]
fn put_and_patch_are_one_and_paths_are_not() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let add = |id: &str| {
        post("/v1/employee/add", &json!({"customId": id})).token(&token).send(&server).text_of("idEmployee")
    };
    let (one, two) = (add("E-1"), add("E-2"));
    let call = |method: &str, id: &str| {
        RawRequest::new(method, &format!("/v1/employee/{id}"))
            .json(&json!({"status": "MEDICAL"}))
            .token(&token)
            .key("k")
    };
    let first = call("PUT", &one).send(&server);
    assert_eq!((first.status, first.replayed()), (200, false));
    let again = call("PATCH", &one).send(&server);
    assert_eq!((again.replayed(), &again.text), (true, &first.text));
    assert!(call("PUT", &one.to_uppercase()).send(&server).replayed(), "an identifier is a value");
    assert_eq!(call("PUT", &two).send(&server).fields(), "idempotency-key");
    // The values are looked at after the key.
    assert_eq!(call("PUT", "none").send(&server).fields(), "idempotency-key");
    let faulty = call("PUT", &one).json(&json!({"status": "?"}));
    assert_eq!(faulty.send(&server).fields(), "idempotency-key");
}

#[test]
fn only_a_success_is_recorded() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let make = |name: &str| post("/v1/category", &json!({"nameCategory": name})).token(&token);
    let taken = make("A").send(&server).text_of("idCategory");
    let call = make("a").key("retry");
    for _ in 0..2 {
        let got = call.send(&server);
        assert_eq!((got.code(), got.replayed()), ((409, "category_exists".to_owned()), false));
    }
    // The key of a request that failed is free, also for another request.
    assert_eq!(call.clone().json(&json!({})).send(&server).fields(), "nameCategory");
    let gone = RawRequest::new("DELETE", &format!("/v1/category/{taken}")).token(&token).send(&server);
    assert_eq!(gone.status, 200);
    let made = call.send(&server);
    assert_eq!((made.status, made.replayed()), (201, false));
    assert!(call.send(&server).replayed());
    for (call, status) in [
        (RawRequest::new("DELETE", &format!("/v1/category/{ID}")), 404),
        (post("/v1/order/confirm", &json!({"orderId": ID})), 404),
        (
            post(
                "/v1/order/virtualcards",
                &json!({"data": [{"numberCards": 5000, "typeCard": "MLZ", "amount": "1500000"}]}),
            ),
            402,
        ),
    ] {
        let call = call.token(&token);
        for _ in 0..2 {
            let got = call.send(&server);
            assert_eq!((got.status, got.replayed()), (status, false), "{call:?}");
        }
    }
}

#[test]
fn a_key_has_a_form() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let long = "k".repeat(255);
    for (place, good) in ["k", "!", "~", "a,b;c=\"d\"", &long].iter().enumerate() {
        let body = json!({"nameCategory": format!("good {place}")});
        let call = post("/v1/category", &body).token(&token).key(good);
        assert_eq!((call.send(&server).status, call.send(&server).replayed()), (201, true), "{good}");
    }
    let longer = "k".repeat(256);
    let call = post("/v1/category", &json!({"nameCategory": "bad"})).token(&token);
    for bad in ["", " ", "a b", "a\tb", "ключ", &longer] {
        assert_eq!(call.clone().key(bad).send(&server).fields(), "idempotency-key", "{bad:?}");
    }
    assert_eq!(call.clone().with("idempotency-key", b"\xFF").send(&server).fields(), "idempotency-key");
    assert_eq!(
        call.clone().and("idempotency-key", "a").and("idempotency-key", "b").send(&server).fields(),
        "idempotency-key"
    );
    let both = call.clone().key("").nonce("short").send(&server);
    assert_eq!(both.fields(), "x-nonce idempotency-key");
    assert_eq!(
        get("/v1/balance").token(&token).key("").send(&server).status,
        200,
        "a call that reads has none"
    );
    // A key does not stand for the nonce, which every request has.
    assert_eq!(call.key("k2").without("x-nonce").send(&server).fields(), "x-nonce");
}

#[test]
fn a_call_that_reads_may_use_a_nonce_again() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let nonce = fresh_nonce();
    for path in ["/v1/balance", "/v1/employees", "/v1/balance"] {
        let got = get(path).token(&token).nonce(&nonce).key("read").send(&server);
        assert_eq!((got.status, got.replayed()), (200, false));
    }
    let make = post("/v1/category", &json!({"nameCategory": "A"})).token(&token).nonce(&nonce);
    assert_eq!(make.send(&server).status, 201);
    assert_eq!(
        get("/v1/balance").token(&token).nonce(&nonce).send(&server).status,
        200,
        "and the other way round"
    );
    assert!(make.send(&server).replayed());
}

#[test]
fn a_response_is_kept_for_seven_days() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let order = json!({"data": [{
        "numberCards": 1, "typeCard": "KKL", "deliveryAddress": "Tver", "recipient": "Ivan", "phone": "9031234567",
    }]});
    let call = post("/v1/order/plasticcards", &order).key("week");
    let first = call.clone().token(&token).send(&server);
    let started = server.clock.now();
    server.run_jobs();
    let send = |until: Duration| -> RawResponse {
        server.clock.advance(started + until - server.clock.now());
        server.work_now();
        call.clone().token(&login(&server, &partner).access).send(&server)
    };
    let week = Duration::days(7);
    for kept in [Duration::days(1), week - Duration::seconds(1)] {
        let got = send(kept);
        assert_eq!((got.replayed(), &got.text), (true, &first.text), "{kept}");
    }
    let later = send(week + Duration::seconds(1));
    assert_eq!((later.status, later.replayed()), (202, false));
    assert_ne!(later.text, first.text);
    server.run_jobs();
}

#[test]
fn keys_are_the_partners_own() {
    let server = TestServer::start();
    let (partner, one) = optional(&server);
    let (_, two) = optional(&server);
    let send = |token: &str, name: &str| {
        post("/v1/category", &json!({"nameCategory": name}))
            .token(token)
            .nonce("the-same-nonce-for-two")
            .send(&server)
    };
    let (first, second) = (send(&one, "A"), send(&two, "B"));
    assert_eq!([&first, &second].map(|got| (got.status, got.replayed())), [(201, false), (201, false)]);
    assert_eq!((send(&one, "A").text, send(&two, "B").text), (first.text.clone(), second.text));
    let again = login(&server, &partner).access;
    assert_eq!(send(&again, "A").text, first.text, "the partner's, not the token's");
    assert_eq!(send("none", "A").status, 401, "no answer without a token");
}

#[test]
fn of_many_simultaneous_requests_one_has_an_effect() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    for round in 0..5 {
        let call = post("/sandbox/v1/balance/deposit", &json!({"amount": 1})).token(&token);
        let answers: Vec<RawResponse> = std::thread::scope(|scope| {
            let calls: Vec<_> = (0..8).map(|_| scope.spawn(|| call.send(&server))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|got| got.status == 200 && got.text == answers[0].text), "{answers:?}");
        assert_eq!(answers.iter().filter(|got| !got.replayed()).count(), 1);
        assert_eq!(answers[0].json()["balance"], 10_000_001 + round);
    }
    // Two different requests under one key: one succeeds, the other gets a 422.
    let call = |name: &str| post("/v1/category", &json!({"nameCategory": name})).token(&token).key("race");
    let mut statuses: Vec<u16> = std::thread::scope(|scope| {
        let (a, b) =
            (scope.spawn(|| call("A").send(&server).status), scope.spawn(|| call("B").send(&server).status));
        vec![a.join().unwrap(), b.join().unwrap()]
    });
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 422]);
}
