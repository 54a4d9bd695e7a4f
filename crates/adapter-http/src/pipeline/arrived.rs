//! A call that has arrived whole, and is to be opened.

use std::sync::Arc;

use actix_web::web::Bytes;
use kopeck_domain::Faults;
use kopeck_domain::partner::SealingPolicy;
use kopeck_sealing::KeyId;

use super::callers::Identity;
use super::head::Head;
use super::opener::{RefusedSeals, Seals};
use super::opening::{self, Opened, Received};
use crate::bridge::Pass;
use crate::courtesy;
use crate::error::ApiError;
use crate::fingerprint;
use crate::input::Call;
use crate::route::{Effect, Route};
use crate::state::Shared;

/// A call with its body.
pub(super) struct Arrived {
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
pub(super) struct TakenApart {
    pub(super) head: Head,
    pub(super) nonce: String,
    /// The call, or what is wrong with it.
    pub(super) call: Result<Call, Faults>,
    /// The key that it was sealed with, if any of it was.
    pub(super) used: Option<KeyId>,
    /// The sealed values that did not open, for the log.
    pub(super) refused: Option<RefusedSeals>,
    /// Of a good call that changes something, see [`fingerprint::of`].
    pub(super) fingerprint: Option<[u8; 32]>,
    /// The turn of one with a large body, which lasts until its values are read as well.
    pub(super) large: Option<Pass>,
}

impl Arrived {
    /// Opens the call.
    ///
    /// # Errors
    /// 503 if it is large and too many such calls wait.
    pub(super) async fn take_apart(self) -> Result<TakenApart, ApiError> {
        if self.body.len() < courtesy::LARGE {
            return Ok(self.take_apart_here());
        }
        let shared = Arc::clone(&self.shared);
        let gate = &shared.large_calls;
        let pass = gate.pass().await?;
        let (taken_apart, pass) = gate.run_with(pass, move || self.take_apart_here()).await?;
        // Calls that only read have no list to read values from.
        let large = taken_apart.fingerprint.is_some().then_some(pass);
        Ok(TakenApart { large, ..taken_apart })
    }

    fn take_apart_here(self) -> TakenApart {
        let Self { shared, route, head, nonce, body, sender } = self;
        let now = shared.parts.wall.now().unix_timestamp();
        let (keys, policy) = match &sender {
            Some(identity) => (&identity.keys[..], identity.policy),
            None => (&[][..], SealingPolicy::Optional),
        };
        let seals = Seals {
            keys,
            dummy: &shared.dummy_key,
            method: head.method.as_str(),
            path: &head.path,
            nonce: &nonce,
            // The clock stands after 1970.
            now_unix: u64::try_from(now).unwrap_or(0),
            route,
            observer: &*shared.parts.observer,
        };
        let Opened { call, used, refused } =
            opening::open(Received { route, head: &head, body: &body }, seals, policy);
        let changes = matches!(route.effect, Effect::Mutate(_));
        let fingerprint = call.as_ref().ok().filter(|_| changes).map(|call| fingerprint::of(route, call));
        TakenApart { head, nonce, call, used, refused, fingerprint, large: None }
    }
}
