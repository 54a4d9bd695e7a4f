use std::io::Cursor;

use calamine::{Data, Range, Reader as _, Xlsx};
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::{OrderId, WithdrawalId};
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

/// The file of the entries in a form.
fn file(format: FileFormat, language: Language, entries: &[BookedMovement]) -> Vec<u8> {
    let head = StatementHead {
        outline: outline(true),
        totals: vec![
            KindTotal { kind: MovementKind::Deposit, number: 1, amount: kopecks(1_000) },
            KindTotal { kind: MovementKind::Capture, number: 1, amount: kopecks(3_000) },
        ],
        partner: PartnerId::new(Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef)),
        name: "ООО «Ромашка» <&>".to_owned(),
        made_at: datetime!(2026-02-01 06:07:08.9 UTC),
        zone: zone(),
        language,
    };
    let mut writer = entry_writer(format, head).unwrap();
    let mut out = Vec::new();
    writer.head(&mut out).unwrap();
    for entry in entries {
        writer.entry(entry, &mut out).unwrap();
    }
    writer.tail(&mut out);
    out
}

fn text_file(format: FileFormat, language: Language, entries: &[BookedMovement]) -> String {
    String::from_utf8(file(format, language, entries)).unwrap()
}

#[test]
fn a_csv_file_has_a_line_for_each_entry_and_no_formula() {
    let nil = Uuid::nil();
    let expected = format!(
        "seq,at,type,amount,balance,hold,kind,id,reference,available,balanceChange,holdChange\r\n\
         1,31.01.2026 12:05,DEPOSIT,1000,5700,700,deposit,,\"'=HYPERLINK(\"\"x\"\",1)\",5000,1000,0\r\n\
         2,31.01.2026 12:05,HOLD,-2000,5700,700,order,{nil},'-7 Счёт,5000,0,2000\r\n\
         3,31.01.2026 12:05,DEBIT,0,5700,700,order,{nil},,5000,-3000,-3000\r\n"
    );
    // Whatever the language: the file is for programs.
    for language in Language::ALL {
        assert_eq!(text_file(FileFormat::Csv, *language, &entries()), expected);
    }
}

#[test]
fn a_csv_file_for_people_has_roubles_and_their_language() {
    let nil = Uuid::nil();
    let russian = text_file(FileFormat::ExcelCsv, Language::Russian, &entries());
    let lines: Vec<&str> = russian.split("\r\n").collect();
    assert!(lines[0].starts_with("\u{feff}№;Дата и время;Тип;"), "{}", lines[0]);
    let deposit = "1;31.01.2026 12:05;Пополнение;10,00;57,00;7,00;Пополнение баланса;;\
                   \"'=HYPERLINK(\"\"x\"\",1)\";50,00;10,00;0,00";
    assert_eq!(lines[1], deposit);
    let hold =
        format!("2;31.01.2026 12:05;Удержание;-20,00;57,00;7,00;Заказ карт;{nil};'-7 Счёт;50,00;0,00;20,00");
    assert_eq!(lines[2], hold);
    let english = text_file(FileFormat::ExcelCsv, Language::English, &entries());
    let lines: Vec<&str> = english.split("\r\n").collect();
    assert!(lines[0].starts_with("No.,Date and time,Type,"), "{}", lines[0]);
    assert_eq!(
        lines[3],
        format!("3,2026-01-31 12:05,Debit,0.00,57.00,7.00,Order of cards,{nil},,50.00,-30.00,-30.00")
    );
}

/// Two cards of one withdrawal, with what was held for something else between them, then one of another.
fn returns() -> Vec<BookedMovement> {
    let of = |id: u128| Reference::Withdrawal(WithdrawalId::new(Uuid::from_u128(id)));
    vec![
        booked(1, MovementKind::Return, of(1), Some("Café ≤ 7")),
        booked(2, MovementKind::Hold, Reference::Order(OrderId::new(Uuid::nil())), None),
        booked(3, MovementKind::Return, of(1), Some("Café ≤ 7")),
        booked(4, MovementKind::Return, of(2), None),
    ]
}

#[test]
fn a_file_of_1c_has_a_document_for_each_booking() {
    let bytes = file(FileFormat::OneC, Language::English, &entries());
    let (text, _, is_faulty) = encoding_rs::WINDOWS_1251.decode(&bytes);
    assert!(!is_faulty);
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    let account = "89ABCDEF0123456789ABCDEF";
    let account = &account[account.len() - 20..];
    let head = [
        "1CClientBankExchange",
        "ВерсияФормата=1.03",
        "Кодировка=Windows",
        "Отправитель=Kopeck",
        "Получатель=",
        "ДатаСоздания=01.02.2026",
        "ВремяСоздания=09:07:00",
        "ДатаНачала=01.01.2026",
        "ДатаКонца=31.01.2026",
        &format!("РасчСчет={account}"),
        "СекцияРасчСчет",
        "ДатаНачала=01.01.2026",
        "ДатаКонца=31.01.2026",
        &format!("РасчСчет={account}"),
        "НачальныйОстаток=0.00",
        "ВсегоПоступило=10.00",
        "ВсегоСписано=30.00",
        "КонечныйОстаток=57.00",
        "КонецРасчСчет",
    ];
    assert_eq!(lines[..head.len()], head);
    let debit = [
        "СекцияДокумент=Банковский ордер",
        "Номер=3",
        "Дата=31.01.2026",
        "Сумма=30.00",
        "ДатаСписано=31.01.2026",
        &format!("ПлательщикСчет={account}"),
        "Плательщик=ООО «Ромашка» <&>",
        "ПолучательСчет=",
        "Получатель=Карты сотрудников",
        "ВидОплаты=17",
        "НазначениеПлатежа=Заказ карт, заявка 00000000-0000-0000-0000-000000000000",
        "КонецДокумента",
        "КонецФайла",
    ];
    assert_eq!(lines[lines.len() - debit.len()..], debit);
    assert_eq!(lines.iter().filter(|line| **line == "КонецДокумента").count(), 2, "a hold is no booking");
    let returned = file(FileFormat::OneC, Language::English, &returns());
    let (text, ..) = encoding_rs::WINDOWS_1251.decode(&returned);
    let sums: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("Сумма=")).collect();
    assert_eq!(sums, ["40.00", "40.00"], "one document for the cards of a request");
    assert!(text.contains("номер Caf? ? 7"), "{text}");
}

#[test]
fn a_camt_statement_has_an_entry_for_each_booking() {
    let text = text_file(FileFormat::Camt, Language::Russian, &entries());
    for part in [
        "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">",
        "<MsgId>2026-01-1769926028</MsgId><CreDtTm>2026-02-01T09:07:08+03:00</CreDtTm>",
        "<FrDtTm>2026-01-01T00:00:00+03:00</FrDtTm><ToDtTm>2026-01-31T23:59:59+03:00</ToDtTm>",
        "<Othr><Id>0123456789abcdef0123456789abcdef</Id></Othr></Id><Ccy>RUB</Ccy>\
         <Ownr><Nm>ООО «Ромашка» &lt;&amp;&gt;</Nm></Ownr>",
        "<Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"RUB\">0.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-01</Dt>",
        "<Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"RUB\">57.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-01-31</Dt>",
        "<TtlCdtNtries><Sum>10.00</Sum></TtlCdtNtries><TtlDbtNtries><Sum>30.00</Sum></TtlDbtNtries>",
        "<Ntry><NtryRef>3</NtryRef><Amt Ccy=\"RUB\">30.00</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>",
        "<Refs><EndToEndId>=HYPERLINK(\"x\",1)</EndToEndId></Refs>",
        "<AddtlNtryInf>Order of cards</AddtlNtryInf></Ntry>\n</Stmt>\n</BkToCstmrStmt>\n</Document>\n",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert_eq!(text.matches("<Ntry>").count(), 2);
    let text = text_file(FileFormat::Camt, Language::English, &returns());
    assert_eq!(text.matches("<Ntry>").count(), 2);
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
    assert_eq!(file_name(&outline(true), FileFormat::Csv), "statement-2026-01.csv");
    assert_eq!(file_name(&outline(false), FileFormat::Xlsx), "statement-2026-01-so-far.xlsx");
}

fn texts(range: &Range<Data>, row: u32) -> Vec<String> {
    (0..12)
        .map(|column| range.get_value((row, column)).map(ToString::to_string).unwrap_or_default())
        .collect()
}

#[test]
fn a_spreadsheet_has_the_same_entries_and_totals() {
    for (language, sheets, types, closing) in [
        (Language::English, ["Entries", "Totals"], ["Deposit", "Hold", "Debit"], "Closing balance"),
        (
            Language::Russian,
            ["Операции", "Итоги"],
            ["Пополнение", "Удержание", "Списание"],
            "Остаток на конец",
        ),
    ] {
        let mut writer = SpreadsheetWriter::new(zone(), language).unwrap();
        for entry in entries() {
            writer.add(&entry).unwrap();
        }
        let mut file = Vec::new();
        writer.finish(&statement_body(&outline(false), &totals()).unwrap(), &mut file).unwrap();
        let mut book: Xlsx<_> = Xlsx::new(Cursor::new(file)).unwrap();
        assert_eq!(book.sheet_names(), sheets);
        let sheet = book.worksheet_range(sheets[0]).unwrap();
        assert_eq!(sheet.height(), 4);
        assert_eq!(texts(&sheet, 0), xlsx::COLUMNS.map(|(name, _)| name.of(language)));
        let first = texts(&sheet, 1);
        assert_eq!(first[2..6], [types[0], "10", "57", "7"]);
        assert_eq!(first[8], "=HYPERLINK(\"x\",1)");
        assert!(matches!(sheet.get_value((1, 8)), Some(Data::String(_))), "a text and no formula");
        let Some(Data::DateTime(at)) = sheet.get_value((1, 1)) else {
            panic!("{:?}", sheet.get_value((1, 1)))
        };
        // Days since 1900 as spreadsheets count them: 31.01.2026 12:05.
        assert!((at.as_f64() - (46_053.0 + 725.0 / 1_440.0)).abs() < 1e-9, "{at:?}");
        assert_eq!(texts(&sheet, 2)[2..4], [types[1], "-20"]);
        assert_eq!(texts(&sheet, 2)[8], "-7 Счёт");
        assert_eq!(texts(&sheet, 3)[2..4], [types[2], "0"]);
        let totals = book.worksheet_range(sheets[1]).unwrap();
        let rows: Vec<Vec<String>> = (0..21).map(|row| texts(&totals, row)[..10].to_vec()).collect();
        assert_eq!(rows[0][1], "2026-01");
        assert_eq!(rows[6][..4], [closing, "57", "7", "50"]);
        assert_eq!(rows[9][..5], [types[0], "1", "10", "10", "0"]);
        let separator = if language == Language::English { '.' } else { ',' };
        assert_eq!(rows[10][2], format!("-92233720368547758{separator}07"), "as a text, with all digits");
        assert!(matches!(totals.get_value((18, 0)), Some(Data::DateTime(_))), "a day");
        assert_eq!(rows[18][1..], ["0", "57", "50", "57", "7", "0", "0", "7", "50"]);
    }
}
