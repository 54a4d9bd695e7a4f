//! A statement as a spreadsheet: a sheet of entries, and one of totals.

use std::io::Write;

use kopeck_api::Statement;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ledger::EntryType;
use kopeck_port_store::BookedMovement;
use rust_xlsxwriter::XlsxError;

use crate::dto::{self, entry};
use crate::wording::{self, Language, Text};
use crate::workbook::{Cell, Column, SpreadsheetError, Workbook};

/// The columns of the entries. An amount of a billion roubles fits: in a narrower column the program rounds what it shows.
pub(super) const COLUMNS: [Column; 12] = [
    (Text::Number, 9),
    (Text::At, 17),
    (Text::Type, 19),
    (Text::Amount, 18),
    (Text::Balance, 18),
    (Text::Hold, 18),
    (Text::Kind, 23),
    (Text::Id, 38),
    (Text::Reference, 25),
    (Text::Available, 18),
    (Text::BalanceChange, 18),
    (Text::HoldChange, 18),
];
/// The widths of the columns of totals.
const WIDTHS: [u8; 10] = [20, 18, 18, 18, 18, 18, 18, 18, 18, 18];
const DAY_TITLES: [Text; 10] = [
    Text::Date,
    Text::Opening,
    Text::Closing,
    Text::Amount,
    Text::BalanceChange,
    Text::HoldChange,
    Text::OpeningHold,
    Text::OpeningAvailable,
    Text::ClosingHold,
    Text::ClosingAvailable,
];

/// Writes a spreadsheet. The rows go to a temporary file, so memory does not grow with them.
pub struct SpreadsheetWriter {
    book: Workbook,
    zone: Zone,
}

impl SpreadsheetWriter {
    /// A spreadsheet without entries in a language, whose times are those of `zone`.
    ///
    /// # Errors
    /// [`SpreadsheetError::File`] if there is no temporary file.
    pub fn new(zone: Zone, language: Language) -> Result<Self, SpreadsheetError> {
        let mut book = Workbook::new(language);
        book.begin_rows(Text::Entries, &COLUMNS)?;
        Ok(Self { book, zone })
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// [`SpreadsheetError`].
    pub fn add(&mut self, booked: &BookedMovement) -> Result<(), SpreadsheetError> {
        let (language, movement) = (self.book.language(), &booked.movement);
        let entry = entry::body(booked, self.zone)?;
        let id = entry.of.id.map(|id| id.to_string());
        self.book.row(&[
            Cell::Number(entry.seq),
            Cell::Time(dto::local(booked.booked_at, self.zone)),
            Cell::Text(wording::entry_type(EntryType::from(movement.kind())).of(language)),
            Cell::Amount(entry.amount),
            Cell::Amount(entry.balance),
            Cell::Amount(entry.hold),
            Cell::Text(wording::entry_source(movement.source()).of(language)),
            id.as_deref().into(),
            entry.of.reference.as_deref().into(),
            Cell::Amount(entry.available),
            Cell::Amount(entry.balance_change),
            Cell::Amount(entry.hold_change),
        ])?;
        Ok(())
    }

    /// Adds the totals, and writes the file.
    ///
    /// # Errors
    /// [`SpreadsheetError::File`] if it cannot be written.
    pub fn finish(mut self, statement: &Statement, file: impl Write + Send) -> Result<(), SpreadsheetError> {
        self.book.begin_blocks(Text::Totals, &WIDTHS)?;
        self.head(statement)?;
        self.totals(statement)?;
        self.days(statement)?;
        Ok(self.book.finish(file)?)
    }

    /// The month, and the balances at its ends.
    fn head(&mut self, statement: &Statement) -> Result<(), XlsxError> {
        let language = self.book.language();
        let complete = if statement.complete { Text::Yes } else { Text::NotOver };
        for (name, text) in [
            (Text::Month, &*statement.month),
            (Text::Currency, Text::Roubles.of(language)),
            (Text::Complete, complete.of(language)),
        ] {
            self.book.row(&[Cell::Text(name.of(language)), Cell::Text(text)])?;
        }
        self.book.titles(&[None, Some(Text::Balance), Some(Text::Hold), Some(Text::Available)])?;
        let Statement { opening, opening_hold, opening_available, .. } = *statement;
        let Statement { closing, closing_hold, closing_available, .. } = *statement;
        for (name, amounts) in [
            (Text::Opening, [opening, opening_hold, opening_available]),
            (Text::Closing, [closing, closing_hold, closing_available]),
        ] {
            let mut cells = vec![Cell::Text(name.of(language))];
            cells.extend(amounts.map(Cell::Amount));
            self.book.row(&cells)?;
        }
        Ok(())
    }

    fn totals(&mut self, statement: &Statement) -> Result<(), XlsxError> {
        let language = self.book.language();
        let titles = [Text::Type, Text::Count, Text::Amount, Text::BalanceChange, Text::HoldChange];
        self.book.titles(&titles.map(Some))?;
        for (entry_type, total) in EntryType::ALL.iter().zip(&statement.totals) {
            self.book.row(&[
                Cell::Text(wording::entry_type(*entry_type).of(language)),
                Cell::Number(i64::try_from(total.number).unwrap_or(i64::MAX)),
                Cell::Amount(total.amount),
                Cell::Amount(total.balance_change),
                Cell::Amount(total.hold_change),
            ])?;
        }
        Ok(())
    }

    fn days(&mut self, statement: &Statement) -> Result<(), XlsxError> {
        self.book.titles(&DAY_TITLES.map(Some))?;
        for day in &statement.days {
            let mut cells = vec![Cell::Day(day.date)];
            cells.extend([
                Cell::Amount(day.opening),
                Cell::Amount(day.closing),
                Cell::Amount(day.amount),
                Cell::Amount(day.balance_change),
                Cell::Amount(day.hold_change),
                Cell::Amount(day.opening_hold),
                Cell::Amount(day.opening_available),
                Cell::Amount(day.closing_hold),
                Cell::Amount(day.closing_available),
            ]);
            self.book.row(&cells)?;
        }
        Ok(())
    }
}
