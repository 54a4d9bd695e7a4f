//! The two operations that issue tokens. The API key identifies the partner; each request spends its nonce.
//!
//! The response is never sealed before the credentials are verified: a sealed response would confirm the API key.

use std::sync::Arc;

use crate::input::faults::Faults;
use actix_web::web::Payload;
use kopeck_api::Code;
use kopeck_domain::partner::PartnerStatus;
use kopeck_fair_queue::Rank;
use kopeck_port_store::Access;
use kopeck_sealing::KeyId;
use kopeck_service::tokens::{
    ApiKeyOwner, IssuedTokens, LoginAttempt, LoginBody, RefreshOutcome, TokenError,
};
use secrecy::SecretString;

use super::Pipeline;
use super::decoding::DecodedRequest;
use super::head::Head;
use super::response_builder::ResponseSeal;
use crate::bridge::{Deadline, in_store};
use crate::caller_cache::Identity;
use crate::error::ApiError;
use crate::input::RequestInput;
use crate::known_addresses::STRANGERS;
use crate::operations::tokens;
use crate::request_source::RequestSource;
use crate::response::{HandlerResult, Response};

impl Pipeline<'_> {
    /// Issues tokens for login and password.
    pub(super) async fn login(&mut self, head: Head, payload: Payload) -> HandlerResult {
        // Before the lookup of the API key, so that a malformed nonce does not confirm a key.
        let nonce = head.nonce_and_key(self.operation.effect)?.0.to_owned();
        let has_key = head.api_key.is_some();
        let api_key = head.api_key.clone().unwrap_or_default();
        let address = self.counted_address();
        let known = self.identify(&api_key, address.clone()).await?;
        self.claims_to_be(known.as_ref());
        let identity = known.as_ref().map(identity);
        // A suspended partner learns nothing else.
        let active = identity.as_ref().filter(|_| known.as_ref().is_some_and(is_active));
        active.map_or(Ok(()), |identity| identity.check_address(self.address))?;
        let body = self.read_body(&head, payload).await?;
        let opened = self.open(head, nonce, body, identity.clone()).await?;
        let DecodedRequest { head, nonce, input, used, .. } = opened;
        self.state.audit.sealed = used.is_some();
        let (body, faults) = match input.map(|input| login_body(&input)) {
            Ok(Ok(body)) => (body, None),
            Ok(Err(faults)) if known.is_some() => (LoginBody::Faulty, Some(faults)),
            Err(faults) if known.is_some() => (LoginBody::Unreadable, Some(faults)),
            // A wrong API key gets 400, whatever the body.
            Ok(Err(_)) | Err(_) => (LoginBody::Unreadable, None),
        };
        // Faulty values do not count as failed logins, so nothing else bounds them: they get no priority.
        let is_faulty = matches!(body, LoginBody::Faulty);
        let (source, rank) = if is_faulty { STRANGERS } else { self.priority(known.as_ref()) };
        let attempt = LoginAttempt {
            owner: known,
            api_key: SecretString::from(api_key),
            nonce: nonce.clone(),
            address,
            client: self.address.is_known().then(|| self.address.to_string()),
            body,
        };
        let shared = Arc::clone(self.shared);
        let login = move || shared.parts.tokens.login(&*shared.parts.store, attempt);
        let issued =
            self.shared.logins.run(source, rank, login).await?.map_err(|error| match (error, faults) {
                (TokenError::BadCredentials, Some(faults)) => ApiError::from(faults),
                (TokenError::BadCredentials, None) if !has_key => ApiError::new(
                    Code::BadCredentials,
                    "the header x-api-key is missing, or given more than once",
                ),
                (error, _) => error.into(),
            })?;
        if let Some(network) = self.address.network() {
            self.shared.known_addresses.remember(network, self.shared.parts.wall.steady());
        }
        self.accept(&head, &nonce, identity, used, &issued).await;
        response(&issued)
    }

    /// Issues tokens for a refresh token.
    pub(super) async fn refresh(&mut self, head: Head, payload: Payload) -> HandlerResult {
        // A malformed nonce does not confirm an API key, as in `login`.
        let nonce = head.nonce_and_key(self.operation.effect)?.0.to_owned();
        let api_key = head.api_key.clone().unwrap_or_default();
        let address = self.counted_address();
        // A suspended partner gets the response of a wrong API key, whatever the body.
        let known = self.identify(&api_key, address.clone()).await?;
        self.claims_to_be(known.as_ref());
        let Some(known) = known.filter(is_active) else {
            self.count_failure(address).await?;
            return Err(Code::Unauthorized.into());
        };
        let identity = identity(&known);
        identity.check_address(self.address)?;
        let body = self.read_body(&head, payload).await?;
        let opened = self.open(head, nonce, body, Some(Arc::clone(&identity))).await?;
        let DecodedRequest { head, nonce, input, used, .. } = opened;
        self.state.audit.sealed = used.is_some();
        let input = match input {
            Ok(input) => input,
            Err(faults) => {
                self.count_failure(address).await?;
                return Err(faults.into());
            }
        };
        let token = input.values(tokens::refresh::read)?;

        let service = Arc::clone(&self.shared.parts.tokens);
        let spent = nonce.clone();
        let outcome = in_store(&*self.shared.parts.store, Access::Write, self.deadline(), move |unit| {
            service.refresh(unit, Some(&known), &api_key, &spent, &token, address.as_deref())
        });
        match outcome.await? {
            RefreshOutcome::Issued(issued) => {
                self.accept(&head, &nonce, Some(identity), used, &issued).await;
                response(&issued)
            }
            RefreshOutcome::Refused => Err(Code::Unauthorized.into()),
            RefreshOutcome::Revoked(session) => {
                self.shared.callers.forget(session);
                Err(Code::Unauthorized.into())
            }
        }
    }

    fn deadline(&self) -> Deadline {
        Deadline::within(self.shared.parts.settings.deadline)
    }

    /// The partner with the API key. Refuses addresses with too many failures first.
    async fn identify(
        &self,
        api_key: &str,
        address: Option<String>,
    ) -> Result<Option<ApiKeyOwner>, TokenError> {
        let service = Arc::clone(&self.shared.parts.tokens);
        let api_key = api_key.to_owned();
        in_store(&*self.shared.parts.store, Access::Read, self.deadline(), move |unit| {
            service.check_address(unit, address.as_deref())?;
            service.identify(unit, &api_key)
        })
        .await
    }

    /// Counts a failed refresh for the client's address.
    async fn count_failure(&self, address: Option<String>) -> Result<(), TokenError> {
        let service = Arc::clone(&self.shared.parts.tokens);
        in_store(&*self.shared.parts.store, Access::Write, self.deadline(), move |unit| {
            service.count_failure(unit, address.as_deref())
        })
        .await
    }

    /// The client's network, which failures are counted by.
    fn counted_address(&self) -> Option<String> {
        self.address.network().map(|network| network.to_string())
    }

    /// The share and the rank of the password check: a flood of logins from unknown sources must not delay partners.
    fn priority(&self, known: Option<&ApiKeyOwner>) -> (RequestSource, Rank) {
        let now = self.shared.parts.wall.steady();
        let partner = known.map(|known| (RequestSource::Partner(known.credentials.partner.id), Rank::First));
        partner.unwrap_or_else(|| self.shared.known_addresses.priority(self.address.network(), now))
    }

    /// Notes the partner of the API key, which is not authenticated yet.
    fn claims_to_be(&mut self, known: Option<&ApiKeyOwner>) {
        self.state.audit.partner = known.map(|known| known.credentials.partner.id);
    }

    /// Notes that the client is authenticated, so that the response may be sealed.
    async fn accept(
        &mut self,
        head: &Head,
        nonce: &str,
        identity: Option<Arc<Identity>>,
        used: Option<KeyId>,
        issued: &IssuedTokens,
    ) {
        let Some(identity) = identity else { return };
        self.is_proved(&identity);
        self.note_first_use(&identity, used, self.deadline()).await;
        self.state.audit.pair = Some(issued.pair);
        self.state.seal = Some(ResponseSeal::new(head, nonce, identity, used));
    }
}

fn is_active(known: &ApiKeyOwner) -> bool {
    known.credentials.partner.status == PartnerStatus::Active
}

fn identity(known: &ApiKeyOwner) -> Arc<Identity> {
    let partner = &known.credentials.partner;
    Arc::new(Identity::new(partner.id, known.credential.clone(), partner.sealing, &known.keys))
}

fn login_body(input: &RequestInput) -> Result<LoginBody, Faults> {
    input.values(tokens::access::read)
}

fn response(issued: &IssuedTokens) -> HandlerResult {
    Response::json(200, &tokens::pair(issued))
}
