//! Employees whose personal data is erased.

use std::path::PathBuf;

use kopeck_domain::partner::SealingPolicy;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api_client::{Api, UNKNOWN_ID, nonce, start, text};
use crate::audit::entries;
use crate::personal_data::found_in;
use crate::process::Installation;
use crate::raw_http::{RawRequest, login_call, post};
use crate::server::SETTINGS;

const PERSON: &str = r#"{"customId": "Planted-7", "surname": "Закладкин", "name": "Тайный", "patronymic": "Скрытович",
    "phone": "9037654321", "email": "planted.person@personal.example"}"#;

/// Everything about the person of [`PERSON`] that must not be left.
const TRACES: [&str; 6] =
    ["Planted-7", "Закладкин", "Тайный", "Скрытович", "9037654321", "planted.person@personal.example"];

/// The folded texts of searches are traces too.
fn traces() -> impl Iterator<Item = String> {
    TRACES.into_iter().flat_map(|text| [text.to_owned(), text.to_lowercase()])
}

/// The data of the events of employees, each with its type.
async fn told(api: &Api) -> Vec<(String, Value)> {
    let feed = api.get("/v1/events?limit=500").await.ok(200);
    let events = feed["data"].as_array().unwrap().iter();
    let of_staff = events.filter(|event| text(&event["type"]).starts_with("employee."));
    of_staff.map(|event| (text(&event["type"]), event["data"].clone())).collect()
}

#[tokio::test]
async fn an_erased_employee_is_gone_and_the_custom_id_is_free() {
    let (server, api) = start(100_000).await;
    let category = api.category("Повара").await;
    let first = nonce();
    let add = || api.send(Method::POST, "/v1/employee/add", PERSON.to_owned(), &first);
    let id = text(&add().await.ok(200)["idEmployee"]);
    let path = format!("/v1/employee/{id}");
    let second = nonce();
    let body = json!({"idCategory": category}).to_string();
    let update = || api.send(Method::PUT, &path, body.clone(), &second);
    update().await.ok(200);
    let neighbour = api.employee("E-2").await;

    let third = nonce();
    let erase = || api.send(Method::DELETE, &path, String::new(), &third);
    let erased = erase().await.ok(200);
    assert_eq!(erased, json!({"idEmployee": id}));
    assert_eq!(erase().await.ok(200), erased, "a repeat");
    api.get(&path).await.refused(404, "employee_not_found");
    api.put(&path, &json!({"surname": "А"})).await.refused(404, "employee_not_found");
    api.delete(&path).await.refused(404, "employee_not_found");
    // The keys stay spent, and what was recorded is gone.
    add().await.refused(404, "employee_not_found");
    update().await.refused(404, "employee_not_found");
    api.send(Method::POST, "/v1/employee/add", json!({"customId": "E-9"}).to_string(), &first)
        .await
        .faulty(&["x-nonce"]);

    for query in ["", "?q=Закладкин", "?q=planted", "?customId=Planted-7", "?status=DONT_WORK"] {
        let list = api.get(&format!("/v1/employees{query}")).await.ok(200);
        let expected = if query.is_empty() { json!([neighbour]) } else { json!([]) };
        let ids: Value =
            list["data"].as_array().unwrap().iter().map(|one| one["idEmployee"].clone()).collect();
        assert_eq!(ids, expected, "{query}");
        assert_eq!(list["meta"]["total"], json!(expected.as_array().unwrap().len()));
    }
    assert_eq!(api.column("/v1/categories", "employees").await, [json!(0)]);
    api.delete(&format!("/v1/category/{category}")).await.ok(200);

    let events = told(&api).await;
    let of = |kind: &str, data: Value| (kind.to_owned(), data);
    assert_eq!(
        events,
        [
            of("employee.created", json!({"idEmployee": id, "customId": null})),
            of("employee.updated", json!({"idEmployee": id, "customId": null})),
            of("employee.created", json!({"idEmployee": neighbour, "customId": "E-2"})),
            of("employee.erased", json!({"idEmployee": id})),
        ]
    );
    let again = api.employee("Planted-7").await;
    assert_ne!(again, id);
    assert_eq!(api.column("/v1/employees", "idEmployee").await, [json!(neighbour), json!(again)]);
    assert_eq!(server.check(), 0);
}

/// Payments stay under the employee's identifier.
#[tokio::test]
async fn transactions_and_statements_do_not_name_an_erased_employee() {
    let (server, api) = start(100_000).await;
    let card = api.plastic(&server, 1).await.remove(0);
    let person: Value = serde_json::from_str(PERSON).unwrap();
    let employee = text(&api.post("/v1/employee/add", &person).await.ok(200)["idEmployee"]);
    api.link(&employee, &card.number, "MAIN").await.ok(200);
    api.top_up(&[(&card.id, 5_000)]).await;
    server.run_jobs();
    server.clock.advance(SETTINGS.card_cache);
    let of_card = format!("/v1/card/{}/transactions", card.id);
    api.get(&of_card).await.ok(200);
    let feed = async || api.get(&format!("/v1/transactions?idEmployee={employee}")).await.ok(200);
    let before = feed().await;
    assert_eq!(before["data"][0]["customId"], person["customId"]);

    api.sandbox(&card.id, "expire").await;
    api.delete(&format!("/v1/employee/{employee}")).await.ok(200);
    let mut expected = before;
    expected["data"][0]["customId"] = Value::Null;
    assert_eq!(feed().await, expected);
    let statement = "/v1/statement/2026-03";
    for path in [
        "/v1/transactions",
        "/v1/balance/entries",
        "/v1/cards",
        "/v1/events?limit=500",
        statement,
        of_card.as_str(),
    ] {
        let shown = api.get(path).await.ok(200).to_string();
        assert_eq!(found_in(shown.as_bytes(), TRACES), [""; 0], "{path}");
    }
    assert_eq!(server.check(), 0);
}

#[tokio::test]
async fn an_employee_with_a_card_that_may_pay_is_not_erased() {
    let (server, api) = start(100_000).await;
    let cards = api.plastic(&server, 2).await;
    let employee = api.employee("E-1").await;
    let path = format!("/v1/employee/{employee}");
    for card in &cards {
        api.link(&employee, &card.number, "ADDITIONAL").await.ok(200);
    }
    api.delete(&path).await.refused(409, "employee_has_cards");
    api.sandbox(&cards[0].id, "expire").await;
    api.delete(&path).await.refused(409, "employee_has_cards");
    api.sandbox(&cards[1].id, "expire").await;
    api.delete(&format!("{path}/card/{}", cards[1].id)).await.ok(200);
    api.delete(&path).await.ok(200);
    // The card that was left keeps its holder's identifier.
    let card = api.get(&format!("/v1/card/{}", cards[0].id)).await.ok(200);
    assert_eq!(card["data"]["idEmployee"], json!(employee));
    api.delete(&format!("{path}/card/{}", cards[0].id)).await.refused(404, "employee_not_found");
    api.delete(&format!("/v1/employee/{UNKNOWN_ID}")).await.refused(404, "employee_not_found");
    api.delete("/v1/employee/x").await.faulty(&["idEmployee"]);
    let stranger = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    let own = stranger.employee("E-1").await;
    api.delete(&format!("/v1/employee/{own}")).await.refused(404, "employee_not_found");
}

/// Pages of every size, after erasures at both ends and in the middle.
#[tokio::test]
async fn pages_close_the_gaps() {
    let (_server, api) = start(0).await;
    let mut left = Vec::new();
    for number in 0..12 {
        left.push(json!(api.employee(&format!("E-{number}")).await));
    }
    for place in [11, 0, 4, 4, 2] {
        let gone = text(&left.remove(place));
        api.delete(&format!("/v1/employee/{gone}")).await.ok(200);
    }
    for size in [1, 3, 7, 100] {
        for (number, shown) in (1..).zip(left.chunks(size).chain([&[][..]])) {
            let list = api.get(&format!("/v1/employees?per_page={size}&page={number}")).await.ok(200);
            let ids: Vec<Value> =
                list["data"].as_array().unwrap().iter().map(|one| one["idEmployee"].clone()).collect();
            assert_eq!((ids, &list["meta"]["total"]), (shown.to_vec(), &json!(left.len())));
        }
    }
}

/// The partner erases the first person, the operator the second: once the service has stopped, neither the file nor its log
/// has their data. The third stays, which proves that the search finds data.
#[test]
fn erased_data_is_in_neither_the_file_nor_its_log() {
    let installation = Installation::embedded();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let send = |call: RawRequest| call.send_to(&running.base_url);
    let access = send(login_call(&partner.api_key, &partner.login, &partner.password)).text_of("accessToken");
    let person = |prefix: &str| -> Value {
        let mut person: Value = serde_json::from_str(PERSON).unwrap();
        for name in ["surname", "name", "patronymic"] {
            person[name] = json!(format!("{prefix}{}", text(&person[name])));
        }
        person["customId"] = json!(format!("{prefix}-Planted-7"));
        person
    };
    let add = |prefix: &str| {
        let added = send(post("/v1/employee/add", &person(prefix)).token(&access));
        let id = added.text_of("idEmployee");
        let update =
            RawRequest::new("PUT", &format!("/v1/employee/{id}")).json(&json!({"status": "MEDICAL"}));
        send(update.token(&access)).ok(200);
        id
    };
    // Enough others that pages split, move and are freed.
    let others: Vec<String> = (0..60_u8)
        .map(|number| {
            let mark = [b'a' + number / 26, b'a' + number % 26].map(char::from);
            add(&format!("Z{}{}{}", mark[0], mark[1], "q".repeat(1 + usize::from(number) / 3)))
        })
        .collect();
    let [first, second, _kept] = ["Аа", "Бб", "Вв"].map(add);
    for id in others.iter().chain([&first]) {
        send(RawRequest::new("DELETE", &format!("/v1/employee/{id}")).token(&access)).ok(200);
    }
    let (_, well) = running.stop("TERM");
    assert!(well);
    let said = installation.succeed(&["employee", "erase", &partner.id, &second]);
    assert_eq!(said, format!("erased {second}\n"));
    let refused = installation.run(&["employee", "erase", &partner.id, &second]);
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("no such employee"), "{refused:?}");

    let files = files_of(&installation);
    let kept = files.iter().filter(|(_, bytes)| !found_in(bytes, ["ВвЗакладкин"]).is_empty());
    assert_ne!(kept.count(), 0, "names are readable, so the search is one");
    let erased: Vec<String> = ["Аа", "Бб", "q"]
        .into_iter()
        .flat_map(|end| traces().flat_map(move |trace| [format!("{end}{trace}"), format!("{end}-{trace}")]))
        .flat_map(|text| [text.to_lowercase(), text])
        .collect();
    for (file, bytes) in &files {
        let found = found_in(bytes, erased.iter().map(String::as_str));
        assert_eq!(found, [""; 0], "in {}", file.display());
    }
    let mut entries = entries(&installation, &[]);
    entries.retain(|entry| entry["action"] == "employee.erase");
    let by_operator = |entry: &&Value| entry["actor"] == "OPERATOR";
    let by_operator: Vec<_> =
        entries.iter().filter(by_operator).map(|one| [&one["subject"], &one["outcome"]]).collect();
    let subject = json!(format!("employee:{second}"));
    assert_eq!(by_operator, [[&subject, &json!("DONE")], [&json!(""), &json!("REFUSED")]]);
    let subject = json!(format!("employee:{first}"));
    assert!(
        entries.iter().any(|entry| entry["actor"] == "PARTNER" && entry["subject"] == subject),
        "{entries:#?}"
    );
}

/// All files of an installation, with what they hold.
fn files_of(installation: &Installation) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![installation.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                files.push((entry.clone(), std::fs::read(entry).unwrap()));
            }
        }
    }
    files
}

/// On PostgreSQL the bytes of earlier versions stay where they are.
#[test]
fn a_rewrite_leaves_nothing_of_a_person_in_the_files_of_a_server() {
    const SURNAME: &str = "Zyxwvutovskaya";
    let installation = Installation::on_a_server();
    let partner = installation.create_partner(&["--sealing", "optional"]);
    let running = installation.serve(&[]);
    let token = login_call(&partner.api_key, &partner.login, &partner.password)
        .send_to(&running.base_url)
        .text_of("accessToken");
    let employee = json!({"customId": "Zyx-1", "surname": SURNAME});
    let added = post("/v1/employee/add", &employee).token(&token).key("add").send_to(&running.base_url);
    let id = added.text_of("idEmployee");
    let is_in_files = |expected: bool| {
        for (table, text) in [("employees", SURNAME), ("employees", "Zyx-1"), ("events", "Zyx-1")] {
            installation.tamper(&format!(
                "CHECKPOINT; DO $$ BEGIN ASSERT
                     (position('{text}'::bytea IN pg_read_binary_file(pg_relation_filepath('{table}'))) > 0) = {expected},
                     '{text} in {table}'; END $$"
            ));
        }
    };
    is_in_files(true);
    installation.succeed(&["employee", "erase", &partner.id, &id]);
    is_in_files(true);
    let other = json!({"customId": "Zyx-2", "surname": SURNAME});
    let added = post("/v1/employee/add", &other).token(&token).key("add-2").send_to(&running.base_url);
    installation.succeed(&["employee", "erase", &partner.id, &added.text_of("idEmployee"), "--rewrite"]);
    is_in_files(false);
}
