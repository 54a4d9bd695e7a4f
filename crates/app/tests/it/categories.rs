//! Categories over HTTP.

use kopeck_client::{Paging, Uuid};
use kopeck_domain::partner::SealingPolicy;
use reqwest::Method;
use serde_json::{Value, json};

use crate::api_client::{Api, UNKNOWN_ID, nonce, start, start_client, text};

const CREATE: &str = "/v1/category";

fn named(name: impl Into<Value>) -> Value {
    json!({"nameCategory": name.into()})
}

fn path(id: &str) -> String {
    format!("{CREATE}/{id}")
}

#[tokio::test]
async fn a_category_is_created_renamed_listed_and_deleted() {
    let (_server, api) = start(0).await;
    let created = api.post(CREATE, &named("  Офис Ё ")).await.ok(201);
    let id = text(&created["idCategory"]);
    assert_eq!(created, json!({"nameCategory": "Офис Ё", "idCategory": id}), "blanks around it are cut off");
    for method in [Method::PUT, Method::PATCH] {
        let renamed = api.call(method.clone(), &path(&id), &named("\tPlant ")).await.ok(200);
        assert_eq!(renamed, json!({"nameCategory": "Plant", "idCategory": id}));
        let renamed = api.call(method, &path(&id), &named("pLANT")).await.ok(200);
        assert_eq!(renamed["nameCategory"], "pLANT", "its own name in another letter case is free to it");
    }
    let listed = api.get("/v1/categories").await.ok(200);
    assert_eq!(listed["data"], json!([{"idCategory": id, "nameCategory": "pLANT", "employees": 0}]));
    let deleted = api.delete(&path(&id)).await.ok(200);
    assert_eq!(deleted, json!({"nameCategory": "pLANT", "idCategory": id}));
    api.delete(&path(&id)).await.refused(404, "category_not_found");
    api.put(&path(&id), &named("x")).await.refused(404, "category_not_found");
    assert_eq!(api.get("/v1/categories").await.ok(200)["data"], json!([]));
    api.post(CREATE, &named("PLANT")).await.ok(201);
}

#[tokio::test]
async fn names_have_1_to_128_characters() {
    let (_server, api) = start(0).await;
    let id = api.category("Base").await;
    let long = "ж".repeat(128);
    api.post(CREATE, &named(format!(" {long} "))).await.ok(201);
    api.post(CREATE, &named("1")).await.ok(201);
    let over = "ж".repeat(129);
    let faulty = [
        json!(""),
        json!("   "),
        json!(over),
        json!(1),
        json!(null),
        json!(["a"]),
        json!({"a": 1}),
        json!("a\u{0}b"),
        json!("a\u{200b}b"),
        json!("\u{202e}ab"),
        json!("a\u{2028}b"),
        json!("\u{feff}a"),
        json!("a\u{378}"),
    ];
    for name in faulty {
        api.post(CREATE, &named(name.clone())).await.faulty(&["nameCategory"]);
        api.put(&path(&id), &named(name)).await.faulty(&["nameCategory"]);
    }
    api.post(CREATE, &json!({})).await.faulty(&["nameCategory"]);
    api.post(CREATE, &Value::Null).await.faulty(&["body"]);
    api.send(Method::POST, CREATE, "[]".to_owned(), &nonce()).await.faulty(&["body"]);
    api.put(&path("x"), &named("")).await.faulty(&["idCategory", "nameCategory"]);
    api.put(&path(UNKNOWN_ID), &named("")).await.faulty(&["nameCategory"]);
    api.delete(&path("x")).await.faulty(&["idCategory"]);
    api.put(&path(UNKNOWN_ID), &named("x")).await.refused(404, "category_not_found");
    api.delete(&path(UNKNOWN_ID)).await.refused(404, "category_not_found");
}

#[tokio::test]
async fn a_name_is_taken_once_in_any_letter_case_and_by_one_partner() {
    let (server, api) = start(0).await;
    let other = Api::login(&server, &server.partner(SealingPolicy::Optional, 0)).await;
    api.category("Бухгалтерия Ёж").await;
    let second = api.category("Second").await;
    for name in ["Бухгалтерия Ёж", "бухгалтерия ёж", " БУХГАЛТЕРИЯ ЁЖ "]
    {
        api.post(CREATE, &named(name)).await.refused(409, "category_exists");
        api.put(&path(&second), &named(name)).await.refused(409, "category_exists");
        // An unknown category is reported before a taken name.
        api.put(&path(UNKNOWN_ID), &named(name)).await.refused(404, "category_not_found");
    }
    assert_eq!(api.column("/v1/categories", "nameCategory").await, ["Бухгалтерия Ёж", "Second"]);
    other.category("бухгалтерия ёж").await;
    assert_eq!(other.column("/v1/categories", "nameCategory").await, ["бухгалтерия ёж"]);
}

#[tokio::test]
async fn a_name_with_combining_marks_is_the_composed_one() {
    let (_server, api) = start(0).await;
    let created = api.post(CREATE, &named("Кафе\u{301} и Чаи\u{306}")).await.ok(201);
    assert_eq!(created["nameCategory"], "Кафе\u{301} и Чай", "no composed form is there for the first");
    for twin in ["Кафе\u{301} и Чай", "КАФЕ\u{301} И ЧАИ\u{306}"] {
        api.post(CREATE, &named(twin)).await.refused(409, "category_exists");
    }
    api.post(CREATE, &named("Cafe\u{301}")).await.ok(201);
    api.post(CREATE, &named("CAF\u{c9}")).await.refused(409, "category_exists");
    assert_eq!(api.column("/v1/categories", "nameCategory").await, ["Кафе\u{301} и Чай", "Caf\u{e9}"]);
    // 128 characters once composed.
    api.post(CREATE, &named("и\u{306}".repeat(128))).await.ok(201);
}

#[tokio::test]
async fn of_concurrent_calls_with_one_name_one_wins() {
    let (_server, api) = start(0).await;
    let calls: Vec<_> = (0..12)
        .map(|number| {
            let api = api.clone();
            let name = if number % 2 == 0 { "ЦЕХ" } else { "цех" };
            tokio::spawn(async move { api.post(CREATE, &named(name)).await })
        })
        .collect();
    let mut created = 0;
    for call in calls {
        let reply = call.await.unwrap();
        if reply.status == 201 {
            created += 1;
        } else {
            reply.refused(409, "category_exists");
        }
    }
    assert_eq!(created, 1);
}

#[tokio::test]
async fn a_category_in_use_stays_and_the_list_counts_who_is_in_it() {
    let (_server, api) = start(0).await;
    let (office, plant) = (api.category("Office").await, api.category("Plant").await);
    let mut employees = Vec::new();
    for number in 0..3 {
        let body = json!({"customId": format!("T-{number}"), "idCategory": office});
        employees.push(text(&api.post("/v1/employee/add", &body).await.ok(200)["idEmployee"]));
    }
    assert_eq!(api.column("/v1/categories", "employees").await, [3, 0]);
    api.delete(&path(&office)).await.refused(409, "category_in_use");

    let moved = [json!(null), json!(plant), json!(plant)];
    for (employee, category) in employees.iter().zip(moved) {
        api.put(&format!("/v1/employee/{employee}"), &json!({"idCategory": category})).await.ok(200);
    }
    assert_eq!(api.column("/v1/categories", "employees").await, [0, 2]);
    api.delete(&path(&office)).await.ok(200);
    api.delete(&path(&plant)).await.refused(409, "category_in_use");
    let shown = api.get(&format!("/v1/employee/{}", employees[1])).await.ok(200);
    assert_eq!(shown["data"]["idCategory"], json!(plant));
    // Renaming does not disturb who is in it.
    api.put(&path(&plant), &named("Завод")).await.ok(200);
    let listed = api.get("/v1/categories").await.ok(200);
    assert_eq!(listed["data"], json!([{"idCategory": plant, "nameCategory": "Завод", "employees": 2}]));
}

#[tokio::test]
async fn an_employee_and_the_end_of_its_category_never_pass_each_other() {
    let (_server, api) = start(0).await;
    for round in 0..8 {
        let category = api.category(&format!("C-{round}")).await;
        let body = json!({"customId": format!("T-{round}"), "idCategory": category});
        let (adding, deleting) = (api.clone(), api.clone());
        let place = path(&category);
        let added = tokio::spawn(async move { adding.post("/v1/employee/add", &body).await });
        let deleted = tokio::spawn(async move { deleting.delete(&place).await });
        let (added, deleted) = (added.await.unwrap(), deleted.await.unwrap());
        match added.status {
            200 => deleted.refused(409, "category_in_use"),
            _ => {
                added.faulty(&["idCategory"]);
                deleted.ok(200);
            }
        }
    }
}

#[tokio::test]
async fn the_client_knows_every_call() {
    let (_server, client) = start_client(0);
    let categories = client.categories();
    let created = categories.create("Офис").await.unwrap();
    let renamed = categories.rename(created.id_category, "Цех").await.unwrap();
    assert_eq!((renamed.id_category, renamed.name_category.as_str()), (created.id_category, "Цех"));
    let page = categories.list(Paging::default()).await.unwrap();
    let listed = &page.data[0];
    assert_eq!((listed.id_category, &listed.name_category), (renamed.id_category, &renamed.name_category));
    assert_eq!(listed.employees, 0);
    assert_eq!(categories.delete(created.id_category).await.unwrap(), renamed);
    assert_eq!(categories.delete(Uuid::nil()).await.unwrap_err().status(), Some(404));
}
