//! Word of appended events: within this process at once, on PostgreSQL also from process to process.
//!
//! Processes tell each other by NOTIFY. It stands in no transaction of a change: PostgreSQL commits transactions with a
//! NOTIFY one after the other. A thread sends it after the commit, and looks at the numbers of the feeds from time to
//! time, because a process may be killed between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{Array, Text};
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, FeedListener, StoreError};
use uuid::Uuid;

use crate::config::StoreConfig;
use crate::connection::AnyConnection;
use crate::error::{OpenError, Stored as _};
use crate::schema::counters;
use crate::sql_types::Id;

/// How long word from other processes lies before it is read.
const INTERVAL: Duration = Duration::from_millis(50);

/// How often the numbers of the feeds are looked at, and a lost connection is made anew.
const LOOK: Duration = Duration::from_secs(2);

/// Tells this process and others of appended events.
pub(crate) struct FeedSignal {
    listener: Arc<dyn FeedListener>,
    relay: Option<Relay>,
}

impl FeedSignal {
    /// For the processes on this database; `None` if this one has no listener.
    pub(crate) fn open(config: &StoreConfig) -> Result<Option<Self>, OpenError> {
        let Some(listener) = &config.feed else { return Ok(None) };
        let relay = || Relay::start(config.url.clone(), Arc::clone(listener));
        let relay = config.is_server().then(relay).transpose()?;
        Ok(Some(Self { listener: Arc::clone(listener), relay }))
    }

    /// Events were appended to these feeds.
    pub(crate) fn appended(&self, partners: BTreeSet<PartnerId>) {
        partners.iter().for_each(|partner| self.listener.appended(*partner));
        if let Some(relay) = &self.relay {
            relay.outbox.lock().partners.extend(partners);
        }
    }
}

/// Notifications to other processes.
#[derive(Default)]
struct Outbox {
    state: Mutex<OutboxState>,
    closing: Condvar,
}

#[derive(Default)]
struct OutboxState {
    partners: BTreeSet<PartnerId>,
    is_closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What has come within the interval; `None` once it is closed.
    fn take(&self) -> Option<BTreeSet<PartnerId>> {
        let waited = self.closing.wait_timeout_while(self.lock(), INTERVAL, |state| !state.is_closed);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        (!state.is_closed).then(|| std::mem::take(&mut state.partners))
    }
}

/// A thread between this process and the others. It ends by itself once this is dropped.
struct Relay {
    outbox: Arc<Outbox>,
}

impl Relay {
    fn start(url: String, listener: Arc<dyn FeedListener>) -> Result<Self, OpenError> {
        let outbox = Arc::new(Outbox::default());
        let own = Arc::clone(&outbox);
        let run = move || {
            let mut exchange =
                Exchange { url, listener, connection: None, seen: BTreeMap::new(), looked_at: None };
            while let Some(partners) = own.take() {
                exchange.run(partners);
            }
        };
        thread::Builder::new().name("store-events".to_owned()).spawn(run)?;
        Ok(Self { outbox })
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.outbox.lock().is_closed = true;
        self.outbox.closing.notify_all();
    }
}

/// The thread's side: its connection, and what it has seen.
struct Exchange {
    url: String,
    listener: Arc<dyn FeedListener>,
    connection: Option<AnyConnection>,
    /// The last number of each feed.
    seen: BTreeMap<Id, i64>,
    looked_at: Option<Instant>,
}

impl Exchange {
    /// Tells the others of `partners`, and the listener of what others tell.
    fn run(&mut self, partners: BTreeSet<PartnerId>) {
        let looks = self.looked_at.is_none_or(|at| at.elapsed() >= LOOK);
        if self.connection.is_none() && !looks {
            return;
        }
        if let Err(error) = self.exchange(partners, looks) {
            log::debug!("no word of events from other processes: {error}");
            self.connection = None;
        }
    }

    fn exchange(&mut self, partners: BTreeSet<PartnerId>, looks: bool) -> Result<(), StoreError> {
        if looks {
            self.looked_at = Some(Instant::now());
        }
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connect(&self.url)?),
        };
        let connection = connection.postgres().stored()?;
        notify(connection, partners)?;
        for notification in connection.notifications_iter() {
            if let Ok(partner) = Uuid::try_parse(&notification.stored()?.payload) {
                self.listener.appended(PartnerId::new(partner));
            }
        }
        if looks { self.look() } else { Ok(()) }
    }

    /// Tells the listener of feeds that have grown.
    fn look(&mut self) -> Result<(), StoreError> {
        let Some(connection) = &mut self.connection else { return Ok(()) };
        let numbers: Vec<(Id, i64)> = counters::table
            .filter(counters::list.eq("events"))
            .select((counters::partner_id, counters::last))
            .load(connection)
            .stored()?;
        for (partner, last) in numbers {
            if self.seen.insert(partner, last) != Some(last) {
                self.listener.appended(partner.to());
            }
        }
        Ok(())
    }
}

fn connect(url: &str) -> Result<AnyConnection, StoreError> {
    let opened = AnyConnection::open(url, Access::Read);
    let mut connection = opened.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    connection.batch_execute("LISTEN kopeck_events").stored()?;
    Ok(connection)
}

fn notify(connection: &mut PgConnection, partners: BTreeSet<PartnerId>) -> Result<(), StoreError> {
    if partners.is_empty() {
        return Ok(());
    }
    let partners: Vec<String> = partners.iter().map(ToString::to_string).collect();
    diesel::sql_query("SELECT pg_notify('kopeck_events', partner) FROM unnest($1) AS partner")
        .bind::<Array<Text>, _>(partners)
        .execute(connection)
        .stored()
        .map(drop)
}
