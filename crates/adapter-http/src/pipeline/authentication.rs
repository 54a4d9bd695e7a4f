//! Authentication by access token, with a cache.

use std::sync::Arc;

use kopeck_api::Code;
use kopeck_port_security::TokenClaims;
use kopeck_port_store::{Access, StoreError, UnitOfWork, submit};
use kopeck_service::tokens::Caller;

use crate::bridge::{Deadline, in_store};
use crate::caller_cache::{AuthenticatedCaller, CacheEntry, Identity};
use crate::client_address::ClientAddress;
use crate::error::ApiError;
use crate::state::Shared;

/// The partner and the pair of an access token.
///
/// # Errors
/// 401 unless the token is valid now.
pub(crate) async fn authenticate(
    state: &Arc<Shared>,
    token: Option<&str>,
    address: ClientAddress,
) -> Result<AuthenticatedCaller, ApiError> {
    let parts = &state.parts;
    let token = token.ok_or(Code::Unauthorized)?;
    // Read before the store, so that a cache entry is never younger than its data.
    let (at, now) = (parts.env.clock.steady(), parts.env.now());
    if let Some(known) = state.callers.recall(token, at, now) {
        return Ok(known);
    }
    let claims = parts.tokens.verify(token)?;
    let (tokens, of) = (Arc::clone(&parts.tokens), claims.clone());
    let deadline = Deadline::within(parts.settings.deadline);
    let caller: Caller =
        in_store(&*parts.store, Access::Read, deadline, move |unit| tokens.session(unit, &of)).await?;
    let (pair, session, expires_at) = (claims.pair, claims.session, claims.expires_at);
    if !caller.pair_used {
        let (tokens, claims) = (Arc::clone(&parts.tokens), claims.clone());
        in_store(&*parts.store, Access::Write, deadline, move |unit| tokens.mark_used(unit, &claims)).await?;
    }
    if caller.is_use_due {
        note_use(state, claims, address);
    }
    let identity = Arc::new(Identity::new(caller.partner, caller.credential, caller.sealing, &caller.keys));
    let known = AuthenticatedCaller { pair, session, identity };
    state.callers.remember(token, CacheEntry { at, expires_at, caller: known.clone() });
    Ok(known)
}

/// Records a use of the session, once a minute and off the way of the request.
fn note_use(state: &Arc<Shared>, claims: TokenClaims, address: ClientAddress) {
    let tokens = Arc::clone(&state.parts.tokens);
    let address = address.is_known().then(|| address.to_string());
    let touch = move |unit: &mut dyn UnitOfWork| tokens.touch(unit, &claims, address.as_deref());
    submit(&*state.parts.store, Access::Write, touch, |outcome: Result<(), StoreError>| {
        if let Err(error) = outcome {
            log::debug!(error:% = error; "the use of a session is not recorded");
        }
    });
}
