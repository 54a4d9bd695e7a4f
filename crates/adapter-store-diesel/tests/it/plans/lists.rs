//! Keys that come as a list are looked up one by one.

use diesel::prelude::*;

use super::{plan, recorded};
use crate::support::Kind;

/// Given a list, SQLite's planner likes to walk all rows of the partner better than to look each up.
#[test]
fn keys_of_a_list_are_looked_up() {
    let (store, record) = recorded(Kind::Sqlite);
    let path = store.url.strip_prefix("sqlite://").unwrap();
    let mut connection = SqliteConnection::establish(path).unwrap();
    let walks = |step: &String| step.starts_with("SEARCH") && step.ends_with("(partner_id=?)");
    let walking: Vec<_> = record
        .asked
        .iter()
        .filter(|statement| statement.contains("json_each"))
        .map(|statement| (statement, plan(&mut connection, statement)))
        .filter(|(_, steps)| steps.iter().any(walks))
        .collect();
    assert!(walking.is_empty(), "{walking:#?}");
}
