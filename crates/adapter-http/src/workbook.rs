//! A spreadsheet for people, which is written row by row in memory that does not grow with it.

use std::io::Write;

use kopeck_port_store::StoreError;
use rust_xlsxwriter::{ExcelDateTime, Format, FormatAlign, Workbook as XlsxWorkbook, Worksheet, XlsxError};
use time::{Date, PrimitiveDateTime};

use crate::wording::{Language, Text};

/// The most rows of a sheet, of which one has the names of the columns.
const MOST_ROWS: u32 = 1_048_576;
/// Greater amounts of kopecks are texts: a cell holds a floating-point number.
const GREATEST: u64 = 1 << 53;

/// Why there is no spreadsheet.
#[derive(Debug, thiserror::Error)]
pub enum SpreadsheetError {
    /// The file could not be written.
    #[error("the spreadsheet cannot be written: {0}")]
    File(#[from] XlsxError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A column of a sheet: its name and its width in characters.
pub(crate) type Column = (Text, u8);

/// A value of a cell.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Cell<'a> {
    /// A text, never a formula.
    Text(&'a str),
    /// A whole number.
    Number(i64),
    /// An amount in kopecks, shown in roubles.
    Amount(i64),
    /// A day.
    Day(Date),
    /// A time of the service's zone.
    Time(PrimitiveDateTime),
    /// Nothing.
    Empty,
}

impl<'a> From<Option<&'a str>> for Cell<'a> {
    fn from(text: Option<&'a str>) -> Self {
        text.map_or(Self::Empty, Self::Text)
    }
}

/// The formats of cells.
struct Formats {
    bold: Format,
    head: Format,
    amount: Format,
    bold_amount: Format,
    text: Format,
    number: Format,
    bold_number: Format,
    day: Format,
    time: Format,
}

/// A spreadsheet that is being written.
pub(crate) struct Workbook {
    book: XlsxWorkbook,
    language: Language,
    formats: Formats,
    /// The name and columns of the sheet that is being written.
    current: (Text, &'static [Column]),
    /// How many sheets of this name there are: one holds a million rows.
    parts: u32,
    /// The next row.
    row: u32,
}

impl Workbook {
    /// A spreadsheet without sheets.
    pub(crate) fn new(language: Language) -> Self {
        // Beside numbers at the right end of their cells a text needs a gap.
        let text = Format::new().set_align(FormatAlign::Left).set_indent(1);
        let with = |form| text.clone().set_num_format(form);
        let amount = Format::new().set_num_format("#,##0.00");
        let number = Format::new().set_num_format("0");
        let bold = Format::new().set_bold();
        let formats = Formats {
            head: bold
                .clone()
                .set_text_wrap()
                .set_align(FormatAlign::Center)
                .set_align(FormatAlign::VerticalCenter),
            bold: bold.set_align(FormatAlign::Left).set_indent(1),
            bold_amount: amount.clone().set_bold(),
            amount,
            bold_number: number.clone().set_bold(),
            number,
            day: with("dd.mm.yyyy"),
            time: with("dd.mm.yyyy hh:mm"),
            text,
        };
        let current = (Text::Entries, &[][..]);
        Self { book: XlsxWorkbook::new(), language, formats, current, parts: 0, row: 0 }
    }

    pub(crate) const fn language(&self) -> Language {
        self.language
    }

    /// Begins a sheet of rows under a frozen row of names.
    pub(crate) fn begin_rows(&mut self, name: Text, columns: &'static [Column]) -> Result<(), XlsxError> {
        (self.current, self.parts) = ((name, columns), 0);
        self.begin_part()
    }

    /// Begins a sheet of rows under a frozen row of these names, which are a file's own.
    pub(crate) fn begin_named(&mut self, sheet: &str, names: &[&str]) -> Result<(), XlsxError> {
        let sheet =
            self.book.add_worksheet_with_constant_memory()?.set_name(sheet)?.set_freeze_panes(1, 0)?;
        for (place, name) in (0..).zip(names) {
            sheet.set_column_width(place, NAMED_WIDTH)?;
            sheet.write_string_with_format(0, place, *name, &self.formats.head)?;
        }
        self.row = 1;
        Ok(())
    }

    fn begin_part(&mut self) -> Result<(), XlsxError> {
        let (name, columns) = self.current;
        self.parts += 1;
        let name = match self.parts {
            1 => name.of(self.language).to_owned(),
            part => format!("{} {part}", name.of(self.language)),
        };
        // Before the rows: they are written as they come.
        let sheet = self.book.add_worksheet_with_constant_memory()?;
        sheet.set_name(name)?.set_freeze_panes(1, 0)?;
        sheet.set_landscape().set_paper_size(A4).set_print_fit_to_pages(1, 0).set_repeat_rows(0, 0)?;
        sheet.set_row_height(0, HEAD_HEIGHT)?;
        for (place, (title, width)) in (0..).zip(columns) {
            sheet.set_column_width(place, *width)?;
            sheet.write_string_with_format(0, place, title.of(self.language), &self.formats.head)?;
        }
        self.row = 1;
        Ok(())
    }

    /// Begins a sheet of blocks that differ in their columns, of these widths.
    pub(crate) fn begin_blocks(&mut self, name: Text, widths: &[u8]) -> Result<(), XlsxError> {
        (self.current, self.parts) = ((name, &[][..]), 1);
        let sheet = self.book.add_worksheet_with_constant_memory()?;
        sheet.set_name(name.of(self.language))?;
        sheet.set_landscape().set_paper_size(A4).set_print_fit_to_pages(1, 1);
        for (place, width) in (0..).zip(widths) {
            sheet.set_column_width(place, *width)?;
        }
        self.row = 0;
        Ok(())
    }

    /// Adds a row, in a further sheet if this one is full.
    pub(crate) fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), XlsxError> {
        if self.row >= MOST_ROWS {
            self.begin_part()?;
        }
        self.write(cells, false)
    }

    /// Adds a row in bold type.
    pub(crate) fn bold_row(&mut self, cells: &[Cell<'_>]) -> Result<(), XlsxError> {
        if self.row >= MOST_ROWS {
            self.begin_part()?;
        }
        self.write(cells, true)
    }

    /// Adds the names of the columns of a block, after an empty row.
    pub(crate) fn titles(&mut self, titles: &[Option<Text>]) -> Result<(), XlsxError> {
        self.row += 1;
        let last = self.book.worksheets().len().saturating_sub(1);
        let sheet = self.book.worksheet_from_index(last)?;
        sheet.set_row_height(self.row, HEAD_HEIGHT)?;
        for (place, title) in (0..).zip(titles) {
            if let Some(title) = title {
                sheet.write_string_with_format(
                    self.row,
                    place,
                    title.of(self.language),
                    &self.formats.head,
                )?;
            }
        }
        self.row += 1;
        Ok(())
    }

    fn write(&mut self, cells: &[Cell<'_>], is_bold: bool) -> Result<(), XlsxError> {
        let last = self.book.worksheets().len().saturating_sub(1);
        let (row, formats) = (self.row, &self.formats);
        let sheet = self.book.worksheet_from_index(last)?;
        for (place, cell) in (0..).zip(cells) {
            match cell {
                Cell::Text(text) if is_bold => {
                    sheet.write_string_with_format(row, place, *text, &formats.bold)?;
                }
                Cell::Text(text) => {
                    sheet.write_string_with_format(row, place, *text, &formats.text)?;
                }
                Cell::Number(number) => {
                    let format = if is_bold { &formats.bold_number } else { &formats.number };
                    write_number(sheet, (row, place), *number, format)?;
                }
                Cell::Amount(kopecks) => {
                    let format = if is_bold { &formats.bold_amount } else { &formats.amount };
                    write_amount(sheet, (row, place), *kopecks, self.language, format)?;
                }
                Cell::Day(day) => {
                    sheet.write_datetime_with_format(row, place, excel_day(*day)?, &formats.day)?;
                }
                Cell::Time(at) => {
                    let time = excel_day(at.date())?.and_hms(at.hour().into(), at.minute(), 0)?;
                    sheet.write_datetime_with_format(row, place, time, &formats.time)?;
                }
                Cell::Empty => {}
            }
        }
        self.row += 1;
        Ok(())
    }

    /// Writes the file.
    pub(crate) fn finish(mut self, file: impl Write + Send) -> Result<(), XlsxError> {
        self.book.save_to_writer(file)?;
        Ok(())
    }
}

/// The height of a row of names, in points: two lines.
const HEAD_HEIGHT: u8 = 30;
/// The width of a column whose content is not known, in characters.
const NAMED_WIDTH: u8 = 20;
/// The paper size A4, by the number that spreadsheets have for it.
const A4: u8 = 9;

fn write_number(
    sheet: &mut Worksheet,
    (row, place): (u32, u16),
    number: i64,
    format: &Format,
) -> Result<(), XlsxError> {
    #[expect(clippy::cast_precision_loss, reason = "those that would lose digits are written as texts")]
    if number.unsigned_abs() <= GREATEST {
        sheet.write_number_with_format(row, place, number as f64, format)?;
    } else {
        sheet.write_string(row, place, number.to_string())?;
    }
    Ok(())
}

fn write_amount(
    sheet: &mut Worksheet,
    (row, place): (u32, u16),
    kopecks: i64,
    language: Language,
    format: &Format,
) -> Result<(), XlsxError> {
    #[expect(clippy::cast_precision_loss, reason = "those that would lose kopecks are written as texts")]
    if kopecks.unsigned_abs() <= GREATEST {
        // The number nearest to the roubles: it has 15 digits at least, so both decimals are right.
        sheet.write_number_with_format(row, place, kopecks as f64 / 100.0, format)?;
    } else {
        sheet.write_string(row, place, language.roubles(kopecks))?;
    }
    Ok(())
}

fn excel_day(day: Date) -> Result<ExcelDateTime, XlsxError> {
    ExcelDateTime::from_ymd(u16::try_from(day.year()).unwrap_or(u16::MAX), day.month().into(), day.day())
}
