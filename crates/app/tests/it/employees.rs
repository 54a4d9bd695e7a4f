//! Employees over HTTP.

use kopeck_client::{EmployeeFilter, EmployeeStatus, EmployeeUpdate, NewEmployee, Paging, Patch, Uuid};
use kopeck_domain::partner::SealingPolicy;
use reqwest::Method;
use serde_json::{Value, json};
use time::Duration;

use crate::api_client::{Api, UNKNOWN_ID, keys, start, start_client, text};
use crate::server::TestServer;

const ADD: &str = "/v1/employee/add";
const FIELDS: [&str; 11] = [
    "createdAt",
    "customId",
    "email",
    "idCategory",
    "idEmployee",
    "name",
    "patronymic",
    "phone",
    "status",
    "statusUpdatedAt",
    "surname",
];

fn path(id: &str) -> String {
    format!("/v1/employee/{id}")
}

#[tokio::test]
async fn an_employee_needs_a_custom_id_alone_and_every_field_is_shown() {
    let (_server, api) = start(0).await;
    let nulls = json!({
        "customId": "T-1", "surname": null, "name": null, "patronymic": null, "phone": null, "email": null,
        "idCategory": null, "status": null,
    });
    let mut other = nulls.clone();
    other["customId"] = json!("T-2");
    for body in [json!({"customId": "T-1", "unknown": {"deep": [1]}}), other] {
        let added = api.post(ADD, &body).await.ok(200);
        let id = text(&added["idEmployee"]);
        assert_eq!(Uuid::parse_str(&id).unwrap().to_string(), id);
        let mut expected = nulls.clone();
        expected["idEmployee"] = json!(id);
        expected["customId"] = body["customId"].clone();
        expected["status"] = json!("WORK");
        expected["createdAt"] = json!("02.03.2026");
        expected["statusUpdatedAt"] = json!("02.03.2026");
        assert_eq!(added, expected);

        expected["cards"] = json!([]);
        assert_eq!(api.get(&path(&id)).await.ok(200), json!({"data": expected}));
    }
    let mut listed = api.get("/v1/employees").await.ok(200)["data"].take();
    assert_eq!(listed.as_array().unwrap().len(), 2);
    assert_eq!(keys(&listed[0].take()), FIELDS);
}

#[tokio::test]
async fn a_phone_is_a_text_to_writes_and_a_number_to_reads() {
    let (_server, api) = start(0).await;
    let category = api.category("Office").await;
    let body = json!({
        "customId": "Таб_1-z", "surname": "Ёжиков", "name": "Anna-Мария", "patronymic": "Ґ", "phone": "0031234567",
        "email": "a.b+c@example.ru", "idCategory": category, "status": "MEDICAL",
    });
    let added = api.post(ADD, &body).await.ok(200);
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&added[field], value, "{field}");
    }
    let id = text(&added["idEmployee"]);
    let updated = api.put(&path(&id), &json!({})).await.ok(200);
    assert_eq!(updated, added, "an update that says nothing changes nothing");

    let mut shown = added;
    shown["phone"] = json!(31_234_567);
    let listed = api.get("/v1/employees").await.ok(200);
    assert_eq!(listed["data"], json!([shown]));
    shown["cards"] = json!([]);
    assert_eq!(api.get(&path(&id)).await.ok(200)["data"], shown);
}

#[tokio::test]
async fn names_are_stored_composed_and_found_whatever_their_letter_case() {
    let (_server, api) = start(0).await;
    let typed =
        json!({"customId": "И\u{306}-1", "surname": "Mu\u{308}ller", "patronymic": "Nguye\u{302}\u{303}n"});
    let added = api.post(ADD, &typed).await.ok(200);
    assert_eq!([&added["customId"], &added["surname"], &added["patronymic"]], ["Й-1", "Müller", "Nguyễn"]);
    let updated = api.put(&path(&text(&added["idEmployee"])), &json!({"name": "O\u{308}z"})).await.ok(200);
    assert_eq!(updated["name"], "Öz");
    for q in ["mÜLL", "MU\u{308}L", "öz", "O\u{308}Z", "й-1"] {
        let found = api.get(&format!("/v1/employees?q={q}")).await.ok(200);
        assert_eq!(found["data"], json!([updated]), "{q}");
    }
    assert_eq!(api.get("/v1/employees?q=muller").await.ok(200)["data"], json!([]));
}

/// Names that are taken and names that are not.
fn names() -> (Vec<Value>, Vec<Value>) {
    let mut good = ["Ёлкина", "O", "ѵ", "Ӿ", "Smith-Jones", "-", "José", "Müller", "Łukasz", "Nguyễn"]
        .map(Value::from)
        .to_vec();
    good.extend([json!("ж".repeat(32)), json!("z".repeat(32))]);
    let mut bad = ["", " ", "Anna Lee", "O'Neil", "Ivan1", "a_b", "王", "\u{0482}", "x\u{301}", "ﬁ"]
        .map(Value::from)
        .to_vec();
    bad.extend([json!("ж".repeat(33)), json!(7), json!(["A"]), json!({}), json!(true)]);
    (good, bad)
}

/// Values that a field takes and values that it does not.
fn rules() -> Vec<(&'static str, Vec<Value>, Vec<Value>)> {
    let (good, bad) = names();
    let person = |field| (field, good.clone(), bad.clone());
    vec![
        (
            "customId",
            vec![json!("a"), json!("Ё-_09"), json!("ы".repeat(64)), json!("-")],
            vec![
                json!(""),
                json!(" "),
                json!("a b"),
                json!("a.b"),
                json!("№1"),
                json!("é"),
                json!("ы".repeat(65)),
                json!(1),
            ],
        ),
        person("surname"),
        person("name"),
        person("patronymic"),
        (
            "phone",
            vec![json!("0000000000"), json!("9031234567")],
            vec![
                json!(""),
                json!("903123456"),
                json!("90312345678"),
                json!("+903123456"),
                json!("903 12345 "),
                json!("９031234567"),
                json!("١٢٣٤٥٦٧٨٩٠"),
                json!("903123456a"),
                json!(9_031_234_567_i64),
            ],
        ),
        (
            "email",
            vec![json!("p@example.ru"), json!("почта@пример.рф"), json!("a.b+c@sub.example.com")],
            vec![
                json!(""),
                json!("p"),
                json!("@example.ru"),
                json!("p@"),
                json!("p@@example.ru"),
                json!("p@exa mple.ru"),
                json!("P <p@example.ru>"),
                json!(" p@example.ru"),
                json!("p@example.ru\n"),
                json!(5),
            ],
        ),
        (
            "status",
            vec![json!("WORK"), json!("VACATION"), json!("MEDICAL"), json!("DONT_WORK")],
            vec![json!(""), json!("work"), json!("FIRED"), json!(" WORK"), json!(1)],
        ),
        (
            "idCategory",
            vec![],
            vec![json!(""), json!("x"), json!(UNKNOWN_ID), json!(UNKNOWN_ID.replace('-', "")), json!(1)],
        ),
    ]
}

#[tokio::test]
async fn each_field_has_its_rule_in_both_writes() {
    let (_server, api) = start(0).await;
    let id = api.employee("of-the-update").await;
    let mut serial = 0;
    for (field, good, bad) in rules() {
        for (value, is_good) in good.iter().map(|v| (v, true)).chain(bad.iter().map(|v| (v, false))) {
            serial += 1;
            let mut body = json!({"customId": format!("n{serial}")});
            body[field] = value.clone();
            let (added, mut updated) = (api.post(ADD, &body).await, None);
            if field != "customId" || !is_good {
                updated = Some(api.put(&path(&id), &json!({field: value})).await);
            }
            for reply in [Some(added), updated].into_iter().flatten() {
                if is_good {
                    assert_eq!(&reply.ok(200)[field], value, "{field}");
                } else {
                    reply.faulty(&[field]);
                }
            }
        }
    }
}

#[tokio::test]
async fn all_faults_are_reported_at_once_with_those_of_the_store() {
    let (_server, api) = start(0).await;
    let first = api.employee("T-1").await;
    let second = api.employee("T-2").await;
    let body = json!({
        "customId": "T-1", "surname": "1", "name": "2", "patronymic": "3", "phone": "4", "email": "5",
        "idCategory": UNKNOWN_ID, "status": "6",
    });
    let all = ["customId", "surname", "name", "patronymic", "phone", "email", "idCategory", "status"];
    api.post(ADD, &body).await.faulty(&all);
    api.put(&path(&second), &body).await.faulty(&all);
    // One's own customId is free to oneself.
    api.put(&path(&first), &body).await.faulty(&all[1..]);
    api.post(ADD, &json!({"customId": null, "status": "x"})).await.faulty(&["customId", "status"]);
    api.post(ADD, &json!({})).await.faulty(&["customId"]);
    api.put(&path(&first), &json!({"customId": null, "status": null, "name": 1}))
        .await
        .faulty(&["customId", "status", "name"]);
    // Faulty values are reported before unknown identifiers.
    api.put(&path(UNKNOWN_ID), &json!({"phone": "1"})).await.faulty(&["phone"]);
    api.put(&path(UNKNOWN_ID), &json!({"customId": "T-1"})).await.faulty(&["customId"]);
    api.put(&path("17"), &json!({"phone": "1", "email": ""})).await.faulty(&["idEmployee", "phone", "email"]);
    let listed = api.column("/v1/employees", "customId").await;
    assert_eq!(listed, ["T-1", "T-2"], "nothing was added or changed");
}

#[tokio::test]
async fn an_update_leaves_clears_or_sets_and_patch_is_the_same() {
    let (_server, api) = start(0).await;
    let category = api.category("Office").await;
    let full = json!({
        "customId": "T-1", "surname": "A", "name": "B", "patronymic": "C", "phone": "9031234567", "email": "p@example.ru",
        "idCategory": category, "status": "VACATION",
    });
    for method in [Method::PUT, Method::PATCH] {
        let mut expected = api.post(ADD, &full).await.ok(200);
        let id = text(&expected["idEmployee"]);
        for field in ["surname", "name", "patronymic", "phone", "email", "idCategory"] {
            let cleared = api.call(method.clone(), &path(&id), &json!({field: null})).await.ok(200);
            expected[field] = json!(null);
            assert_eq!(cleared, expected, "{field}");
        }
        for (field, value) in full.as_object().unwrap() {
            let set = api.call(method.clone(), &path(&id), &json!({field: value})).await.ok(200);
            expected[field] = value.clone();
            assert_eq!(set, expected, "{field}");
        }
        let gone = json!({"customId": format!("T-{method}")});
        assert_eq!(api.call(method.clone(), &path(&id), &gone).await.ok(200)["customId"], gone["customId"]);
        api.call(method.clone(), &path(UNKNOWN_ID), &json!({"name": "X"}))
            .await
            .refused(404, "employee_not_found");
        api.call(method.clone(), &path("x"), &json!({})).await.faulty(&["idEmployee"]);
        api.call(method, &path(&id), &Value::Null).await.faulty(&["body"]);
    }
    api.get(&path(UNKNOWN_ID)).await.refused(404, "employee_not_found");
    api.get(&path("x")).await.faulty(&["idEmployee"]);
    for body in ["[]", "7", "\"x\"", "null", "{", "{\"customId\":\"a\",}"] {
        api.send(Method::POST, ADD, body.to_owned(), &crate::api_client::nonce()).await.faulty(&["body"]);
    }
}

#[tokio::test]
async fn any_status_follows_any_other() {
    let (_server, api) = start(0).await;
    let id = api.employee("T-1").await;
    let dates = async |body: Value| {
        let shown = api.put(&path(&id), &body).await.ok(200);
        (text(&shown["status"]), text(&shown["createdAt"]), text(&shown["statusUpdatedAt"]))
    };
    let expected = |status: &str, since: &str| (status.to_owned(), "02.03.2026".to_owned(), since.to_owned());
    for from in ["WORK", "VACATION", "MEDICAL", "DONT_WORK"] {
        for to in ["WORK", "VACATION", "MEDICAL", "DONT_WORK"] {
            dates(json!({"status": from})).await;
            assert_eq!(dates(json!({"status": to})).await, expected(to, "02.03.2026"));
        }
    }
}

#[tokio::test]
async fn days_begin_at_midnight_of_the_zone_and_a_status_is_dated_when_it_changes() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    server.clock.advance(Duration::hours(12) - Duration::seconds(1));
    let late = Api::login(&server, &partner).await;
    let added = late.post(ADD, &json!({"customId": "late"})).await.ok(200);
    assert_eq!(
        (text(&added["createdAt"]), text(&added["statusUpdatedAt"])),
        ("02.03.2026".into(), "02.03.2026".into())
    );
    server.clock.advance(Duration::seconds(1));
    let added = late.post(ADD, &json!({"customId": "early"})).await.ok(200);
    assert_eq!(added["createdAt"], "03.03.2026");
    let first = text(&late.column("/v1/employees", "idEmployee").await[0]);
    let same = late.put(&path(&first), &json!({"status": "WORK", "name": "New"})).await.ok(200);
    assert_eq!(
        (same["createdAt"].as_str(), same["statusUpdatedAt"].as_str()),
        (Some("02.03.2026"), Some("02.03.2026"))
    );
    let changed = late.put(&path(&first), &json!({"status": "MEDICAL"})).await.ok(200);
    assert_eq!(
        (changed["createdAt"].as_str(), changed["statusUpdatedAt"].as_str()),
        (Some("02.03.2026"), Some("03.03.2026"))
    );
}

#[tokio::test]
async fn a_custom_id_is_one_partners_own_also_under_concurrent_calls() {
    let (server, api) = start(0).await;
    let other = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    let calls = (0..12).map(|_| {
        let api = api.clone();
        tokio::spawn(async move { api.post(ADD, &json!({"customId": "T-1"})).await })
    });
    let mut added = 0;
    for call in calls.collect::<Vec<_>>() {
        let reply = call.await.unwrap();
        if reply.status == 200 {
            added += 1;
        } else {
            reply.faulty(&["customId"]);
        }
    }
    assert_eq!(added, 1);
    other.employee("T-1").await;
    let foreign = other.category("Office").await;
    api.post(ADD, &json!({"customId": "T-2", "idCategory": foreign})).await.faulty(&["idCategory"]);
    // Together with the faults of the body itself.
    let (second, all) = (api.employee("T-2").await, ["customId", "idCategory", "phone"]);
    let body = json!({"customId": "T-1", "idCategory": foreign, "phone": "1"});
    api.post(ADD, &body).await.faulty(&all);
    api.put(&path(&second), &body).await.faulty(&all);
}

#[tokio::test]
async fn the_client_knows_every_call() {
    let (_server, client) = start_client(0);
    let category = client.categories().create("Офис").await.unwrap().id_category;
    let new = NewEmployee {
        surname: Some("Ёжиков".into()),
        phone: Some("0031234567".into()),
        email: Some("p@example.ru".into()),
        id_category: Some(category),
        status: Some(EmployeeStatus::Vacation),
        ..NewEmployee::new("Т-1")
    };
    let employees = client.employees();
    let added = employees.add(&new).await.unwrap();
    assert_eq!((added.phone.as_deref(), added.id_category), (Some("0031234567"), Some(category)));
    let update = EmployeeUpdate {
        surname: Patch::Clear,
        name: Patch::Set("Пётр".into()),
        status: Some(EmployeeStatus::DontWork),
        ..EmployeeUpdate::default()
    };
    let updated = employees.update(added.id_employee, &update).await.unwrap();
    assert_eq!((updated.surname.as_deref(), updated.name.as_deref()), (None, Some("Пётр")));
    let found = employees.get(added.id_employee).await.unwrap();
    assert_eq!((&found.employee, found.cards.len()), (&updated, 0));
    let filter = EmployeeFilter {
        status: Some(EmployeeStatus::DontWork),
        id_category: Some(category),
        custom_id: Some("Т-1".into()),
        q: Some("пЁТ".into()),
    };
    let page = employees.list(&filter, Paging::page(1).per_page(2)).await.unwrap();
    assert_eq!((page.data, page.meta.total), (vec![updated], Some(1)));
    assert_eq!(employees.get(Uuid::nil()).await.unwrap_err().status(), Some(404));
}
