//! Answers that are as long as what they list: made page by page while they are sent, so that none of them ever stands
//! in memory as a whole. One of a hundred thousand cards takes no more than one of a thousand.
//!
//! Each page is a unit of work of its own, and other calls come in between. That is sound for what no longer changes,
//! such as the result of a request that is done, and for nothing else.
//!
//! The status is sent before the last page is read. What fails after that breaks the body off: it ends without its last
//! chunk, without the end of its JSON and, if it is sealed, without its tag, so that no one takes it for the whole.

use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{self, Stream};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, StoreError, UnitOfWork};
use serde::Serialize;

use crate::bridge::{Deadline, in_store};
use crate::error::ApiError;
use crate::handler_context::{HandlerContext, Response, ResponseBody};
use crate::route::HandlerResult;
use crate::state::Shared;

/// Rows of a page: few enough for one unit of work, many enough that the pages do not cost more than their rows.
pub(crate) const PAGE: u32 = 1_000;

/// The pieces of a body, in their order.
pub(crate) type BodyStream = Pin<Box<dyn Stream<Item = Result<Vec<u8>, ApiError>>>>;

/// Shows a row: appends its JSON.
pub(crate) type WriteRow<R> = fn(&R, &mut Vec<u8>) -> serde_json::Result<()>;

/// What is listed: how to read rows of it from a number on, [`PAGE`] at most, and how to show one.
#[derive(Clone, Copy)]
pub(crate) struct ListSource<F, R> {
    pub(crate) read: F,
    pub(crate) show: WriteRow<R>,
}

/// Reads rows from a number on.
pub(crate) trait ReadFrom<R>:
    Fn(&mut dyn UnitOfWork, PartnerId, u32) -> Result<Vec<R>, StoreError> + Copy + Send + 'static
{
}

impl<R, F> ReadFrom<R> for F where
    F: Fn(&mut dyn UnitOfWork, PartnerId, u32) -> Result<Vec<R>, StoreError> + Copy + Send + 'static
{
}

/// Nothing: `data` is the answer's only field.
#[derive(Serialize)]
pub(crate) struct NoFields {}

/// An answer `{…, "data": […]}` that has `rows` rows in all, of which `first` are read.
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
        return Ok(Response::ok(ResponseBody::Whole(piece)));
    }
    if shown < PAGE {
        return Err(missing(rows, shown));
    }
    let (shared, partner) = (Arc::clone(&ctx.shared), ctx.partner);
    let state = ListStream { shared, partner, listing, rows, shown, piece: Some(piece) };
    Ok(Response::ok(ResponseBody::Stream(Box::pin(stream::try_unfold(state, ListStream::next)))))
}

/// How far the making of an answer has come.
struct ListStream<F, R> {
    shared: Arc<Shared>,
    partner: PartnerId,
    listing: ListSource<F, R>,
    rows: u32,
    shown: u32,
    /// What is ready.
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
        // How long the caller has taken to read the pages before does not count.
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

/// About how many bytes a row takes.
const ROW: usize = 160;

/// The answer up to its first row.
fn list_head(head: &impl Serialize) -> Result<Vec<u8>, ApiError> {
    let mut text = serde_json::to_vec(head).map_err(serialization_error)?;
    // An object without its end; a head without fields has no comma either.
    text.pop();
    if text.len() > 1 {
        text.push(b',');
    }
    text.extend_from_slice(b"\"data\":[");
    Ok(text)
}

/// Appends rows behind `shown` others; answers how many there are then.
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
