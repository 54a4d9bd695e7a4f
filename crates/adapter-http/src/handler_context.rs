//! The context of a handler: an authenticated request without sealed values, and the ways to carry it out.

use std::sync::Arc;

use crate::input::faults::Faults;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::{CardId, PartnerId, SessionId};
use kopeck_fair_queue::Rank;
use kopeck_port_bank::Capabilities;
use kopeck_port_bank::sandbox::{CommandKey, Sandbox, SandboxError};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{Access, Rule, StoreError, UnitOfWork};
use kopeck_service::idempotency::{self as keys, ExecuteError, Execution, ReplayError, SealedNonce};
use kopeck_service::{Env, cards};
use serde::Serialize;

use crate::audit::EntryDraft;
use crate::bridge::{ConcurrencyPermit, Deadline, in_store, in_store_keeping};
use crate::caller_cache::Identity;
use crate::client_address::ClientAddress;
use crate::dto;
use crate::entity_tag::EntityTags;
use crate::error::ApiError;
use crate::idempotency::{self, RequestKey};
use crate::in_flight::RequestGuard;
use crate::input::RequestInput;
use crate::input::reader::Reader;
use crate::request_source::RequestSource;
use crate::response::{HandlerResult, Response, ResponseBody, to_json};
use crate::state::Shared;

/// An authenticated request without sealed values.
pub(crate) struct HandlerContext {
    pub(crate) shared: Arc<Shared>,
    pub(crate) client: Client,
    pub(crate) input: RequestInput,
    permits: HeldPermits,
    deadline: Deadline,
    change: Option<MutationDetails>,
    /// The status code of the operation's response.
    status: u16,
}

/// Who sent a request.
pub(crate) struct Client {
    /// The partner, and who acts for it.
    pub(crate) identity: Arc<Identity>,
    /// The login that its token grew from.
    pub(crate) session: SessionId,
    pub(crate) address: ClientAddress,
}

/// The partner's permits that a request holds while it works, and drops before it waits.
pub(crate) struct HeldPermits {
    /// Held by a request with a large body: reading its values takes long.
    pub(crate) large: Option<ConcurrencyPermit>,
    /// Held by a read of many records.
    pub(crate) list: Option<ConcurrencyPermit>,
}

/// Idempotency and audit data of a mutation.
pub(crate) struct MutationDetails {
    /// The effect happens once under this key.
    pub(crate) key: RequestKey,
    /// SHA-256 over the request by value.
    pub(crate) fingerprint: [u8; 32],
    /// The nonce, if any value of the request was sealed.
    pub(crate) sealed: Option<SealedNonce>,
    /// Whether the response holds personal data of the employee whom it names.
    pub(crate) holds_person: bool,
    /// Whether the response has an entity tag.
    pub(crate) is_tagged: bool,
    pub(crate) audit_entry: EntryDraft,
}

/// A mutation that holds the in-flight guard of its key.
pub(crate) struct Mutation {
    context: HandlerContext,
    key: Arc<RequestKey>,
    call: Arc<keys::IdempotentRequest>,
    holds_person: bool,
    audit_entry: Arc<EntryDraft>,
    /// Shared with the unit of work: the guard lasts until the store responds, even if the client disconnects. It does
    /// not last as long as a silent database, which may keep the work for minutes; the record in the store decides
    /// then.
    guard: Arc<RequestGuard>,
}

impl HandlerContext {
    /// A request of `client`; its work has to start before `deadline`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        client: Client,
        input: RequestInput,
        permits: HeldPermits,
        deadline: Deadline,
        change: Option<MutationDetails>,
        status: u16,
    ) -> Self {
        Self { shared, client, input, permits, deadline, change, status }
    }

    /// The values of the request, which are freed: nothing of them waits with the request.
    ///
    /// # Errors
    /// The faults.
    pub(crate) fn values<V>(&mut self, read: impl FnOnce(&mut Reader<'_>) -> Option<V>) -> Result<V, Faults> {
        let values = self.input.values(read);
        self.forget_values();
        values
    }

    /// Like [`Self::values`], with faults beside the values.
    pub(crate) fn gather<T>(&mut self, read: impl FnOnce(&mut Reader<'_>) -> T) -> (T, Faults) {
        let values = self.input.gather(read);
        self.forget_values();
        values
    }

    fn forget_values(&mut self) {
        self.input.clear();
        self.permits.large = None;
    }

    /// The values of a body that may be large. A large body is read and freed on a blocking thread.
    ///
    /// # Errors
    /// 500 if reading panics.
    pub(crate) async fn values_of_list<V: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut Reader<'_>) -> Option<V> + Send + 'static,
    ) -> Result<Result<V, Faults>, ApiError> {
        let Some(permit) = self.permits.large.take() else { return Ok(self.values(read)) };
        let mut input = std::mem::take(&mut self.input);
        let read = move || {
            let values = input.values(read);
            // Here rather than on a serving thread: it may be large.
            input.clear();
            (values, input)
        };
        let ((values, input), _) = self.shared.large_calls.run_with_permit(permit, read).await?;
        self.input = input;
        Ok(values)
    }

    /// Drops the permit of a read of many records before it waits for something else.
    pub(crate) fn pause(&mut self) {
        self.permits.list = None;
    }

    /// Acquires the permit again, and gives the following work the deadline of a new request.
    ///
    /// # Errors
    /// 503 if no permit is free in time.
    pub(crate) async fn resume(&mut self) -> Result<(), ApiError> {
        let source = RequestSource::Partner(self.partner());
        self.permits.list = Some(self.shared.lists.acquire(source, Rank::First).await?);
        self.renew_deadline();
        Ok(())
    }

    /// Gives the work that follows as much time as a request that has just arrived.
    fn renew_deadline(&mut self) {
        self.deadline = Deadline::within(self.shared.parts.settings.deadline);
    }

    /// The partner of the request.
    pub(crate) fn partner(&self) -> PartnerId {
        self.client.identity.partner
    }

    /// The time zone of every date in a response.
    pub(crate) fn zone(&self) -> Zone {
        self.env().settings.zone
    }

    pub(crate) fn env(&self) -> &Arc<Env> {
        &self.shared.parts.env
    }

    /// Makes the entity tags of responses.
    pub(crate) fn entity_tags(&self) -> EntityTags {
        EntityTags(Arc::clone(&self.shared.parts.tokens))
    }

    /// The response with this body.
    pub(crate) fn respond(&self, body: &impl Serialize) -> HandlerResult {
        Response::json(self.status, body)
    }

    /// The response with a body that is partly or wholly written.
    pub(crate) const fn respond_with(&self, body: ResponseBody) -> Response {
        Response { status: self.status, body, replayed: false, tag: None, file: None }
    }

    /// The response with `page` of a list, each record shown by `show`.
    pub(crate) fn respond_page<'l, R, T: Serialize>(
        &self,
        listed: &'l Listed<R>,
        page: Page,
        show: impl Fn(&'l R) -> T,
    ) -> HandlerResult {
        self.respond(&dto::page(listed, page, &self.input.path, show))
    }

    /// Runs `work` in a reading unit of work.
    pub(crate) async fn read<V, T, E>(
        &self,
        values: Result<V, Faults>,
        work: impl Fn(&mut dyn UnitOfWork, &Env, PartnerId, &V) -> Result<T, E> + Send + 'static,
    ) -> Result<T, ApiError>
    where
        V: Send + 'static,
        T: Send + 'static,
        E: Into<ApiError>,
    {
        let values = values?;
        let (env, partner) = (Arc::clone(self.env()), self.partner());
        in_store(&*self.shared.parts.store, Access::Read, self.deadline, move |unit| {
            work(unit, &env, partner, &values).map_err(Into::into)
        })
        .await
    }

    /// What the bank can do, as far as it is known.
    pub(crate) fn bank_capabilities(&self) -> Capabilities {
        self.shared.parts.bank.capabilities()
    }

    /// Runs `work`, which calls the bank, on a blocking thread.
    pub(crate) async fn ask_bank<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, PartnerId) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (shared, partner) = (Arc::clone(&self.shared), self.partner());
        let source = RequestSource::Partner(partner);
        self.shared.bank_calls.run(source, Rank::First, move || work(&shared, partner)).await
    }

    /// Refreshes the copy of a card after a change at the bank.
    pub(crate) async fn renew_card(&self, card: CardId) -> Result<(), ApiError> {
        let asked = self.ask_bank(move |shared, partner| {
            let parts = &shared.parts;
            cards::renew(&*parts.store, &*parts.bank, &parts.env, partner, card)
        });
        Ok(asked.await??)
    }

    /// Refreshes the copy of a card before its link changes.
    pub(crate) async fn prepare_card(&self, card: cards::CardKey) -> Result<(), ApiError> {
        let asked = self.ask_bank(move |shared, partner| {
            let parts = &shared.parts;
            cards::prepare(&*parts.store, &*parts.bank, &parts.env, partner, card)
        });
        Ok(asked.await??)
    }

    /// Runs a sandbox command.
    async fn command<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Sandbox) -> Result<T, SandboxError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let told = self.ask_bank(move |shared, _| match &shared.parts.sandbox {
            Some(sandbox) => command(sandbox).map_err(ApiError::from),
            None => Err(ApiError::internal("a call of the sandbox without a sandbox")),
        });
        told.await?
    }

    /// Runs `work` once. The faults of the values count only if there is no recorded response: the documented order of
    /// checks.
    pub(crate) async fn mutate<V, T, E>(
        self,
        values: Result<V, Faults>,
        work: impl Fn(&mut dyn UnitOfWork, &Env, PartnerId, &V) -> Result<T, E> + Send + 'static,
    ) -> HandlerResult
    where
        V: Send + 'static,
        T: Serialize,
        E: Into<ApiError>,
    {
        let tags = self.change.as_ref().is_some_and(|change| change.is_tagged).then(|| self.entity_tags());
        let mutation = self.begin_mutation().await?;
        let response = match values {
            Ok(values) => mutation.once(values, work).await?,
            Err(faults) => mutation.replay().await?.ok_or(faults)?,
        };
        Ok(match tags {
            Some(tags) => response.tagged(&tags),
            None => response,
        })
    }

    /// Waits until no other request under the same key is in flight.
    ///
    /// # Errors
    /// 409 if another request under the same key takes too long.
    pub(crate) async fn begin_mutation(mut self) -> Result<Mutation, ApiError> {
        self.forget_values();
        let Some(MutationDetails { key, fingerprint, sealed, holds_person, is_tagged: _, audit_entry }) =
            self.change.take()
        else {
            return Err(ApiError::internal("a call without a key changes something"));
        };
        let guard = self.shared.in_flight.acquire(self.partner(), &key.key).await;
        let guard = Arc::new(guard.ok_or_else(idempotency::in_progress)?);
        let call =
            keys::IdempotentRequest { partner: self.partner(), key: key.key.clone(), fingerprint, sealed };
        let (key, call, audit_entry) = (Arc::new(key), Arc::new(call), Arc::new(audit_entry));
        Ok(Mutation { context: self, key, call, holds_person, audit_entry, guard })
    }
}

impl Mutation {
    /// The request.
    pub(crate) const fn context(&self) -> &HandlerContext {
        &self.context
    }

    /// Gives the work that follows as much time as a request that has just arrived.
    pub(crate) fn renew_deadline(&mut self) {
        self.context.renew_deadline();
    }

    /// The key of an effect outside of the unit of work. It contains the fingerprint, because another request may
    /// reuse the idempotency key.
    fn command_key(&self) -> CommandKey {
        let keys::IdempotentRequest { partner, key, fingerprint, .. } = &*self.call;
        let fingerprint: String = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        let env = self.context.env();
        let since = env.now() - env.settings.idempotency_retention;
        CommandKey { text: format!("{partner}/{fingerprint}/{key}"), since }
    }

    /// The recorded response of an idempotent retry. It spends the nonce of a sealed request.
    ///
    /// # Errors
    /// 422 if the key was used for another request, or the nonce of a sealed request with another key.
    pub(crate) async fn replay(&self) -> Result<Option<Response>, ApiError> {
        let (env, call) = (Arc::clone(self.context.env()), Arc::clone(&self.call));
        let store = &*self.context.shared.parts.store;
        let looked =
            in_store(store, Access::Read, self.context.deadline, move |unit| keys::find(unit, &env, &call));
        let recorded = looked.await.map_err(|error| idempotency::of_replay(error, &self.key))?;
        let response = match recorded {
            Some(recorded) if !recorded.is_nonce_spent => self.write(keys::replay).await?,
            recorded => recorded.map(|recorded| recorded.response),
        };
        Ok(response.map(Response::replayed))
    }

    /// Runs a sandbox command under the key of this request. Its effect is outside of the unit of work that records
    /// the response, so a sealed request spends its nonce first.
    ///
    /// # Errors
    /// 422 if the nonce of a sealed request was spent with another key; the sandbox's refusal.
    pub(crate) async fn command<T: Send + 'static>(
        &self,
        command: impl FnOnce(&Sandbox, &CommandKey) -> Result<T, SandboxError> + Send + 'static,
    ) -> Result<T, ApiError> {
        if self.call.sealed.is_some() {
            self.write(keys::claim_nonce).await?;
        }
        let key = self.command_key();
        self.context.command(move |sandbox| command(sandbox, &key)).await
    }

    /// Runs `record` in a writing unit of work.
    async fn write<T: Send + 'static>(
        &self,
        record: fn(&mut dyn UnitOfWork, &Env, &keys::IdempotentRequest) -> Result<T, ReplayError>,
    ) -> Result<T, ApiError> {
        let (env, call) = (Arc::clone(self.context.env()), Arc::clone(&self.call));
        let guard = Arc::clone(&self.guard);
        let (store, deadline) = (&*self.context.shared.parts.store, self.context.deadline);
        let written =
            in_store_keeping(guard, store, Access::Write, deadline, move |unit| record(unit, &env, &call));
        written.await.map_err(|error| idempotency::of_replay(error, &self.key))
    }

    /// Runs `work` and records its response and its audit entry, or returns the recorded response.
    pub(crate) async fn once<V, T, E>(
        self,
        values: V,
        work: impl Fn(&mut dyn UnitOfWork, &Env, PartnerId, &V) -> Result<T, E> + Send + 'static,
    ) -> HandlerResult
    where
        V: Send + 'static,
        T: Serialize,
        E: Into<ApiError>,
    {
        let (env, call) = (Arc::clone(self.context.env()), Arc::clone(&self.call));
        let (guard, audit_entry) = (Arc::clone(&self.guard), Arc::clone(&self.audit_entry));
        let store = &*self.context.shared.parts.store;
        let (deadline, status) = (self.context.deadline, self.context.status);
        let holds_person = self.holds_person;
        let carried_out = in_store_keeping(guard, store, Access::Write, deadline, move |unit| {
            let once = keys::execute(unit, &env, &call, |unit| {
                let shown = work(unit, &env, call.partner, &values).map_err(Into::into)?;
                let body = to_json(&shown)?;
                let employee = if holds_person { idempotency::employee_in(&body) } else { None };
                Ok::<_, ApiError>(keys::PlaintextResponse { status, body, employee })
            })?;
            if let Execution::First(response) = &once {
                unit.audit().append(&audit_entry.completed(response.status, &response.body))?;
            }
            Ok::<_, ExecuteError<ApiError>>(once)
        });
        match carried_out.await {
            Ok(Execution::First(response)) => Ok(Response::first(response)),
            Ok(Execution::Replayed(response)) => Ok(Response::replayed(response)),
            // Another instance recorded the first response between the read and the write: that effect caused the
            // conflict.
            Err(ExecuteError::Store(StoreError::Conflict(Rule::IdempotencyKey | Rule::SealedNonce))) => {
                self.replay().await?.ok_or_else(idempotency::in_progress)
            }
            Err(ExecuteError::UseCase(refusal)) => match self.replay().await {
                Ok(Some(response)) => Ok(response),
                Ok(None) | Err(_) => Err(refusal),
            },
            Err(
                error @ (ExecuteError::KeyReused
                | ExecuteError::NonceSpent
                | ExecuteError::Erased
                | ExecuteError::Store(_)),
            ) => Err(idempotency::of_once(error, &self.key)),
        }
    }
}
