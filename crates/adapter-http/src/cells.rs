//! Cells of CSV files.

use std::borrow::Cow;

use kopeck_tables::no_formula;
use time::PrimitiveDateTime;

use crate::wording::Language;

/// A text as a cell of a CSV file with commas, by RFC 4180.
pub(crate) fn csv_cell(text: &str) -> Cow<'_, str> {
    quoted(no_formula(text), ',')
}

fn quoted(text: Cow<'_, str>, separator: char) -> Cow<'_, str> {
    if text.contains([separator, '"', '\r', '\n']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}

/// A CSV file that a spreadsheet program takes apart by itself: separator and decimals are those of the language, and a mark
/// says that it is UTF-8 where the separator does not.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExcelCsv {
    pub(crate) language: Language,
}

impl ExcelCsv {
    /// What a file begins with.
    pub(crate) const fn mark(self) -> &'static str {
        match self.language {
            Language::Russian => "\u{feff}",
            Language::English => "",
        }
    }

    /// A line of cells that [`Self::text`] or [`Language::roubles`] made.
    pub(crate) fn line<T: AsRef<str>>(self, cells: &[T]) -> String {
        let mut line = String::new();
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                line.push(self.separator());
            }
            line.push_str(&quoted(Cow::Borrowed(cell.as_ref()), self.separator()));
        }
        line.push_str("\r\n");
        line
    }

    /// A text that is no formula.
    pub(crate) fn text(text: &str) -> String {
        no_formula(text).into_owned()
    }

    /// A time in the form that spreadsheet programs in this language read as one.
    pub(crate) fn time(self, at: PrimitiveDateTime) -> String {
        let (year, month, day) = (at.year(), u8::from(at.month()), at.day());
        let (hour, minute) = (at.hour(), at.minute());
        match self.language {
            Language::Russian => format!("{day:02}.{month:02}.{year:04} {hour:02}:{minute:02}"),
            Language::English => format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}"),
        }
    }

    const fn separator(self) -> char {
        match self.language {
            Language::Russian => ';',
            Language::English => ',',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_within_a_cell_are_quoted() {
        let line = |language| ExcelCsv { language }.line(&["1,5", "a;b", "\"c\""]);
        assert_eq!(line(Language::Russian), "1,5;\"a;b\";\"\"\"c\"\"\"\r\n");
        assert_eq!(line(Language::English), "\"1,5\",a;b,\"\"\"c\"\"\"\r\n");
        assert_eq!(csv_cell("=a,b"), "\"'=a,b\"");
    }
}
