//! Files that commands write: to standard output or to a path, and CSV in particular.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use csv::Writer;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output::Output;
use crate::private_file;

/// Where a file goes.
pub(crate) enum Target {
    Standard(io::Stdout),
    File(File, PathBuf),
}

impl Target {
    /// Standard output, or the file at `path`, which is written anew; a new one is its owner's only.
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

/// Writes records as rows of CSV below the names of their columns.
pub(crate) struct RowWriter<'a> {
    csv: Writer<Target>,
    columns: &'a [(&'a str, &'a str)],
}

impl<'a> RowWriter<'a> {
    /// Begins a file with these columns: the name of each, and where its values are in a record.
    pub(crate) fn open(path: Option<PathBuf>, columns: &'a [(&'a str, &'a str)]) -> Result<Self, Failure> {
        let mut csv = Writer::from_writer(Target::open(path)?);
        csv.write_record(columns.iter().map(|(name, _)| name)).map_err(failed)?;
        Ok(Self { csv, columns })
    }

    /// Writes a record.
    pub(crate) fn write(&mut self, record: &Value) -> Result<(), Failure> {
        let cells = self.columns.iter().map(|(_, pointer)| cell(record.pointer(pointer)));
        self.csv.write_record(cells).map_err(failed)
    }

    /// Ends the file, and says what was written.
    pub(crate) fn close(self, done: &str) -> Result<Output, Failure> {
        self.csv.into_inner().map_err(failed)?.close(done)
    }
}

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::local(format!("the file: {error}"))
}

/// A value as a cell. A text that a spreadsheet could take for a formula begins with an apostrophe.
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

    use super::*;

    #[test]
    fn records_become_rows_without_formulas() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let mut rows =
            RowWriter::open(Some(path.clone()), &[("a", "/a"), ("b", "/deep/b"), ("c", "/c")]).unwrap();
        rows.write(&json!({ "a": "=1+1", "deep": { "b": -5 }, "c": null })).unwrap();
        rows.write(&json!({ "a": "x, y", "deep": {} })).unwrap();
        rows.close("rows: 2").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b,c\n'=1+1,-5,\n\"x, y\",,\n");
        assert_eq!(mode(), 0o600);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        RowWriter::open(Some(path.clone()), &[("a", "/a")]).unwrap().close("rows: 0").unwrap();
        assert_eq!(mode(), 0o640, "its owner shares it");
    }
}
