//! Tables from JSON.

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde_json::Value;

use crate::money;
use crate::terminal::clean;

/// A column of a list, or a line of a record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// The place of the value in a record, as a JSON pointer.
    pub(crate) pointer: &'static str,
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Number,
    /// Kopecks, shown as roubles.
    Money,
    Flag,
}

pub(crate) const fn text(title: &'static str, pointer: &'static str) -> Column {
    Column { title, pointer, form: Form::Text }
}

pub(crate) const fn number(title: &'static str, pointer: &'static str) -> Column {
    Column { title, pointer, form: Form::Number }
}

/// A column of kopecks, shown as roubles and exported as they are.
pub(crate) const fn money(title: &'static str, pointer: &'static str) -> Column {
    Column { title, pointer, form: Form::Money }
}

/// A column of yes and no.
pub(crate) const fn flag(title: &'static str, pointer: &'static str) -> Column {
    Column { title, pointer, form: Form::Flag }
}

/// Records below one another.
pub(crate) fn list(records: &[Value], columns: &[Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header(columns.iter().map(|column| column.title));
    for record in records {
        table.add_row(columns.iter().map(|column| column.cell(record)));
    }
    format!("{table}\n")
}

/// One record, its values below one another.
pub(crate) fn record(record: &Value, columns: &[Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    for column in columns {
        table.add_row([Cell::new(column.title), column.cell(record).set_alignment(CellAlignment::Left)]);
    }
    format!("{table}\n")
}

impl Column {
    pub(crate) fn is_money(&self) -> bool {
        self.form == Form::Money
    }

    fn cell(&self, record: &Value) -> Cell {
        let shown = match record.pointer(self.pointer) {
            None | Some(Value::Null) => String::new(),
            Some(Value::Number(kopecks)) if self.form == Form::Money => {
                kopecks.as_i64().map_or_else(|| kopecks.to_string(), money::shown)
            }
            Some(Value::Bool(flag)) if self.form == Form::Flag => if *flag { "yes" } else { "no" }.to_owned(),
            Some(Value::String(text)) => clean(text),
            Some(other) => clean(&other.to_string()),
        };
        let cell = Cell::new(shown);
        match self.form {
            Form::Number | Form::Money => cell.set_alignment(CellAlignment::Right),
            Form::Text | Form::Flag => cell,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_found_and_shown_by_their_form() {
        let columns =
            [text("a", "/a"), money("b", "/in/b"), flag("c", "/c"), number("d", "/d"), text("e", "/e")];
        let shown =
            list(&[json!({"a": "x\u{1b}[1m", "in": {"b": 123_450}, "c": true, "d": 7, "e": null})], &columns);
        assert!(shown.contains("x\\u001b[1m") && shown.contains("1 234.50"), "{shown}");
        assert!(shown.contains("yes") && shown.contains('7') && !shown.contains("null"), "{shown}");
        assert!(record(&json!({"c": false}), &columns).contains("no"));
    }
}
