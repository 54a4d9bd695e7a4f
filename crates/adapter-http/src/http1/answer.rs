//! Observes the response to each request of a connection.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use actix_http::{Request, Response};
use actix_web::Error;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::ServiceResponse;
use actix_web::http::{ConnectionType, Method, StatusCode};
use actix_web::web::Bytes;
use tokio::time::sleep_until;

use super::exchange::Exchange;

/// How long a request goes on after its client ended the connection: long enough for the response to a client that
/// closes its sending side on purpose, short enough that a client that is gone frees what it occupies.
const GRACE: Duration = Duration::from_secs(1);

/// A request that is being answered. Tells its connection of the end, whatever that is.
pub(super) struct Underway {
    exchange: Option<Rc<Exchange>>,
    is_head: bool,
}

impl Drop for Underway {
    fn drop(&mut self) {
        if let Some(exchange) = &self.exchange {
            exchange.finish();
        }
    }
}

/// The body of a response. The dispatcher drops it once it has all bytes of it.
pub(super) struct AnswerBody {
    body: BoxBody,
    request: Underway,
}

impl MessageBody for AnswerBody {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let this = self.get_mut();
        // The response to `HEAD` has the headers of a body alone.
        if this.request.is_head {
            return Poll::Ready(None);
        }
        Pin::new(&mut this.body).poll_next(context)
    }
}

impl Underway {
    /// Tells the connection of `request` that its service is called.
    pub(super) fn begin(request: &Request) -> Self {
        let exchange = request.conn_data::<Rc<Exchange>>().map(Rc::clone);
        if let Some(exchange) = &exchange {
            exchange.begin(request.head());
        }
        Self { exchange, is_head: request.method() == Method::HEAD }
    }

    /// The response that `answer` makes.
    pub(super) async fn end(
        self,
        answer: impl Future<Output = Result<ServiceResponse, Error>>,
    ) -> Result<Response<AnswerBody>, Error> {
        let response: Response<BoxBody> = match self.unless_gone(answer).await {
            Some(Ok(response)) => response.into(),
            Some(Err(error)) => error.into(),
            None => abandoned(),
        };
        Ok(response.map_body(|_, body| AnswerBody { body, request: self }))
    }

    /// The result of `answer`; `None` if the client has been gone for some time.
    ///
    /// The dispatcher, which reads the connection, polls this in the same task: no further wake-up is needed.
    async fn unless_gone<F: Future>(&self, answer: F) -> Option<F::Output> {
        let mut answer = pin!(answer);
        let mut grace = None;
        poll_fn(|context| {
            if let Poll::Ready(answer) = answer.as_mut().poll(context) {
                return Poll::Ready(Some(answer));
            }
            let Some(closed_at) = self.exchange.as_ref().and_then(|exchange| exchange.closed_at()) else {
                return Poll::Pending;
            };
            let grace = grace.get_or_insert_with(|| Box::pin(sleep_until(closed_at + GRACE)));
            grace.as_mut().poll(context).map(|()| None)
        })
        .await
    }
}

/// For a client that ended its sending side alone.
fn abandoned() -> Response<BoxBody> {
    let mut response = Response::new(StatusCode::REQUEST_TIMEOUT);
    response.head_mut().set_connection_type(ConnectionType::Close);
    response
}
