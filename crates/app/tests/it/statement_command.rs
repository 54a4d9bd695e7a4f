//! `kopeck statement` and `kopeck report` for operators.

use std::io::Cursor;
use std::process::{Command, Stdio};
use std::time::Duration;

use calamine::{Reader as _, Xlsx};
use kopeck_client::{CardStatus, EventQuery, EventType, NewEmployee, ReportFilter, VirtualItem, Wait};
use serde_json::{Value, json};

use crate::process::Installation;

/// The month by the machine's clock in UTC.
fn this_month() -> String {
    let date = Command::new("date").args(["-u", "+%Y-%m"]).output().unwrap();
    String::from_utf8(date.stdout).unwrap().trim().to_owned()
}

#[test]
fn an_operator_has_a_month_in_each_form() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "1500.00"]);
    for (amount, reference) in [("0.50", "wire-1"), ("0.07", "=2+3")] {
        installation.succeed(&["partner", "deposit", &partner.id, amount, "--reference", reference]);
    }
    let month = this_month();
    let statement = |more: &[&str]| {
        let of_month = ["statement", &partner.id, "--month", &month, "--utc-offset", "+00:00"];
        [&of_month[..], more].concat().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let succeed =
        |more: &[&str]| installation.succeed(&statement(more).iter().map(String::as_str).collect::<Vec<_>>());
    let table = succeed(&[]);
    assert!(table.starts_with(&format!("{month}, which is not over\n")), "{table}");
    let line = |name: &str| -> Vec<&str> {
        table
            .lines()
            .map(|line| line.split_whitespace().collect())
            .find(|line: &Vec<_>| line.first() == Some(&name))
            .unwrap()
    };
    assert_eq!(line("balance"), ["balance", "hold", "available"]);
    assert_eq!(line("opening"), ["opening", "0.00", "0.00", "0.00"]);
    assert_eq!(line("closing"), ["closing", "1500.57", "0.00", "1500.57"]);
    assert_eq!(line("DEPOSIT"), ["DEPOSIT", "3", "1500.57", "0.00", "1500.57"]);
    let json: Value = serde_json::from_str(&succeed(&["--format", "json"])).unwrap();
    assert_eq!((&json["closing"], &json["complete"]), (&json!(150_057), &json!(false)));
    assert_eq!((&json["closingHold"], &json["closingAvailable"]), (&json!(0), &json!(150_057)));
    let expected =
        json!({"type": "DEPOSIT", "number": 3, "amount": 150_057, "balanceChange": 150_057, "holdChange": 0});
    assert_eq!(json["totals"][0], expected);
    let csv = succeed(&["--format", "csv"]);
    let references: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').nth(8)).collect();
    assert_eq!(references, ["", "wire-1", "'=2+3"]);

    let file = installation.path().join("statement.xlsx");
    assert_eq!(succeed(&["--format", "xlsx", "--output", file.to_str().unwrap()]), "");
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(std::fs::read(&file).unwrap())).unwrap();
    let sheet = book.worksheet_range("Entries").unwrap();
    let last: Vec<String> = sheet.rows().next_back().unwrap().iter().map(ToString::to_string).collect();
    assert_eq!((last[4].as_str(), last[8].as_str()), ("1500.57", "=2+3"));

    let run = |arguments: &[&str]| {
        let output = installation.command(arguments).stderr(Stdio::piped()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, told) = run(&["statement", &partner.id, "--month", "2999-01"]);
    assert!(code == Some(1) && told.contains("the month has not begun"), "{told}");
    let unknown = "0f8fad5b-d9cb-469f-a165-70867728950e";
    assert_eq!(run(&["statement", unknown, "--month", &month]).0, Some(1));
    assert_eq!(run(&["statement", &partner.id, "--month", "2026-1"]).0, Some(2));
    // A reader that has gone is no error.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let arguments = statement(&["--format", "csv"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = installation.command(&arguments).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

/// Roubles for people, and what the API says for programs. The months of the command and of the service are those of one zone.
#[tokio::test]
async fn an_operator_has_the_report_in_each_form() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "1500.00"]);
    let zone = ["--utc-offset", "+00:00"];
    let running = installation.serve(&[&["--processing-delay", "0s"], &zone[..]].concat());
    let client = running.client(&partner);
    let order = client.orders().virtual_cards(&[VirtualItem::new(1, 50_050)]).await.unwrap().order_id;
    client.orders().wait(order, Wait::default(), |_| {}).await.unwrap();
    let number = client.orders().result(order).await.unwrap().data.remove(0).custom_id_card;
    let person = NewEmployee { surname: Some("Ёжиков".to_owned()), ..NewEmployee::new("E-7") };
    let employee = client.employees().add(&person).await.unwrap().id_employee;
    client.cards().link(employee, &number, &CardStatus::Main).await.unwrap();
    // The worker has read the bank's feed.
    let types = vec![EventType::CardTransaction];
    let query = EventQuery { types, wait: Duration::from_secs(30), ..EventQuery::default() };
    assert_eq!(client.events().list(&query).await.unwrap().data.len(), 1);
    let month = this_month();
    let shown =
        serde_json::to_value(client.statements().report(&month, &ReportFilter::default()).await.unwrap())
            .unwrap();
    running.stop("TERM");

    let report = |more: &[&str]| {
        installation.succeed(&[&["report", &partner.id, "--month", &month], &zone[..], more].concat())
    };
    assert_eq!(serde_json::from_str::<Value>(&report(&["--format", "json"])).unwrap(), shown);
    assert_eq!(shown["totals"]["given"], 50_050);
    let table = report(&[]);
    assert!(table.starts_with(&format!("{month}, which is not over\n")), "{table}");
    let cells = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let amounts = ["0.00", "500.50", "0.00", "0.00", "0.00", "0.00", "0.00", "500.50"];
    let lines: Vec<_> = table.lines().skip(3).map(cells).collect();
    assert_eq!(lines, [[&["E-7", "Ёжиков"][..], &amounts].concat(), [&["total"][..], &amounts].concat()]);
    let csv = report(&["--format", "csv"]);
    assert!(csv.ends_with(&format!("{employee},E-7,Ёжиков,,,,0,50050,0,0,0,0,0,50050,0\r\n")), "{csv}");
    let excel = report(&["--format", "excel", "--lang", "ru"]);
    assert!(excel.ends_with("Итого;;;;;;0,00;500,50;0,00;0,00;0,00;0,00;0,00;500,50;0\r\n"), "{excel}");
    let file = installation.path().join("report.xlsx");
    assert_eq!(report(&["--format", "xlsx", "--output", file.to_str().unwrap()]), "");
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(std::fs::read(&file).unwrap())).unwrap();
    let rows = book.worksheet_range("Employees").unwrap().height();
    assert_eq!(rows, 3);

    let to_come = installation.run(&["report", &partner.id, "--month", "2999-01"]);
    let told = String::from_utf8(to_come.stderr).unwrap();
    assert!(to_come.status.code() == Some(1) && told.contains("the month has not begun"), "{told}");
}
