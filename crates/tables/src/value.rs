//! The values of a row.

use kopeck_domain::card_number::CardNumber;
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::ids::{CardId, EmployeeId};
use kopeck_domain::person::CustomId;
use kopeck_domain::{Invalid, Kopecks};
use uuid::Uuid;

use crate::column::Column;
use crate::table::{Cell, Row, Table};

/// What a row has in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'a> {
    /// The table has no such column.
    Absent,
    /// Nothing.
    Blank,
    /// A text that is not empty.
    Text(&'a str),
}

/// What is wrong with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The field that the column fills.
    pub field: &'static str,
    /// What is wrong, for programs.
    pub code: FaultCode,
    /// What is wrong, for people. It never holds the value.
    pub detail: String,
}

/// What is wrong with a value, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultCode {
    /// It breaks the rule of its field.
    Invalid,
    /// There is none.
    Missing,
    /// There are two.
    Ambiguous,
    /// It is a formula.
    Formula,
}

impl FaultCode {
    /// Its stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Missing => "missing",
            Self::Ambiguous => "ambiguous",
            Self::Formula => "formula",
        }
    }
}

impl Fault {
    /// A fault of the value in `column`.
    #[must_use]
    pub fn of(column: Column, code: FaultCode, detail: impl Into<String>) -> Self {
        Self { field: column.field(), code, detail: detail.into() }
    }
}

impl Table {
    /// What the row has in `column`.
    ///
    /// # Errors
    /// [`Fault`] for a formula, and for values in two columns that mean the same.
    pub fn value<'a>(&self, row: &'a Row, column: Column) -> Result<Value<'a>, Fault> {
        if !self.has(column) {
            return Ok(Value::Absent);
        }
        let mut found = Value::Blank;
        for (cell, own) in row.cells.iter().zip(&self.columns) {
            if *own != Some(column) || cell.is_empty() {
                continue;
            }
            if found != Value::Blank {
                return Err(Fault::of(column, FaultCode::Ambiguous, "stands in two columns"));
            }
            match cell {
                Cell::Text(text) => found = Value::Text(text),
                Cell::Formula => return Err(Fault::of(column, FaultCode::Formula, FORMULA)),
            }
        }
        Ok(found)
    }

    /// What the row has in `column`, as `parse` reads it; `None` for nothing, and if there is no such column.
    ///
    /// # Errors
    /// [`Fault`] of the value.
    pub fn parsed<T>(
        &self,
        row: &Row,
        column: Column,
        parse: impl FnOnce(&str) -> Result<T, Invalid>,
    ) -> Result<Option<T>, Fault> {
        let Value::Text(text) = self.value(row, column)? else { return Ok(None) };
        let faulty = |error: Invalid| Fault::of(column, FaultCode::Invalid, error.to_string());
        parse(text).map(Some).map_err(faulty)
    }

    /// Whom, or which card, the row names.
    ///
    /// # Errors
    /// [`Fault`] unless it does so exactly once, by a name that can be one.
    pub fn person(&self, row: &Row) -> Result<CardRef, Fault> {
        let mut named = None;
        for column in Self::PEOPLE {
            let Some(person) = self.parsed(row, column, |text| person(column, text))? else { continue };
            if named.replace(person).is_some() {
                return Err(Fault::of(column, FaultCode::Ambiguous, "is given beside another name"));
            }
        }
        let missing = || Fault::of(Column::CustomId, FaultCode::Missing, "nobody is named");
        named.ok_or_else(missing)
    }

    /// The amount of the row, whatever its unit; `None` if there is none.
    ///
    /// # Errors
    /// [`Fault`] if it is no amount, or if there are two.
    pub fn amount(&self, row: &Row) -> Result<Option<Kopecks>, Fault> {
        let whole = self.parsed(row, Column::Amount, kopecks)?;
        let decimal = self.parsed(row, Column::Roubles, roubles)?;
        match (whole, decimal) {
            (Some(_), Some(_)) => {
                Err(Fault::of(Column::Amount, FaultCode::Ambiguous, "stands there in kopecks and in roubles"))
            }
            (amount, None) | (None, amount) => Ok(amount),
        }
    }
}

const FORMULA: &str = "is a formula: the file has to hold the value itself";

fn person(column: Column, text: &str) -> Result<CardRef, Invalid> {
    let uuid = |text: &str| Uuid::try_parse(text).map_err(|_| Invalid::new("must be a uuid"));
    match column {
        Column::IdEmployee => Ok(CardRef::Employee(EmployeeId::from(uuid(text)?))),
        Column::IdCard => Ok(CardRef::Id(CardId::from(uuid(text)?))),
        Column::CustomIdCard => CardNumber::parse(text).map(CardRef::Number),
        _ => CustomId::parse(text).map(CardRef::CustomId),
    }
}

/// Reads an amount in kopecks: digits, above zero.
///
/// # Errors
/// [`Invalid`] with what is wrong with it.
pub fn kopecks(text: &str) -> Result<Kopecks, Invalid> {
    let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|number| is_whole && *number > 0);
    number.map(Kopecks::new).ok_or_else(|| Invalid::new("must be whole kopecks, above zero"))
}

/// Reads an amount in roubles, above zero: at most two decimals behind a point or a comma, and groups of three digits with a
/// blank between them, or none.
///
/// # Errors
/// [`Invalid`] with what is wrong with it.
pub fn roubles(text: &str) -> Result<Kopecks, Invalid> {
    let wrong = || Invalid::new("must be roubles with at most two decimals, above zero");
    let (whole, decimals) = match text.split_once(['.', ',']) {
        Some((whole, decimals)) if !decimals.is_empty() => (whole, decimals),
        Some(_) => return Err(wrong()),
        None => (text, ""),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = whole.split(char::is_whitespace).collect();
    let is_grouped = groups.iter().all(|group| digits(group) && !group.is_empty())
        && (groups.len() == 1
            || groups.first().is_some_and(|first| first.len() <= 3)
                && groups.iter().skip(1).all(|group| group.len() == 3));
    if !is_grouped || !digits(decimals) || decimals.len() > 2 {
        return Err(wrong());
    }
    let number: i64 = format!("{}{decimals:0<2}", groups.concat()).parse().map_err(|_| wrong())?;
    if number > 0 { Ok(Kopecks::new(number)) } else { Err(wrong()) }
}

#[cfg(test)]
mod tests;
