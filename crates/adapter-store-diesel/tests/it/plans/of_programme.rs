//! The report of a programme goes from people to their items of runs, not through all items of the programme.

use std::sync::{Arc, Mutex};

use diesel::connection::SimpleConnection as _;
use diesel::pg::PgConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use kopeck_port_store::StoreError;
use time::Duration;
use uuid::Uuid;

use super::recorder::{self, Record};
use crate::support::{Kind, NOW, PARTNER, on_every_database, write};

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text, column_name = "QUERY PLAN")]
    detail: String,
}

/// PostgreSQL's plan for any values.
fn plan(connection: &mut PgConnection, statement: &str) -> Vec<String> {
    // Tables are empty, so that it would scan each.
    let prepare = format!(
        "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; PREPARE asked AS {statement}"
    );
    connection.batch_execute(&prepare).unwrap();
    let values = vec!["NULL"; statement.matches('$').count()].join(", ");
    let steps: Vec<Step> =
        diesel::sql_query(format!("EXPLAIN EXECUTE asked({values})")).load(connection).unwrap();
    steps.into_iter().map(|step| step.detail).collect()
}

on_every_database! { the_report_of_a_programme_goes_by_people }

fn the_report_of_a_programme_goes_by_people(kind: Kind) {
    let record = Arc::new(Mutex::new(Record::default()));
    let place = kind.migrated_place();
    let url = place.url();
    let path = url.strip_prefix("sqlite://").unwrap_or(&url).to_owned();
    recorder::keep(path.clone(), &record);
    let store = kind.store_on(place);
    write(&store, |unit| -> Result<_, StoreError> {
        unit.reports().given_by(PARTNER, Uuid::nil().into(), 1..10, &(NOW..NOW + Duration::HOUR))
    })
    .unwrap();
    let asked = record.lock().unwrap().asked.iter().find(|asked| asked.contains("run_items")).cloned();
    let asked = asked.unwrap();
    let (plan, scan) = if kind.is_sqlite() {
        (super::plan(&mut SqliteConnection::establish(&path).unwrap(), &asked), "SCAN")
    } else {
        (plan(&mut PgConnection::establish(&url).unwrap(), &asked), "Seq Scan")
    };
    let has = |text: &str| plan.iter().any(|step| step.contains(text));
    assert!(has("run_items_of_employee") && !has(scan), "{plan:#?}");
}
