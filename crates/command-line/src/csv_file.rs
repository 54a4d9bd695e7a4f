//! CSV files of spreadsheets: UTF-8, with or without a byte-order mark, separated by commas or semicolons, with column
//! names in the first line. Cells are in NFC, as the service stores and compares texts.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::fs;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;

use crate::failure::Failure;

/// A file with rows.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CsvFile {
    columns: Vec<String>,
    pub(crate) rows: Vec<CsvRow>,
    /// Rows that cannot be read at all.
    pub(crate) faults: Vec<RowFault>,
}

/// A row that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CsvRow {
    /// The line on which it starts; the line with the names is the first.
    pub(crate) line: usize,
    /// By the names of their columns, without blanks around them.
    cells: HashMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RowFault {
    pub(crate) line: usize,
    /// Which employee or card the row is about, as far as it tells.
    pub(crate) subject: String,
    pub(crate) field: String,
    pub(crate) reason: String,
}

/// The fault of a row with an unclosed quote.
const UNCLOSED_QUOTE: &str = "has a quote that is not closed";

impl fmt::Display for RowFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, {}: {}", self.line, self.field, self.reason)
    }
}

impl CsvRow {
    /// The value of a column; `None` where there is no such column, or nothing in it.
    pub(crate) fn get(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    pub(crate) fn fault(&self, subject: &str, field: &str, reason: impl Into<String>) -> RowFault {
        RowFault {
            line: self.line,
            subject: subject.to_owned(),
            field: field.to_owned(),
            reason: reason.into(),
        }
    }
}

impl CsvFile {
    /// Reads the file at `path`, whose columns have to be among `known`.
    pub(crate) fn read(path: &Path, known: &[&str]) -> Result<Self, Failure> {
        let failed = |why: &dyn fmt::Display| Failure::usage(format!("{}: {why}", path.display()));
        let bytes = fs::read(path).map_err(|error| failed(&error))?;
        let text = String::from_utf8(bytes).map_err(|error| failed(&not_utf8(error.as_bytes())))?;
        Self::parse(&text, known).map_err(|why| failed(&why))
    }

    /// Whether there is a column of this name.
    pub(crate) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|name| name == column)
    }

    /// Reads the text of a file.
    pub(crate) fn parse(text: &str, known: &[&str]) -> Result<Self, String> {
        let text = &with_newlines(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter(text))
            .trim(Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let names = reader.headers().map_err(|error| error.to_string())?.clone();
        let columns = columns(&names, known)?;
        let (mut rows, mut faults) = (Vec::new(), Vec::new());
        for record in reader.records() {
            let record = record.map_err(|error| error.to_string())?;
            let line = record.position().map_or(0, |position| line_at(text, position));
            let fault = |reason: String| {
                let subject = record.get(0).unwrap_or_default().to_owned();
                RowFault { line, subject, field: "row".to_owned(), reason }
            };
            if swallows_lines(text, &record) {
                faults.push(fault(UNCLOSED_QUOTE.to_owned()));
            } else if record.len() == columns.len() {
                let cells =
                    columns.iter().cloned().zip(record.iter().map(|cell| cell.nfc().collect())).collect();
                rows.push(CsvRow { line, cells });
            } else if record.iter().any(|cell| !cell.is_empty()) {
                faults.push(fault(format!("has {} values for {} columns", record.len(), columns.len())));
            }
        }
        // Spreadsheets leave lines of nothing but separators behind.
        rows.retain(|row| row.cells.values().any(|cell| !cell.is_empty()));
        Ok(Self { columns, rows, faults })
    }
}

/// The message about a file in another encoding.
fn not_utf8(bytes: &[u8]) -> String {
    let is = match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "in UTF-16",
        _ => "not in UTF-8, perhaps in Windows-1251",
    };
    format!("the file is {is}: save it as \"CSV UTF-8\", as spreadsheet programs call it")
}

/// The text with newlines, if its lines end by carriage returns alone.
fn with_newlines(text: &str) -> Cow<'_, str> {
    if text.contains('\n') { Cow::Borrowed(text) } else { Cow::Owned(text.replace('\r', "\n")) }
}

/// Whether an unclosed quote has joined several lines into one record, up to the next quote or the end of the file. A
/// quote within a quoted value is doubled, so a complete value has an even number of quotes.
fn swallows_lines(text: &str, record: &StringRecord) -> bool {
    let start = record.position().and_then(|position| usize::try_from(position.byte()).ok());
    let rest = start.and_then(|start| text.get(start..)).unwrap_or_default();
    // The last value of such a record goes to the end of the file.
    let reaches_end =
        record.iter().next_back().is_some_and(|last| rest.trim_end().ends_with(last.trim_end()));
    let has_lines = record.iter().any(|value| value.contains('\n'));
    has_lines && reaches_end && !rest.matches('"').count().is_multiple_of(2)
}

/// The names of the columns, as they are known.
fn columns(names: &StringRecord, known: &[&str]) -> Result<Vec<String>, String> {
    let mut seen = BTreeSet::new();
    names
        .iter()
        .map(|name| {
            let known_as = known.iter().find(|known| known.eq_ignore_ascii_case(name)).ok_or_else(|| {
                format!("there is a column {name:?}, and only these are understood: {}", known.join(", "))
            })?;
            if !seen.insert(*known_as) {
                return Err(format!("there are two columns {known_as}"));
            }
            Ok((*known_as).to_owned())
        })
        .collect()
}

/// The separator of the column names, which contain neither character.
fn delimiter(text: &str) -> u8 {
    let names = text.lines().next().unwrap_or_default();
    if names.contains(';') { b';' } else { b',' }
}

/// The line of a record. The reader's own count is that of the line end before it, and of blank lines between.
fn line_at(text: &str, position: &csv::Position) -> usize {
    let start = usize::try_from(position.byte()).unwrap_or(usize::MAX);
    let (before, after) = text.split_at_checked(start).unwrap_or((text, ""));
    let blank = after.bytes().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    1 + before.bytes().chain(blank).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [&str; 3] = ["customId", "surname", "name"];

    fn parse(text: &str) -> CsvFile {
        CsvFile::parse(text, &KNOWN).unwrap()
    }

    #[test]
    fn files_of_spreadsheets_are_read() {
        for text in [
            "customId,surname\nT-1,Попов\n",
            "\u{feff}customId;surname\r\nT-1;Попов\r\n",
            "SURNAME;customid\n Попов ; T-1 \n;\n\n",
            "customId,surname\n\"T-1\",\"Попов\"",
        ] {
            let file = parse(text);
            assert_eq!(file.rows.len(), 1, "{text:?}");
            let row = file.rows.first().unwrap();
            assert_eq!(
                (row.line, row.get("customId"), row.get("surname")),
                (2, Some("T-1"), Some("Попов")),
                "{text:?}"
            );
            assert_eq!((row.get("name"), file.has("name"), file.has("surname")), (None, false, true));
            assert!(file.faults.is_empty());
        }
    }

    #[test]
    fn lines_are_those_of_the_file() {
        for line_end in ["\n", "\r\n", "\r"] {
            let text = "customId,surname\n1,a\n\n2,\"two\nlines\"\n3,c".replace('\n', line_end);
            let lines: Vec<_> = parse(&text).rows.iter().map(|row| row.line).collect();
            assert_eq!(lines, [2, 4, 6], "{line_end:?}");
        }
    }

    #[test]
    fn a_file_in_another_encoding_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("staff.csv");
        for (bytes, said) in [
            (
                &b"customId,surname\n1,\xcf\xee\xef\xee\xe2\n"[..],
                "perhaps in Windows-1251: save it as \"CSV UTF-8\"",
            ),
            (&b"\xff\xfec\0u\0"[..], "in UTF-16: save it as \"CSV UTF-8\""),
        ] {
            fs::write(&path, bytes).unwrap();
            let failure = format!("{:?}", CsvFile::read(&path, &KNOWN).unwrap_err());
            assert!(failure.replace("\\\"", "\"").contains(said), "{failure}");
        }
    }

    #[test]
    fn cells_are_composed() {
        let file = parse("customId,surname\nИ\u{306}-1,Е\u{308}лкина\nu\u{308},Mu\u{308}ller\n");
        let cells: Vec<_> = file.rows.iter().map(|row| (row.get("customId"), row.get("surname"))).collect();
        assert_eq!(cells, [(Some("Й-1"), Some("Ёлкина")), (Some("ü"), Some("Müller"))]);
    }

    #[test]
    fn a_row_of_another_width_is_faulty_and_stops_nothing() {
        let file = parse("customId,surname\n1\n2,b\n3,c,d\n");
        assert_eq!(file.rows.len(), 1);
        let told: Vec<_> = file.faults.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["line 2, row: has 1 values for 2 columns", "line 4, row: has 3 values for 2 columns"]
        );
    }

    #[test]
    fn an_unclosed_quote_is_a_fault_and_hides_no_rows() {
        for text in [
            "customId,surname\n0,x\n\"T-1,Petrova\nT-2,Ivanova\n",
            "customId,surname\n0,x\nT-1,\"Petrova\nT-2,Ivanova\n",
            "customId,surname\r\n0,x\r\n\"T-1,Petrova\r\nT-2,Ivanova",
        ] {
            let file = parse(text);
            let told: Vec<_> = file.faults.iter().map(ToString::to_string).collect();
            assert_eq!(told, ["line 3, row: has a quote that is not closed"], "{text:?}");
            assert_eq!(file.rows.len(), 1, "{text:?}");
        }
        let whole = parse("customId,surname\nT-1,\"two\nlines\"\nT-2,5\" nail\nT-3,\"a \"\"b\"\"\nc\"\n");
        assert_eq!((whole.rows.len(), whole.faults.len()), (3, 0));
    }

    #[test]
    fn a_file_with_other_columns_is_another_file() {
        for (text, why) in [("id,name\n", "\"id\""), ("name,Name\n", "two columns")] {
            let said = CsvFile::parse(text, &KNOWN).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        assert!(!parse("").has("customId"));
    }
}
