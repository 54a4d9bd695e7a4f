//! Shows what moved on the balance in a month: as JSON, or as a file.

use std::io::{Read as _, Seek as _};
use std::ops::Range;
use std::sync::Arc;

use futures_util::stream;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::PartnerId;
use kopeck_fair_queue::Rank;
use kopeck_port_store::{Access, KindTotal, StoreError, UnitOfWork, transact};
use kopeck_service::statement::{self, Outline, PIECE, StatementError, TOTALS_PIECE};

use crate::bridge::{Deadline, in_store, run_keeping};
use crate::input::field_types::text;
use crate::operations::prelude::*;
use crate::request_source::RequestSource;
use crate::response::{BodyStream, Response, ResponseBody, ResponseFile};
use crate::state::Shared;
use crate::statement_file::{
    self, SpreadsheetError, SpreadsheetWriter, StatementFormat, csv_head, csv_line, statement_body,
};

/// Bytes of a spreadsheet that are sent at once.
const CHUNK: usize = 64 * 1024;

pub(super) static OPERATION: Operation = Operation::of(&operations::STATEMENT, handler!(month))
    .reads(reads!(read))
    .responds::<api::Statement>(200)
    .or_files(&[StatementFormat::Csv.media_type(), StatementFormat::Xlsx.media_type()]);

fn read(r: &mut Reader<'_>) -> Option<CalendarMonth> {
    r.path("month", text(CalendarMonth::parse))
}

async fn month(mut ctx: HandlerContext) -> HandlerResult {
    let month = ctx.values(read)?;
    let outline = ctx
        .read(Ok(month), |unit, env, partner, month| statement::outline(unit, env, partner, *month))
        .await?;
    let month = Arc::new(MonthReader { shared: Arc::clone(&ctx.shared), partner: ctx.partner, outline });
    let Some(format) = ctx.input.file else {
        let totals = month.totals().await?;
        return ctx.respond(&statement_body(&month.outline, &totals)?);
    };
    // A file is read in pieces, each with a wait before it.
    ctx.pause();
    let body = match format {
        StatementFormat::Csv => csv(&month),
        StatementFormat::Xlsx => spreadsheet(&month).await?,
    };
    let name = statement_file::file_name(&month.outline, format);
    let file = Some(ResponseFile { media_type: format.media_type(), name });
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
    fn spreadsheet(&self, totals: &[KindTotal]) -> Result<std::fs::File, SpreadsheetError> {
        let (parts, partner, numbers) = (&self.shared.parts, self.partner, &self.outline.span.numbers);
        let mut writer = SpreadsheetWriter::new(parts.env.settings.zone)?;
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
        writer.finish(&statement_body(&self.outline, totals)?, &mut file)?;
        file.rewind().map_err(file_error)?;
        Ok(file)
    }
}

/// The entries as CSV, read while they are sent.
fn csv(month: &Arc<MonthReader>) -> BodyStream {
    let state = (Arc::clone(month), month.outline.span.numbers.start, Some(csv_head().into_bytes()));
    Box::pin(stream::try_unfold(state, |(month, from, head)| async move {
        if let Some(head) = head {
            return Ok(Some((head, (month, from, None))));
        }
        let numbers = statement::piece(&month.outline.span.numbers, from, PIECE);
        if numbers.is_empty() {
            return Ok(None);
        }
        let (end, zone) = (numbers.end, month.shared.parts.env.settings.zone);
        let mut lines = Vec::new();
        for entry in month.piece(numbers, statement::entries).await? {
            lines.extend_from_slice(csv_line(&entry, zone)?.as_bytes());
        }
        Ok(Some((lines, (month, end, None))))
    }))
}

/// A spreadsheet, which is made before it is sent.
async fn spreadsheet(month: &Arc<MonthReader>) -> Result<BodyStream, ApiError> {
    let totals = month.totals().await?;
    let (reader, limit) = (Arc::clone(month), &month.shared.spreadsheets);
    let source = RequestSource::Partner(month.partner);
    let file = limit.run(source, Rank::First, move || reader.spreadsheet(&totals)).await??;
    Ok(Box::pin(stream::try_unfold(file, |file| async move {
        let read = move || {
            let (mut file, mut chunk) = (file, Vec::with_capacity(CHUNK));
            let read = file.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
            (read.map(|_| chunk), file)
        };
        let ((chunk, file), ()) = run_keeping("spreadsheet", (), read).await?;
        let chunk = chunk
            .map_err(|error| ApiError::internal(format!("the spreadsheet cannot be written: {error}")))?;
        Ok((!chunk.is_empty()).then_some((chunk, file)))
    })))
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
