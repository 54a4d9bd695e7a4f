//! Notifies listeners of appended events: within this process at once, on PostgreSQL also from process to process.
//!
//! Processes tell each other by NOTIFY. It stands in no transaction of a change: PostgreSQL commits transactions with a
//! NOTIFY one after the other. A thread sends it after the commit, and looks at the numbers of the feeds from time to
//! time, because a process may be killed between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection as _;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use kopeck_domain::ids::PartnerId;
use kopeck_port_store::{Access, FeedListener, StoreError};
use uuid::Uuid;

use crate::config::StoreConfig;
use crate::connection::AnyConnection;
use crate::error::{OpenError, Stored as _};
use crate::schema::counters;
use crate::sql_types::Id;
use crate::statements::{RawStatement, binds};

/// How long word from other processes lies before it is read.
const INTERVAL: Duration = Duration::from_millis(50);

/// How often the numbers of the feeds are looked at, and a lost connection is made anew.
const LOOK: Duration = Duration::from_secs(2);

/// Tells this process and others of appended events.
pub(crate) struct FeedSignal {
    listener: Arc<dyn FeedListener>,
    /// To other processes, on a server.
    outbox: Option<Arc<Outbox>>,
}

impl FeedSignal {
    /// For the processes on this database; `None` if this one has no listener.
    pub(crate) fn open(config: &StoreConfig) -> Result<Option<Self>, OpenError> {
        let Some(listener) = &config.feed else { return Ok(None) };
        let relay = || start_relay(config.url.clone(), Arc::clone(listener));
        let outbox = config.is_server().then(relay).transpose()?;
        Ok(Some(Self { listener: Arc::clone(listener), outbox }))
    }

    /// Events were appended to these feeds.
    pub(crate) fn appended(&self, partners: BTreeSet<PartnerId>) {
        partners.iter().for_each(|partner| self.listener.appended(*partner));
        if let Some(outbox) = &self.outbox {
            outbox.lock().unwrap_or_else(PoisonError::into_inner).extend(partners);
        }
    }
}

/// Feeds that have grown, for notifications to other processes.
type Outbox = Mutex<BTreeSet<PartnerId>>;

/// Starts a thread between this process and the others. It ends by itself once the outbox is dropped.
fn start_relay(url: String, listener: Arc<dyn FeedListener>) -> Result<Arc<Outbox>, OpenError> {
    let outbox = Arc::new(Outbox::default());
    let inbox = Arc::downgrade(&outbox);
    let mut exchange = Exchange { url, listener, connection: None, seen: BTreeMap::new(), looked_at: None };
    let run = move || {
        while let Some(outbox) = inbox.upgrade() {
            let partners = std::mem::take(&mut *outbox.lock().unwrap_or_else(PoisonError::into_inner));
            drop(outbox);
            exchange.run(partners);
            thread::sleep(INTERVAL);
        }
    };
    thread::Builder::new().name("store-events".to_owned()).spawn(run)?;
    Ok(outbox)
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
    let partners: Vec<&str> = partners.iter().map(String::as_str).collect();
    let text = "SELECT pg_notify('kopeck_events', partner) FROM unnest(?) AS partner";
    RawStatement::new(text, binds![partners]).execute(connection).done()
}
