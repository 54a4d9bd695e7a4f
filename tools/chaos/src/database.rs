//! The service's tables, read past the service.

use std::collections::BTreeMap;

use anyhow::Context as _;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use diesel::sqlite::SqliteConnection;
use kopeck_client::Uuid;

/// An event as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredEvent {
    pub(crate) seq: i64,
    pub(crate) id: Uuid,
    /// Its type.
    pub(crate) kind: String,
}

#[derive(QueryableByName)]
struct EventRow {
    #[diesel(sql_type = Text)]
    login: String,
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Text)]
    kind: String,
}

/// The events of all partners in the order of their numbers, by the partner's login.
pub(crate) fn events(url: &str) -> anyhow::Result<BTreeMap<String, Vec<StoredEvent>>> {
    let query = |id: &str| {
        diesel::sql_query(format!(
            "SELECT login, seq, {id} AS id, kind FROM events JOIN partners ON partners.id = partner_id \
             ORDER BY login, seq"
        ))
    };
    let rows: Vec<EventRow> = match url.strip_prefix("sqlite://") {
        Some(path) => query("hex(events.id)").load(&mut SqliteConnection::establish(path)?),
        None => query("events.id::text").load(&mut PgConnection::establish(url)?),
    }
    .context("the table of events")?;
    let mut events: BTreeMap<String, Vec<StoredEvent>> = BTreeMap::new();
    for EventRow { login, seq, id, kind } in rows {
        events.entry(login).or_default().push(StoredEvent { seq, id: id.parse()?, kind });
    }
    Ok(events)
}
