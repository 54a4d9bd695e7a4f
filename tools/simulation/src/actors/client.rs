//! A partner: it calls, loses answers, and calls again under the same key, also before the first call has ended. An
//! attacker copies its sealed requests and sends them again under other keys.

use std::sync::Arc;

use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_port_store::{Access, RecordedResponse, Rule, Store, StoreError, transact};
use kopeck_service::cards::{self, CardKey};
use kopeck_service::idempotency::{
    self, ExecuteError, Execution, PlaintextResponse, ReplayError, SEALED_NONCE_LIFE, SealedNonce,
};
use time::Duration;

use super::calls::{ClientView, Command, CommandError, KeyedCommand, SealedRequest, carry_out};
use super::compose;
use crate::chaos::survive;
use crate::violation::Violation;
use crate::world::World;

const ONE_EFFECT: &str = "one idempotency key, one effect and one answer";
const WORKS_ONCE: &str = "a sealed request works once";

/// How long a sealed value is accepted after its time.
const SEALED_FOR: Duration = Duration::seconds(300);

/// A partner with the calls it made.
pub(crate) struct Client {
    name: String,
    pub(crate) partner: PartnerId,
    pub(crate) calls: Vec<KeyedCommand>,
    /// Requests that the service has looked at and not carried out yet; the same one may be there twice.
    under_way: Vec<Request>,
}

/// One request that carries a call.
#[derive(Debug, Clone)]
struct Request {
    /// The number of the call.
    call: usize,
    /// Its `Idempotency-Key`.
    key: Option<String>,
    sealed: Option<SealedRequest>,
}

/// What a request came to this time.
enum RequestOutcome {
    First(PlaintextResponse),
    Replayed(PlaintextResponse),
    Refused(String),
    /// Its nonce was spent with another key.
    Spent,
    /// It had its effect; its answer was erased.
    Erased,
    /// No word of it.
    Lost,
}

impl Client {
    pub(crate) fn new(name: String, partner: PartnerId) -> Self {
        Self { name, partner, calls: Vec::new(), under_way: Vec::new() }
    }

    /// Goes on with a request, repeats a request, or makes a new one. Then an attacker may copy a request.
    pub(crate) fn step(&mut self, world: &World) -> Result<(), Violation> {
        self.step_of_partner(world)?;
        if self.calls.is_empty() || !world.copying.chance(200) {
            return Ok(());
        }
        let call = world.copying.place(self.calls.len());
        self.be_copied(world, call)
    }

    fn step_of_partner(&mut self, world: &World) -> Result<(), Violation> {
        if !self.under_way.is_empty() && world.dice.chance(600) {
            let at = world.dice.place(self.under_way.len());
            let request = self.under_way.swap_remove(at);
            return self.carry_out(world, request);
        }
        if !self.calls.is_empty() && world.dice.chance(250) {
            let call = world.dice.place(self.calls.len());
            return self.again(call).map_or(Ok(()), |request| self.begin(world, request));
        }
        let composed = compose::next(world, self.partner);
        let Some(command) = composed.or_else(|error| Violation::judge(&error).map(|()| None))? else {
            return Ok(());
        };
        let request = self.call(world, command);
        self.begin(world, request)
    }

    /// Begins its business: money, staff, and an order of cards.
    pub(crate) fn open(&mut self, world: &World) -> Result<(), Violation> {
        self.do_all(world, compose::beginning(world))
    }

    /// Links a card to every employee.
    pub(crate) fn equip(&mut self, world: &World) -> Result<(), Violation> {
        let links = compose::equipment(world, self.partner);
        self.do_all(world, links.or_else(|error| Violation::judge(&error).map(|()| Vec::new()))?)
    }

    /// Drafts a run and submits it as it was shown.
    pub(crate) fn pay_by_run(&mut self, world: &World) -> Result<(), Violation> {
        for step in [compose::draft, compose::submission] {
            let command =
                step(world, self.partner).or_else(|error| Violation::judge(&error).map(|()| None))?;
            self.do_all(world, command.into_iter().collect())?;
        }
        Ok(())
    }

    fn do_all(&mut self, world: &World, commands: Vec<Command>) -> Result<(), Violation> {
        for command in commands {
            let request = self.call(world, command);
            self.begin(world, request)?;
        }
        for request in std::mem::take(&mut self.under_way) {
            self.carry_out(world, request)?;
        }
        Ok(())
    }

    /// A new call; returns its first request. Two of three are sealed.
    fn call(&mut self, world: &World, command: Command) -> Request {
        let number = self.calls.len();
        let mut fingerprint = [0; 32];
        for (byte, digit) in fingerprint.iter_mut().zip(number.to_le_bytes()) {
            *byte = digit;
        }
        let is_sealed = !command.is_by_operator() && world.copying.chance(667);
        world.trace.note(&self.name, || format!("call {number}: {command:?}, sealed: {is_sealed}"));
        let key = format!("{}/{number}", self.name);
        let nonce = || SealedRequest { nonce: format!("{key}/nonce"), sealed_at: world.env.now() };
        let sealed: Vec<SealedRequest> = is_sealed.then(nonce).into_iter().collect();
        let request = Request { call: number, key: Some(key.clone()), sealed: sealed.first().cloned() };
        let (known, copies, effect_under) = (ClientView::Nothing, Vec::new(), None);
        self.calls.push(KeyedCommand { key, fingerprint, command, known, sealed, copies, effect_under });
        request
    }

    /// The partner's next request of a call, under the first nonce.
    fn again(&self, number: usize) -> Option<Request> {
        let call = self.calls.get(number)?;
        Some(Request { call: number, key: Some(call.key.clone()), sealed: call.sealed.first().cloned() })
    }

    /// An attacker copies one of a call's sealed requests. Before that, a partner with a response may have retried
    /// under a new nonce. Both bypass all faults: the attacker needs no response.
    fn be_copied(&mut self, world: &World, number: usize) -> Result<(), Violation> {
        let own = |call: &KeyedCommand| call.effect_under.as_ref() == Some(&Some(call.key.clone()));
        if self.calls.get(number).is_some_and(|call| own(call) && !call.sealed.is_empty())
            && world.copying.chance(300)
            && let Some(again) = self.again(number)
        {
            let nonce = format!("{}/nonce/{}", self.name, world.copying.below(u64::MAX));
            let sealed = Some(SealedRequest { nonce, sealed_at: world.env.now() });
            self.carry_out_by(world, Request { sealed, ..again }, &*world.stored)?;
        }
        let copy = self.copy(world, number);
        copy.map_or(Ok(()), |copy| self.carry_out_by(world, copy, &*world.stored))
    }

    /// A copy of one of a call's sealed requests, under another key or without one, while it can be opened.
    fn copy(&mut self, world: &World, number: usize) -> Option<Request> {
        let call = self.calls.get_mut(number)?;
        let sealed = world.copying.pick(&call.sealed)?.clone();
        let key = world.copying.chance(700).then(|| format!("{}/copy {}", call.key, world.copying.below(2)));
        if !can_be_opened(world, &sealed) {
            return None;
        }
        if !call.copies.contains(&key) {
            call.copies.push(key.clone());
        }
        world.trace.note(&self.name, || format!("call {number} is copied under {key:?}"));
        Some(Request { call: number, key, sealed: Some(sealed) })
    }

    /// Calls again whatever has no certain response.
    pub(crate) fn conclude(&mut self, world: &World) -> Result<(), Violation> {
        self.under_way.clear();
        self.repeat(world, |known| *known == ClientView::Nothing)
    }

    /// Repeats every request that had an effect: each must be answered as it was, and change nothing. Then all that can be
    /// copied is.
    pub(crate) fn repeat_all(&mut self, world: &World) -> Result<(), Violation> {
        self.repeat(world, |known| matches!(known, ClientView::Answered(_)))?;
        for call in 0..self.calls.len() {
            // A copy of a refused call could be accepted now, and no worker would do the job.
            if self.calls.get(call).is_some_and(|call| matches!(call.known, ClientView::Answered(_))) {
                self.be_copied(world, call)?;
                self.be_copied(world, call)?;
            }
        }
        Ok(())
    }

    fn repeat(&mut self, world: &World, wanted: impl Fn(&ClientView) -> bool) -> Result<(), Violation> {
        for call in 0..self.calls.len() {
            if self.calls.get(call).is_some_and(|call| wanted(&call.known))
                && let Some(request) = self.again(call)
            {
                self.carry_out(world, request)?;
            }
        }
        Ok(())
    }

    /// Looks past all faults for the response that a copy was given. A partner that gets an error for a spent nonce
    /// does so with the lists; by itself, it would carry out the request again when the nonce is forgotten.
    fn find_effect_of_copy(&mut self, world: &World, number: usize) {
        let Some(call) = self.calls.get_mut(number) else { return };
        let partner = self.partner;
        let of_copy = |key: &Option<String>| match key {
            Some(key) => vec![(Some(key.clone()), key.clone())],
            None => call.sealed.iter().map(|sealed| (None, sealed.nonce.clone())).collect(),
        };
        let asked: Vec<(Option<String>, String)> = call.copies.iter().flat_map(of_copy).collect();
        if asked.is_empty() {
            return;
        }
        let found = world.look(move |unit| {
            let find = |(key, recorded_under): &(Option<String>, String)| {
                Ok((key.clone(), unit.idempotency().find(partner, recorded_under)?))
            };
            asked.iter().map(find).collect::<Result<Vec<_>, StoreError>>()
        });
        for (key, found) in found.unwrap_or_default() {
            let Some(RecordedResponse { status, body, employee, .. }) = found else { continue };
            if let Some(body) = body {
                call.known = ClientView::Answered(PlaintextResponse { status, body, employee });
            }
            call.effect_under = Some(key);
        }
    }

    /// What the service does before a request's own unit of work: it looks for an earlier response, and asks the bank about
    /// a card whose link is about to change.
    fn begin(&mut self, world: &World, request: Request) -> Result<(), Violation> {
        let Some(call) = self.calls.get(request.call) else { return Ok(()) };
        let (partner, asked) = (self.partner, self.asked(call, &request));
        let prepared = survive(|| match call.command {
            Command::Link { number, .. } => prepare(world, partner, CardKey::Number(number)).map(|()| None),
            Command::Switch { card, .. } | Command::Unlink { card, .. } => {
                prepare(world, partner, CardKey::Id(card)).map(|()| None)
            }
            _ if call.command.is_by_operator() => Ok(None),
            _ => {
                let env = Arc::clone(&world.env);
                transact(&*world.store, Access::Read, move |unit| idempotency::find(unit, &env, &asked))
            }
        });
        match prepared {
            Err(_crashed) => Ok(()),
            Ok(Err(ReplayError::Store(error))) => Violation::judge(&error),
            Ok(Err(ReplayError::KeyReused)) => Err(reused(call)),
            Ok(Err(ReplayError::NonceSpent)) => self.learn(world, &request, RequestOutcome::Spent),
            Ok(Err(ReplayError::Erased)) => self.learn(world, &request, RequestOutcome::Erased),
            Ok(Ok(Some(recorded))) if recorded.is_nonce_spent => {
                self.learn(world, &request, RequestOutcome::Replayed(recorded.response))
            }
            // The first nonce of an old call, which is forgotten by now: it is spent again.
            Ok(Ok(Some(_))) => self.carry_out_by(world, request, &*world.stored),
            Ok(Ok(None)) => {
                self.under_way.push(request);
                Ok(())
            }
        }
    }

    /// The unit of work of a request.
    fn carry_out(&mut self, world: &World, request: Request) -> Result<(), Violation> {
        self.carry_out_by(world, request, &*world.store)
    }

    fn carry_out_by(&mut self, world: &World, request: Request, store: &dyn Store) -> Result<(), Violation> {
        if !self.is_still_served(world, &request) {
            return Ok(());
        }
        let Some(call) = self.calls.get(request.call) else { return Ok(()) };
        let (partner, asked, command) = (self.partner, self.asked(call, &request), call.command.clone());
        let env = Arc::clone(&world.env);
        let came = survive(|| {
            transact(store, Access::Write, move |unit| {
                if command.is_by_operator() {
                    let answer = carry_out(unit, &env, partner, &command);
                    return answer.map(Execution::First).map_err(ExecuteError::UseCase);
                }
                idempotency::execute(unit, &env, &asked, |unit| carry_out(unit, &env, partner, &command))
            })
        });
        let came = match came {
            Err(_crashed) => RequestOutcome::Lost,
            Ok(Ok(Execution::First(answer))) => RequestOutcome::First(answer),
            Ok(Ok(Execution::Replayed(answer))) => RequestOutcome::Replayed(answer),
            Ok(Err(ExecuteError::KeyReused)) => return Err(reused(call)),
            Ok(Err(ExecuteError::NonceSpent)) => RequestOutcome::Spent,
            Ok(Err(ExecuteError::Erased)) => RequestOutcome::Erased,
            Ok(Err(ExecuteError::UseCase(CommandError::Refused(why)))) => RequestOutcome::Refused(why),
            // The same request has just been carried out by another request.
            Ok(Err(ExecuteError::Store(StoreError::Conflict(Rule::IdempotencyKey | Rule::SealedNonce)))) => {
                RequestOutcome::Lost
            }
            Ok(Err(ExecuteError::Store(error) | ExecuteError::UseCase(CommandError::Store(error)))) => {
                Violation::judge(&error)?;
                RequestOutcome::Lost
            }
        };
        self.learn(world, &request, came)
    }

    /// Whether a request can still succeed: a copy can be opened for some minutes, and a call whose copy had the effect is
    /// not repeated once its nonce is forgotten.
    fn is_still_served(&mut self, world: &World, request: &Request) -> bool {
        let Some(sealed) = &request.sealed else { return true };
        self.find_effect_of_copy(world, request.call);
        let Some(call) = self.calls.get(request.call) else { return false };
        if request.key.as_ref() != Some(&call.key) {
            return can_be_opened(world, sealed);
        }
        let is_by_copy = call.effect_under.as_ref().is_some_and(|under| *under != request.key);
        !is_by_copy || world.env.now() - sealed.sealed_at < SEALED_NONCE_LIFE
    }

    /// Holds what came of a request against what came of its request before.
    fn learn(&mut self, world: &World, request: &Request, came: RequestOutcome) -> Result<(), Violation> {
        let has_erased = |employee: &EmployeeId| {
            let is_it = |call: &KeyedCommand| matches!(&call.command, Command::Erase(of) if of == employee);
            self.calls.iter().any(|call| is_it(call) && call.known != ClientView::Refused)
        };
        // What was lost may be about any of them.
        let may_be_erased = self.calls.get(request.call).is_some_and(|call| match &call.known {
            ClientView::Answered(answer) => answer.employee.as_ref().is_some_and(has_erased),
            ClientView::Nothing | ClientView::Refused => matches!(call.command, Command::Hire { .. }),
        });
        let Some(call) = self.calls.get_mut(request.call) else { return Ok(()) };
        let is_by_operator = call.command.is_by_operator();
        let is_own = request.key.as_ref() == Some(&call.key);
        let is_elsewhere = call.effect_under.as_ref().is_some_and(|under| *under != request.key);
        let rule = if is_own && !is_elsewhere { ONE_EFFECT } else { WORKS_ONCE };
        let wrong = |what: &str| Violation {
            rule,
            what: format!("call {} under {:?}: {what}", call.key, request.key),
        };
        let is_answered = matches!(came, RequestOutcome::First(_) | RequestOutcome::Replayed(_));
        let (known, words) = match (&call.known, came) {
            (ClientView::Answered(_), RequestOutcome::First(_)) if !is_by_operator => {
                return Err(wrong("it had its effect a second time"));
            }
            (ClientView::Answered(_), RequestOutcome::Replayed(_)) if is_elsewhere => {
                return Err(wrong("it had an effect under two keys"));
            }
            (ClientView::Answered(_), RequestOutcome::Refused(why)) => {
                return Err(wrong(&format!("it had its effect, and was refused when repeated: {why}")));
            }
            (
                ClientView::Answered(before),
                RequestOutcome::First(answer) | RequestOutcome::Replayed(answer),
            ) if *before != answer => {
                return Err(wrong("its answers differ"));
            }
            (ClientView::Refused, RequestOutcome::Replayed(_)) => {
                return Err(wrong("it was refused, and had its effect nevertheless"));
            }
            (_, RequestOutcome::Spent) if is_own && call.copies.is_empty() => {
                return Err(wrong("its nonce was spent without a copy"));
            }
            (ClientView::Answered(_), RequestOutcome::Spent) if !is_elsewhere => {
                return Err(wrong("it had its effect under this key, and its nonce is another's"));
            }
            (_, RequestOutcome::Erased) if !may_be_erased => {
                return Err(wrong("its response is gone, and no employee was erased"));
            }
            (known, RequestOutcome::Erased) => (known.clone(), "has an answer that was erased"),
            (_, RequestOutcome::First(answer)) => (ClientView::Answered(answer), "is answered"),
            (_, RequestOutcome::Replayed(answer)) => (ClientView::Answered(answer), "is answered as before"),
            (_, RequestOutcome::Refused(_)) => (ClientView::Refused, "is refused"),
            (known, RequestOutcome::Spent) => (known.clone(), "is refused as a copy"),
            (ClientView::Refused, RequestOutcome::Lost) => (ClientView::Nothing, "is lost"),
            (known, RequestOutcome::Lost) => (known.clone(), "is lost"),
        };
        if is_answered && !is_elsewhere {
            call.effect_under = Some(request.key.clone());
            // It was answered, so its nonce is spent, and a copy of it must be refused.
            call.sealed.extend(request.sealed.clone().filter(|sealed| !call.sealed.contains(sealed)));
        }
        call.known = known;
        world.trace.note(&self.name, || format!("call {} {words}", request.call));
        Ok(())
    }

    fn asked(&self, call: &KeyedCommand, request: &Request) -> idempotency::IdempotentRequest {
        let idempotency_key = request.key.clone();
        let sealed = request.sealed.as_ref().map(|sealed| sealed.nonce.clone());
        idempotency::IdempotentRequest {
            partner: self.partner,
            key: idempotency_key.clone().or(sealed.clone()).unwrap_or_default(),
            fingerprint: call.fingerprint,
            sealed: sealed.map(|nonce| SealedNonce { nonce, idempotency_key }),
        }
    }
}

/// Whether the service still accepts what was sealed then.
fn can_be_opened(world: &World, sealed: &SealedRequest) -> bool {
    world.env.now() - sealed.sealed_at <= SEALED_FOR
}

fn prepare(world: &World, partner: PartnerId, key: CardKey) -> Result<(), ReplayError> {
    Ok(cards::prepare(&*world.store, &*world.gateway, &world.env, partner, key)?)
}

fn reused(call: &KeyedCommand) -> Violation {
    Violation { rule: ONE_EFFECT, what: format!("call {}: the service takes it for another call", call.key) }
}
