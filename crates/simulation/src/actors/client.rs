//! A partner: it calls, loses answers, and calls again under the same key, also before the first call has ended.

use std::sync::Arc;

use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, Rule, StoreError, transact};
use kopeck_service::cards::{self, CardKey};
use kopeck_service::idempotency::{self, Answer, Once, OnceError, ReplayError};

use super::calls::{No, carry_out};
use super::{Call, Known, Operation, compose, judge};
use crate::Violation;
use crate::chaos::survive;
use crate::world::World;

/// A partner with the calls it made.
pub(crate) struct Client {
    name: String,
    pub(crate) partner: PartnerId,
    pub(crate) calls: Vec<Call>,
    /// Calls that the service has looked at and not carried out yet; the same one may be there twice.
    under_way: Vec<usize>,
}

/// What a call came to this time.
enum Came {
    First(Answer),
    Replayed(Answer),
    Refused(String),
    /// No word of it.
    Lost,
}

impl Client {
    pub(crate) fn new(name: String, partner: PartnerId) -> Self {
        Self { name, partner, calls: Vec::new(), under_way: Vec::new() }
    }

    /// Goes on with a call, repeats one, or makes a new one.
    pub(crate) fn step(&mut self, world: &World) -> Result<(), Violation> {
        if !self.under_way.is_empty() && world.dice.chance(600) {
            let at = world.dice.place(self.under_way.len());
            let call = self.under_way.swap_remove(at);
            return self.carry_out(world, call);
        }
        if !self.calls.is_empty() && world.dice.chance(250) {
            let call = world.dice.place(self.calls.len());
            return self.begin(world, call);
        }
        let composed = compose::next(world, self.partner);
        let Some(operation) = composed.or_else(|error| judge(&error).map(|()| None))? else { return Ok(()) };
        let number = self.call(world, operation);
        self.begin(world, number)
    }

    /// Begins its business: money, staff, and an order of cards.
    pub(crate) fn open(&mut self, world: &World) -> Result<(), Violation> {
        self.do_all(world, compose::beginning(world))
    }

    /// Gives everybody a card.
    pub(crate) fn equip(&mut self, world: &World) -> Result<(), Violation> {
        let links = compose::equipment(world, self.partner);
        self.do_all(world, links.or_else(|error| judge(&error).map(|()| Vec::new()))?)
    }

    fn do_all(&mut self, world: &World, operations: Vec<Operation>) -> Result<(), Violation> {
        for operation in operations {
            let number = self.call(world, operation);
            self.begin(world, number)?;
        }
        for call in std::mem::take(&mut self.under_way) {
            self.carry_out(world, call)?;
        }
        Ok(())
    }

    /// A new call; answers its number.
    fn call(&mut self, world: &World, operation: Operation) -> usize {
        let number = self.calls.len();
        let mut fingerprint = [0; 32];
        for (byte, digit) in fingerprint.iter_mut().zip(number.to_le_bytes()) {
            *byte = digit;
        }
        world.trace.note(&self.name, || format!("call {number}: {operation:?}"));
        let key = format!("{}/{number}", self.name);
        self.calls.push(Call { key, fingerprint, operation, known: Known::Nothing });
        number
    }

    /// Calls again whatever has no certain answer.
    pub(crate) fn conclude(&mut self, world: &World) -> Result<(), Violation> {
        self.under_way.clear();
        for call in 0..self.calls.len() {
            if self.calls.get(call).is_some_and(|call| call.known == Known::Nothing) {
                self.carry_out(world, call)?;
            }
        }
        Ok(())
    }

    /// Repeats every call that had an effect: each must be answered as it was, and change nothing.
    pub(crate) fn repeat_all(&mut self, world: &World) -> Result<(), Violation> {
        for call in 0..self.calls.len() {
            if self.calls.get(call).is_some_and(|call| matches!(call.known, Known::Answered(_))) {
                self.carry_out(world, call)?;
            }
        }
        Ok(())
    }

    /// What the service does before a call's own unit of work: it looks for an earlier answer, and asks the bank about
    /// a card whose link is about to change.
    fn begin(&mut self, world: &World, number: usize) -> Result<(), Violation> {
        let Some(call) = self.calls.get(number) else { return Ok(()) };
        let (partner, asked) = (self.partner, self.asked(call));
        let prepared = survive(|| match call.operation {
            Operation::Link { number, .. } => prepare(world, partner, CardKey::Number(number)).map(|()| None),
            Operation::Switch { card, .. } => prepare(world, partner, CardKey::Id(card)).map(|()| None),
            Operation::Deposit { .. } => Ok(None),
            _ => {
                let env = Arc::clone(&world.env);
                transact(&*world.store, Access::Read, move |unit| idempotency::replay(unit, &env, &asked))
            }
        });
        match prepared {
            Err(_crashed) => Ok(()),
            Ok(Err(ReplayError::Store(error))) => judge(&error),
            Ok(Err(ReplayError::KeyReused)) => Err(reused(call)),
            Ok(Ok(Some(answer))) => self.learn(world, number, Came::Replayed(answer)),
            Ok(Ok(None)) => {
                self.under_way.push(number);
                Ok(())
            }
        }
    }

    /// The unit of work of a call.
    fn carry_out(&mut self, world: &World, number: usize) -> Result<(), Violation> {
        let Some(call) = self.calls.get(number) else { return Ok(()) };
        let (partner, asked, operation) = (self.partner, self.asked(call), call.operation.clone());
        let env = Arc::clone(&world.env);
        let came = survive(|| {
            transact(&*world.store, Access::Write, move |unit| match &operation {
                // Repeated by its reference, not by a key.
                Operation::Deposit { .. } => {
                    carry_out(unit, &env, partner, &operation).map(Once::First).map_err(OnceError::UseCase)
                }
                _ => idempotency::once(unit, &env, &asked, |unit| carry_out(unit, &env, partner, &operation)),
            })
        });
        let came = match came {
            Err(_crashed) => Came::Lost,
            Ok(Ok(Once::First(answer))) => Came::First(answer),
            Ok(Ok(Once::Replayed(answer))) => Came::Replayed(answer),
            Ok(Err(OnceError::KeyReused)) => return Err(reused(call)),
            Ok(Err(OnceError::UseCase(No::Refused(why)))) => Came::Refused(why),
            // The same call has just been carried out by somebody else.
            Ok(Err(OnceError::Store(StoreError::Conflict(Rule::IdempotencyKey)))) => Came::Lost,
            Ok(Err(OnceError::Store(error) | OnceError::UseCase(No::Store(error)))) => {
                judge(&error)?;
                Came::Lost
            }
        };
        self.learn(world, number, came)
    }

    /// Holds what came of a call against what came of it before.
    fn learn(&mut self, world: &World, number: usize, came: Came) -> Result<(), Violation> {
        let Some(call) = self.calls.get_mut(number) else { return Ok(()) };
        let is_deposit = matches!(call.operation, Operation::Deposit { .. });
        let wrong = |what: &str| Violation {
            rule: "one idempotency key, one effect and one answer",
            what: format!("call {}: {what}", call.key),
        };
        let (known, words) = match (&call.known, came) {
            (Known::Answered(_), Came::First(_)) if !is_deposit => {
                return Err(wrong("it had its effect a second time"));
            }
            (Known::Answered(_), Came::Refused(why)) => {
                return Err(wrong(&format!("it had its effect, and was refused when repeated: {why}")));
            }
            (Known::Answered(before), Came::First(answer) | Came::Replayed(answer)) if *before != answer => {
                return Err(wrong("its answers differ"));
            }
            (Known::Refused, Came::Replayed(_)) => {
                return Err(wrong("it was refused, and had its effect nevertheless"));
            }
            (_, Came::First(answer)) => (Known::Answered(answer), "is answered"),
            (_, Came::Replayed(answer)) => (Known::Answered(answer), "is answered as before"),
            (_, Came::Refused(_)) => (Known::Refused, "is refused"),
            (Known::Refused, Came::Lost) => (Known::Nothing, "is lost"),
            (known, Came::Lost) => (known.clone(), "is lost"),
        };
        call.known = known;
        world.trace.note(&self.name, || format!("call {number} {words}"));
        Ok(())
    }

    fn asked(&self, call: &Call) -> idempotency::Call {
        idempotency::Call { partner: self.partner, key: call.key.clone(), fingerprint: call.fingerprint }
    }
}

fn prepare(world: &World, partner: PartnerId, key: CardKey) -> Result<(), ReplayError> {
    Ok(cards::prepare(&*world.store, &*world.gateway, &world.env, partner, key)?)
}

fn reused(call: &Call) -> Violation {
    Violation {
        rule: "one idempotency key, one effect and one answer",
        what: format!("call {}: the service takes it for another call", call.key),
    }
}
