//! Commands with entries in the audit log.

use std::fmt::Display;

use kopeck_adapter_system::Operator;
use kopeck_audit::{Actor, Entry, Outcome};
use kopeck_domain::access::Authority;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use kopeck_port_system::Clock;

use crate::compose::Application;

/// A new entry of this process's operator.
pub(crate) fn entry(clock: &dyn Clock, action: &'static str, partner: Option<PartnerId>) -> Entry {
    let Operator { user, host } = Operator::present();
    // The real time: the sandbox moves the service's clock, and not this log's.
    let at = clock.now() - clock.ahead();
    Entry::new(at, host, action).by(Actor::Operator(user), partner)
}

/// What this process's operator may do: everything.
pub(super) fn authority() -> Authority {
    Authority::operator(Operator::present().user)
}

/// Runs `body` as a unit of work with its entry, which `body` may complete. A refusal gets an entry in a unit of work of its
/// own.
pub(super) fn change<T, E>(
    application: &Application,
    action: &'static str,
    partner: Option<PartnerId>,
    mut body: impl FnMut(&mut dyn UnitOfWork, &mut Entry) -> Result<T, E> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let store = &*application.store;
    let entry = entry(&*application.env.clock, action, partner);
    let draft = entry.clone();
    let done = transact(store, Access::Write, move |unit| {
        let mut entry = draft.clone();
        let made = body(unit, &mut entry)?;
        unit.audit().append(&entry)?;
        Ok(made)
    });
    if done.is_err() {
        log_write_failure(append(store, Entry { outcome: Outcome::Refused, ..entry }));
    }
    done
}

/// Runs `body`, which needs more than one unit of work, between an entry before and one after. `body` may extend their
/// `subject`.
pub(super) fn audited_in_two_steps<T>(
    application: &Application,
    action: &'static str,
    mut subject: String,
    body: impl FnOnce(&mut String) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let now = |subject| Entry { subject, ..entry(&*application.env.clock, action, None) };
    append(&*application.store, Entry { outcome: Outcome::Begun, ..now(subject.clone()) })?;
    let done = body(&mut subject);
    let outcome = if done.is_ok() { Outcome::Done } else { Outcome::Failed };
    let written = append(&*application.store, Entry { outcome, ..now(subject) });
    if done.is_ok() {
        written?;
    } else {
        log_write_failure(written);
    }
    done
}

/// Writes an entry in a separate unit of work.
pub(crate) fn append(store: &dyn Store, entry: Entry) -> Result<(), StoreError> {
    transact(store, Access::Write, move |unit| unit.audit().append(&entry))
}

/// The command reports its own error rather than that of its entry.
fn log_write_failure<E: Display>(written: Result<(), E>) {
    if let Err(error) = written {
        log::error!(error:% = error; "an entry of the audit log could not be written");
    }
}
