//! The response of a handler, before sealing.

use std::pin::Pin;

use futures_util::stream::Stream;
use kopeck_service::idempotency;
use serde::Serialize;

use crate::entity_tag::EntityTags;
use crate::error::ApiError;

pub(crate) type HandlerResult = Result<Response, ApiError>;

/// The chunks of a body.
pub(crate) type BodyStream = Pin<Box<dyn Stream<Item = Result<Vec<u8>, ApiError>>>>;

/// A response of 2xx, before sealing.
pub(crate) struct Response {
    /// The status code.
    pub(crate) status: u16,
    /// The JSON text.
    pub(crate) body: ResponseBody,
    /// Whether it is a recorded response.
    pub(crate) replayed: bool,
    /// The entity tag, with its quotes.
    pub(crate) tag: Option<String>,
    /// Set if the body is a file and not JSON. Files are never sealed.
    pub(crate) file: Option<ResponseFile>,
}

/// The kind of a file.
pub(crate) struct ResponseFile {
    /// Its media type.
    pub(crate) media_type: &'static str,
    /// Its name.
    pub(crate) name: String,
}

pub(crate) enum ResponseBody {
    /// The complete text.
    Whole(Vec<u8>),
    /// Chunks, each made when the connection can take it.
    Stream(BodyStream),
}

impl Response {
    /// A response with the JSON of `body`.
    pub(crate) fn json(status: u16, body: &impl Serialize) -> Result<Self, ApiError> {
        Ok(Self { status, body: ResponseBody::Whole(to_json(body)?), replayed: false, tag: None, file: None })
    }

    pub(crate) fn first(response: idempotency::PlaintextResponse) -> Self {
        Self {
            status: response.status,
            body: ResponseBody::Whole(response.body),
            replayed: false,
            tag: None,
            file: None,
        }
    }

    pub(crate) fn replayed(response: idempotency::PlaintextResponse) -> Self {
        Self { replayed: true, ..Self::first(response) }
    }

    /// The same with the entity tag of its body.
    pub(crate) fn tagged(self, tags: &EntityTags) -> Self {
        let tag = match &self.body {
            ResponseBody::Whole(json) => Some(tags.of_json(json)),
            ResponseBody::Stream(_) => None,
        };
        Self { tag, ..self }
    }
}

pub(crate) fn to_json(body: &impl Serialize) -> Result<Vec<u8>, ApiError> {
    serde_json::to_vec(body).map_err(|error| ApiError::internal(error.to_string()))
}
