//! Shows what moved on the cards of each employee in a month: as JSON, or as a file.

use std::io::Seek as _;
use std::sync::Arc;

use futures_util::stream::{self, TryStreamExt as _};
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::ids::{CategoryId, PartnerId, ProgrammeId};
use kopeck_domain::report::ReportAmounts;
use kopeck_fair_queue::Rank;
use kopeck_port_store::{Access, ReportRow, UnitOfWork};
use kopeck_service::report::{self, ReportError, ReportOutline};

use crate::bridge::{Deadline, in_store};
use crate::file_format::FileFormat;
use crate::input::field_types::{id, text};
use crate::operations::prelude::*;
use crate::operations::statement::{read_language, send_file};
use crate::report_file::{REPORT_FORMS, ReportSpreadsheet, RowWriter, report_file_name};
use crate::request_source::RequestSource;
use crate::response::{BodyStream, Response, ResponseBody, ResponseFile};
use crate::state::Shared;
use crate::wording::Language;
use crate::workbook::SpreadsheetError;

pub(super) static OPERATION: Operation =
    Operation::of(&operations::REPORT_EMPLOYEES, Needs::One(Scope::StatementsRead), handler!(employees))
        .reads(reads!(read))
        .responds::<api::Report>(200)
        .or_files(&REPORT_FORMS);

/// Which report.
type Wanted = (CalendarMonth, (Option<CategoryId>, Option<ProgrammeId>), Option<Language>);

fn read(r: &mut Reader<'_>) -> Option<Wanted> {
    let month = r.path("month", text(CalendarMonth::parse));
    let category = r.param("idCategory", id::<CategoryId>().about("Only employees of this category."));
    let of_programme = "Only whom runs of this programme gave something; `given` is only that.";
    let programme = r.param("idProgramme", id::<ProgrammeId>().about(of_programme));
    let language = read_language(r);
    Some((month?, (category, programme), language))
}

async fn employees(mut ctx: HandlerContext) -> HandlerResult {
    let (preferred, format) = (ctx.input.language, ctx.input.file);
    let (month, (category, programme), language) = ctx.values(read)?;
    let outline =
        ctx.read(Ok(month), |unit, env, partner, month| report::outline(unit, env, partner, *month)).await?;
    let outline = outline.of_programme(programme);
    let report =
        Arc::new(ReportReader { shared: Arc::clone(&ctx.shared), partner: ctx.partner(), outline, category });
    // It is read in pieces, each with a wait before it.
    ctx.pause();
    let language = language.unwrap_or(preferred);
    let body = match format {
        Some(FileFormat::Csv) => rows(&report, RowWriter::Csv),
        Some(FileFormat::ExcelCsv) => rows(&report, RowWriter::Excel(language)),
        Some(_) => spreadsheet(&report, language).await?,
        None if report.outline.is_small() => return Ok(ctx.respond_with(whole(&report).await?)),
        None => rows(&report, RowWriter::Json(false)),
    };
    let file = format.map(|format| ResponseFile {
        media_type: format.content_type(),
        name: report_file_name(&report.outline, format),
    });
    Ok(Response { file, ..ctx.respond_with(ResponseBody::Stream(body)) })
}

/// Reads a month in pieces, each in a separate unit of work.
struct ReportReader {
    shared: Arc<Shared>,
    partner: PartnerId,
    outline: ReportOutline,
    category: Option<CategoryId>,
}

impl ReportReader {
    /// Whether the row is one of those that are asked for.
    fn has(&self, row: &ReportRow) -> bool {
        self.category.is_none_or(|wanted| {
            let category = row.person.as_ref().and_then(|person| person.category.as_ref());
            category.is_some_and(|(id, _)| *id == wanted)
        })
    }

    /// Makes a spreadsheet in a temporary file. Blocks.
    fn spreadsheet(&self, language: Language) -> Result<std::fs::File, SpreadsheetError> {
        let store = &*self.shared.parts.store;
        let (mut writer, mut sums) = (ReportSpreadsheet::new(language)?, ReportAmounts::default());
        report::for_each_row(store, self.partner, &self.outline, |row| {
            if self.has(row) {
                sums = report::with_row(sums, row)?;
                writer.add(row)?;
            }
            Ok::<_, SpreadsheetError>(())
        })?;
        let file_error = |error| SpreadsheetError::File(rust_xlsxwriter::XlsxError::IoError(error));
        let mut file = tempfile::tempfile().map_err(file_error)?;
        writer.finish(&sums, &mut file)?;
        file.rewind().map_err(file_error)?;
        Ok(file)
    }
}

/// Rows that are read while they are sent.
struct RowStream {
    report: Arc<ReportReader>,
    writer: RowWriter,
    sums: ReportAmounts,
    rest: Rest,
}

/// What is left of a report.
enum Rest {
    /// All of it.
    Whole,
    /// The rows behind this place.
    Behind(i64),
    /// What stands behind the rows.
    Tail,
    Nothing,
}

/// All of a small report.
async fn whole(report: &Arc<ReportReader>) -> Result<ResponseBody, ApiError> {
    let (mut body, mut chunks) = (Vec::new(), rows(report, RowWriter::Json(false)));
    while let Some(chunk) = chunks.try_next().await? {
        body.extend(chunk);
    }
    Ok(ResponseBody::Whole(body))
}

fn rows(report: &Arc<ReportReader>, writer: RowWriter) -> BodyStream {
    let sums = ReportAmounts::default();
    let state = RowStream { report: Arc::clone(report), writer, sums, rest: Rest::Whole };
    Box::pin(stream::try_unfold(state, RowStream::next))
}

impl RowStream {
    /// The next bytes: an empty chunk would end the body.
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, ApiError> {
        let mut chunk = Vec::new();
        while chunk.is_empty() {
            self.rest = match self.rest {
                Rest::Whole => {
                    self.writer.head(&self.report.outline, &mut chunk);
                    Rest::Behind(0)
                }
                Rest::Behind(after) => self.piece(after, &mut chunk).await?,
                Rest::Tail => {
                    self.writer.tail(&self.sums, &mut chunk)?;
                    Rest::Nothing
                }
                Rest::Nothing => return Ok(None),
            };
        }
        Ok(Some((chunk, self)))
    }

    async fn piece(&mut self, after: i64, chunk: &mut Vec<u8>) -> Result<Rest, ApiError> {
        let (parts, partner) = (&self.report.shared.parts, self.report.partner);
        // A separate deadline: a slow client does not use it up.
        let deadline = Deadline::within(parts.settings.deadline);
        let outline = self.report.outline.clone();
        let read = move |unit: &mut dyn UnitOfWork| {
            report::piece(unit, partner, &outline, after).map_err(ApiError::from)
        };
        let (rows, next) = in_store(&*parts.store, Access::Read, deadline, read).await?;
        for row in rows.iter().filter(|row| self.report.has(row)) {
            self.sums = report::with_row(self.sums, row)?;
            self.writer.row(row, chunk)?;
        }
        Ok(next.map_or(Rest::Tail, Rest::Behind))
    }
}

/// A spreadsheet, which is made before it is sent.
async fn spreadsheet(report: &Arc<ReportReader>, language: Language) -> Result<BodyStream, ApiError> {
    let (reader, limit) = (Arc::clone(report), &report.shared.spreadsheets);
    let source = RequestSource::Partner(report.partner);
    let file = limit.run(source, Rank::First, move || reader.spreadsheet(language)).await??;
    Ok(send_file(file))
}

impl From<ReportError> for ApiError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::ToCome => Self::field("month", "must not be in the future"),
            ReportError::Store(error) => error.into(),
        }
    }
}
