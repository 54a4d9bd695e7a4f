//! The import of the examples compares texts as the service does.

#[allow(dead_code)]
#[path = "../../examples/import_employees.rs"]
mod import_employees;

use std::sync::Mutex;

use kopeck_client::Uuid;
use serde_json::{Value, json};

use crate::stub::{RecordedRequest, Reply, Stub, logged_in};

/// A service that has the category `Drivers` and refuses another spelling of it, as the real one.
async fn service() -> Stub {
    let (staff, categories) = (Mutex::new(Vec::<Value>::new()), Mutex::new(vec![category(1, "Drivers")]));
    logged_in(move |seen: &RecordedRequest| {
        let (mut staff, mut categories) = (staff.lock().unwrap(), categories.lock().unwrap());
        let sent = || -> Value { serde_json::from_str(&seen.body).unwrap() };
        let list = |data: &Vec<Value>| {
            let meta = json!({"current_page": 1, "from": 1, "to": 1, "total": data.len(), "last_page": 1, "per_page": 500, "path": ""});
            Reply::json(200, json!({"data": data, "meta": meta}).to_string())
        };
        match seen.path() {
            "/v1/employees" => list(&staff),
            "/v1/categories" => list(&categories),
            "/v1/category" if sent()["nameCategory"] == "Taken" => {
                Reply::json(409, json!({"code": "category_exists", "message": "another category has this name"}).to_string())
            }
            "/v1/category" => {
                let new = category(categories.len() as u128 + 1, sent()["nameCategory"].as_str().unwrap());
                categories.push(new.clone());
                Reply::json(201, new.to_string())
            }
            "/v1/employee/add" => {
                let mut new = json!({"idEmployee": Uuid::from_u128(staff.len() as u128), "status": "WORK",
                    "createdAt": "07.02.2026", "statusUpdatedAt": "07.02.2026"});
                new.as_object_mut().unwrap().extend(sent().as_object().unwrap().clone());
                staff.push(new.clone());
                Reply::json(200, new.to_string())
            }
            _ => Reply::json(404, ""),
        }
    })
    .await
}

fn category(id: u128, name: &str) -> Value {
    json!({"idCategory": Uuid::from_u128(id), "nameCategory": name, "employees": 0})
}

#[tokio::test]
async fn a_second_run_changes_nothing_however_letters_were_typed() {
    let file = "customId,surname,category\n\
        И\u{306}-1,Е\u{308}лкина, dRIVERS \n\
        E-2,Mu\u{308}ller,Музеи\u{306}\n\
        E-3,Orlov,МУЗЕЙ\n\
        Й-1,Again,\n\
        E-4,Popov,Taken\n\
        E-5,Ivanov,\n";
    let service = service().await;
    let client = service.client();
    let run =
        async || import_employees::import(&client, csv::Reader::from_reader(file.as_bytes())).await.unwrap();
    let faults = ["line 5: customId: stands in line 2 already", "line 6: another category has this name"]
        .map(str::to_owned);
    assert_eq!(run().await, faults);
    let added = |stub: &Stub| (stub.count("/v1/employee/add"), stub.count("/v1/category"));
    assert_eq!(added(&service), (4, 2));
    let categories: Vec<Value> = service
        .calls()
        .iter()
        .filter(|call| call.path() == "/v1/employee/add")
        .map(|call| serde_json::from_str::<Value>(&call.body).unwrap()["idCategory"].clone())
        .collect();
    let id = |n| json!(Uuid::from_u128(n));
    assert_eq!(categories, [id(1), id(2), id(2), Value::Null]);
    assert_eq!(run().await, faults);
    assert_eq!(added(&service), (4, 3), "only the category that is refused was tried again");
}
