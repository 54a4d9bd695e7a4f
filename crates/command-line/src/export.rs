//! Files that commands write: to standard output or to a path, and tables as CSV or XLSX in particular.

mod sheet;

use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use csv::Writer;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;
use crate::private_file;
use crate::table::Column;
use crate::terminal;
use sheet::Sheet;

/// The target of a file.
pub(crate) enum Target {
    Standard(io::Stdout),
    File(File, PathBuf),
}

impl Target {
    /// Standard output, or the file at `path`, which is overwritten; a new one is private to its owner.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self, Failure> {
        let Some(path) = path else { return Ok(Self::Standard(io::stdout())) };
        let file = private_file::create(&path);
        let file = file.map_err(|error| Failure::local(format!("{}: {error}", path.display())))?;
        Ok(Self::File(file, path))
    }

    /// Ends the output, and says which file was written.
    pub(crate) fn close(mut self, done: &str) -> Result<Output, Failure> {
        self.flush().map_err(|error| Failure::local(format!("the file: {error}")))?;
        Ok(match self {
            Self::Standard(_) => Output::nothing(),
            Self::File(_, path) => {
                let path = path.display().to_string();
                Output::new(json!({ "file": path, "about": done }), format!("{path}: {done}\n"))
            }
        })
    }

    fn is_terminal(&self) -> bool {
        matches!(self, Self::Standard(out) if out.is_terminal())
    }
}

/// Refuses to show a spreadsheet on a screen.
pub(crate) fn check_spreadsheet(path: Option<&Path>) -> Result<(), Failure> {
    check_place(path, io::stdout().is_terminal())
}

fn check_place(path: Option<&Path>, is_terminal: bool) -> Result<(), Failure> {
    if is_terminal && path.is_none() {
        return Err(Failure::usage("a spreadsheet cannot be shown on a terminal: name a file by --output"));
    }
    Ok(())
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::File(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::File(file, _) => file.flush(),
        }
    }
}

/// Target and format of a table.
#[derive(Debug, Clone, Args)]
pub(crate) struct ExportArgs {
    /// Text with commas, or a spreadsheet.
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Write to this file in place of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum TableFormat {
    /// Comma-separated values in UTF-8.
    #[default]
    Csv,
    /// A spreadsheet.
    Xlsx,
}

/// Writes records as rows below the names of their columns.
pub(crate) struct RowWriter<'a> {
    table: Table,
    columns: &'a [Column],
}

enum Table {
    Csv { writer: Box<Writer<Target>>, to_terminal: bool },
    Xlsx { sheet: Box<Sheet>, target: Target },
}

impl<'a> RowWriter<'a> {
    /// Begins a table with these columns.
    pub(crate) fn open(args: ExportArgs, columns: &'a [Column]) -> Result<Self, Failure> {
        let table = match args.format {
            TableFormat::Csv => {
                let target = Target::open(args.output)?;
                let to_terminal = target.is_terminal();
                let mut writer = Box::new(Writer::from_writer(target));
                writer.write_record(columns.iter().map(|column| column.title)).map_err(failed)?;
                Table::Csv { writer, to_terminal }
            }
            TableFormat::Xlsx => {
                check_spreadsheet(args.output.as_deref())?;
                let target = Target::open(args.output)?;
                Table::Xlsx { sheet: Box::new(Sheet::new(columns).map_err(failed)?), target }
            }
        };
        Ok(Self { table, columns })
    }

    /// Writes a record.
    pub(crate) fn write(&mut self, record: &Value) -> Result<(), Failure> {
        let values = self.columns.iter().map(|column| record.pointer(column.pointer));
        match &mut self.table {
            Table::Csv { writer, to_terminal } => {
                let shown = |text: String| if *to_terminal { terminal::clean(&text) } else { text };
                writer.write_record(values.map(|value| shown(cell(value)))).map_err(failed)
            }
            Table::Xlsx { sheet, .. } => sheet.add(self.columns, values).map_err(failed),
        }
    }

    /// Ends the file, and says what was written.
    pub(crate) fn close(self, done: &str) -> Result<Output, Failure> {
        match self.table {
            Table::Csv { writer, .. } => writer.into_inner().map_err(failed)?.close(done),
            Table::Xlsx { sheet, mut target } => {
                sheet.finish(&mut target).map_err(failed)?;
                target.close(done)
            }
        }
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::local(format!("the file: {error}"))
}

/// A value as a cell of CSV. A text that a spreadsheet could take for a formula begins with an apostrophe.
fn cell(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) if text.starts_with(['=', '+', '-', '@', '\t', '\r']) => format!("'{text}"),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use calamine::{Data, Reader as _, Xlsx, open_workbook};

    use super::*;
    use crate::table::{money, text};

    const COLUMNS: [Column; 3] = [text("a", "/a"), money("b", "/deep/b"), text("c", "/c")];

    fn exported(format: TableFormat, path: &std::path::Path, records: &[Value]) {
        let args = ExportArgs { format, output: Some(path.to_owned()) };
        let mut rows = RowWriter::open(args, &COLUMNS).unwrap();
        records.iter().for_each(|record| rows.write(record).unwrap());
        rows.close("rows: 2").unwrap();
    }

    #[test]
    fn records_become_rows_without_formulas() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let records =
            [json!({ "a": "=1+1", "deep": { "b": -5 }, "c": null }), json!({ "a": "x, y", "deep": {} })];
        exported(TableFormat::Csv, &path, &records);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b,c\n'=1+1,-5,\n\"x, y\",,\n");
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        exported(TableFormat::Csv, &path, &records[..0]);
        assert_eq!(mode(), 0o640, "its owner shares it");
    }

    #[test]
    fn a_spreadsheet_has_texts_as_they_are_and_numbers_with_all_digits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.xlsx");
        let number = 9_870_000_000_123_u64;
        let records = [
            json!({ "a": "-1", "deep": { "b": 123_450 }, "c": number }),
            json!({ "a": "=1+1", "deep": {}, "c": true }),
        ];
        exported(TableFormat::Xlsx, &path, &records);
        let mut book: Xlsx<_> = open_workbook(&path).unwrap();
        let sheet = book.worksheet_range("Export").unwrap();
        let rows: Vec<&[Data]> = sheet.rows().collect();
        let text = |text: &str| Data::String(text.to_owned());
        assert_eq!(rows[0], [text("a"), text("b (kopecks)"), text("c")]);
        assert_eq!(rows[1], [text("-1"), Data::Float(123_450.0), Data::Float(9_870_000_000_123.0)]);
        assert_eq!(rows[2], [text("=1+1"), Data::Empty, text("true")]);
    }

    #[test]
    fn a_spreadsheet_is_not_written_on_a_screen() {
        let path = Some(Path::new("a.xlsx"));
        assert!(check_place(None, true).is_err());
        assert!(check_place(path, true).is_ok() && check_place(None, false).is_ok());
    }
}
