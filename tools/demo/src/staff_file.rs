//! The file of employees: comma-separated, UTF-8, its columns named by its first line.
//!
//! The reader only splits. Which values are good is the service's to say, so that its reasons are seen.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use kopeck_client::{EmployeeStatus, NewEmployee, Uuid};
use serde::Deserialize;

/// A row of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StaffRow {
    /// The line on which it starts; the line with the names is the first.
    pub(crate) line: usize,
    pub(crate) cells: Cells,
}

/// The values of a row. An empty one is `None`: not known. `customId` is needed, so it is sent as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cells {
    pub(crate) custom_id: String,
    pub(crate) surname: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) patronymic: Option<String>,
    pub(crate) phone: Option<String>,
    pub(crate) email: Option<String>,
    /// The name of the category.
    pub(crate) category: Option<String>,
    pub(crate) status: Option<String>,
}

impl Cells {
    /// The employee as sent to the service.
    pub(crate) fn employee(&self, id_category: Option<Uuid>) -> NewEmployee {
        NewEmployee {
            surname: self.surname.clone(),
            name: self.name.clone(),
            patronymic: self.patronymic.clone(),
            phone: self.phone.clone(),
            email: self.email.clone(),
            id_category,
            status: self.status.as_deref().map(EmployeeStatus::from),
            ..NewEmployee::new(self.custom_id.as_str())
        }
    }
}

/// Reads the file at `path`.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<StaffRow>> {
    let of_file = || format!("the file of employees {}", path.display());
    let text = fs::read_to_string(path).with_context(of_file)?;
    rows(&text).with_context(of_file)
}

fn rows(text: &str) -> Result<Vec<StaffRow>, csv::Error> {
    // Spreadsheets put a byte-order mark in front.
    let text = text.trim_start_matches('\u{feff}');
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers()?.clone();
    let records = reader.records().map(|record| {
        let record = record?;
        let line = record.position().map_or(0, |position| line_at(text, position));
        Ok(StaffRow { line, cells: record.deserialize(Some(&names))? })
    });
    records.collect()
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

    const NAMES: &str = "customId,surname,name,patronymic,phone,email,category,status\n";

    fn read_text(text: &str) -> Result<Vec<StaffRow>, csv::Error> {
        rows(&format!("{NAMES}{text}"))
    }

    fn only(text: &str) -> StaffRow {
        let [row] = <[StaffRow; 1]>::try_from(read_text(text).unwrap()).unwrap();
        row
    }

    #[test]
    fn a_row_is_split_and_nothing_else() {
        let row = only("T 1,Петров2,\"Anne, Marie\",,12,no-address,Склад,busy\n");
        assert_eq!(row.line, 2);
        let Cells { custom_id, surname, name, patronymic, phone, email, category, status } = row.cells;
        assert_eq!(custom_id, "T 1");
        assert_eq!(surname.as_deref(), Some("Петров2"));
        assert_eq!(name.as_deref(), Some("Anne, Marie"));
        assert_eq!(patronymic, None);
        assert_eq!(phone.as_deref(), Some("12"));
        assert_eq!(email.as_deref(), Some("no-address"));
        assert_eq!(category.as_deref(), Some("Склад"));
        assert_eq!(status.as_deref(), Some("busy"));
    }

    #[test]
    fn empty_cells_are_left_out_except_the_custom_id() {
        let employee = only(",,,,,,,\n").cells.employee(None);
        assert_eq!(employee, NewEmployee::new(""));
    }

    #[test]
    fn a_status_is_sent_as_it_stands() {
        let employee = only("T-1,,,,,,,work\n").cells.employee(Some(Uuid::nil()));
        assert_eq!(employee.status.as_ref().map(EmployeeStatus::as_str), Some("work"));
        assert_eq!(employee.id_category, Some(Uuid::nil()));
    }

    #[test]
    fn lines_are_those_of_the_file() {
        for line_end in ["\n", "\r\n"] {
            let text = format!("{NAMES}1,,,,,,,\n\n2,\"two\nlines\",,,,,,\n3,,,,,,,").replace('\n', line_end);
            let rows = rows(&text).unwrap();
            let lines: Vec<_> = rows.iter().map(|row| (row.line, row.cells.custom_id.as_str())).collect();
            assert_eq!(lines, [(2, "1"), (4, "2"), (6, "3")], "{line_end:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_name() {
        let rows = rows(&format!("\u{feff}{NAMES}T-1,,,,,,,")).unwrap();
        assert_eq!(rows.first().map(|row| (row.line, row.cells.custom_id.as_str())), Some((2, "T-1")));
    }

    #[test]
    fn columns_go_by_their_names() {
        let rows = rows("status,customId,surname,name,patronymic,phone,email,category\nWORK,T-1,,,,,,");
        let cells = rows.unwrap().pop().unwrap().cells;
        assert_eq!((cells.custom_id.as_str(), cells.status.as_deref()), ("T-1", Some("WORK")));
    }

    #[test]
    fn a_file_with_other_columns_is_no_file_of_employees() {
        assert!(rows("id,name\n1,x\n").is_err());
        assert!(read_text("T-1,too,few\n").is_err());
    }

    #[test]
    fn the_example_has_two_hundred_rows_in_five_categories() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/examples/employees.csv");
        let rows = read(Path::new(path)).unwrap();
        assert_eq!(rows.len(), 200);
        let categories: std::collections::BTreeSet<_> =
            rows.iter().filter_map(|row| row.cells.category.as_deref()).collect();
        assert_eq!(categories.len(), 5);
    }
}
