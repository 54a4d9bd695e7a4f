//! Files in the console: runs and people from them, columns that a person names, rows that are corrected, files that are wrong.

use kopeck_domain::access::Role;
use kopeck_domain::run::MAX_ITEMS;
use kopeck_tables::{Cell, Row, Table, write};
use serde_json::json;
use time::Duration;

use super::browser::{Browser, between, hidden_fields, offers, upload_request};
use super::money::carry_out;
use super::{Holder, card_info, holder, start};
use crate::raw_http::{RawRequest, RawResponse, post};
use crate::server::{TestPartner, TestServer};

const NEW: &str = "/runs/new";
const UPLOAD: &str = "/runs/upload";

/// A browser of a new user, on the form of a new run.
fn at_new_run<'s>(server: &'s TestServer, partner: &TestPartner, role: Role) -> (Browser<'s>, RawResponse) {
    let mut browser = Browser::of_new(server, Some(partner), role);
    let page = browser.get(NEW);
    assert!(offers(&page, UPLOAD) && page.text.contains("enctype=\"multipart/form-data\""), "{}", page.text);
    (browser, page)
}

/// The path of the run that a page is about.
fn run_of(page: &RawResponse) -> String {
    format!("/run/{}", between(&page.text, "data-source=\"/console/fragment/run/", "\""))
}

fn workbook(rows: Vec<Vec<Cell>>) -> Vec<u8> {
    let rows = (2..).zip(rows).map(|(line, cells)| Row { line, cells, fault: None }).collect();
    let names = ["customId", "amount"].map(str::to_owned).to_vec();
    write(&Table { line: 1, names, rows }).unwrap()
}

#[test]
fn a_file_becomes_a_run_whose_faulty_rows_are_corrected() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let (mut browser, page) = at_new_run(&server, &partner, Role::Owner);
    // Windows-1251, as spreadsheet programs write it.
    let names = "Табельный номер;Сумма;Отдел";
    let windows = |text: &str| -> Vec<u8> {
        let byte = |letter: char| match letter {
            'А'..='я' => u8::try_from(u32::from(letter) - 0x350).unwrap(),
            other => u8::try_from(u32::from(other)).unwrap(),
        };
        text.chars().map(byte).collect()
    };
    let file = windows(&format!("{names}\r\nT-1;1 500,505;A\r\n\r\nT-99;3,00;B\r\nT-1;7;C;D\r\nT-98;1;\r\n"));
    let values = [("kind", "TOP_UP"), ("reference", "March")];
    let draft = browser.upload(&page, UPLOAD, &values, &file);
    let path = run_of(&draft);
    for shown in
        ["Top-ups: March", "draft", "There is no such employee.", "with a separator in it", "1 500,505"]
    {
        assert!(draft.text.contains(shown), "{shown}: {}", draft.text);
    }
    let correct = format!("{path}/correct");
    // The row that cannot be trusted as a whole has no field.
    assert!(
        draft.text.contains("name=\"value-0\"") && !draft.text.contains("name=\"value-2\""),
        "{}",
        draft.text
    );
    let values = [("value-0", "1 500,50"), ("value-1", "T-97"), ("out-3", "yes")];
    let first = browser.send_once(&draft, &correct, &values);
    let second = browser.send_once(&draft, &correct, &values);
    assert_eq!((first.status, second.status), (303, 303), "{}", first.text);
    assert_eq!(first.header("location"), second.header("location"), "a double click");
    assert!(browser.get(&path).text.contains("cancelled"), "the one before has ended");
    let new = first.header("location").unwrap().strip_prefix("/console").unwrap().to_owned();
    let draft = browser.get(&new);
    for shown in [
        "a new draft with your corrections",
        "Top-ups: March",
        "₽1,500.50",
        ">2</td>",
        ">4</td>",
        ">5</td>",
        "with a separator",
    ] {
        assert!(draft.text.contains(shown), "{shown}: {}", draft.text);
    }
    assert!(!draft.text.contains("T-98"), "{}", draft.text);
    // The script's part of the page, and only the faulty rows in it.
    let path = run_of(&draft);
    let part = browser.get(&format!("/fragment{path}?faulty=true"));
    assert!(part.text.starts_with("<div id=\"items\"") && part.text.contains("T-97"), "{}", part.text);
    assert!(!part.text.contains(">T-1</a>"), "{}", part.text);

    let submit = format!("{path}/submit");
    let sent = browser.send(&draft, &submit, &[("skipFaulty", "yes")]);
    for shown in ["In process", "0 of 3", "<progress", "data-poll=\"3\""] {
        assert!(sent.text.contains(shown), "{shown}: {}", sent.text);
    }
    let late = browser.send(&draft, &format!("{path}/correct"), &[("value-1", "T-1")]);
    assert!(late.status == 409 && late.text.contains("no draft any more"), "{}", late.text);
    carry_out(&server);
    let part = browser.get(&format!("/poll{path}"));
    assert!(part.text.contains("3 of 3") && part.text.contains("Show the result"), "{}", part.text);
    assert!(!part.text.contains("data-poll"), "nothing more is asked for: {}", part.text);
    assert_eq!(card_info(&server, &holder)["balance"], 150_050);
    let result = browser.get_once(&format!("{path}/result/csv"));
    assert!(result.text.contains("T-1,\"1 500,50\",A,DONE,"), "{}", result.text);
    assert!(browser.get(&path).text.contains(&format!("/console{path}/result/xlsx")));
    assert_eq!(browser.get(&format!("{path}/result/exe")).status, 404);
}

#[test]
fn a_person_says_which_column_is_which() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let (mut browser, page) = at_new_run(&server, &partner, Role::Owner);
    browser.language = "ru";
    let file = "\u{feff}Таб. №\tК выплате\tsurname\nT-1\t10,5\t<b>\nT-7\t=1\t\n";
    let values = [("kind", "WITHDRAW"), ("reference", "Апрель"), ("at", "03.03.2026 09:00")];
    let asked = browser.exchange(upload_request(&page, UPLOAD, &values, file.as_bytes()));
    assert_eq!(asked.status, 303, "{}", asked.text);
    let step = asked.header("location").unwrap().strip_prefix("/console").unwrap().to_owned();
    let mapping = browser.get(&step);
    for shown in
        ["Таб. №", "10,5 · =1", "&#60;b&#62;", "value=\"Апрель\"", "<option value=\"surname\" selected>"]
    {
        assert!(mapping.text.contains(shown), "{shown}: {}", mapping.text);
    }
    let action = step.split('?').next().unwrap();
    let terms = [("kind", "TOP_UP"), ("reference", "Апрель"), ("at", "")];
    let say = |columns: &[(&'static str, &'static str)]| [&terms[..], columns].concat();
    let unnamed = browser.send(&mapping, action, &say(&[("column-1", "rubles")]));
    assert!(unnamed.status == 422 && unnamed.text.contains("в каком столбце сотрудники"), "{}", unnamed.text);
    let twice = browser.send(&unnamed, action, &say(&[("column-0", "customId"), ("column-1", "customId")]));
    assert!(twice.status == 422 && twice.text.contains("указаны одинаково"), "{}", twice.text);
    let columns = say(&[("column-0", "customId"), ("column-1", "rubles")]);
    let page = browser.get(&step);
    let first = browser.send_once(&page, action, &columns);
    let second = browser.send_once(&page, action, &columns);
    assert_eq!((first.status, second.status), (303, 303), "{}", first.text);
    assert_eq!(first.header("location"), second.header("location"));
    let draft = browser.get(first.header("location").unwrap().strip_prefix("/console").unwrap());
    assert!(
        draft.text.contains("10,50\u{a0}₽") && draft.text.contains("Недопустимое значение."),
        "{}",
        draft.text
    );

    // A reference that is taken: what was typed is corrected, the file is still there.
    let page = browser.get(NEW);
    let known = format!("customId,amount\n{},100\nT-1,200\n", "T-2");
    let taken = browser.upload(&page, UPLOAD, &terms, known.as_bytes());
    assert!(taken.status == 409 && taken.text.contains("уже имеет такое обозначение"), "{}", taken.text);
    let action = format!("/runs/upload/{}", between(&taken.text, "action=\"/console/runs/upload/", "\""));
    let columns = [("kind", "TOP_UP"), ("column-0", "customId"), ("column-1", "amount")];
    let draft = browser.send(&taken, &action, &columns);
    assert!(draft.status == 200 && draft.text.contains("2,00\u{a0}₽"), "{}", draft.text);
    // The first row is a person.
    let page = browser.get(NEW);
    let bare = browser.upload(&page, UPLOAD, &[("kind", "TOP_UP")], b"T-1;3\nT-2;4\n");
    let action = format!("/runs/upload/{}", between(&bare.text, "action=\"/console/runs/upload/", "\""));
    let columns = [("kind", "TOP_UP"), ("unnamed", "yes"), ("column-0", "customId"), ("column-1", "rubles")];
    let draft = browser.send(&bare, &action, &columns);
    assert!(draft.text.contains("3,00\u{a0}₽") && draft.text.contains("T-2"), "{}", draft.text);

    assert_eq!(card_info(&server, &holder)["balance"], 0, "nothing was submitted");
    // No other user has the file, and after an hour none has; a new login of the user has it.
    let mut other = Browser::of_new(&server, Some(&partner), Role::Finance);
    assert_eq!((other.get(&step).status, other.get("/runs/upload/x").status), (404, 404));
    server.clock.advance(Duration::minutes(50));
    let mut again = Browser::of_known(&server, &mut browser);
    assert!(again.get(&step).text.contains("Таб. №"));
    server.clock.advance(Duration::minutes(11));
    let gone = again.get(&step);
    assert!(gone.status == 404 && gone.text.contains("Файл уже не хранится"), "{}", gone.text);
}

#[test]
fn wrong_files_are_refused_with_the_reason() {
    let (server, partner) = start();
    let (mut browser, page) = at_new_run(&server, &partner, Role::Finance);
    let bomb = workbook((0..700).map(|_| vec![Cell::Text("x".repeat(30_000))]).collect());
    assert!(bomb.len() < 100_000, "{}", bomb.len());
    let rows = format!("customId;amount\n{}", "A;1\n".repeat(MAX_ITEMS + 1));
    let wide = format!("customId{}\nA\n", ";x".repeat(70));
    let long = format!("customId;{}\nA;1\n", "x".repeat(101));
    let wrong: &[(&[u8], &str, &str)] = &[
        (b"", "Choose a file.", "Выберите файл."),
        (b" \n", "The file is empty.", "Файл пуст."),
        (b"%PDF-1.7\x00\x01", "The file is no table", "Файл не таблица"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 old", "older format", "старом формате"),
        (b"PK\x03\x04 and nothing", "cannot be read", "не читается"),
        (&bomb, "holds too much", "слишком много данных"),
        (rows.as_bytes(), "The most are 10000.", "Можно не больше 10000."),
        (wide.as_bytes(), "The most are 64.", "Можно не больше 64."),
        (long.as_bytes(), "more than 100 characters", "длиннее 100 знаков"),
        (b"customId;amount\n", "file: Has no rows", "Файл: "),
    ];
    for (file, english, russian) in wrong {
        for (language, text) in [("en", english), ("ru", russian)] {
            browser.language = language;
            let refused = browser.upload(&page, UPLOAD, &[("kind", "TOP_UP"), ("reference", "kept")], file);
            assert_eq!(refused.status, 422, "{text}: {}", refused.text);
            assert!(
                refused.text.contains(text) && refused.text.contains("value=\"kept\""),
                "{text}: {}",
                refused.text
            );
        }
    }
    browser.language = "en";
    // Larger than the API takes, by a little, and by much: the browser that still sends it gets the page.
    for megabytes in [3, 12] {
        let file = vec![b'x'; megabytes << 20];
        let refused = browser.upload(&page, UPLOAD, &[("kind", "TOP_UP")], &file);
        assert!(refused.status == 413 && refused.text.contains("The file is too large."), "{}", refused.text);
    }
    let cut =
        RawRequest::new("POST", "/console/runs/upload").bytes("multipart/form-data; boundary=x", "--x\r\n");
    assert_eq!(browser.exchange(cut).status, 422, "no whole form");
    let text = RawRequest::new("POST", "/console/runs/upload").bytes("text/csv", "customId,amount\n");
    let refused = crate::raw_http::exchange(&server.base_url, text.from, &text.to_bytes());
    assert!(refused.status == 415 && refused.header("content-security-policy").is_some(), "{refused:?}");
    // A form of elsewhere, and one of a user who may not.
    let mut foreign = page.clone();
    let token = hidden_fields(&page.text, UPLOAD).swap_remove(0).1;
    foreign.text = foreign.text.replace(&token, "other");
    let file = b"customId,amount\nT-1,1\n";
    assert_eq!(browser.upload(&foreign, UPLOAD, &[("kind", "TOP_UP")], file).status, 403);
    let mut auditor = Browser::of_new(&server, Some(&partner), Role::Auditor);
    assert_eq!(auditor.get(NEW).status, 403);
    let logout = auditor.get("/").text.replace("/console/logout", "/console/runs/upload");
    let form = RawResponse { text: logout, ..page };
    assert_eq!(
        auditor.upload(&form, UPLOAD, &[("key", "0123456789abcdef"), ("kind", "TOP_UP")], file).status,
        403
    );
}

/// A formula is never computed, and never becomes an amount, however often its draft is corrected.
#[test]
fn formulas_stay_formulas() {
    let (server, partner) = start();
    let Holder { .. } = holder(&server, &partner);
    let (mut browser, page) = at_new_run(&server, &partner, Role::Owner);
    let text = |text: &str| Cell::Text(text.to_owned());
    let file = workbook(vec![vec![text("T-1"), Cell::Formula], vec![text("T-9"), text("100")]]);
    let draft = browser.upload(&page, UPLOAD, &[("kind", "WITHDRAW")], &file);
    assert!(draft.text.contains("Is a formula: give its value."), "{}", draft.text);
    let correct = format!("{}/correct", run_of(&draft));
    let draft = browser.send(&draft, &correct, &[("value-0", ""), ("out-1", "yes")]);
    assert!(draft.text.contains("a new draft") && draft.text.contains("Is a formula"), "{}", draft.text);
    let correct = format!("{}/correct", run_of(&draft));
    let draft = browser.send(&draft, &correct, &[("value-0", "700")]);
    assert!(draft.text.contains("The card holds 0 kopecks"), "{}", draft.text);
}

#[test]
fn people_are_imported_after_a_preview() {
    let (server, partner) = start();
    let holder = holder(&server, &partner);
    let mut hr = Browser::of_new(&server, Some(&partner), Role::Hr);
    assert!(hr.get("/people").text.contains("/console/runs/new?kind=EMPLOYEES"));
    let page = hr.get("/runs/new?kind=EMPLOYEES");
    assert!(page.text.contains("<option value=\"EMPLOYEES\" selected>"), "{}", page.text);
    let file = "customId;фамилия;категория\nT-1;Котова;Office\nT-2;Белов;Office\nT-3;Чернов;\n".as_bytes();
    let draft = hr.upload(&page, UPLOAD, &[("kind", "EMPLOYEES")], file);
    for shown in ["Import of people", "is added", "category", "name=\"value-0\""] {
        assert!(draft.text.contains(shown), "{shown}: {}", draft.text);
    }
    assert!(!draft.text.contains("Available afterwards"), "nothing is moved: {}", draft.text);
    let page = hr.get("/runs/new?kind=EMPLOYEES");
    let values = [("kind", "EMPLOYEES"), ("createCategories", "yes")];
    let draft = hr.upload(&page, UPLOAD, &values, file);
    let path = run_of(&draft);
    assert!(
        draft.text.contains("is updated") && !offers(&draft, &format!("{path}/correct")),
        "{}",
        draft.text
    );
    hr.send(&draft, &format!("{path}/submit"), &[]);
    carry_out(&server);
    let people = hr.get("/people");
    for shown in ["Котова Анна", "Белов", "Чернов", "Office"] {
        assert!(people.text.contains(shown), "{shown}: {}", people.text);
    }
    // The script's part of the search, by typed words.
    let part = hr.get("/fragment/people?q=%D0%91%D0%B5%D0%BB");
    assert!(part.text.contains("data-says=\"Found: 1\"") && part.text.contains("Белов"), "{}", part.text);
    assert!(!part.text.contains("Чернов") && !part.text.contains("<nav"), "{}", part.text);
    assert_eq!(card_info(&server, &holder)["balance"], 0);
}

#[test]
fn what_waits_is_counted_and_compared_with_the_last_time() {
    let (server, partner) = start();
    let Holder { token, .. } = holder(&server, &partner);
    let mut owner = Browser::of_new(&server, Some(&partner), Role::Owner);
    assert!(owner.get("/people").text.contains("data-poll=\"60\"></span>"));
    let terms = json!({"name": "Meals", "for": {"all": true}, "amount": {"fixed": 1_000}, "every": "MONTH", "day": 5});
    assert_eq!(post("/v1/programmes", &terms).token(&token).send(&server).status, 201);
    server.clock.advance(Duration::days(3));
    server.pay();
    let token = crate::raw_http::login(&server, &partner).access;
    let programmes = crate::raw_http::get("/v1/programmes").token(&token).send(&server).json();
    let id = programmes["data"][0]["idProgramme"].as_str().unwrap().to_owned();
    let changed = json!({"name": "Meals", "for": {"all": true}, "amount": {"fixed": 1_500}, "every": "MONTH", "day": 5});
    let put = RawRequest::new("PUT", &format!("/v1/programme/{id}")).json(&changed).token(&token);
    assert_eq!(put.send(&server).status, 200);
    server.clock.advance(Duration::days(31));
    server.pay();
    let mut owner = Browser::of_known(&server, &mut owner);
    let runs = owner.get("/runs");
    let path = format!("/run/{}", between(&runs.text, "href=\"/console/run/", "\""));
    let page = owner.get(&path);
    for shown in [
        "Difference to the last time",
        "against 2026-03: +₽5.00; new 0, gone 0, changed 1",
        "another amount",
        "₽15.00",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }

    // What waits is counted in the navigation of every page, and anew by the script.
    server.change_partners(|unit, _, id| {
        kopeck_service::partners::set_approval(unit, id, kopeck_domain::Kopecks::new(100))
    });
    let page = owner.get(NEW);
    let rows = [("kind", "TOP_UP"), ("names", "customId"), ("rows", "T-1;5.00")];
    let draft = owner.send(&page, NEW, &rows);
    let sent = owner.send(&draft, &format!("{}/submit", run_of(&draft)), &[]);
    assert!(
        sent.text.contains("data-poll=\"60\">(1)</span>") && sent.text.contains("data-poll=\"30\""),
        "{}",
        sent.text
    );
    let waits = owner.get("/approvals");
    assert!(
        waits.text.contains("owner@example.ru") && waits.text.contains("No programme waits"),
        "{}",
        waits.text
    );
    assert_eq!(
        owner.get("/poll/approvals").text.trim_end(),
        between(&sent.text, "Approvals ", "</a>").trim_end()
    );
    // What a page asks by itself keeps no session alive.
    server.clock.advance(Duration::minutes(10));
    assert_eq!(owner.get_once("/poll/approvals").status, 200);
    server.clock.advance(Duration::minutes(6));
    let ended = owner.get_once("/poll/approvals");
    assert!(ended.status == 401 && ended.text.is_empty(), "{ended:?}");
    assert_eq!(owner.get_once("/fragment/people").status, 401);
}
