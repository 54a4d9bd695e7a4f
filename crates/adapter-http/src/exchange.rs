//! What a handler works with: an authenticated, opened call, and the ways to carry it out.

use std::sync::Arc;

use actix_web::http::StatusCode;
use kopeck_domain::Faults;
use kopeck_domain::calendar::Zone;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_port_store::{Access, Rule, StoreError, UnitOfWork};
use kopeck_service::idempotency::{self, Once, OnceError, ReplayError, SealedNonce};
use kopeck_service::{Env, cards};
use serde::Serialize;

use crate::audit::Signature;
use crate::bridge::{Deadline, Pass, in_store, in_store_keeping};
use crate::courtesy;
use crate::error::ApiError;
use crate::errors::repeats;
use crate::in_flight::Ticket;
use crate::input::Call;
use crate::input::reader::Reader;
use crate::pages::Pieces;
use crate::pipeline::head::RepeatKey;
use crate::route::Outcome;
use crate::sandbox::{CommandKey, SandboxPower, SandboxRefusal};
use crate::state::Shared;

/// An answer of 2xx, before sealing.
pub(crate) struct Answer {
    /// The status.
    pub(crate) status: u16,
    /// JSON.
    pub(crate) body: Body,
    /// Whether it was given before.
    pub(crate) replayed: bool,
}

/// The body of an answer.
pub(crate) enum Body {
    /// All of it.
    Whole(Vec<u8>),
    /// What is made while it is sent.
    Pieces(Pieces),
}

impl Answer {
    /// An answer with the JSON of `body`.
    pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Result<Self, ApiError> {
        Ok(Self { status: status.as_u16(), body: Body::Whole(to_json(body)?), replayed: false })
    }

    /// An answer with status 200.
    pub(crate) fn ok(body: Body) -> Self {
        Self { status: StatusCode::OK.as_u16(), body, replayed: false }
    }

    fn first(answer: idempotency::Answer) -> Self {
        Self { status: answer.status, body: Body::Whole(answer.body), replayed: false }
    }

    fn replayed(answer: idempotency::Answer) -> Self {
        Self { status: answer.status, body: Body::Whole(answer.body), replayed: true }
    }
}

fn to_json(body: &impl Serialize) -> Result<Vec<u8>, ApiError> {
    serde_json::to_vec(body).map_err(|error| ApiError::internal(error.to_string()))
}

/// An authenticated, opened call.
pub(crate) struct Exchange {
    pub(crate) shared: Arc<Shared>,
    pub(crate) partner: PartnerId,
    pub(crate) call: Call,
    /// The turn of one whose body is so large that it takes long to read the values.
    large: Option<Pass>,
    deadline: Deadline,
    /// Of a call that changes something.
    change: Option<Change>,
}

/// What a call that changes something has beside.
pub(crate) struct Change {
    /// The key under which it is carried out once.
    pub(crate) key: RepeatKey,
    /// SHA-256 over the call by value.
    pub(crate) fingerprint: [u8; 32],
    /// Its nonce, if anything in it was sealed.
    pub(crate) sealed: Option<SealedNonce>,
    /// For the audit log.
    pub(crate) signature: Signature,
}

/// A call that is to be carried out once, and whose turn it is.
pub(crate) struct Turn {
    exchange: Exchange,
    key: Arc<RepeatKey>,
    call: Arc<idempotency::Call>,
    signature: Arc<Signature>,
    /// Kept for the unit of work too: the turn lasts until the store has answered, even if the caller goes away. It does
    /// not last as long as a silent database, which may have the work for minutes: what comes of that is found in the
    /// store by the key.
    ticket: Arc<Ticket>,
}

impl Exchange {
    /// A call of `partner`, whose work is to be begun before `deadline`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        partner: PartnerId,
        call: Call,
        large: Option<Pass>,
        deadline: Deadline,
        change: Option<Change>,
    ) -> Self {
        Self { shared, partner, call, large, deadline, change }
    }

    /// The values of a body that may be large. Such a one is read on a thread that may be busy for long, and is gone
    /// afterwards.
    ///
    /// # Errors
    /// 500 if reading panics.
    pub(crate) async fn values_of_list<V: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut Reader<'_>) -> Option<V> + Send + 'static,
    ) -> Result<Result<V, Faults>, ApiError> {
        let Some(pass) = self.large.take() else { return Ok(self.call.values(read)) };
        let mut call = std::mem::take(&mut self.call);
        let read = move || {
            let values = call.values(read);
            courtesy::free(std::mem::take(&mut call.body));
            (values, call)
        };
        let ((values, call), _) = self.shared.large_calls.run_with(pass, read).await?;
        self.call = call;
        Ok(values)
    }

    /// The zone of every date in an answer.
    pub(crate) fn zone(&self) -> Zone {
        self.env().settings.zone
    }

    pub(crate) fn env(&self) -> &Arc<Env> {
        &self.shared.parts.env
    }

    /// Reads through `work`.
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
        let (env, partner) = (Arc::clone(self.env()), self.partner);
        in_store(&*self.shared.parts.store, Access::Read, self.deadline, move |unit| {
            work(unit, &env, partner, &values).map_err(Into::into)
        })
        .await
    }

    /// Asks the bank through `work`, on a thread that may block.
    pub(crate) async fn ask_bank<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shared, PartnerId) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (shared, partner) = (Arc::clone(&self.shared), self.partner);
        self.shared.bank_calls.run(move || work(&shared, partner)).await
    }

    /// Brings the copy of a card up to date after something happened to it at the bank.
    pub(crate) async fn renew_card(&self, card: CardId) -> Result<(), ApiError> {
        let asked = self.ask_bank(move |shared, partner| {
            let parts = &shared.parts;
            cards::renew(&*parts.store, &*parts.bank, &parts.env, partner, card)
        });
        Ok(asked.await??)
    }

    /// Brings the copy of a card up to date before its link changes.
    pub(crate) async fn prepare_card(&self, card: cards::CardKey) -> Result<(), ApiError> {
        let asked = self.ask_bank(move |shared, partner| {
            let parts = &shared.parts;
            cards::prepare(&*parts.store, &*parts.bank, &parts.env, partner, card)
        });
        Ok(asked.await??)
    }

    /// Lets the sandbox do something.
    async fn command<T: Send + 'static>(
        &self,
        command: impl FnOnce(&dyn SandboxPower) -> Result<T, SandboxRefusal> + Send + 'static,
    ) -> Result<T, ApiError> {
        let told = self.ask_bank(move |shared, _| match &shared.parts.sandbox {
            Some(power) => command(&**power).map_err(ApiError::from),
            None => Err(ApiError::internal("a call of the sandbox without a sandbox")),
        });
        told.await?
    }

    /// Changes something through `work`, once: reads the values only after a repeat was answered, as the order of
    /// checks says.
    pub(crate) async fn mutate<V, T, E>(
        self,
        status: StatusCode,
        values: Result<V, Faults>,
        work: impl Fn(&mut dyn UnitOfWork, &Env, PartnerId, &V) -> Result<T, E> + Send + 'static,
    ) -> Outcome
    where
        V: Send + 'static,
        T: Serialize,
        E: Into<ApiError>,
    {
        let turn = self.turn().await?;
        match values {
            Ok(values) => turn.once(status, values, work).await,
            Err(faults) => turn.replay().await?.ok_or_else(|| faults.into()),
        }
    }

    /// Waits for the turn of a call that changes something.
    ///
    /// # Errors
    /// 409 if a call under the same key takes too long.
    pub(crate) async fn turn(mut self) -> Result<Turn, ApiError> {
        // Whoever waits for the store needs no turn to read.
        self.large = None;
        let Some(Change { key, fingerprint, sealed, signature }) = self.change.take() else {
            return Err(ApiError::internal("a call without a key changes something"));
        };
        let ticket = self.shared.in_flight.take(self.partner, &key.key).await;
        let ticket = Arc::new(ticket.ok_or_else(repeats::in_progress)?);
        let call = idempotency::Call { partner: self.partner, key: key.key.clone(), fingerprint, sealed };
        let (key, call, signature) = (Arc::new(key), Arc::new(call), Arc::new(signature));
        Ok(Turn { exchange: self, key, call, signature, ticket })
    }
}

impl Turn {
    /// The call.
    pub(crate) const fn exchange(&self) -> &Exchange {
        &self.exchange
    }

    /// The name of this very call, for an effect outside of its unit of work. A key that is used for another call
    /// names something else.
    fn command_key(&self) -> CommandKey {
        let idempotency::Call { partner, key, fingerprint, .. } = &*self.call;
        let fingerprint: String = fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
        let env = self.exchange.env();
        let since = env.now() - env.settings.idempotency_retention;
        CommandKey { text: format!("{partner}/{fingerprint}/{key}"), since }
    }

    /// The answer that was given before, if the call is a repeat. A sealed call spends its nonce with it.
    ///
    /// # Errors
    /// 422 if the key was used for another call, or the nonce of a sealed call with another key.
    pub(crate) async fn replay(&self) -> Result<Option<Answer>, ApiError> {
        let (env, call) = (Arc::clone(self.exchange.env()), Arc::clone(&self.call));
        let store = &*self.exchange.shared.parts.store;
        let looked = in_store(store, Access::Read, self.exchange.deadline, move |unit| {
            idempotency::look(unit, &env, &call)
        });
        let recorded = looked.await.map_err(|error| repeats::of_replay(error, &self.key))?;
        let answer = match recorded {
            Some(recorded) if !recorded.is_nonce_spent => self.write(idempotency::replay).await?,
            recorded => recorded.map(|recorded| recorded.answer),
        };
        Ok(answer.map(Answer::replayed))
    }

    /// Lets the sandbox do something in the name of this call. That lies outside of the unit of work that records the
    /// answer, so a sealed call spends its nonce before it.
    ///
    /// # Errors
    /// 422 if the nonce of a sealed call was spent with another key; the sandbox's refusal.
    pub(crate) async fn command<T: Send + 'static>(
        &self,
        command: impl FnOnce(&dyn SandboxPower, &CommandKey) -> Result<T, SandboxRefusal> + Send + 'static,
    ) -> Result<T, ApiError> {
        if self.call.sealed.is_some() {
            self.write(idempotency::claim_nonce).await?;
        }
        let key = self.command_key();
        self.exchange.command(move |power| command(power, &key)).await
    }

    /// Runs `record` on what is recorded of this call, as a writing unit of work.
    async fn write<T: Send + 'static>(
        &self,
        record: fn(&mut dyn UnitOfWork, &Env, &idempotency::Call) -> Result<T, ReplayError>,
    ) -> Result<T, ApiError> {
        let (env, call) = (Arc::clone(self.exchange.env()), Arc::clone(&self.call));
        let (ticket, partner) = (Arc::clone(&self.ticket), Some(self.call.partner));
        let (store, deadline) = (&*self.exchange.shared.parts.store, self.exchange.deadline);
        let written = in_store_keeping(ticket, partner, store, Access::Write, deadline, move |unit| {
            record(unit, &env, &call)
        });
        written.await.map_err(|error| repeats::of_replay(error, &self.key))
    }

    /// Carries out `work` and records its answer, with an entry in the audit log, or gives the answer that was recorded before.
    pub(crate) async fn once<V, T, E>(
        self,
        status: StatusCode,
        values: V,
        work: impl Fn(&mut dyn UnitOfWork, &Env, PartnerId, &V) -> Result<T, E> + Send + 'static,
    ) -> Outcome
    where
        V: Send + 'static,
        T: Serialize,
        E: Into<ApiError>,
    {
        let (env, call) = (Arc::clone(self.exchange.env()), Arc::clone(&self.call));
        let (ticket, signature) = (Arc::clone(&self.ticket), Arc::clone(&self.signature));
        let store = &*self.exchange.shared.parts.store;
        let (deadline, partner) = (self.exchange.deadline, Some(self.call.partner));
        let carried_out = in_store_keeping(ticket, partner, store, Access::Write, deadline, move |unit| {
            let once = idempotency::once(unit, &env, &call, |unit| {
                let shown = work(unit, &env, call.partner, &values).map_err(Into::into)?;
                Ok::<_, ApiError>(idempotency::Answer { status: status.as_u16(), body: to_json(&shown)? })
            })?;
            if let Once::First(answer) = &once {
                unit.audit().append(&signature.of_done(answer.status, &answer.body))?;
            }
            Ok::<_, OnceError<ApiError>>(once)
        });
        match carried_out.await {
            Ok(Once::First(answer)) => Ok(Answer::first(answer)),
            Ok(Once::Replayed(answer)) => Ok(Answer::replayed(answer)),
            // On another instance the first call may have won between our look and our write: what refused us is
            // then its effect, and its answer is ours.
            Err(OnceError::Store(StoreError::Conflict(Rule::IdempotencyKey | Rule::SealedNonce))) => {
                self.replay().await?.ok_or_else(repeats::in_progress)
            }
            Err(OnceError::UseCase(refusal)) => match self.replay().await {
                Ok(Some(answer)) => Ok(answer),
                Ok(None) | Err(_) => Err(refusal),
            },
            Err(error @ (OnceError::KeyReused | OnceError::NonceSpent | OnceError::Store(_))) => {
                Err(repeats::of_once(error, &self.key))
            }
        }
    }
}
