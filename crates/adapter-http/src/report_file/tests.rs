use std::io::Cursor;

use calamine::{Reader as _, Xlsx};
use kopeck_domain::Kopecks;
use kopeck_domain::ids::{CategoryId, EmployeeId};
use kopeck_port_store::ReportPerson;
use uuid::Uuid;

use super::*;

fn amounts() -> ReportAmounts {
    ReportAmounts {
        opening: Kopecks::new(1_000),
        given: Kopecks::new(50_000),
        given_otherwise: Kopecks::ZERO,
        spent: Kopecks::new(20_050),
        refunded: Kopecks::new(50),
        returned: Kopecks::new(300),
        correction: Kopecks::new(7),
        late: Kopecks::new(-9),
        payments: 3,
        transactions: 8,
    }
}

/// Someone whose names could be formulas, and the cards of nobody.
fn rows() -> [ReportRow; 2] {
    let person = ReportPerson {
        id: EmployeeId::new(Uuid::nil()),
        custom_id: Some("T-1".to_owned()),
        surname: Some("-Ёжиков".to_owned()),
        name: None,
        patronymic: None,
        category: Some((CategoryId::new(Uuid::nil()), "Повара, \"ночь\"; день".to_owned())),
    };
    [
        ReportRow { place: 1, person: Some(person), amounts: amounts() },
        ReportRow { place: ReportRow::LAST, person: None, amounts: ReportAmounts::default() },
    ]
}

fn written(mut writer: RowWriter) -> String {
    let mut out = Vec::new();
    for row in &rows() {
        writer.row(row, &mut out).unwrap();
    }
    writer.tail(&amounts(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn plain_csv_is_in_kopecks_and_without_a_total() {
    let nil = Uuid::nil();
    let expected = format!(
        "{nil},T-1,'-Ёжиков,,,\"Повара, \"\"ночь\"\"; день\",1000,50000,20050,50,300,7,-9,30698,3\r\n\
         ,,,,,,0,0,0,0,0,0,0,0,0\r\n"
    );
    assert_eq!(written(RowWriter::Csv), expected);
    assert_eq!(NAMES.split(',').count(), 15);
}

#[test]
fn csv_for_people_is_in_roubles_with_a_total() {
    let nil = Uuid::nil();
    let expected = format!(
        "{nil};T-1;'-Ёжиков;;;\"Повара, \"\"ночь\"\"; день\";10,00;500,00;200,50;0,50;3,00;0,07;-0,09;306,98;3\r\n\
         Карты без держателя;;;;;;0,00;0,00;0,00;0,00;0,00;0,00;0,00;0,00;0\r\n\
         Итого;;;;;;10,00;500,00;200,50;0,50;3,00;0,07;-0,09;306,98;3\r\n"
    );
    assert_eq!(written(RowWriter::Excel(Language::Russian)), expected);
}

#[test]
fn json_ends_with_the_total() {
    let body = format!("{{\"data\":[{}", written(RowWriter::Json(false)));
    let body: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(body["data"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&body["data"][0]["surname"], &body["data"][0]["closing"]),
        (&"-Ёжиков".into(), &30_698.into())
    );
    assert!(body["data"][1]["idEmployee"].is_null());
    assert_eq!((&body["totals"]["late"], &body["totals"]["payments"]), (&(-9).into(), &3.into()));
}

#[test]
fn a_spreadsheet_is_in_roubles_with_a_total() {
    let mut sheet = ReportSpreadsheet::new(Language::English).unwrap();
    for row in &rows() {
        sheet.add(row).unwrap();
    }
    let mut file = Vec::new();
    sheet.finish(&amounts(), &mut file).unwrap();
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(file)).unwrap();
    let range = book.worksheet_range("Employees").unwrap();
    let rows: Vec<Vec<String>> =
        range.rows().map(|row| row.iter().map(ToString::to_string).collect()).collect();
    assert_eq!(rows[0], COLUMNS.map(|(name, _)| name.of(Language::English)));
    assert_eq!(rows[1][1..3], ["T-1", "-Ёжиков"]);
    assert_eq!(rows[1][6..], ["10", "500", "200.5", "0.5", "3", "0.07", "-0.09", "306.98", "3"]);
    assert_eq!(rows[2][0], "Cards without a holder");
    assert_eq!((rows[3][0].as_str(), rows[3][13].as_str()), ("Total", "306.98"));
}
