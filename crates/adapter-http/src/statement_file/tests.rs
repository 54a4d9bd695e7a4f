use std::io::Cursor;

use calamine::{Data, Range, Reader as _, Xlsx};
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::OrderId;
use kopeck_domain::ledger::{Movement, MovementKind, Reference, TransferReference};
use kopeck_domain::request::RequestReference;
use kopeck_service::entries::{BalanceParts, EntrySpan};
use kopeck_service::statement::DayTotal;
use time::macros::{date, datetime};
use uuid::Uuid;

use super::*;

fn zone() -> Zone {
    Zone::parse("+03:00").unwrap()
}

fn kopecks(amount: i64) -> Kopecks {
    Kopecks::new(amount)
}

fn booked(number: i64, kind: MovementKind, reference: Reference, request: Option<&str>) -> BookedMovement {
    BookedMovement {
        number,
        movement: Movement::new(kind, reference, kopecks(1_000 * number)).unwrap(),
        request_reference: request.map(|text| RequestReference::from_stored(text.to_owned())),
        booked_at: datetime!(2026-01-31 09:05:59 UTC),
        available: kopecks(5_000),
        held: kopecks(700),
    }
}

/// A deposit whose reference could be a formula, and entries of an order with another one and without.
fn entries() -> [BookedMovement; 3] {
    let order = || Reference::Order(OrderId::new(Uuid::nil()));
    let deposit = Reference::Transfer(TransferReference::parse("=HYPERLINK(\"x\",1)").unwrap());
    [
        booked(1, MovementKind::Deposit, deposit, None),
        booked(2, MovementKind::Hold, order(), Some("-7 Счёт")),
        booked(3, MovementKind::Capture, order(), None),
    ]
}

fn outline(is_complete: bool) -> Outline {
    let closing = BalanceParts::of(kopecks(5_000), kopecks(700)).unwrap();
    let opening = BalanceParts::default();
    let day = DayTotal { date: date!(2026 - 01 - 31), opening, closing, change: closing };
    Outline {
        month: CalendarMonth::parse("2026-01").unwrap(),
        is_complete,
        span: EntrySpan { numbers: 1..4, opening, closing },
        days: vec![day],
    }
}

fn totals() -> [KindTotal; 2] {
    let total = |kind, number, amount| KindTotal { kind, number, amount: kopecks(amount) };
    [total(MovementKind::Deposit, 1, 1_000), total(MovementKind::Hold, 1, i64::MAX)]
}

#[test]
fn a_csv_file_has_a_line_for_each_entry_and_no_formula() {
    assert_eq!(
        csv_head(),
        "seq,at,type,amount,balance,hold,kind,id,reference,available,balanceChange,holdChange\r\n"
    );
    let nil = Uuid::nil();
    let expected = [
        "1,31.01.2026 12:05,DEPOSIT,1000,5700,700,deposit,,\"'=HYPERLINK(\"\"x\"\",1)\",5000,1000,0\r\n"
            .to_owned(),
        format!("2,31.01.2026 12:05,HOLD,-2000,5700,700,order,{nil},'-7 Счёт,5000,0,2000\r\n"),
        format!("3,31.01.2026 12:05,DEBIT,0,5700,700,order,{nil},,5000,-3000,-3000\r\n"),
    ];
    assert_eq!(entries().map(|entry| csv_line(&entry, zone()).unwrap()), expected);
    for text in ["=1", "+1", "-1", "@a", "\ta", "\ra"] {
        assert!(no_formula(text).starts_with('\''), "{text:?}");
    }
    for text in ["", "1", "a=1", " =1", "Счёт"] {
        assert_eq!(no_formula(text), text);
    }
}

#[test]
fn the_body_has_every_type_of_entry() {
    let body = serde_json::to_value(statement_body(&outline(false), &totals()[..1]).unwrap()).unwrap();
    assert_eq!((&body["month"], &body["complete"]), (&"2026-01".into(), &false.into()));
    assert_eq!(body["totals"].as_array().unwrap().len(), 7);
    let expected = serde_json::json!({
        "type": "DEPOSIT", "number": 1, "amount": 1_000, "balanceChange": 1_000, "holdChange": 0,
    });
    assert_eq!(body["totals"][0], expected);
    let expected = serde_json::json!({
        "date": "31.01.2026", "opening": 0, "closing": 5_700, "amount": 5_000,
        "balanceChange": 5_700, "holdChange": 700, "openingHold": 0, "openingAvailable": 0,
        "closingHold": 700, "closingAvailable": 5_000,
    });
    assert_eq!(body["days"], serde_json::json!([expected]));
}

#[test]
fn a_file_of_a_month_that_is_not_over_is_named_so() {
    assert_eq!(file_name(&outline(true), StatementFormat::Csv), "statement-2026-01.csv");
    assert_eq!(file_name(&outline(false), StatementFormat::Xlsx), "statement-2026-01-so-far.xlsx");
}

fn texts(range: &Range<Data>, row: u32) -> Vec<String> {
    (0..12)
        .map(|column| range.get_value((row, column)).map(ToString::to_string).unwrap_or_default())
        .collect()
}

#[test]
fn a_spreadsheet_has_the_same_entries_and_totals() {
    let mut writer = SpreadsheetWriter::new(zone()).unwrap();
    for entry in entries() {
        writer.add(&entry).unwrap();
    }
    let mut file = Vec::new();
    writer.finish(&statement_body(&outline(false), &totals()).unwrap(), &mut file).unwrap();
    let mut book: Xlsx<_> = Xlsx::new(Cursor::new(file)).unwrap();
    assert_eq!(book.sheet_names(), ["Entries", "Totals"]);
    let sheet = book.worksheet_range("Entries").unwrap();
    assert_eq!(sheet.height(), 4);
    assert_eq!(texts(&sheet, 0), COLUMNS);
    let first = texts(&sheet, 1);
    assert_eq!(first[2..7], ["DEPOSIT", "1000", "5700", "700", "deposit"]);
    assert_eq!(first[8], "=HYPERLINK(\"x\",1)");
    assert!(matches!(sheet.get_value((1, 8)), Some(Data::String(_))), "a text and no formula");
    let Some(Data::DateTime(at)) = sheet.get_value((1, 1)) else { panic!("{:?}", sheet.get_value((1, 1))) };
    // Days since 1900 as spreadsheets count them: 31.01.2026 12:05.
    assert!((at.as_f64() - (46_053.0 + 725.0 / 1_440.0)).abs() < 1e-9, "{at:?}");
    assert_eq!(texts(&sheet, 2)[2..4], ["HOLD", "-2000"]);
    assert_eq!(texts(&sheet, 2)[8], "-7 Счёт");
    assert_eq!(texts(&sheet, 3)[2..4], ["DEBIT", "0"]);
    let totals = book.worksheet_range("Totals").unwrap();
    let rows: Vec<Vec<String>> = (0..21).map(|row| texts(&totals, row)[..10].to_vec()).collect();
    assert_eq!(rows[0][..2], ["month", "2026-01"]);
    assert_eq!(rows[1][..2], ["amounts in", "kopecks"]);
    assert_eq!(rows[2][..2], ["complete", "no: the month is not over"]);
    assert_eq!(rows[4][..4], ["", "balance", "hold", "available"]);
    assert_eq!(rows[6][..4], ["closing", "5700", "700", "5000"]);
    assert_eq!(rows[9][..5], ["DEPOSIT", "1", "1000", "1000", "0"]);
    assert_eq!(rows[10][..3], ["HOLD", "1", "-9223372036854775807"], "as a text, with all digits");
    assert_eq!(rows[18], ["31.01.2026", "0", "5700", "5000", "5700", "700", "0", "0", "700", "5000"]);
}
