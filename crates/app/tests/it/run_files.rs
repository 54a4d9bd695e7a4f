//! Runs of files: what a spreadsheet program makes is read as it is, and comes back with what became of each row.

use std::io::Cursor;

use calamine::{Data, Reader as _, Xlsx};
use kopeck_client::{Client, Error, FileFormat, NewRun, RunKind, RunState, Uuid};
use kopeck_domain::partner::SealingPolicy;
use serde_json::{Value, json};
use tokio::task::block_in_place;

use crate::api_client::{Api, start, text};
use crate::raw_http::{CSV, JSON, RawRequest, RawResponse, fresh_nonce, get, login, optional, required};
use crate::runs::{balance_of, carry_out, codes, column, draft, path, people, submit};
use crate::server::TestServer;

const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// A file as the body.
fn upload(query: &str, media: &str, file: impl AsRef<[u8]>) -> RawRequest {
    RawRequest::new("POST", &format!("/v1/runs?{query}")).bytes(media, file)
}

/// The fields that a refusal names, in their order.
fn faulty(got: &RawResponse) -> Vec<String> {
    assert_eq!(got.status, 422, "{got:?}");
    got.json()["data"].as_array().unwrap().iter().map(|fault| text(&fault["field"])).collect()
}

/// A server, its partner's token, and employees with a MAIN card each.
async fn with_people(count: u32) -> (TestServer, Api, String, Vec<(String, String, String)>) {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let api = Api::login(&server, &partner).await;
    let people = people(&api, &server, count).await;
    let token = block_in_place(|| login(&server, &partner)).access;
    (server, api, token, people)
}

/// Windows-1251, semicolons, Russian names in any letter case, roubles, other columns, empty rows, a value of two lines.
const PAYROLL: &str = "Табельный НОМЕР;Отдел;Сумма;Номер карты\r\n\
    T-1;\"Склад\r\n№ 2\";1 500,50;\r\n\
    ;;;\r\n\
    T-2;=HYPERLINK(1);10;\r\n\
    T-1;-;5;\r\n\
    T-9;;7;\r\n\
    T-2;;7;4006381333931\r\n\
    T-3;;7,001;\r\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payroll_of_a_spreadsheet_program_becomes_a_run() {
    let (server, api, token, people) = with_people(3).await;
    // The letters of Windows-1251 that the text has.
    let windows: Vec<u8> = PAYROLL
        .chars()
        .map(|letter| match letter {
            'А'..='я' => u8::try_from(u32::from(letter) - 0x350).unwrap(),
            '№' => 0xb9,
            other => u8::try_from(u32::from(other)).unwrap(),
        })
        .collect();
    let made = upload("kind=TOP_UP&reference=march", "text/csv; charset=windows-1251", windows);
    let run = block_in_place(|| made.token(&token).send(&server));
    assert_eq!(run.status, 201, "{run:?}");
    let run = run.json();
    assert_eq!((&run["reference"], &run["number"], &run["faulty"]), (&json!("march"), &json!(6), &json!(4)));
    assert_eq!(run["amount"], 151_050);
    let lines = column(&api, &run, "line").await;
    assert_eq!(lines, [2, 5, 6, 7, 8, 9], "the names are line 1, and a row is where it begins");
    let faults = column(&api, &run, "fault").await;
    let fault = |place: usize| (faults[place]["field"].clone(), faults[place]["code"].clone());
    assert_eq!(fault(0), (Value::Null, Value::Null));
    assert_eq!(fault(2), (json!("Табельный НОМЕР"), json!("duplicate")));
    assert_eq!(fault(3), (json!("Табельный НОМЕР"), json!("employee_not_found")));
    assert_eq!(fault(4), (json!("Номер карты"), json!("ambiguous")));
    assert_eq!(fault(5), (json!("amount"), json!("invalid")));

    // Another partner's file finds none of these people and cards.
    let stranger = Api::login(&server, &server.partner(SealingPolicy::Optional, 500)).await;
    let items = json!([{"customId": "T-1", "amount": 1}, {"idCard": people[0].2, "amount": 1}]);
    let theirs = draft(&stranger, "TOP_UP", items).await;
    assert_eq!(codes(&stranger, &theirs).await, [json!("employee_not_found"), json!("card_not_found")]);

    submit(&api, &run, true).await;
    carry_out(&server);
    assert_eq!(api.get(&path(&run, "")).await.ok(200)["status"], "SUCCESS");
    assert_eq!(
        [balance_of(&api, &people[0].2).await, balance_of(&api, &people[1].2).await],
        [150_050, 1_000]
    );
    let ask = |accept: &str| {
        let call = get(&path(&run, "/result")).token(&token).with("accept", accept);
        block_in_place(|| call.send(&server))
    };
    let result = ask(CSV);
    assert_eq!((result.status, result.header("content-type")), (200, Some("text/csv; charset=utf-8")));
    let name = format!("attachment; filename=\"run-{}.csv\"", text(&run["idRun"]));
    assert_eq!(result.header("content-disposition"), Some(name.as_str()));
    let expected = "Табельный НОМЕР,Отдел,Сумма,Номер карты,outcome,reason\r\n\
        T-1,\"Склад\r\n№ 2\",\"1 500,50\",,DONE,\r\n\
        T-2,'=HYPERLINK(1),10,,DONE,\r\n\
        T-1,'-,5,,SKIPPED,stands in an earlier item\r\n";
    assert!(result.text.starts_with(expected), "{}", result.text);
    assert_eq!(result.text.lines().count(), 8, "a value has two lines");
    // JSON is asked for before a file, or nothing is.
    for accept in ["application/json, text/csv", "*/*", "application/pdf"] {
        assert_eq!(ask(accept).header("content-type"), Some(JSON), "{accept}");
    }
    server.check();
}

#[test]
fn what_is_no_table_of_items_is_refused_as_a_whole() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let good = "customId,amount\nT-1,5\n";
    let rows = |count: usize| format!("customId,amount\n{}", "T-1,5\n".repeat(count));
    for (query, media, file, fields) in [
        ("kind=TOP_UP", CSV, String::from("\n \n"), vec!["body"]),
        ("kind=TOP_UP", CSV, "%PDF-1.7\u{1}".to_owned(), vec!["body"]),
        ("kind=TOP_UP", XLSX, "PK\u{3}\u{4}".to_owned(), vec!["body"]),
        ("kind=TOP_UP", CSV, "customId,amount\n".to_owned(), vec!["body"]),
        ("kind=TOP_UP", CSV, "amount\n5\n".to_owned(), vec!["body"]),
        ("kind=EMPLOYEES", CSV, "surname\nA\n".to_owned(), vec!["body"]),
        ("kind=TOP_UP", CSV, rows(10_001), vec!["body"]),
        ("kind=LIMIT", CSV, good.to_owned(), vec!["kind"]),
        ("", CSV, good.to_owned(), vec!["kind"]),
        (
            "kind=top_up&reference=%2A&at=now&createCategories=1",
            CSV,
            good.to_owned(),
            vec!["kind", "reference", "at", "createCategories"],
        ),
        ("kind=TOP_UP&items=%5B%5D&file=AAAA", CSV, good.to_owned(), vec!["file", "items"]),
        ("kind=TOP_UP&kind=TOP_UP", CSV, good.to_owned(), vec!["kind"]),
    ] {
        let got = upload(query, media, &file).token(&token).send(&server);
        assert_eq!(faulty(&got), fields, "{query} {}", &file[..file.len().min(40)]);
    }
    let empty = upload("kind=TOP_UP", CSV, "").token(&token).send(&server);
    assert_eq!(faulty(&empty), ["body"]);
    for media in ["text/plain", "application/vnd.ms-excel", "application/octet-stream"] {
        let got = upload("kind=TOP_UP", media, good).token(&token).send(&server);
        assert_eq!(got.code(), (415, "unsupported_media_type".to_owned()), "{media}");
    }
    // No other operation takes a file.
    let got = RawRequest::new("POST", "/v1/category").bytes(CSV, good).token(&token).send(&server);
    assert_eq!(got.status, 415);
    let made = upload("kind=TOP_UP", CSV, good).token(&token).send(&server);
    assert_eq!(made.status, 201, "and nothing before was in the way of it: {made:?}");
    assert_eq!(get("/v1/runs").token(&token).send(&server).json()["meta"]["total"], 1);
}

/// The key of a file compares its query and its bytes.
#[test]
fn a_file_sent_again_under_its_key_is_one_run() {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let file = "customId;сумма\nT-1;5\n";
    let call = upload("kind=TOP_UP&reference=a", CSV, file).token(&token).key("file-1");
    let first = call.send(&server);
    assert_eq!((first.status, first.replayed()), (201, false));
    let send = |query: &str, file: &str| {
        upload(query, CSV, file).token(&token).key("file-1").nonce(&fresh_nonce()).send(&server)
    };
    for query in ["kind=TOP_UP&reference=a", "reference=%61&&kind=TOP_UP"] {
        let again = send(query, file);
        assert_eq!((again.replayed(), &again.text), (true, &first.text), "{query}");
    }
    for (query, file) in [
        ("kind=WITHDRAW&reference=a", file),
        ("kind=TOP_UP&reference=a", "customId;сумма\nT-1;5,0\n"),
        ("kind=TOP_UP&reference=a&x=1", file),
    ] {
        assert_eq!(faulty(&send(query, file)), ["idempotency-key"], "{query}");
    }
}

/// A sealed file stands within a body. In clear it is refused where bodies have to be sealed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_can_be_sealed() {
    let server = TestServer::start();
    let (partner, token) = block_in_place(|| required(&server));
    let file = "customId,amount\nT-1,5\n";
    let clear = block_in_place(|| upload("kind=TOP_UP", CSV, file).token(&token).send(&server));
    assert_eq!(faulty(&clear), ["body"]);
    let client = server.client(&partner);
    let made = client.runs().create(&NewRun::of_file(RunKind::TopUp, file)).await.unwrap();
    assert_eq!((made.number, made.faulty, made.state), (1, 1, RunState::Draft));
    for (kind, file, field) in [
        (RunKind::TopUp, "amount\n5\n", "file"),
        (RunKind::TopUp, "", "file"),
        (RunKind::Limit, file, "kind"),
    ] {
        let refused = client.runs().create(&NewRun::of_file(kind, file)).await.unwrap_err();
        let Error::Invalid { faults, .. } = refused else { panic!("{refused}") };
        assert_eq!(faults.iter().map(|fault| fault.field.as_str()).collect::<Vec<_>>(), [field]);
    }
    let (server, api) = start(0).await;
    for (body, field) in [
        (json!({"kind": "TOP_UP", "file": "%"}), "file"),
        (json!({"kind": "TOP_UP", "file": "AAAA", "items": []}), "items"),
        (json!({"kind": "TOP_UP"}), "items"),
    ] {
        api.post("/v1/runs", &body).await.faulty(&[field]);
    }
    drop(server);
}

async fn result_file(client: &Client, run: Uuid, format: FileFormat) -> Vec<u8> {
    let mut file = client.runs().result_file(run, format).await.unwrap();
    let mut bytes = Vec::new();
    while let Some(chunk) = file.chunk().await.unwrap() {
        bytes.extend(chunk);
    }
    bytes
}

/// Numbers stay numbers, so the spreadsheet that comes back can be corrected and sent again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_spreadsheet_of_a_result_is_a_file_of_a_run() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let (api, client) = (Api::login(&server, &partner).await, server.client(&partner));
    people(&api, &server, 2).await;
    let file = "Табельный номер\tСумма\tПримечание\nT-1\t1 500,5\t007\nT-2\t2\t+7\nT-3\t3\t\n";
    let made = client.runs().create(&NewRun::of_file(RunKind::TopUp, file)).await.unwrap();
    assert_eq!((made.faulty, made.amount), (1, 150_250));
    let bytes = result_file(&client, made.id_run, FileFormat::Xlsx).await;
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(bytes.clone())).unwrap();
    let sheet = book.worksheet_range("Result").unwrap();
    let rows: Vec<Vec<Data>> = sheet.rows().map(<[Data]>::to_vec).collect();
    let cell = |text: &str| if text.is_empty() { Data::Empty } else { Data::String(text.to_owned()) };
    let names = ["Табельный номер", "Сумма", "Примечание", "outcome", "reason"];
    assert_eq!(rows[0], names.map(cell));
    assert_eq!(rows[1], [cell("T-1"), Data::Float(1_500.5), cell("007"), cell(""), cell("")]);
    assert_eq!(rows[2], [cell("T-2"), Data::Float(2.0), cell("+7"), cell(""), cell("")]);
    assert_eq!(rows[3][4], cell("there is no such employee"), "of a draft, what is wrong with it");
    let again = client.runs().create(&NewRun::of_file(RunKind::TopUp, bytes)).await.unwrap();
    assert_eq!((again.number, again.faulty, again.amount), (3, 1, 150_250));
    let csv = String::from_utf8(result_file(&client, again.id_run, FileFormat::Csv).await).unwrap();
    assert!(csv.starts_with("Табельный номер,Сумма,Примечание,outcome,reason,outcome,reason\r\n"), "{csv}");
    assert!(csv.contains("\r\nT-1,1500.5,007,,,,\r\n"), "{csv}");
}

/// A blank cell clears, a column that is not there leaves alone, and a category may be new.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn employees_come_from_a_file() {
    let (server, api, token, _) = with_people(1).await;
    let id = text(&api.get("/v1/employees?customId=T-1").await.ok(200)["data"][0]["idEmployee"]);
    let before = json!({"surname": "Старый", "name": "Имя", "phone": "9031234567"});
    api.put(&format!("/v1/employee/{id}"), &before).await.ok(200);
    let file = "табельный номер,фамилия,телефон,категория,статус\n\
        T-1,Новый,,Водители,WORK\nT-2,Второй,9031234568,Водители,WORK\nT-3,,,Водители,\n,A,,,WORK\n";
    let made = upload("kind=EMPLOYEES&createCategories=true", CSV, file).token(&token);
    let made = block_in_place(|| made.send(&server));
    let run = made.json();
    assert_eq!((made.status, &run["faulty"]), (201, &json!(2)), "{made:?}");
    assert_eq!(codes(&api, &run).await[2..], [json!("missing"), json!("missing")]);
    submit(&api, &run, true).await;
    carry_out(&server);
    let changed = api.get("/v1/employees?customId=T-1").await.ok(200)["data"][0].clone();
    assert_eq!(
        (&changed["surname"], &changed["name"], &changed["phone"]),
        (&json!("Новый"), &json!("Имя"), &Value::Null)
    );
    assert_eq!(api.column("/v1/employees", "customId").await, ["T-1", "T-2"]);
    assert_eq!(api.column("/v1/categories", "nameCategory").await, ["Водители"]);
}
