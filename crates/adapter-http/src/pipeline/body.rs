//! Reads a body, with a limit and a deadline.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::web::{Bytes, BytesMut};
use futures_util::{Stream, StreamExt as _};

use super::head::too_large;
use crate::code::Code;
use crate::error::ApiError;

/// Reads the whole of `payload`.
///
/// # Errors
/// 413 if there is more than `limit`, 408 if it takes longer than `deadline`, 422 if it breaks off.
pub(crate) async fn read<E>(
    mut payload: impl Stream<Item = Result<Bytes, E>> + Unpin,
    limit: usize,
    deadline: Duration,
) -> Result<Bytes, ApiError> {
    let whole = async {
        let mut body = BytesMut::new();
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| ApiError::field("body", "broke off"))?;
            if body.len() + chunk.len() > limit {
                return Err(too_large(limit));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body.freeze())
    };
    tokio::time::timeout(deadline, whole).await.unwrap_or_else(|_| {
        let message = "the body did not arrive in time";
        Err(ApiError::new(StatusCode::REQUEST_TIMEOUT, Code::RequestTimeout, message))
    })
}

#[cfg(test)]
mod tests {
    use futures_util::stream;

    use super::*;

    const SOON: Duration = Duration::from_millis(20);

    fn chunks(chunks: &[&'static str]) -> impl Stream<Item = Result<Bytes, ()>> + Unpin {
        stream::iter(chunks.iter().map(|chunk| Ok(Bytes::from_static(chunk.as_bytes()))).collect::<Vec<_>>())
    }

    #[actix_web::test]
    async fn a_body_is_put_together() {
        assert_eq!(read(chunks(&["ab", "", "c"]), 3, SOON).await.unwrap(), "abc");
        assert_eq!(read(chunks(&[]), 3, SOON).await.unwrap(), "");
    }

    #[actix_web::test]
    async fn a_body_has_a_limit_a_deadline_and_an_end() {
        assert_eq!(read(chunks(&["ab", "cd"]), 3, SOON).await.unwrap_err().status(), 413);
        let slow = stream::pending::<Result<Bytes, ()>>();
        assert_eq!(read(slow, 3, SOON).await.unwrap_err().status(), 408);
        let broken = stream::iter([Err::<Bytes, _>(())]);
        assert_eq!(read(broken, 3, SOON).await.unwrap_err().status(), 422);
    }
}
