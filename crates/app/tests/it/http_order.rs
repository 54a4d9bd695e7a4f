//! Which of several faults is reported, and the responses to faults that are not the client's.

use std::io::{Read, Write};
use std::net::Ipv4Addr;

use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use serde_json::{Value, json};

use crate::raw_http::{RawRequest, connect, get, optional, post};
use crate::server::TestServer;

const ID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// An employee, a linked main card and an unassigned card of the partner.
struct Office {
    server: TestServer,
    token: String,
    employee: String,
    main: String,
    free: Value,
}

impl Office {
    fn open() -> Self {
        let server = TestServer::start();
        let (_, token) = optional(&server);
        let send = |path: &str, body: Value| post(path, &body).token(&token).send(&server);
        send(
            "/v1/order/virtualcards",
            json!({"data": [{"numberCards": 2, "typeCard": "MLZ", "amount": 5_000}]}),
        )
        .ok(202);
        server.run_jobs();
        let employee = send("/v1/employee/add", json!({"customId": "E-1"})).text_of("idEmployee");
        let cards = get("/v1/cards/available").token(&token).send(&server).ok(200);
        let link = json!({"customIdCard": cards["data"][0]["customIdCard"], "statusCard": "MAIN"});
        let main = send(&format!("/v1/employee/{employee}/link_card"), link).text_of("idCard");
        Self { employee, main, free: cards["data"][1].clone(), server, token }
    }

    fn answer(&self, method: &str, path: &str, body: &Value) -> String {
        let call = RawRequest::new(method, path).token(&self.token);
        let got = if body.is_null() { call } else { call.json(body) }.send(&self.server);
        if got.status == 422 { format!("422 {}", got.fields()) } else { got.code_or_status() }
    }
}

#[test]
fn values_come_before_what_is_not_there_and_that_before_what_stands_in_the_way() {
    let office = Office::open();
    let Office { employee, free, .. } = &office;
    let number = free["customIdCard"].as_str().unwrap();
    let link = |employee: &str, number: &str, status: &str| {
        let body = json!({"customIdCard": number, "statusCard": status});
        office.answer("POST", &format!("/v1/employee/{employee}/link_card"), &body)
    };
    assert_eq!(link("none", "x", "y"), "422 idEmployee customIdCard statusCard", "all at once");
    assert_eq!(link(ID, number, "y"), "422 statusCard");
    assert_eq!(link(ID, "9999999999", "MAIN"), "404 employee_not_found", "the employee before the card");
    assert_eq!(link(employee, "9999999999", "MAIN"), "404 card_not_found");
    assert_eq!(link(employee, number, "MAIN"), "409 employee_has_main_card");
    let switch = |employee: &str, card: &str, status: &str| {
        let body = json!({"idCard": card, "statusCard": status});
        office.answer("POST", &format!("/v1/employee/{employee}/card/switch"), &body)
    };
    assert_eq!(switch(ID, "x", "MAIN"), "422 idCard");
    assert_eq!(switch(ID, ID, "MAIN"), "404 employee_not_found");
    assert_eq!(switch(employee, ID, "MAIN"), "404 card_not_found");
    assert_eq!(office.answer("PUT", &format!("/v1/employee/{ID}"), &json!({"status": "?"})), "422 status");
    assert_eq!(
        office.answer("PUT", &format!("/v1/employee/{ID}"), &json!({"status": "WORK"})),
        "404 employee_not_found"
    );
    assert_eq!(office.answer("GET", &format!("/v1/card/{ID}/transactions?page=0"), &Value::Null), "422 page");
    let order = |numbers: i64, amount: i64| {
        let item = |number| json!({"numberCards": number, "typeCard": "MLZ", "amount": amount});
        office.answer("POST", "/v1/order/virtualcards", &json!({"data": [item(5_000), item(numbers)]}))
    };
    assert_eq!(order(0, 1_500_000), "422 data[1].numberCards");
    assert_eq!(order(1, 1_500_000), "402 insufficient_balance");
}

#[test]
fn faulty_cards_are_a_list_of_their_own_shape() {
    let office = Office::open();
    let free = office.free["idCard"].as_str().unwrap();
    let top_up = |cards: &[(&str, i64)]| {
        let cards: Vec<Value> =
            cards.iter().map(|(id, amount)| json!({"idCard": id, "amountReplenishment": amount})).collect();
        post("/v1/replenishment", &json!({"cards": cards})).token(&office.token).send(&office.server)
    };
    assert_eq!(
        top_up(&[(ID, 100), (free, 0), ("x", 1)]).fields(),
        "cards[1].amountReplenishment cards[2].idCard"
    );
    for (cards, status, code, faulty) in [
        (&[(ID, 100), (free, 100), (&*office.main, 100)][..], 404, "card_not_found", ID),
        (&[(free, 100), (&*office.main, 100)], 409, "card_not_main", free),
    ] {
        let got = top_up(cards);
        let body = got.json();
        assert_eq!((got.status, body.as_array().unwrap().len()), (status, 1), "{body}");
        assert_eq!(body[0].as_object().unwrap().len(), 3, "{body}");
        assert_eq!((&body[0]["code"], &body[0]["idCard"]), (&json!(code), &json!(faulty)));
        assert!(!body[0]["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(top_up(&[(&office.main, 100)]).status, 202);
    office.server.run_jobs();
}

#[test]
fn a_bank_that_is_down_is_a_503_that_says_when_to_come_back() {
    let office = Office::open();
    office.server.bank.inject_faults(BankFaults { down: true, ..BankFaults::default() }).unwrap();
    let path = format!("/v1/card/{}/transactions", office.main);
    let got = get(&path).token(&office.token).send(&office.server);
    assert_eq!(got.code(), (503, "bank_unavailable".to_owned()));
    assert!(got.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    office.server.bank.inject_faults(BankFaults::default()).unwrap();
    assert_eq!(get(&path).token(&office.token).send(&office.server).status, 200);
}

/// The bank takes twice as long as the second request waits for the first.
#[test]
fn a_retry_of_a_running_request_gets_409_with_retry_after() {
    let office = Office::open();
    office
        .server
        .bank
        .inject_faults(BankFaults {
            latency: std::time::Duration::from_millis(4_000),
            ..BankFaults::default()
        })
        .unwrap();
    let path = format!("/v1/employee/{}/card/switch", office.employee);
    let body = json!({"idCard": office.main, "statusCard": "ADDITIONAL"});
    let call = post(&path, &body).token(&office.token);
    let mut answers = std::thread::scope(|scope| {
        let send = || scope.spawn(|| call.send(&office.server));
        [send(), send()].map(|answer| answer.join().unwrap())
    });
    answers.sort_by_key(|got| got.status);
    let [done, told] = answers;
    assert_eq!((done.status, done.replayed()), (200, false), "{done:?}");
    assert_eq!(told.code(), (409, "request_in_progress".to_owned()));
    assert!(told.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    office.server.bank.inject_faults(BankFaults::default()).unwrap();
    let again = call.send(&office.server);
    assert_eq!((again.replayed(), again.text), (true, done.text));
}

/// The unread rest of a refused request is not parsed as the next one.
#[test]
fn a_body_that_was_not_read_is_no_call() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let smuggled = get("/v1/balance").with("x-request-id", "smuggled").token(&token).to_bytes();
    let second = get("/v1/balance").with("x-request-id", "second").token(&token).to_bytes();
    let refused = [
        RawRequest::new("POST", "/v1/category"),
        RawRequest::new("POST", "/v1/category").with("authorization", "x"),
        RawRequest::new("POST", "/nowhere").token(&token),
        RawRequest::new("POST", "/v1/balance").token(&token),
        RawRequest::new("POST", "/v1/category").token(&token).with("content-encoding", "gzip"),
        get("/v1/balance"),
        post("/v1/get_access_token", &json!({})).nonce("short"),
    ];
    for call in refused {
        let call = call.bytes("application/json", &smuggled).with("x-request-id", "first");
        let text = String::from_utf8(call.to_bytes()).unwrap().replace("connection: close\r\n", "");
        let mut stream = connect(&server.base_url, Ipv4Addr::LOCALHOST);
        // The server may hang up after the first response already.
        let _ = stream.write_all(&[text.as_bytes(), &second].concat());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let answers = String::from_utf8(bytes).unwrap();
        assert!(answers.contains("x-request-id: first"), "{call:?}: {answers}");
        assert!(!answers.contains("smuggled"), "{call:?}: {answers}");
    }
}
