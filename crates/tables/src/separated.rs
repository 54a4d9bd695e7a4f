//! CSV: values with commas, semicolons or tabs between them.

use csv::{ReaderBuilder, StringRecord};
use kopeck_domain::column::Column;

use crate::table::{Builder, Cell, Naming, Table};
use crate::{MAX_COLUMNS, TableError};

/// In the order in which they win if the names do not tell.
const SEPARATORS: [u8; 3] = *b";\t,";
/// The fault of a row with a quote that nothing closes: it has swallowed all rows behind it.
pub(crate) const UNCLOSED: &str = "has a quote that is not closed, up to the end of the file";

pub(crate) fn parse(text: &str, max_rows: usize, naming: Naming) -> Result<Table, TableError> {
    let mut builder = Builder::new(max_rows, naming);
    let mut reader = reader(text, separator(text));
    let mut record = StringRecord::new();
    let mut lines = Lines { text, counted: 0, line: 1 };
    // From UTF-8 in memory, with rows of any length, nothing can fail.
    while reader.read_record(&mut record).map_err(|_| TableError::Unknown)? {
        let end = usize::try_from(reader.position().byte()).unwrap_or(text.len()).min(text.len());
        let start = record.position().map_or(0, csv::Position::byte);
        let (line, raw) = lines.of(usize::try_from(start).unwrap_or(end), end);
        if record.len() > MAX_COLUMNS && record.iter().skip(MAX_COLUMNS).any(|cell| !cell.trim().is_empty()) {
            return Err(TableError::TooManyColumns);
        }
        let cells = record.iter().take(MAX_COLUMNS).map(Cell::of).collect();
        builder.add(line, cells, swallows(&record, raw).then_some(UNCLOSED))?;
    }
    builder.finish()
}

fn reader(text: &str, separator: u8) -> csv::Reader<&[u8]> {
    ReaderBuilder::new().delimiter(separator).has_headers(false).flexible(true).from_reader(text.as_bytes())
}

/// The separator by which the first row names most columns that are known; if it names none, the one that stands in it most.
fn separator(text: &str) -> u8 {
    let text = text.trim_start();
    let weight = |separator| {
        let mut record = StringRecord::new();
        let is_read = reader(text, separator).read_record(&mut record).unwrap_or(false);
        if !is_read {
            return (0, 0);
        }
        let known = record.iter().filter(|name| Column::named(name).is_some()).count();
        (known, if known == 0 { record.len() } else { 0 })
    };
    let [first, ..] = SEPARATORS;
    let best = |best: (u8, (usize, usize)), separator| {
        let weight = weight(separator);
        if weight > best.1 { (separator, weight) } else { best }
    };
    SEPARATORS.into_iter().fold((first, (0, 0)), best).0
}

/// Whether a quote was opened and not closed. Within a quoted value it is doubled, so that a whole row has an even number.
fn swallows(record: &StringRecord, raw: &str) -> bool {
    let has_lines = record.iter().any(|value| value.contains(['\n', '\r']));
    let is_odd = !raw.bytes().filter(|byte| *byte == b'"').count().is_multiple_of(2);
    is_odd && has_lines
}

/// Counts lines on the way through a text.
struct Lines<'a> {
    text: &'a str,
    counted: usize,
    line: u32,
}

impl<'a> Lines<'a> {
    /// The line on which the row between two places begins, which may have empty lines before it, and the row itself.
    fn of(&mut self, start: usize, end: usize) -> (u32, &'a str) {
        let row = self.text.get(start..end).unwrap_or_default();
        let row = row.trim_start_matches(['\n', '\r']);
        let begin = end.saturating_sub(row.len());
        let passed = self.text.get(self.counted..begin).unwrap_or_default();
        let ends = passed.replace("\r\n", "\n");
        let count = ends.bytes().filter(|byte| matches!(byte, b'\n' | b'\r')).count();
        self.line = self.line.saturating_add(u32::try_from(count).unwrap_or(u32::MAX));
        self.counted = begin.max(self.counted);
        (self.line, row)
    }
}
