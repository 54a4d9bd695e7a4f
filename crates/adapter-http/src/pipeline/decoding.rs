//! A call that has arrived whole, and is to be opened.

use std::sync::Arc;

use actix_web::web::Bytes;
use kopeck_domain::Faults;
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::KeyId;

use super::authentication::Identity;
use super::head::Head;
use super::request_opener::{self, OpenedRequest, RawRequest};
use super::value_opener::{OpeningContext, RefusedSeals};
use crate::bridge::ConcurrencyPermit;
use crate::error::ApiError;
use crate::fingerprint;
use crate::input::RequestInput;
use crate::route::{Effect, Route};
use crate::state::Shared;
use crate::yielding;

/// A call with its body.
pub(super) struct ReceivedRequest {
    pub(super) shared: Arc<Shared>,
    pub(super) route: &'static Route,
    pub(super) head: Head,
    /// The nonce, which was found well-formed.
    pub(super) nonce: String,
    pub(super) body: Bytes,
    /// Who sent it, as far as opening is concerned: somebody unknown has no keys and need not seal.
    pub(super) sender: Option<Arc<Identity>>,
}

/// A call of which nothing is sealed any more.
pub(super) struct DecodedRequest {
    pub(super) head: Head,
    pub(super) nonce: String,
    /// The call, or what is wrong with it.
    pub(super) input: Result<RequestInput, Faults>,
    /// The key that it was sealed with, if any of it was.
    pub(super) used: Option<KeyId>,
    /// The sealed values that did not open, for the log.
    pub(super) refused: Option<RefusedSeals>,
    /// Of a good call that changes something, see [`fingerprint::of`].
    pub(super) fingerprint: Option<[u8; 32]>,
    /// The turn of one with a large body, which lasts until its values are read as well.
    pub(super) large: Option<ConcurrencyPermit>,
}

impl ReceivedRequest {
    /// Opens the call.
    ///
    /// # Errors
    /// 503 if it is large and too many such calls wait.
    pub(super) async fn decode(self) -> Result<DecodedRequest, ApiError> {
        if self.body.len() < yielding::LARGE_BODY {
            return Ok(self.decode_here());
        }
        let shared = Arc::clone(&self.shared);
        let limit = &shared.large_calls;
        let permit = limit.acquire().await?;
        let (decoded, permit) = limit.run_with_permit(permit, move || self.decode_here()).await?;
        // Calls that only read have no list to read values from.
        let large = decoded.fingerprint.is_some().then_some(permit);
        Ok(DecodedRequest { large, ..decoded })
    }

    fn decode_here(self) -> DecodedRequest {
        let Self { shared, route, head, nonce, body, sender } = self;
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
            // The clock stands after 1970.
            now_unix: u64::try_from(now).unwrap_or(0),
            route,
            metrics: &*shared.parts.metrics,
        };
        let OpenedRequest { input, used, refused } =
            request_opener::open(RawRequest { route, head: &head, body: &body }, context, policy);
        let changes = matches!(route.effect, Effect::Mutate(_));
        let fingerprint = input.as_ref().ok().filter(|_| changes).map(|input| fingerprint::of(route, input));
        DecodedRequest { head, nonce, input, used, refused, fingerprint, large: None }
    }
}
