//! Shows what moved on the balance in a month: as JSON, or as a file.

use std::io::{Read as _, Seek as _};
use std::ops::Range;
use std::sync::Arc;

use futures_util::stream;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;
use kopeck_fair_queue::Rank;
use kopeck_port_store::{Access, KindTotal, StoreError, UnitOfWork, transact};
use kopeck_service::Env;
use kopeck_service::statement::{self, Outline, PIECE, StatementError, TOTALS_PIECE};

use crate::bridge::{Deadline, in_store, run_keeping};
use crate::file_format::FileFormat;
use crate::input::field_types::{string_enum, text};
use crate::operations::prelude::*;
use crate::request_source::RequestSource;
use crate::response::{BodyStream, Response, ResponseBody, ResponseFile};
use crate::state::Shared;
use crate::statement_file::{
    self, EntryWriter, SpreadsheetWriter, StatementHead, entry_writer, statement_body,
};
use crate::wording::Language;
use crate::workbook::SpreadsheetError;

/// Bytes of a spreadsheet that are sent at once.
const CHUNK: usize = 64 * 1024;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::STATEMENT, Needs::One(Scope::StatementsRead), handler!(month))
        .reads(reads!(read))
        .responds::<api::Statement>(200)
        .or_files(&FileFormat::ALL);

/// The month, and the language that the query asks for.
type Wanted = (CalendarMonth, Option<Language>);

fn read(r: &mut Reader<'_>) -> Option<Wanted> {
    let month = r.path("month", text(CalendarMonth::parse));
    let language = read_language(r);
    Some((month?, language))
}

/// The language of a file for people.
pub(super) fn read_language(r: &mut Reader<'_>) -> Option<Language> {
    let about = "The language of a file for people; it wins over `Accept-Language`.";
    r.param("lang", string_enum::<Language>().about(about))
}

async fn month(mut ctx: HandlerContext) -> HandlerResult {
    let preferred = ctx.input.language;
    let (month, language) = ctx.values(read)?;
    let read = |unit: &mut dyn UnitOfWork, env: &Env, partner, month: &CalendarMonth| {
        let name = unit.partners().get(partner)?.map(|partner| partner.name).unwrap_or_default();
        Ok::<_, StatementError>((statement::outline(unit, env, partner, *month)?, name))
    };
    let (outline, name) = ctx.read(Ok(month), read).await?;
    let month = Arc::new(MonthReader { shared: Arc::clone(&ctx.shared), partner: ctx.partner(), outline });
    let Some(format) = ctx.input.file else {
        let totals = month.totals().await?;
        return ctx.respond(&statement_body(&month.outline, &totals)?);
    };
    // A file is read in pieces, each with a wait before it.
    ctx.pause();
    let language = language.unwrap_or(preferred);
    let totals = match format {
        FileFormat::Csv | FileFormat::ExcelCsv => Vec::new(),
        FileFormat::Xlsx | FileFormat::OneC | FileFormat::Camt => month.totals().await?,
    };
    let head = StatementHead {
        outline: month.outline.clone(),
        totals,
        partner: ctx.partner(),
        name,
        made_at: ctx.env().now(),
        zone: ctx.zone(),
        language,
    };
    let name = statement_file::file_name(&month.outline, format);
    let body = match entry_writer(format, head.clone()) {
        Some(writer) => entries(&month, writer),
        None => spreadsheet(&month, head).await?,
    };
    let file = Some(ResponseFile { media_type: format.content_type(), name });
    Ok(Response { file, ..ctx.respond_with(ResponseBody::Stream(body)) })
}

/// Reads a month in pieces, each in a separate unit of work.
struct MonthReader {
    shared: Arc<Shared>,
    partner: PartnerId,
    outline: Outline,
}

impl MonthReader {
    /// Reads a piece of the entries with a separate deadline: a slow client does not use it up.
    async fn piece<T: Send + 'static>(
        &self,
        numbers: Range<i64>,
        read: fn(&mut dyn UnitOfWork, PartnerId, Range<i64>) -> Result<T, StoreError>,
    ) -> Result<T, ApiError> {
        let (parts, partner) = (&self.shared.parts, self.partner);
        let deadline = Deadline::within(parts.settings.deadline);
        in_store(&*parts.store, Access::Read, deadline, move |unit| {
            read(unit, partner, numbers.clone()).map_err(ApiError::from)
        })
        .await
    }

    async fn totals(&self) -> Result<Vec<KindTotal>, ApiError> {
        let (numbers, mut totals) = (&self.outline.span.numbers, Vec::new());
        let mut from = numbers.start;
        while from < numbers.end {
            let piece = statement::piece(numbers, from, TOTALS_PIECE);
            from = piece.end;
            totals.extend(self.piece(piece, statement::kind_totals).await?);
        }
        Ok(totals)
    }

    /// Makes a spreadsheet in a temporary file. Blocks.
    fn spreadsheet(&self, head: &StatementHead) -> Result<std::fs::File, SpreadsheetError> {
        let (parts, partner, numbers) = (&self.shared.parts, self.partner, &self.outline.span.numbers);
        let mut writer = SpreadsheetWriter::new(head.zone, head.language)?;
        let mut from = numbers.start;
        while from < numbers.end {
            let piece = statement::piece(numbers, from, PIECE);
            from = piece.end;
            let read = move |unit: &mut dyn UnitOfWork| statement::entries(unit, partner, piece.clone());
            for entry in transact(&*parts.store, Access::Read, read)? {
                writer.add(&entry)?;
            }
        }
        let file_error = |error| SpreadsheetError::File(rust_xlsxwriter::XlsxError::IoError(error));
        let mut file = tempfile::tempfile().map_err(file_error)?;
        writer.finish(&statement_body(&self.outline, &head.totals)?, &mut file)?;
        file.rewind().map_err(file_error)?;
        Ok(file)
    }
}

/// A file of entries that is read while it is sent.
struct EntryStream {
    month: Arc<MonthReader>,
    writer: Box<dyn EntryWriter>,
    rest: Rest,
}

/// What is left of a file.
enum Rest {
    /// All of it.
    Whole,
    /// The entries from this number on.
    From(i64),
    Nothing,
}

/// The entries in a form, read while they are sent.
fn entries(month: &Arc<MonthReader>, writer: Box<dyn EntryWriter>) -> BodyStream {
    let state = EntryStream { month: Arc::clone(month), writer, rest: Rest::Whole };
    Box::pin(stream::try_unfold(state, EntryStream::next))
}

impl EntryStream {
    /// The next bytes: an empty chunk would end the body.
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, ApiError> {
        let mut chunk = Vec::new();
        while chunk.is_empty() {
            self.rest = match self.rest {
                Rest::Whole => {
                    self.writer.head(&mut chunk)?;
                    Rest::From(self.month.outline.span.numbers.start)
                }
                Rest::From(from) => self.entries(from, &mut chunk).await?,
                Rest::Nothing => return Ok(None),
            };
        }
        Ok(Some((chunk, self)))
    }

    async fn entries(&mut self, from: i64, chunk: &mut Vec<u8>) -> Result<Rest, ApiError> {
        let numbers = statement::piece(&self.month.outline.span.numbers, from, PIECE);
        if numbers.is_empty() {
            self.writer.tail(chunk);
            return Ok(Rest::Nothing);
        }
        let end = numbers.end;
        for entry in self.month.piece(numbers, statement::entries).await? {
            self.writer.entry(&entry, chunk)?;
        }
        Ok(Rest::From(end))
    }
}

/// A spreadsheet, which is made before it is sent.
async fn spreadsheet(month: &Arc<MonthReader>, head: StatementHead) -> Result<BodyStream, ApiError> {
    let (reader, limit) = (Arc::clone(month), &month.shared.spreadsheets);
    let source = RequestSource::Partner(month.partner);
    let file = limit.run(source, Rank::First, move || reader.spreadsheet(&head)).await??;
    Ok(send_file(file))
}

/// Sends a file that is made.
pub(super) fn send_file(file: std::fs::File) -> BodyStream {
    Box::pin(stream::try_unfold(file, |file| async move {
        let read = move || {
            let (mut file, mut chunk) = (file, Vec::with_capacity(CHUNK));
            let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
            (read.map(|_| chunk), file)
        };
        let ((chunk, file), ()) = run_keeping("spreadsheet", (), read).await?;
        let chunk = chunk
            .map_err(|error| ApiError::internal(format!("the spreadsheet cannot be written: {error}")))?;
        Ok((!chunk.is_empty()).then_some((chunk, file)))
    }))
}

impl From<StatementError> for ApiError {
    fn from(error: StatementError) -> Self {
        match error {
            StatementError::ToCome => Self::field("month", "must not be in the future"),
            StatementError::Store(error) => error.into(),
        }
    }
}

impl From<SpreadsheetError> for ApiError {
    fn from(error: SpreadsheetError) -> Self {
        match error {
            SpreadsheetError::Store(error) => error.into(),
            SpreadsheetError::File(_) => Self::internal(error.to_string()),
        }
    }
}
