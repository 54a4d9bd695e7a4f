//! Paging and filters of every list.

use kopeck_adapter_http::operations;
use kopeck_client::{EmployeeFilter, NewEmployee, Paging};
use reqwest::Method;
use serde_json::{Value, json};

use crate::api_client::{Api, UNKNOWN_ID, keys, start, start_client, text};

const META: [&str; 7] = ["current_page", "from", "last_page", "path", "per_page", "to", "total"];

async fn employees(api: &Api, count: usize) {
    for number in 1..=count {
        api.employee(&format!("T-{number}")).await;
    }
}

fn meta(page: i64, from: Option<i64>, to: Option<i64>, total: i64, last: i64, per_page: i64) -> Value {
    json!({
        "current_page": page, "from": from, "to": to, "total": total, "last_page": last, "per_page": per_page,
        "path": "/v1/employees",
    })
}

/// Every list with the size of its pages, for a card whose transactions are one of them.
fn lists(card: &str, run: &str, programme: &str) -> Vec<(String, i64)> {
    operations()
        .filter(|operation| operation.fields().any(|name| name == "page"))
        .map(|operation| {
            let size = if operation.name == "card.transactions" { 100 } else { 15 };
            let path = operation.path.replace("{idCard}", card).replace("{idRun}", run);
            (path.replace("{idProgramme}", programme), size)
        })
        .collect()
}

#[tokio::test]
async fn pages_of_fifteen_cover_a_list_oldest_first() {
    let (_server, api) = start(0).await;
    let empty = api.get("/v1/employees").await.ok(200);
    assert_eq!(empty, json!({"data": [], "meta": meta(1, None, None, 0, 1, 15)}));
    employees(&api, 17).await;
    let all: Vec<Value> = (1..=17).map(|number| json!(format!("T-{number}"))).collect();

    let first = api.get("/v1/employees").await.ok(200);
    assert_eq!(first["meta"], meta(1, Some(1), Some(15), 17, 2, 15));
    assert_eq!(api.column("/v1/employees", "customId").await, all[..15]);
    let second = api.get("/v1/employees?page=2").await.ok(200);
    assert_eq!(second["meta"], meta(2, Some(16), Some(17), 17, 2, 15));
    assert_eq!(api.column("/v1/employees?page=2", "customId").await, all[15..]);
    for page in [3, 1_000_000_000] {
        let past = api.get(&format!("/v1/employees?page={page}")).await.ok(200);
        assert_eq!(past, json!({"data": [], "meta": meta(page, None, None, 17, 2, 15)}));
    }
    let past = api.get("/v1/employees?page=1000000000&per_page=500").await.ok(200);
    assert_eq!(past["meta"], meta(1_000_000_000, None, None, 17, 1, 500));
    for size in ["per_page=4", "perPage=4", "per_page=4&perPage=4"] {
        let page = api.get(&format!("/v1/employees/?page=5&{size}")).await.ok(200);
        assert_eq!(page["meta"], meta(5, Some(17), Some(17), 17, 5, 4));
    }
    let whole = api.get("/v1/employees?per_page=17").await.ok(200);
    assert_eq!(whole["meta"], meta(1, Some(1), Some(17), 17, 1, 17));
    assert_eq!(keys(&whole["meta"]), META);
}

#[tokio::test]
async fn paging_comes_from_a_body_too_and_the_query_wins() {
    let (_server, api) = start(0).await;
    employees(&api, 5).await;
    let page = async |query: &str, body: Value| {
        let list = api.call(Method::GET, &format!("/v1/employees{query}"), &body).await.ok(200);
        (
            list["meta"]["current_page"].clone(),
            list["meta"]["per_page"].clone(),
            list["data"].as_array().unwrap().len(),
        )
    };
    assert_eq!(page("", json!({"page": 2, "per_page": 3})).await, (json!(2), json!(3), 2));
    assert_eq!(page("", json!({"page": 2, "perPage": 4})).await, (json!(2), json!(4), 1));
    assert_eq!(page("", json!({})).await, (json!(1), json!(15), 5));
    assert_eq!(page("", json!({"page": null, "per_page": null, "else": 1})).await, (json!(1), json!(15), 5));
    assert_eq!(page("?page=1", json!({"page": 2, "per_page": 3})).await, (json!(1), json!(3), 3));
    assert_eq!(page("?per_page=2", json!({"page": 3, "per_page": 9})).await, (json!(3), json!(2), 1));
    assert_eq!(page("?perPage=2", json!({"page": 3, "per_page": 9})).await, (json!(3), json!(2), 1));
    for (body, fields) in [
        (json!({"page": 0, "per_page": 501}), vec!["page", "per_page"]),
        (json!({"page": 1.5, "perPage": "ten"}), vec!["page", "perPage"]),
        (json!({"page": [1]}), vec!["page"]),
    ] {
        api.call(Method::GET, "/v1/employees", &body).await.faulty(&fields);
    }
    api.call(Method::GET, "/v1/employees", &json!([1])).await.faulty(&["body"]);
    let filtered = api.call(Method::GET, "/v1/employees", &json!({"customId": "T-3"})).await.ok(200);
    assert_eq!(filtered["meta"]["total"], 1);
}

#[tokio::test]
async fn every_list_has_the_same_paging() {
    let (server, api) = start(0).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let run = json!({"kind": "TOP_UP", "items": [{"idCard": card, "amount": 1}]});
    let run = api.post("/v1/runs", &run).await.ok(201)["idRun"].as_str().unwrap().to_owned();
    let rule =
        json!({"name": "Meals", "for": {"all": true}, "amount": {"fixed": 5}, "every": "MONTH", "day": 1});
    let made = api.post("/v1/programmes", &rule).await.ok(201);
    for (path, size) in lists(&card, &run, made["idProgramme"].as_str().unwrap()) {
        for path in [path.clone(), format!("{path}/")] {
            let list = api.get(&path).await.ok(200);
            // The entries of the balance stand between two balances.
            let is_end = |name: &&str| name.starts_with("opening") || name.starts_with("closing");
            let named = keys(&list).into_iter().filter(|name| !is_end(name));
            assert!(named.eq(["data", "meta"]), "{path}");
            assert_eq!(keys(&list["meta"]), META, "{path}");
            assert_eq!(list["meta"]["per_page"], size, "{path}");
            assert_eq!(list["meta"]["current_page"], 1, "{path}");
            assert_eq!(list["meta"]["path"], json!(path.trim_end_matches('/')), "{path}");
        }
        let past = api.get(&format!("{path}?page=1000000000&per_page=500")).await.ok(200);
        assert_eq!(
            (&past["data"], &past["meta"]["from"], &past["meta"]["to"]),
            (&json!([]), &json!(null), &json!(null))
        );
        assert_eq!((&past["meta"]["last_page"], &past["meta"]["per_page"]), (&json!(1), &json!(500)));
        api.get(&format!("{path}?page=1&per_page=1")).await.ok(200);
        for (query, fields) in [
            ("page=0", vec!["page"]),
            ("page=-1", vec!["page"]),
            ("page=1000000001", vec!["page"]),
            ("page=99999999999999999999", vec!["page"]),
            ("page=1.0", vec!["page"]),
            ("page=", vec!["page"]),
            ("page=x&per_page=0", vec!["page", "per_page"]),
            ("per_page=501", vec!["per_page"]),
            ("perPage=-5", vec!["perPage"]),
            ("per_page=%2B5", vec!["per_page"]),
        ] {
            api.get(&format!("{path}?{query}")).await.faulty(&fields);
        }
    }
}

#[tokio::test]
async fn an_unknown_value_of_a_filter_is_named() {
    let (server, api) = start(0).await;
    let card = api.main_cards(&server, 1).await.remove(0);
    let transactions = format!("/v1/card/{card}/transactions");
    for (path, query, fields) in [
        ("/v1/employees", "status=FIRED", vec!["status"]),
        ("/v1/employees", "status=&idCategory=x&customId=a%20b", vec!["status", "idCategory", "customId"]),
        ("/v1/employees", "status=work&page=0", vec!["status", "page"]),
        ("/v1/cards/available", "typeCard=VISA", vec!["typeCard"]),
        ("/v1/cards/available", "typeCard=mp4&per_page=0", vec!["typeCard", "per_page"]),
        ("/v1/orders", "status=DONE", vec!["status"]),
        ("/v1/replenishments", "status=new", vec!["status"]),
        ("/v1/limits", "status=Success", vec!["status"]),
        (&transactions, "type=GIFT&from=2026-03-01&to=31.02.2026", vec!["type", "from", "to"]),
        (&transactions, "type=payment&page=0", vec!["type", "page"]),
    ] {
        api.get(&format!("{path}?{query}")).await.faulty(&fields);
    }
    for path in ["/v1/orders", "/v1/replenishments", "/v1/limits"] {
        for status in ["NEW", "IN_PROCESS", "SUCCESS", "PART_SUCCESS", "DECLINE", "REJECTED", "CONFIRMED"] {
            api.get(&format!("{path}?status={status}")).await.ok(200);
        }
    }
    for kind in ["MLZ", "MP4", "P04", "CP4", "KKL"] {
        let list = api.get(&format!("/v1/cards/available?typeCard={kind}")).await.ok(200);
        assert_eq!(list["data"], json!([]), "the one card is linked");
    }
    for kind in ["REPLENISHMENT", "PAYMENT", "REFUND", "REVERSAL", "CORRECTION"] {
        api.get(&format!("{transactions}?type={kind}")).await.ok(200);
    }
}

#[tokio::test]
async fn employees_are_found_by_status_category_and_custom_id() {
    let (_server, api) = start(0).await;
    let office = api.category("Office").await;
    for (number, status) in (1..).zip(["WORK", "VACATION", "MEDICAL", "DONT_WORK", "WORK"]) {
        let category = (number % 2 == 1).then_some(&office);
        let body = json!({"customId": format!("T-{number}"), "status": status, "idCategory": category});
        api.post("/v1/employee/add", &body).await.ok(200);
    }
    let found = async |query: &str| api.column(&format!("/v1/employees?{query}"), "customId").await;
    assert_eq!(found("status=WORK").await, ["T-1", "T-5"]);
    assert_eq!(found("status=DONT_WORK").await, ["T-4"]);
    assert_eq!(found(&format!("idCategory={office}")).await, ["T-1", "T-3", "T-5"]);
    assert_eq!(found(&format!("idCategory={office}&status=MEDICAL")).await, ["T-3"]);
    assert_eq!(found(&format!("idCategory={UNKNOWN_ID}")).await, Vec::<Value>::new());
    assert_eq!(found("customId=T-4").await, ["T-4"]);
    assert_eq!(found("customId=T").await, Vec::<Value>::new(), "customId is whole");
    assert_eq!(found("customId=T-4&status=WORK").await, Vec::<Value>::new());
    let page = api.get("/v1/employees?status=WORK&page=2&per_page=1").await.ok(200);
    assert_eq!(page["meta"], meta(2, Some(2), Some(2), 2, 2, 1));
    assert_eq!(page["data"][0]["customId"], "T-5");
}

#[tokio::test]
async fn a_search_ignores_letter_case_and_takes_signs_for_themselves() {
    let (_server, client) = start_client(0);
    let people = [
        ("a_b", Some("Ёлкина"), Some("Анна")),
        ("axb", Some("Smith"), Some("JOHN")),
        ("Ц-9", Some("Иванова"), None),
        ("z", None, Some("Ӂаба")),
    ];
    for (custom_id, surname, name) in people {
        let new = NewEmployee {
            surname: surname.map(str::to_owned),
            name: name.map(str::to_owned),
            patronymic: Some("Отчество".to_owned()),
            ..NewEmployee::new(custom_id)
        };
        client.employees().add(&new).await.unwrap();
    }
    for (q, expected) in [
        ("ёлк", vec!["a_b"]),
        ("ЁЛКИНА", vec!["a_b"]),
        ("анн", vec!["a_b"]),
        ("ВАНОВ", vec!["Ц-9"]),
        ("ӂ", vec!["z"]),
        ("sMi", vec!["axb"]),
        ("john", vec!["axb"]),
        ("е\u{308}лкина", vec!["a_b"]),
        ("Ж\u{306}", vec!["z"]),
        ("a_b", vec!["a_b"]),
        ("_", vec!["a_b"]),
        ("%", vec![]),
        ("\\", vec![]),
        ("ц-", vec!["Ц-9"]),
        ("отчество", vec![]),
        ("Елкина", vec![]),
        ("9031234567", vec![]),
        ("", vec!["a_b", "axb", "Ц-9", "z"]),
        // No one's surname runs on into the name.
        ("аанна", vec![]),
        ("ӂабаz", vec![]),
        (" ", vec![]),
        ("'; --", vec![]),
    ] {
        let filter = EmployeeFilter { q: Some(q.to_owned()), ..EmployeeFilter::default() };
        let page = client.employees().list(&filter, Paging::default()).await.unwrap();
        let found: Vec<&str> = page.data.iter().map(|employee| employee.custom_id.as_str()).collect();
        assert_eq!(found, expected, "{q:?}");
        assert_eq!(page.meta.total, Some(expected.len() as u64), "{q:?}");
    }
}

#[tokio::test]
async fn an_employee_is_found_by_its_custom_id_however_that_is_typed() {
    let (_server, api) = start(0).await;
    api.post("/v1/employee/add", &json!({"customId": "Край-1"})).await.ok(200);
    for typed in ["Край-1", "Краи\u{306}-1"] {
        let found = api.column(&format!("/v1/employees?customId={typed}"), "customId").await;
        assert_eq!(found, ["Край-1"], "{typed:?}");
    }
}

/// A search finds what an update has made of an employee, not what it was.
#[tokio::test]
async fn a_search_follows_updates() {
    let (_server, api) = start(0).await;
    let added = api.post("/v1/employee/add", &json!({"customId": "T-1", "surname": "Старый"})).await.ok(200);
    let path = format!("/v1/employee/{}", text(&added["idEmployee"]));
    api.put(&path, &json!({"surname": "Новый", "name": "Имя"})).await.ok(200);
    let found = async |q: &str| api.column(&format!("/v1/employees?q={q}"), "customId").await.len();
    assert_eq!((found("старый").await, found("новый").await, found("имя").await), (0, 1, 1));
    api.put(&path, &json!({"surname": null})).await.ok(200);
    assert_eq!((found("новый").await, found("имя").await), (0, 1));
}
