//! The values of an item as they were given, in a list or in a file, and what they mean.
//!
//! A list gives texts and numbers, a file gives texts. Both are read by the same rules, again when the run is carried out.

pub use super::item::{Cell, CellValue};
use super::item::{Fault, FaultCode};
use super::status::RunKind;
use crate::Kopecks;
use crate::card_number::CardNumber;
use crate::card_ref::CardRef;
use crate::category::CategoryName;
pub use crate::column::Column;
use crate::employee::{Change, EmployeeStatus};
use crate::ids::CategoryId;
use crate::invalid::Invalid;
use crate::order::{LineDetails, OrderLine, first_top_up, virtual_count, virtual_type};
use crate::person::{CustomId, Email, PersonName, Phone};
use crate::replenishment::top_up_amount;

/// The fields of an employee that an item gives.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EmployeeRow {
    /// Family name.
    pub surname: Change<PersonName>,
    /// Given name.
    pub name: Change<PersonName>,
    /// Patronymic.
    pub patronymic: Change<PersonName>,
    /// Phone.
    pub phone: Change<Phone>,
    /// E-mail.
    pub email: Change<Email>,
    /// Status.
    pub status: Option<EmployeeStatus>,
    /// Category.
    pub category: Change<CategoryRef>,
}

/// A category as an item names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CategoryRef {
    /// By its name.
    Name(CategoryName),
    /// By its identifier.
    Id(CategoryId),
}

/// What an item means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// Top the card up by this amount.
    TopUp(CardRef, Kopecks),
    /// Take this amount from the card, or all that is on it.
    Withdraw(CardRef, Option<Kopecks>),
    /// Give the card a limit, which stands beside the cells.
    Limit(CardRef),
    /// Order these cards.
    Order(OrderLine),
    /// Add or update this employee.
    Employee(CustomId, Box<EmployeeRow>),
}

/// The cells of one item, by what they hold. Cells that hold nothing known are not among them.
pub struct Cells<'a>(Vec<(Column, &'a Cell)>);

impl<'a> Cells<'a> {
    /// These cells.
    #[must_use]
    pub fn new(cells: &'a [Cell]) -> Self {
        let known = |cell: &'a Cell| Some((Column::named(&cell.name)?, cell));
        Self(cells.iter().filter_map(known).collect())
    }

    /// What the item means.
    ///
    /// # Errors
    /// Its first [`Fault`].
    pub fn meaning(&self, kind: RunKind) -> Result<Meaning, Fault> {
        Ok(match kind {
            RunKind::TopUp => Meaning::TopUp(self.card()?, self.required_amount()?),
            RunKind::Withdraw => Meaning::Withdraw(self.card()?, self.amount()?),
            RunKind::Limit => Meaning::Limit(self.card()?),
            RunKind::VirtualOrder => Meaning::Order(self.line()?),
            RunKind::Employees => self.employee()?,
        })
    }

    /// The name that the item has for its person, or `customId`.
    #[must_use]
    pub fn person_field(&self) -> &'a str {
        self.people().next().map_or("customId", |(_, cell)| &cell.name)
    }

    /// The names of the item's person or card that are filled in.
    fn people(&self) -> impl Iterator<Item = (Column, &'a Cell)> {
        self.0.iter().copied().filter(|(column, cell)| column.is_person() && cell.is_filled())
    }

    /// The name that the item has for a column.
    #[must_use]
    pub fn name_of(&self, column: Column) -> Option<&'a str> {
        self.0.iter().find(|(own, _)| *own == column).map(|(_, cell)| cell.name.as_str())
    }

    /// The custom identifier that the item gives, if it is one.
    #[must_use]
    pub fn custom_id(&self) -> Option<CustomId> {
        self.value(Column::CustomId, CustomId::parse).ok()?.map(|(_, id)| id)
    }

    /// The card or person that the item names, by exactly one name.
    fn card(&self) -> Result<CardRef, Fault> {
        let mut named = self.people();
        let Some((column, first)) = named.next() else {
            let detail = "must be given, or idEmployee, idCard or customIdCard";
            return Err(Fault::new("customId", FaultCode::Missing, detail));
        };
        if let Some((_, second)) = named.next() {
            let detail = format!("names the person beside {}: only one may", first.name);
            return Err(Fault::new(&second.name, FaultCode::Ambiguous, detail));
        }
        let text = first.text()?;
        let id = |what| Invalid::new(format!("must be the identifier of {what}"));
        let read = match column {
            Column::IdEmployee => text.parse().map(CardRef::Employee).map_err(|_| id("an employee")),
            Column::IdCard => text.parse().map(CardRef::Id).map_err(|_| id("a card")),
            Column::CustomIdCard => CardNumber::parse(text).map(CardRef::Number),
            _ => CustomId::parse(text).map(CardRef::CustomId),
        };
        read.map_err(|invalid| first.invalid(&invalid))
    }

    fn line(&self) -> Result<OrderLine, Fault> {
        let card_type = self.required(Column::TypeCard, "typeCard", virtual_type)?;
        let count = self.required(Column::NumberCards, "numberCards", |text| virtual_count(whole(text)?))?;
        let invalid = |invalid: Invalid| Fault::new("amount", FaultCode::Invalid, invalid.detail());
        let amount = first_top_up(self.required_amount()?.get()).map_err(invalid)?;
        Ok(OrderLine { card_type, count, details: LineDetails::Virtual { amount } })
    }

    fn employee(&self) -> Result<Meaning, Fault> {
        let custom_id = self.required(Column::CustomId, "customId", CustomId::parse)?;
        let by_name =
            self.change(Column::Category, |text| CategoryName::parse(text).map(CategoryRef::Name))?;
        let by_id = self.change(Column::IdCategory, |text| {
            let id = text.parse().map_err(|_| Invalid::new("must be the identifier of a category"))?;
            Ok(CategoryRef::Id(id))
        })?;
        let ((Change::Keep, category) | (category, Change::Keep)) = (by_name, by_id) else {
            let detail = "is given beside category: only one may";
            return Err(Fault::new("idCategory", FaultCode::Ambiguous, detail));
        };
        let status = self.change(Column::Status, str::parse::<EmployeeStatus>)?;
        let status = match status {
            Change::Keep => None,
            Change::Set(status) => Some(status),
            Change::Clear => {
                let name = self.cell(Column::Status)?.map_or("status", |cell| &cell.name);
                return Err(Fault::new(name, FaultCode::Missing, "cannot be cleared"));
            }
        };
        let name = |column| self.change(column, PersonName::parse);
        let row = EmployeeRow {
            surname: name(Column::Surname)?,
            name: name(Column::Name)?,
            patronymic: name(Column::Patronymic)?,
            phone: self.change(Column::Phone, Phone::parse)?,
            email: self.change(Column::Email, Email::parse)?,
            status,
            category,
        };
        Ok(Meaning::Employee(custom_id, Box::new(row)))
    }

    /// The amount, in whichever column.
    fn amount(&self) -> Result<Option<Kopecks>, Fault> {
        let kopecks = self.value(Column::Amount, |text| top_up_amount(whole(text)?));
        let roubles = self.value(Column::Roubles, |text| top_up_amount(roubles(text)?));
        let of_amount = |fault: Fault| Fault { field: "amount".to_owned(), ..fault };
        match (kopecks.map_err(of_amount)?, roubles.map_err(of_amount)?) {
            (Some(_), Some(_)) => {
                let detail = "is given in kopecks and in roubles: only one may";
                Err(Fault::new("amount", FaultCode::Ambiguous, detail))
            }
            (kopecks, roubles) => Ok(kopecks.or(roubles).map(|(_, amount)| amount)),
        }
    }

    fn required_amount(&self) -> Result<Kopecks, Fault> {
        self.amount()?.ok_or_else(|| missing("amount"))
    }

    fn required<T>(
        &self,
        column: Column,
        field: &str,
        parse: impl Fn(&str) -> Result<T, Invalid>,
    ) -> Result<T, Fault> {
        match self.value(column, parse)? {
            Some((_, value)) => Ok(value),
            None => Err(missing(self.cell(column)?.map_or(field, |cell| &cell.name))),
        }
    }

    /// What the item does to a field of an employee: an empty cell clears it.
    fn change<T>(
        &self,
        column: Column,
        parse: impl Fn(&str) -> Result<T, Invalid>,
    ) -> Result<Change<T>, Fault> {
        match self.cell(column)? {
            None => Ok(Change::Keep),
            Some(_) => Ok(self.value(column, parse)?.map_or(Change::Clear, |(_, value)| Change::Set(value))),
        }
    }

    /// The value of a column; `None` if it is not there or empty.
    fn value<T>(
        &self,
        column: Column,
        parse: impl Fn(&str) -> Result<T, Invalid>,
    ) -> Result<Option<(&'a Cell, T)>, Fault> {
        match self.cell(column)? {
            Some(cell) if cell.value != CellValue::Blank => {
                let value = parse(cell.text()?).map_err(|invalid| cell.invalid(&invalid))?;
                Ok(Some((cell, value)))
            }
            _ => Ok(None),
        }
    }

    /// The cell of a column: of several only one may be filled in.
    fn cell(&self, column: Column) -> Result<Option<&'a Cell>, Fault> {
        let cells = || self.0.iter().filter(|(own, _)| *own == column).map(|(_, cell)| *cell);
        let mut filled = cells().filter(|cell| cell.is_filled());
        let first = filled.next();
        match filled.next() {
            Some(second) => Err(Fault::new(&second.name, FaultCode::Ambiguous, "is given twice")),
            None => Ok(first.or_else(|| cells().next())),
        }
    }
}

impl Cell {
    fn is_filled(&self) -> bool {
        self.value != CellValue::Blank
    }

    fn text(&self) -> Result<&str, Fault> {
        match &self.value {
            CellValue::Text(text) => Ok(text),
            CellValue::Blank => Ok(""),
            CellValue::Formula => {
                let detail = "is a formula: give its value";
                Err(Fault::new(&self.name, FaultCode::Formula, detail))
            }
        }
    }

    fn invalid(&self, invalid: &Invalid) -> Fault {
        Fault::new(&self.name, FaultCode::Invalid, invalid.detail())
    }
}

fn missing(field: &str) -> Fault {
    Fault::new(field, FaultCode::Missing, "must be given")
}

/// A whole number in digits.
fn whole(text: &str) -> Result<i64, Invalid> {
    let is_whole = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_whole { text.parse().ok() } else { None };
    number.ok_or_else(|| Invalid::new("must be a whole number in digits"))
}

/// Reads roubles as kopecks: at most two decimals behind a point or a comma, and blanks between groups of three digits, or
/// none.
///
/// # Errors
/// [`Invalid`] with what is wrong with them.
pub fn roubles(text: &str) -> Result<i64, Invalid> {
    let invalid = || Invalid::new("must be roubles with at most two decimals, such as 1500.00");
    let (whole, decimals) = match text.split_once(['.', ',']) {
        Some((_, "")) => return Err(invalid()),
        Some(parts) => parts,
        None => (text, ""),
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = whole.split(char::is_whitespace).collect();
    let is_grouped = match groups.as_slice() {
        [first] => !first.is_empty(),
        [first, rest @ ..] => (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3),
        [] => false,
    };
    if !is_grouped
        || !groups.iter().all(|group| is_digits(group))
        || !is_digits(decimals)
        || decimals.len() > 2
    {
        return Err(invalid());
    }
    format!("{}{decimals:0<2}", groups.concat()).parse().map_err(|_| invalid())
}

#[cfg(test)]
mod tests;
