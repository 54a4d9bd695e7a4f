//! The scenario that the clients of all languages play, against a running service; see `scripts/test-clients`, which
//! starts one.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a helper that panics fails its test, as it should"
)]

mod proxy;

use std::time::Duration;

use kopeck_client::{
    CardLimit, CardStatus, Client, ClientBuilder, Employee, EmployeeFilter, Error, ErrorCode,
    ExposeSecret as _, IdempotencyKey, LimitPeriod, NewEmployee, Paging, PaymentQuestion, Purchase,
    RequestFilter, RequestState, SealingKey, TopUp, TransactionFilter, Uuid, VirtualItem, Wait,
};
use serde_json::{Value, json};

use crate::proxy::Proxy;

const LOGIN: &str = "/v1/get_access_token";
const REFRESH: &str = "/v1/get_refresh_token";
const WAIT: Duration = Duration::from_secs(60);

#[tokio::test]
#[ignore = "needs a running service and its proxy: scripts/test-clients"]
async fn the_scenario() {
    let proxy = Proxy::new(&setting("KOPECK_TEST_URL"));
    let required: Value = serde_json::from_str(&setting("KOPECK_TEST_REQUIRED")).unwrap();
    let optional: Value = serde_json::from_str(&setting("KOPECK_TEST_OPTIONAL")).unwrap();
    let key = || SealingKey::parse(required["sealingKey"].as_str().unwrap()).unwrap();
    logs_in(&proxy, &required, key()).await;
    let sealed = builder(&proxy, &required).sealing_key(key()).seal_parameters(true).build().unwrap();
    let clear = builder(&proxy, &optional).build().unwrap();
    for client in [&sealed, &clear] {
        let anna = adds_employees(client).await;
        repeats_after_a_broken_connection(client, &proxy).await;
        hears_of_all_faulty_fields(client).await;
        let card = orders_and_links(client, &anna).await;
        tops_up(client, card).await;
        limits(client, card).await;
        makes_orders_while_they_are_listed(client).await;
        renews_an_expired_token(client, &proxy).await;
    }
    let api_key = optional["apiKey"].as_str().unwrap();
    logs_in_anew_after_a_revocation(&clear, &sealed, &proxy, api_key).await;
    println!("Rust: the scenario has passed, sealed and in clear");
}

async fn logs_in(proxy: &Proxy, partner: &Value, key: SealingKey) {
    let client = builder(proxy, partner).sealing_key(key.clone()).build().unwrap();
    let pair = client.login().await.unwrap();
    assert!(pair.access_expire_at < pair.refresh_expire_at);
    let guessing = builder(proxy, partner).sealing_key(key).password("a guess").build().unwrap();
    assert_eq!(guessing.balance().await.unwrap_err().code(), Some(&ErrorCode::BadCredentials));
    let unsealed = builder(proxy, partner).build().unwrap();
    assert_eq!(faulty_fields(unsealed.balance().await), ["body"]);
}

async fn adds_employees(client: &Client) -> Employee {
    let key = IdempotencyKey::fresh();
    let added = NewEmployee {
        surname: Some("Ёжикова".to_owned()),
        phone: Some("0031234567".to_owned()),
        ..NewEmployee::new("T-0001")
    };
    let add = || client.employees().add(&added).idempotency_key(key.clone());
    let anna = add().await.unwrap();
    assert_eq!(client.employees().get(anna.id_employee).await.unwrap().employee, anna);
    assert_eq!(add().await.unwrap(), anna);
    let other = client.employees().add(&NewEmployee::new("T-0009")).idempotency_key(key).await;
    assert_eq!(faulty_fields(other), ["idempotency-key"]);
    anna
}

async fn repeats_after_a_broken_connection(client: &Client, proxy: &Proxy) {
    proxy.seen().await;
    proxy.cut_next().await;
    client.employees().add(&NewEmployee::new("T-0002")).await.unwrap();
    let seen = proxy.seen().await;
    let calls: Vec<&Value> = seen.iter().filter(|call| call["path"] == "/v1/employee/add").collect();
    let cut: Vec<&Value> = calls.iter().map(|call| &call["cut"]).collect();
    assert_eq!(cut, [&json!(true), &json!(false)]);
    assert_eq!(calls[0]["key"], calls[1]["key"]);
    assert_ne!(calls[0]["nonce"], calls[1]["nonce"]);
    let all = client.employees().all(&EmployeeFilter::default()).collect().await.unwrap();
    let all: Vec<&str> = all.iter().map(|employee| employee.custom_id.as_str()).collect();
    assert_eq!(all, ["T-0001", "T-0002"]);
}

/// An order made during the walk shifts the others, and none of them comes twice or not at all.
async fn makes_orders_while_they_are_listed(client: &Client) {
    let order = [VirtualItem::new(1, 5_000)];
    for _ in 0..25 {
        client.orders().virtual_cards(&order).await.unwrap();
    }
    let page = client.orders().list(&RequestFilter::default(), Paging::page(1).per_page(500)).await.unwrap();
    let before: Vec<Uuid> = page.data.iter().map(|order| order.order_id).collect();
    let (mut walk, mut found) = (client.orders().all(&RequestFilter::default()).per_page(20), Vec::new());
    while let Some(next) = walk.next().await.unwrap() {
        found.push(next.order_id);
        if found.len() % 10 == 1 {
            client.orders().virtual_cards(&order).await.unwrap();
        }
    }
    assert_eq!(found, before);
}

async fn hears_of_all_faulty_fields(client: &Client) {
    let faulty = NewEmployee {
        phone: Some("+79031234567".to_owned()),
        email: Some("anna".to_owned()),
        ..NewEmployee::new("T 0003")
    };
    assert_eq!(faulty_fields(client.employees().add(&faulty).await), ["customId", "phone", "email"]);
}

async fn orders_and_links(client: &Client, employee: &Employee) -> Uuid {
    let orders = client.orders();
    let order = orders.virtual_cards(&[VirtualItem::new(2, 50_000)]).await.unwrap().order_id;
    let mut states = Vec::new();
    let done = orders.wait(order, Wait::up_to(WAIT), |state| states.push(state.clone())).await.unwrap();
    assert_eq!((&done, states.last()), (&RequestState::Success, Some(&RequestState::Success)));
    let issued = orders.result(order).await.unwrap().data;
    let [first, other] = issued.as_slice() else { panic!("{issued:?}") };
    assert_eq!((first.amount, other.amount), (Some(50_000), Some(50_000)));
    let linked =
        client.cards().link(employee.id_employee, &first.custom_id_card, &CardStatus::Main).await.unwrap();
    client.sandbox().activate(linked.id_card, first.activation_code.as_ref()).await.unwrap();
    let read = client.employees().get(employee.id_employee).await.unwrap();
    assert_eq!(read.cards[0].id_card, linked.id_card);
    let free = client.cards().available(None, Paging::default()).await.unwrap().data;
    assert_eq!(free.len(), 1);
    assert_eq!(free[0].custom_id_card, other.custom_id_card);
    linked.id_card
}

async fn tops_up(client: &Client, card: Uuid) {
    let replenishments = client.replenishments();
    let before = client.balance().await.unwrap().available;
    let finished = async |amount| {
        let id = replenishments.create(&[TopUp::new(card, amount)]).await.unwrap().replenishment_id;
        let state = replenishments.wait(id, Wait::up_to(WAIT), |_| {}).await.unwrap();
        (state, replenishments.result(id).await.unwrap().remove(0))
    };
    let (state, result) = finished(10_000).await;
    assert_eq!((state, result.result_replenishment), (RequestState::Success, true));
    assert_eq!(client.balance().await.unwrap().available, before - 10_000);
    assert_eq!(client.cards().balance(card).await.unwrap().balance, 60_000);
    // The bank of a sandbox refuses what ends in 13.
    let (state, result) = finished(10_013).await;
    assert_eq!(state, RequestState::Decline);
    assert_eq!(result.error_replenishment.as_deref(), Some("refused by the bank"));
    let stranger = Uuid::from_u128(1);
    match replenishments.create(&[TopUp::new(stranger, 10_000)]).await {
        Err(Error::Cards { status: 404, faults, .. }) => assert_eq!(faults[0].id_card, Some(stranger)),
        other => panic!("{other:?}"),
    }
}

async fn limits(client: &Client, card: Uuid) {
    let (limits, cards) = (client.limits(), client.cards());
    let limit = CardLimit::per(LimitPeriod::Day, 5_000);
    let change = limits.set(&[card], &limit).await.unwrap().set_limits_cards_id;
    assert_eq!(limits.wait(change, Wait::up_to(WAIT), |_| {}).await.unwrap(), RequestState::Success);
    assert!(limits.result(change).await.unwrap()[0].result_limit);
    assert_eq!(cards.info(card).await.unwrap().limit, limit);
    assert!(cards.can_pay(card, &PaymentQuestion::new(5_000)).await.unwrap().allowed);
    assert!(!cards.can_pay(card, &PaymentQuestion::new(5_001)).await.unwrap().allowed);
    let lunch = Purchase { place: Some("Столовая".to_owned()), ..Purchase::new(5_000) };
    assert!(client.sandbox().purchase(card, &lunch).await.unwrap().approved);
    let newest =
        cards.transactions(card, &TransactionFilter::default(), Paging::page(1).per_page(1)).await.unwrap();
    assert_eq!(newest.data[0].place.as_deref(), Some("Столовая"));
}

async fn renews_an_expired_token(client: &Client, proxy: &Proxy) {
    proxy.seen().await;
    // Only the service's clock moves: the client learns of it by a 401.
    let ttl: u64 = setting("KOPECK_TEST_ACCESS_TTL").parse().unwrap();
    client.sandbox().advance_clock(ttl + 60).await.unwrap();
    client.balance().await.unwrap();
    let calls = proxy.statuses().await;
    let of = |paths: &[&str]| -> Vec<u64> {
        calls.iter().filter(|(path, _)| paths.contains(&path.as_str())).map(|(_, status)| *status).collect()
    };
    assert_eq!(of(&["/v1/balance"]), [401, 200]);
    assert_eq!(of(&[REFRESH, LOGIN]), [200]);
}

async fn logs_in_anew_after_a_revocation(client: &Client, other: &Client, proxy: &Proxy, api_key: &str) {
    let first = client.refresh().await.unwrap();
    let second = client.refresh().await.unwrap();
    client.balance().await.unwrap();
    // A token that is shown once too often tells of a thief: all that grew from the same login ends.
    let shown = json!({"token": first.refresh_token.expose_secret()});
    let headers = [("x-api-key", api_key.to_owned())];
    assert_eq!(proxy.call("POST", REFRESH, &headers, Some(&shown)).await.0, 401);
    // The service caches a valid token for two seconds.
    other.sandbox().advance_clock(5).await.unwrap();
    let bearer = [("authorization", format!("Bearer {}", second.access_token.expose_secret()))];
    assert_eq!(proxy.call("GET", "/v1/balance", &bearer, None).await.0, 401);
    proxy.seen().await;
    client.balance().await.unwrap();
    let expected = [("/v1/balance", 401), (REFRESH, 401), (LOGIN, 200), ("/v1/balance", 200)];
    assert_eq!(proxy.statuses().await, expected.map(|(path, status)| (path.to_owned(), status)));
}

fn builder(proxy: &Proxy, partner: &Value) -> ClientBuilder {
    let text = |name: &str| partner[name].as_str().unwrap().to_owned();
    Client::builder(&proxy.url).api_key(text("apiKey")).login(text("login")).password(text("password"))
}

fn faulty_fields<T: std::fmt::Debug>(result: Result<T, Error>) -> Vec<String> {
    match result {
        Err(Error::Invalid { faults, request_id: Some(_), .. }) => {
            faults.into_iter().map(|fault| fault.field).collect()
        }
        other => panic!("{other:?}"),
    }
}

fn setting(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; scripts/test-clients sets it"))
}
