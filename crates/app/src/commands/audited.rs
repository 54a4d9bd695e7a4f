//! Commands that change something, with their entries in the audit log.

use std::fmt::Display;

use kopeck_domain::audit::{Actor, Entry, Outcome};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, Store, StoreError, UnitOfWork, transact};
use kopeck_port_system::Clock;

use crate::compose::Application;
use crate::operator::Operator;

/// The entry about what whoever runs this process does at this moment.
pub(super) fn entry(clock: &dyn Clock, action: &'static str, partner: Option<PartnerId>) -> Entry {
    let Operator { user, host } = Operator::present();
    // The real time: the sandbox moves the service's clock, and not this log's.
    let at = clock.now() - clock.ahead();
    Entry { actor: Actor::Operator(user), partner, ..Entry::new(at, host, action) }
}

/// Carries out `body` as a unit of work, with an entry about it. `body` may say in the entry what it found out. A refusal
/// is written as well, by itself.
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

/// Carries out `body`, which reaches farther than one unit of work, between an entry before and one after. Both are about
/// `subject`, to which `body` may add what it did.
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

/// Writes an entry by itself.
pub(super) fn append(store: &dyn Store, entry: Entry) -> Result<(), StoreError> {
    transact(store, Access::Write, move |unit| unit.audit().append(&entry))
}

/// What failed is told by its own error, and not by that of the entry about it.
fn log_write_failure<E: Display>(written: Result<(), E>) {
    if let Err(error) = written {
        log::error!(error:% = error; "an entry of the audit log could not be written");
    }
}
