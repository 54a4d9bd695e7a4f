use std::io::{Cursor, Write as _};

use proptest::prelude::*;
use rust_xlsxwriter::{Format, Formula, Workbook};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

/// Lines and cells.
fn rows(table: &Table) -> Vec<(u32, Vec<&str>)> {
    table.rows.iter().map(|row| (row.line, row.cells.iter().map(Cell::text).collect())).collect()
}

#[test]
fn every_separator_is_understood() {
    for separator in [",", ";", "\t"] {
        let text = "customId|Сумма|comment\nT-1|\"1 500,50\"|\"a, b; c\t\"\nT-2|5|\n".replace('|', separator);
        let table = parse(text.as_bytes(), 10).unwrap();
        assert_eq!(table.names, ["customId", "Сумма", "comment"]);
        assert_eq!(rows(&table), [(2, vec!["T-1", "1 500,50", "a, b; c"]), (3, vec!["T-2", "5"])]);
        assert!(table.names_people());
    }
}

/// An empty row ends nothing and counts for nothing, and a value may have several lines.
#[test]
fn a_row_has_the_line_on_which_it_begins() {
    for end in ["\n", "\r\n", "\r"] {
        let text = "\n\ncustomId,note\n\nA,\"two\nlines\"\n,\n\n  \nB,\n\n\nC".replace('\n', end);
        let table = parse(text.as_bytes(), 10).unwrap();
        let lines: Vec<(u32, &str)> = table.rows.iter().map(|row| (row.line, row.cells[0].text())).collect();
        assert_eq!(lines, [(5, "A"), (10, "B"), (13, "C")], "{end:?}");
    }
}

#[test]
fn a_row_with_more_values_than_names_is_not_trusted() {
    let table = parse(b"customId,amount\nA,100,50\nB,7,,\nC,8\n", 10).unwrap();
    let faulty: Vec<bool> = table.rows.iter().map(|row| row.fault.is_some()).collect();
    assert_eq!(faulty, [true, false, false]);
    assert_eq!(rows(&table)[0], (2, vec!["A", "100"]));
}

#[test]
fn an_unclosed_quote_is_told() {
    let table = parse(b"customId,amount\nA,1\n\"B,2\nC,3\n", 10).unwrap();
    let faulty: Vec<(u32, bool)> = table.rows.iter().map(|row| (row.line, row.fault.is_some())).collect();
    assert_eq!(faulty, [(2, false), (3, true)]);
    let inches = parse(b"customId,note\nA,5\" pipe\n", 10).unwrap();
    assert_eq!(inches.rows[0].fault, None);
}

#[test]
fn cells_are_in_nfc_without_blanks_around_them() {
    let table = parse("customId\n \u{a0}Йод-1 \n".as_bytes(), 10).unwrap();
    assert_eq!(rows(&table), [(2, vec!["Йод-1"])]);
}

#[test]
fn what_is_no_table_is_refused_as_a_whole() {
    let wide = format!("customId{}", ",x".repeat(MAX_COLUMNS));
    let long = format!("customId,{}", "x".repeat(MAX_NAME + 1));
    for (file, expected) in [
        (&b""[..], TableError::Empty),
        (b" \r\n ;; \n", TableError::Empty),
        (b"name;x\n", TableError::TooManyRows(0)),
        (b"one,two\n1,2\n", TableError::NoKnownColumn),
        (b"{\"items\":[]}", TableError::NoKnownColumn),
        (b"\x00\x01\x02", TableError::Unknown),
        (b"PK\x03\x04 and nothing else", TableError::BrokenWorkbook),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1....", TableError::OldWorkbook),
        (wide.as_bytes(), TableError::TooManyColumns),
        (long.as_bytes(), TableError::LongName),
    ] {
        if expected == TableError::TooManyRows(0) {
            assert_eq!(parse(&[file, b"a;b\n"].concat(), 0), Err(expected));
        } else {
            assert_eq!(parse(file, 10), Err(expected), "{}", String::from_utf8_lossy(file));
        }
    }
    let names_alone = parse(b"customId;amount\n", 10).unwrap();
    assert_eq!(names_alone.rows, []);
}

#[test]
fn rows_are_counted_without_the_names() {
    let text = format!("customId\n{}", "\nA".repeat(10));
    assert_eq!(parse(text.as_bytes(), 10).unwrap().rows.len(), 10);
    assert_eq!(parse(text.as_bytes(), 9), Err(TableError::TooManyRows(9)));
}

/// A workbook with what people put into one.
fn workbook() -> Vec<u8> {
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    let (date, money) =
        (Format::new().set_num_format("dd.mm.yyyy"), Format::new().set_num_format("#,##0.00"));
    for (column, name) in (0..).zip(["Табельный номер", "Сумма", "номер карты", "Дата", "x"])
    {
        sheet.write(0, column, name).unwrap();
    }
    sheet.write(1, 0, "T-1").unwrap();
    sheet.write_with_format(1, 1, 1_500.5, &money).unwrap();
    sheet.write_with_format(1, 3, 46_357, &date).unwrap();
    sheet.write(3, 0, 17).unwrap();
    sheet.write(3, 1, 0.1 + 0.2).unwrap();
    sheet.write(3, 2, 4_006_381_333_931_i64).unwrap();
    sheet.write(3, 4, true).unwrap();
    sheet.write(4, 0, "T-3").unwrap();
    sheet.write_formula(4, 1, Formula::new("=B2*2").set_result("3001")).unwrap();
    workbook.add_worksheet().write(0, 0, "customId").unwrap();
    workbook.save_to_buffer().unwrap()
}

#[test]
fn the_first_sheet_of_a_workbook_is_read() {
    let table = parse(&workbook(), 10).unwrap();
    assert_eq!(table.names[1], "Сумма");
    let expected = [
        (2, vec!["T-1", "1500.5", "", "01.12.2026"]),
        (4, vec!["17", "0.3", "4006381333931", "", "TRUE"]),
        (5, vec!["T-3", ""]),
    ];
    assert_eq!(rows(&table), expected);
    assert_eq!(table.rows[2].cells[1], Cell::Formula);
    assert_eq!(parse(&workbook(), 2), Err(TableError::TooManyRows(2)));
}

/// A cell in each corner of a sheet costs no more than two cells.
#[test]
fn a_workbook_is_not_read_as_a_rectangle() {
    let corners = |column| {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet();
        sheet.write(0, 0, "customId").unwrap();
        sheet.write(1_048_575, column, "A").unwrap();
        parse(&workbook.save_to_buffer().unwrap(), 10)
    };
    assert_eq!(corners(0).unwrap().rows[0].line, 1_048_576);
    assert_eq!(corners(16_383), Err(TableError::TooManyColumns));
}

/// However small it is when packed.
#[test]
fn a_workbook_that_unpacks_to_very_much_is_refused() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for part in ["xl/workbook.xml", "xl/sharedStrings.xml"] {
        zip.start_file(part, SimpleFileOptions::default()).unwrap();
        for _ in 0..40 {
            zip.write_all(&vec![b' '; 1 << 20]).unwrap();
        }
    }
    let bomb = zip.finish().unwrap().into_inner();
    assert!(bomb.len() < 1 << 20);
    assert_eq!(parse(&bomb, 10), Err(TableError::TooLarge));
}

/// A text that stands in the workbook once, and in each of its cells.
#[test]
fn a_workbook_whose_cells_hold_very_much_is_refused() {
    let text = "x".repeat(30_000);
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write(0, 0, "customId").unwrap();
    for (row, column) in (1..=20).flat_map(|row| (0..60).map(move |column| (row, column))) {
        sheet.write(row, column, &text).unwrap();
    }
    let bomb = workbook.save_to_buffer().unwrap();
    assert!(bomb.len() < 1 << 20);
    assert_eq!(parse(&bomb, 100), Err(TableError::TooLarge));
}

/// Each row has the names of its columns beside its values.
#[test]
fn names_count_for_each_row() {
    let names: Vec<String> = (0..MAX_COLUMNS - 1).map(|place| format!("{place:x<MAX_NAME$}")).collect();
    let rows = |count: usize| format!("customId,{}\n{}", names.join(","), "A\n".repeat(count));
    assert!(parse(rows(2_000).as_bytes(), 10_000).is_ok());
    assert_eq!(parse(rows(10_000).as_bytes(), 10_000), Err(TableError::TooLarge));
}

proptest! {
    #[test]
    fn any_bytes_are_a_table_or_an_error(file: Vec<u8>) {
        let _ = parse(&file, 100);
    }

    #[test]
    fn any_text_below_names_is_rows(text in r#"([a-zа-я0-9";,\t\r\n ]|\PC)*"#) {
        if let Ok(table) = parse(format!("customId;amount\n{text}").as_bytes(), 1_000) {
            for row in &table.rows {
                prop_assert!(row.line > 1 && row.cells.len() <= 2);
            }
            prop_assert!(table.rows.is_sorted_by_key(|row| row.line));
        }
    }

    /// A workbook with a byte changed is read, or refused.
    #[test]
    fn a_damaged_workbook_ends_nothing(place: prop::sample::Index, byte: u8) {
        let mut file = workbook();
        let place = place.index(file.len());
        file[place] = byte;
        let _ = parse(&file, 100);
    }

    /// What is written as CSV is read as it was.
    #[test]
    fn rows_are_read_as_they_were_written(
        cells in prop::collection::vec(("[A-Za-z0-9-]{1,9}", "[ -~а-яё\n]{0,12}"), 1..20),
        separator in prop::sample::select(b",;\t".to_vec()),
    ) {
        let mut writer = csv::WriterBuilder::new().delimiter(separator).from_writer(Vec::new());
        writer.write_record(["customId", "note"]).unwrap();
        for (id, note) in &cells {
            writer.write_record([id, note]).unwrap();
        }
        let table = parse(&writer.into_inner().unwrap(), 100).unwrap();
        prop_assert_eq!(table.rows.len(), cells.len());
        for (row, (id, note)) in table.rows.iter().zip(&cells) {
            prop_assert_eq!(row.cells[0].text(), id.as_str());
            prop_assert_eq!(row.cells.get(1).map_or("", Cell::text), note.trim());
            prop_assert_eq!(row.fault, None);
        }
    }
}

#[test]
fn a_file_with_strange_names_is_read_for_a_person_to_name_them() {
    for (text, names) in [
        ("\nTab. No.;Payment\nT-1;1 500,50\n", vec!["Tab. No.", "Payment"]),
        ("Tab. No.\tTo pay, roubles\nT-1\t1 500,50\n", vec!["Tab. No.", "To pay, roubles"]),
        ("Tab. No.,Payment,note\nT-1,\"1 500,50\",\n", vec!["Tab. No.", "Payment", "note"]),
    ] {
        assert_eq!(parse(text.as_bytes(), 10), Err(TableError::NoKnownColumn));
        let table = parse_any(text.as_bytes(), 10).unwrap();
        assert_eq!(
            (table.names, table.rows[0].cells[1].text()),
            (names.iter().map(|name| (*name).to_owned()).collect(), "1 500,50")
        );
    }
    assert_eq!(parse_any("\nA;B\n1;2\n".as_bytes(), 10).unwrap().line, 2);
    assert_eq!(parse_any(b" \n", 10), Err(TableError::Empty));
}

/// Names, lines, formulas, texts that look like something else, and faults.
#[test]
fn a_table_is_read_from_a_workbook_as_it_was_written() {
    let text = "customId,amount,note\nA,100,=1+1\n\n\nB,007,\"two\nlines\"\nC,5,x,y\n";
    let mut table = parse(text.as_bytes(), 10).unwrap();
    table.rows[1].cells[1] = Cell::Formula;
    let file = write(&table).unwrap();
    assert_eq!(write(&table).unwrap(), file, "the same bytes each time");
    assert_eq!(parse(&file, 10).unwrap(), Table { line: 1, ..table.clone() });
    // Without a row of names of its own.
    table.rows[0].line = 1;
    let lines: Vec<u32> =
        parse(&write(&table).unwrap(), 10).unwrap().rows.iter().map(|row| row.line).collect();
    assert_eq!(lines, [2, 6, 8]);
    table.rows[0].cells[0] = Cell::of(&"x".repeat(40_000));
    assert_eq!(write(&table), Err(TableError::TooLarge));
}
