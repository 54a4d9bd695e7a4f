//! Records the statements that a store sends.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

/// The statements of connections, and those that stay prepared.
#[derive(Default)]
pub(super) struct Record {
    pub(super) asked: BTreeSet<String>,
    pub(super) kept: BTreeSet<String>,
}

/// Where connections record their statements: those to a URL that begins with this text.
static RECORDS: Mutex<Vec<(String, Arc<Mutex<Record>>)>> = Mutex::new(Vec::new());

thread_local! {
    /// The URL of the latest connection of this thread. A pool opens connections on threads of its own.
    static URL: RefCell<String> = const { RefCell::new(String::new()) };
}

struct Recorder(Option<Arc<Mutex<Record>>>);

impl Instrumentation for Recorder {
    fn on_connection_event(&mut self, event: InstrumentationEvent<'_>) {
        if let InstrumentationEvent::StartEstablishConnection { url, .. } = event {
            URL.set(url.to_owned());
        }
        let Some(record) = &self.0 else { return };
        let mut record = record.lock().unwrap();
        match event {
            InstrumentationEvent::StartQuery { query, .. } => {
                let text = query.to_string();
                let statement = text.split(" -- binds:").next().unwrap_or_default().trim();
                if !["BEGIN", "COMMIT"].iter().any(|word| statement.starts_with(word)) {
                    record.asked.insert(statement.to_owned());
                }
            }
            InstrumentationEvent::CacheQuery { sql, .. } => {
                record.kept.insert(sql.trim().to_owned());
            }
            _ => {}
        }
    }
}

/// The store asks for one once it is connected.
fn recorder() -> Option<Box<dyn Instrumentation>> {
    let records = RECORDS.lock().unwrap();
    let is_meant = |(start, _): &&(String, _)| URL.with_borrow(|url| url.contains(start.as_str()));
    let record = records.iter().find(is_meant).map(|(_, record)| Arc::clone(record));
    Some(Box::new(Recorder(record)))
}

/// Records the statements of connections to a URL that begins with `start`.
pub(super) fn keep(start: String, record: &Arc<Mutex<Record>>) {
    RECORDS.lock().unwrap().push((start, Arc::clone(record)));
    set_default_instrumentation(recorder).unwrap();
}
