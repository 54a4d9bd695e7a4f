//! Which entries of the balance to list, and which transactions to read.

use kopeck_api::wire::WireText as _;
use kopeck_api::{EntryType, TransactionType};
use time::Date;
use uuid::Uuid;

use crate::request::Request;

/// Which entries of the balance to list. The default lists all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Only entries of this day and later.
    pub from: Option<Date>,
    /// Only entries of this day and earlier.
    pub to: Option<Date>,
    /// Only entries of this type.
    pub entry_type: Option<EntryType>,
}

impl EntryFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("from", self.from.map(|day| day.text()))
            .query("to", self.to.map(|day| day.text()))
            .query("type", self.entry_type.as_ref().map(EntryType::as_str))
    }
}

/// Which employees a report has. The default shows all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportFilter {
    /// Only employees of this category.
    pub id_category: Option<Uuid>,
    /// Only whom runs of this programme gave something; `given` is only that.
    pub id_programme: Option<Uuid>,
}

impl ReportFilter {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        let text = |id: Option<Uuid>| id.map(|id| id.to_string());
        request.query("idCategory", text(self.id_category)).query("idProgramme", text(self.id_programme))
    }
}

/// Which transactions of all cards to read. The default reads the first hundred.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransactionQuery {
    /// The number after which to begin: `next` of the last response.
    pub after: i64,
    /// The most transactions, 1 to 1,000. Default: 100.
    pub limit: Option<u64>,
    /// Only transactions of this day or later.
    pub from: Option<Date>,
    /// Only transactions of this day or earlier.
    pub to: Option<Date>,
    /// Only transactions of this type.
    pub transaction_type: Option<TransactionType>,
    /// Only transactions of this card.
    pub id_card: Option<Uuid>,
    /// Only transactions of the cards of this employee.
    pub id_employee: Option<Uuid>,
}

impl TransactionQuery {
    pub(crate) fn add_to(&self, request: Request) -> Request {
        request
            .query("after", Some(self.after))
            .query("limit", self.limit)
            .query("from", self.from.map(|day| day.text()))
            .query("to", self.to.map(|day| day.text()))
            .query("type", self.transaction_type.as_ref().map(TransactionType::as_str))
            .query("idCard", self.id_card.map(|id| id.to_string()))
            .query("idEmployee", self.id_employee.map(|id| id.to_string()))
    }
}

/// The form of a statement's or a report's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileFormat {
    /// Rows as CSV, in kopecks, for programs.
    Csv,
    /// Rows and totals as a spreadsheet, in roubles, for people.
    Xlsx,
    /// Rows as CSV that a spreadsheet program takes apart by itself, in roubles, for people.
    ExcelCsv,
    /// 1CClientBankExchange in Windows-1251, of a statement alone.
    OneC,
    /// ISO 20022 camt.053.001.08, of a statement alone.
    Camt,
}

impl FileFormat {
    pub(crate) const fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::ExcelCsv => "text/csv; profile=excel",
            Self::OneC => "text/plain; profile=1c",
            Self::Camt => "application/xml; profile=camt.053",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        }
    }
}
