//! Movements of the partner's balance and of its cards.

use std::collections::VecDeque;
use std::time::Duration;

use kopeck_api::{
    BalanceEntries, BalanceEntry, Language, Paging, PartnerTransaction, Report, ReportClosed, Statement,
    TransactionFeed, operations,
};
use serde::Serialize;

use crate::client::Client;
use crate::error::Error;
use crate::model::statement::{EntryFilter, FileFormat, ReportFilter, TransactionQuery};
use crate::records::Records;
use crate::request::Request;
use crate::write::Write;

/// Operations on entries of the balance; see [`Client::statements`].
#[derive(Debug, Clone, Copy)]
pub struct Statements<'a> {
    client: &'a Client,
}

impl<'a> Statements<'a> {
    pub(crate) const fn new(client: &'a Client) -> Self {
        Self { client }
    }

    /// Lists the entries of the balance that fit the filter, the oldest first, with the balances at the ends of the period.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn entries(&self, filter: &EntryFilter, paging: Paging) -> Result<BalanceEntries, Error> {
        let Paging { page, per_page } = paging;
        let request = filter.add_to(Request::of(&operations::BALANCE_ENTRIES));
        self.client.read(request.query("page", page).query("per_page", per_page)).await
    }

    /// All entries of the balance that fit the filter, the oldest first, page by page on demand.
    pub fn all_entries(&self, filter: &EntryFilter) -> Records<BalanceEntry> {
        let request = filter.add_to(Request::of(&operations::BALANCE_ENTRIES));
        Records::new(self.client, request, |one| u128::from(one.seq.cast_unsigned()))
    }

    /// Reads what moved on the balance in a month, such as `2026-01`.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a month to come; see [`Error`].
    pub async fn month(&self, month: &str) -> Result<Statement, Error> {
        self.client.read(Request::of(&operations::STATEMENT).month(month)).await
    }

    /// Reads the entries of a month as a file. It is not sealed, even if the client seals.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a month to come; see [`Error`].
    pub async fn file(&self, month: &str, format: FileFormat) -> Result<StatementFile, Error> {
        let request = Request::of(&operations::STATEMENT).month(month);
        self.client.read_file(request, format).await
    }

    /// Reads a month as a file for people in this language; see [`Statements::file`].
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a month to come; see [`Error`].
    pub async fn file_in(
        &self,
        month: &str,
        format: FileFormat,
        language: &Language,
    ) -> Result<StatementFile, Error> {
        let request = Request::of(&operations::STATEMENT).month(month).query("lang", Some(language.as_str()));
        self.client.read_file(request, format).await
    }

    /// Reads what moved on the cards of each employee who fits the filter in a month.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a month to come; see [`Error`].
    pub async fn report(&self, month: &str, filter: &ReportFilter) -> Result<Report, Error> {
        let request = filter.add_to(Request::of(&operations::REPORT_EMPLOYEES).month(month));
        self.client.read(request.wait(DOWNLOAD)).await
    }

    /// Reads the report of a month as a file, in a language if it is for people. It is not sealed, even if the client seals.
    ///
    /// # Errors
    ///
    /// [`Error::Invalid`] for a month to come; see [`Error`].
    pub async fn report_file(
        &self,
        month: &str,
        filter: &ReportFilter,
        format: FileFormat,
        language: &Language,
    ) -> Result<StatementFile, Error> {
        let request = filter.add_to(Request::of(&operations::REPORT_EMPLOYEES).month(month));
        self.client.read_file(request.query("lang", Some(language.as_str())), format).await
    }

    /// Closes a month that is over: its report no longer changes.
    pub fn close_report(&self, month: &str) -> Write<ReportClosed> {
        self.client
            .write(Request::of(&operations::REPORT_CLOSE).month(month).body(&Nothing {}).wait(DOWNLOAD))
    }

    /// Reads transactions of all cards, in the order in which the service received them.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn transactions(&self, query: &TransactionQuery) -> Result<TransactionFeed, Error> {
        self.client.read(query.add_to(Request::of(&operations::TRANSACTION_FEED))).await
    }

    /// The transactions of all cards that fit the query, piece by piece on demand, until there are no more. Later ones
    /// can be read after the number of the last.
    pub fn all_transactions(&self, query: &TransactionQuery) -> TransactionReader {
        TransactionReader { client: self.client.clone(), query: query.clone(), ready: VecDeque::new() }
    }
}

/// A body without fields: sealed, it protects a request that has no identifier.
#[derive(Debug, Serialize)]
struct Nothing {}

impl Client {
    /// Begins to read a file.
    pub(crate) async fn read_file(
        &self,
        request: Request,
        format: FileFormat,
    ) -> Result<StatementFile, Error> {
        let request = request.file(format.media_type()).wait(DOWNLOAD);
        Ok(StatementFile { response: self.download(&request).await? })
    }
}

/// How long a file may take.
const DOWNLOAD: Duration = Duration::from_secs(600);

/// A file that is being read; see [`Statements::file`].
#[derive(Debug)]
pub struct StatementFile {
    response: reqwest::Response,
}

impl StatementFile {
    /// The next bytes of the file; `None` at its end.
    ///
    /// # Errors
    ///
    /// If the connection breaks off: what was read is not the whole file.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.response.chunk().await?.map(Into::into))
    }
}

/// Reads the transactions of all cards; see [`Statements::all_transactions`].
#[derive(Debug)]
#[must_use = "nothing is read before `next`"]
pub struct TransactionReader {
    client: Client,
    query: TransactionQuery,
    ready: VecDeque<PartnerTransaction>,
}

impl TransactionReader {
    /// The next transaction; `None` if there are no more. After that or an error it may be called again, and goes on
    /// where it was.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn next(&mut self) -> Result<Option<PartnerTransaction>, Error> {
        if self.ready.is_empty() {
            let feed = self.client.statements().transactions(&self.query).await?;
            self.query.after = feed.next;
            self.ready.extend(feed.data);
        }
        Ok(self.ready.pop_front())
    }

    /// All transactions that are left.
    ///
    /// # Errors
    ///
    /// See [`Error`].
    pub async fn collect(mut self) -> Result<Vec<PartnerTransaction>, Error> {
        let mut transactions = Vec::new();
        while let Some(transaction) = self.next().await? {
            transactions.push(transaction);
        }
        Ok(transactions)
    }
}
