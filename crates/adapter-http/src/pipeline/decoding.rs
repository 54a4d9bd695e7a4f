//! Decodes a received request: opens its sealed values and computes its fingerprint.

use std::sync::Arc;

use crate::input::faults::Faults;
use actix_web::web::Bytes;
use kopeck_domain::partner::SealingPolicy;
use kopeck_fair_queue::Rank;
use kopeck_sealing::KeyId;

use super::head::Head;
use super::request_opener::{self, OpenedRequest, RawRequest};
use super::value_opener::{OpeningContext, RefusedSeals};
use crate::bridge::ConcurrencyPermit;
use crate::caller_cache::Identity;
use crate::error::ApiError;
use crate::fingerprint;
use crate::ignored::IgnoredNames;
use crate::input::RequestInput;
use crate::operation::Operation;
use crate::request_source::RequestSource;
use crate::state::Shared;

/// Bytes from which on a body is decoded on a blocking thread.
const LARGE_BODY: usize = 8 * 1024;

/// A request with its body.
pub(super) struct ReceivedRequest {
    pub(super) shared: Arc<Shared>,
    pub(super) operation: &'static Operation,
    pub(super) head: Head,
    /// The nonce, which is well-formed.
    pub(super) nonce: String,
    pub(super) body: Bytes,
    /// The sender. An unknown one has no keys, and need not seal.
    pub(super) sender: Option<Arc<Identity>>,
}

/// A request without sealed values.
pub(super) struct DecodedRequest {
    pub(super) head: Head,
    pub(super) nonce: String,
    /// The values, or their faults.
    pub(super) input: Result<RequestInput, Faults>,
    /// The key of the sealed values, if there are any.
    pub(super) used: Option<KeyId>,
    /// The sealed values that did not open, for the log.
    pub(super) refused: Option<RefusedSeals>,
    /// Names of the caller that the operation does not have.
    pub(super) ignored: IgnoredNames,
    /// Set for a mutation without faults, see [`fingerprint::of`].
    pub(super) fingerprint: Option<[u8; 32]>,
    /// The permit of a large body, kept until its values are read.
    pub(super) large: Option<ConcurrencyPermit>,
}

impl ReceivedRequest {
    /// Decodes the request.
    ///
    /// # Errors
    /// 503 if it is large and too many large requests wait.
    pub(super) async fn decode(self) -> Result<DecodedRequest, ApiError> {
        if self.body.len() < LARGE_BODY {
            return Ok(self.decode_here());
        }
        let shared = Arc::clone(&self.shared);
        let limit = &shared.large_calls;
        let source = self.sender.as_ref().map(|sender| RequestSource::Partner(sender.partner));
        let permit = limit.acquire(source.unwrap_or(RequestSource::Network(None)), Rank::First).await?;
        let (decoded, permit) = limit.run_with_permit(permit, move || self.decode_here()).await?;
        // Only mutations have lists to read.
        let large = decoded.fingerprint.is_some().then_some(permit);
        Ok(DecodedRequest { large, ..decoded })
    }

    fn decode_here(self) -> DecodedRequest {
        let Self { shared, operation, head, nonce, body, sender } = self;
        let now = shared.parts.wall.now().unix_timestamp();
        let (keys, policy) = match &sender {
            Some(identity) => (&identity.keys[..], identity.policy),
            None => (&[][..], SealingPolicy::Optional),
        };
        let context = OpeningContext {
            keys,
            dummy: &shared.dummy_key,
            method: head.method.as_str(),
            path: &head.path,
            nonce: &nonce,
            // The clock is after 1970.
            now_unix: u64::try_from(now).unwrap_or(0),
            operation,
            metrics: &*shared.parts.metrics,
        };
        let OpenedRequest { input, used, refused, canonical, ignored } =
            request_opener::open(RawRequest { operation, head: &head, body: &body }, context, policy);
        let opened = input.as_ref().ok().zip(canonical).filter(|_| operation.is_mutation());
        let fingerprint = opened.map(|(input, body)| fingerprint::of(operation, &input.ids, &body));
        let keyed = |digest| shared.parts.tokens.keyed_digest(&digest);
        let fingerprint = if operation.keeps_secret { fingerprint.map(keyed) } else { fingerprint };
        DecodedRequest { head, nonce, input, used, refused, ignored, fingerprint, large: None }
    }
}
