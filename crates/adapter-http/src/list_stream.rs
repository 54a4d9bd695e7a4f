//! Streamed list responses: the server makes them page by page while it sends them, so memory does not grow with the
//! list.
//!
//! Each page is a separate unit of work. That is sound only for data that no longer changes, such as the result of a
//! completed request.
//!
//! The status code is sent before the last page is read. A later error aborts the body: it lacks its last chunk, the
//! end of its JSON and, if sealed, its tag, so no client takes it for complete.

use std::sync::Arc;

use futures_util::stream;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, StoreError, UnitOfWork};
use serde::Serialize;

use crate::bridge::{Deadline, in_store};
use crate::error::ApiError;
use crate::handler_context::HandlerContext;
use crate::response::{HandlerResult, ResponseBody};
use crate::state::Shared;

/// Rows of a page: few enough for one unit of work, many enough that the overhead of a page is small beside its rows.
pub(crate) const PAGE: u32 = 1_000;

/// Appends the JSON of a row.
pub(crate) type WriteRow<R> = fn(&R, &mut Vec<u8>) -> serde_json::Result<()>;

/// The source of a list: reads up to [`PAGE`] rows from an offset on, and writes one row.
#[derive(Clone, Copy)]
pub(crate) struct ListSource<F, R> {
    pub(crate) read: F,
    pub(crate) show: WriteRow<R>,
}

/// Reads rows from an offset on.
pub(crate) trait ReadFrom<R>:
    Fn(&mut dyn UnitOfWork, PartnerId, u32) -> Result<Vec<R>, StoreError> + Copy + Send + 'static
{
}

impl<R, F> ReadFrom<R> for F where
    F: Fn(&mut dyn UnitOfWork, PartnerId, u32) -> Result<Vec<R>, StoreError> + Copy + Send + 'static
{
}

/// `data` is the only field of the response.
#[derive(Serialize)]
pub(crate) struct NoFields {}

/// A response `{…, "data": […]}` with `rows` rows, the `first` of which are read.
pub(crate) fn response<R: Send + 'static>(
    ctx: &HandlerContext,
    head: &impl Serialize,
    rows: u32,
    first: &[R],
    listing: ListSource<impl ReadFrom<R>, R>,
) -> HandlerResult {
    let mut piece = list_head(head)?;
    let shown = add(&mut piece, 0, first, listing.show)?;
    if shown >= rows {
        piece.extend_from_slice(b"]}");
        return Ok(ctx.respond_with(ResponseBody::Whole(piece)));
    }
    if shown < PAGE {
        return Err(missing(rows, shown));
    }
    let (shared, partner) = (Arc::clone(&ctx.shared), ctx.partner());
    let state = ListStream { shared, partner, listing, rows, shown, piece: Some(piece) };
    Ok(ctx.respond_with(ResponseBody::Stream(Box::pin(stream::try_unfold(state, ListStream::next)))))
}

/// The progress of a streamed list.
struct ListStream<F, R> {
    shared: Arc<Shared>,
    partner: PartnerId,
    listing: ListSource<F, R>,
    rows: u32,
    shown: u32,
    /// The next chunk, if it is ready.
    piece: Option<Vec<u8>>,
}

impl<R: Send + 'static, F: ReadFrom<R>> ListStream<F, R> {
    async fn next(mut self) -> Result<Option<(Vec<u8>, Self)>, ApiError> {
        if let Some(piece) = self.piece.take() {
            return Ok(Some((piece, self)));
        }
        if self.shown >= self.rows {
            return Ok(None);
        }
        let (read, partner, from) = (self.listing.read, self.partner, self.shown);
        let parts = &self.shared.parts;
        // A separate deadline for each page: a slow client does not use it up.
        let deadline = Deadline::within(parts.settings.deadline);
        let rows = in_store(&*parts.store, Access::Read, deadline, move |unit| {
            read(unit, partner, from).map_err(ApiError::from)
        })
        .await?;
        if rows.is_empty() {
            return Err(missing(self.rows, self.shown));
        }
        let mut piece = Vec::with_capacity(rows.len() * ROW);
        self.shown = add(&mut piece, self.shown, &rows, self.listing.show)?;
        if self.shown >= self.rows {
            piece.extend_from_slice(b"]}");
        }
        Ok(Some((piece, self)))
    }
}

/// Bytes of a typical row.
const ROW: usize = 160;

/// The text before the first row.
fn list_head(head: &impl Serialize) -> Result<Vec<u8>, ApiError> {
    let mut text = serde_json::to_vec(head).map_err(serialization_error)?;
    // Removes the closing brace.
    text.pop();
    if text.len() > 1 {
        text.push(b',');
    }
    text.extend_from_slice(b"\"data\":[");
    Ok(text)
}

/// Appends rows behind `shown` others; returns the new count.
fn add<R>(piece: &mut Vec<u8>, mut shown: u32, rows: &[R], show: WriteRow<R>) -> Result<u32, ApiError> {
    for row in rows {
        if shown > 0 {
            piece.push(b',');
        }
        show(row, piece).map_err(serialization_error)?;
        shown += 1;
    }
    Ok(shown)
}

fn missing(rows: u32, shown: u32) -> ApiError {
    ApiError::internal(format!("of {rows} rows {shown} are there"))
}

fn serialization_error(error: serde_json::Error) -> ApiError {
    ApiError::internal(error.to_string())
}
