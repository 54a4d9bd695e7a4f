//! What a plain program does for one new employee: the statements of the store on a connection of its own.

use std::path::Path;

use diesel::connection::SimpleConnection as _;
use diesel::sql_types::{BigInt, Binary, Integer, Nullable, Text};
use diesel::{Connection as _, QueryableByName, RunQueryDsl as _, SqliteConnection, sql_query};
use kopeck_domain::employee::Employee;
use kopeck_domain::ids::PartnerId;
use kopeck_domain::person::CustomId;
use kopeck_port_store::{RecordedResponse, SpentNonce, StoreError};
use time::OffsetDateTime;

/// The settings by which the service's database is as safe as it is.
const SET_UP: &str = "
    PRAGMA busy_timeout = 5000;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
";

#[derive(QueryableByName)]
struct Number {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// Opens the database and sets the connection up.
pub(super) fn open(file: &Path) -> Result<SqliteConnection, StoreError> {
    let mut connection = SqliteConnection::establish(&file.to_string_lossy()).map_err(failed)?;
    execute(&mut connection, SET_UP)?;
    Ok(connection)
}

/// Runs statements.
pub(super) fn execute(connection: &mut SqliteConnection, statements: &str) -> Result<(), StoreError> {
    connection.batch_execute(statements).map_err(failed)
}

/// Whether an answer is recorded under the key; if so, the load was at fault.
pub(super) fn has_answer(
    connection: &mut SqliteConnection,
    partner: PartnerId,
    key: &str,
) -> Result<bool, StoreError> {
    let found: Vec<Number> = sql_query(
        "SELECT recorded_at AS number, partner_id, key, fingerprint, status, body FROM recorded_responses
            WHERE partner_id = ? AND key = ?",
    )
    .bind::<Binary, _>(partner.uuid().as_bytes().as_slice())
    .bind::<Text, _>(key)
    .load(connection)
    .map_err(failed)?;
    Ok(!found.is_empty())
}

/// Records an answer.
pub(super) fn record_answer(
    connection: &mut SqliteConnection,
    partner: PartnerId,
    key: &str,
    answer: &RecordedResponse,
) -> Result<(), StoreError> {
    sql_query(
        "INSERT INTO recorded_responses (partner_id, key, fingerprint, status, body, recorded_at)
            VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (partner_id, key) DO NOTHING",
    )
    .bind::<Binary, _>(partner.uuid().as_bytes().as_slice())
    .bind::<Text, _>(key)
    .bind::<Binary, _>(answer.fingerprint.as_slice())
    .bind::<Integer, _>(i32::from(answer.status))
    .bind::<Binary, _>(answer.body.as_slice())
    .bind::<BigInt, _>(micros(answer.recorded_at))
    .execute(connection)
    .map(drop)
    .map_err(failed)
}

/// Whether the nonce of a sealed request is spent; if so, the load was at fault.
pub(super) fn has_nonce(
    connection: &mut SqliteConnection,
    partner: PartnerId,
    nonce: &str,
) -> Result<bool, StoreError> {
    let found: Vec<Number> = sql_query(
        "SELECT spent_at AS number, partner_id, nonce, idempotency_key FROM sealed_nonces
            WHERE partner_id = ? AND nonce = ?",
    )
    .bind::<Binary, _>(partner.uuid().as_bytes().as_slice())
    .bind::<Text, _>(nonce)
    .load(connection)
    .map_err(failed)?;
    Ok(!found.is_empty())
}

/// Spends the nonce of a sealed request.
pub(super) fn spend_nonce(
    connection: &mut SqliteConnection,
    partner: PartnerId,
    nonce: &str,
    spent: &SpentNonce,
) -> Result<(), StoreError> {
    sql_query(
        "INSERT INTO sealed_nonces (partner_id, nonce, idempotency_key, spent_at) VALUES (?, ?, ?, ?)
            ON CONFLICT (partner_id, nonce) DO NOTHING",
    )
    .bind::<Binary, _>(partner.uuid().as_bytes().as_slice())
    .bind::<Text, _>(nonce)
    .bind::<Nullable<Text>, _>(spent.idempotency_key.as_deref())
    .bind::<BigInt, _>(micros(spent.spent_at))
    .execute(connection)
    .map(drop)
    .map_err(failed)
}

/// Whether the custom identifier is taken.
pub(super) fn is_taken(
    connection: &mut SqliteConnection,
    partner: PartnerId,
    custom_id: &CustomId,
) -> Result<bool, StoreError> {
    let found: Vec<Number> =
        sql_query("SELECT seq AS number, id FROM employees WHERE partner_id = ? AND custom_id = ?")
            .bind::<Binary, _>(partner.uuid().as_bytes().as_slice())
            .bind::<Text, _>(custom_id.as_str())
            .load(connection)
            .map_err(failed)?;
    Ok(!found.is_empty())
}

/// Adds an employee at the end of the partner's list.
pub(super) fn insert_employee(
    connection: &mut SqliteConnection,
    partner: PartnerId,
    employee: &Employee,
) -> Result<(), StoreError> {
    let id = partner.uuid();
    let key = id.as_bytes().as_slice();
    let last: Number =
        sql_query("SELECT last AS number FROM counters WHERE partner_id = ? AND list = 'employees'")
            .bind::<Binary, _>(key)
            .get_result(connection)
            .map_err(failed)?;
    sql_query(
        "INSERT INTO employees (partner_id, id, seq, custom_id, surname, name, phone, status, created_at,
            status_updated_at, search_text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind::<Binary, _>(key)
    .bind::<Binary, _>(employee.id.uuid().as_bytes().as_slice())
    .bind::<BigInt, _>(last.number + 1)
    .bind::<Text, _>(employee.custom_id.as_str())
    .bind::<Nullable<Text>, _>(employee.surname.as_ref().map(|name| name.as_str().to_owned()))
    .bind::<Nullable<Text>, _>(employee.name.as_ref().map(|name| name.as_str().to_owned()))
    .bind::<Nullable<Binary>, _>(employee.phone.as_ref().map(|phone| phone.as_str().as_bytes().to_vec()))
    .bind::<Text, _>(employee.status.as_str())
    .bind::<BigInt, _>(micros(employee.created_at))
    .bind::<BigInt, _>(micros(employee.status_updated_at))
    .bind::<Text, _>(employee.search_text())
    .execute(connection)
    .map_err(failed)?;
    sql_query("UPDATE counters SET last = ? WHERE partner_id = ? AND list = 'employees'")
        .bind::<BigInt, _>(last.number + 1)
        .bind::<Binary, _>(key)
        .execute(connection)
        .map(drop)
        .map_err(failed)
}

fn micros(moment: OffsetDateTime) -> i64 {
    i64::try_from(moment.unix_timestamp_nanos() / 1_000).unwrap_or(i64::MAX)
}

fn failed(error: impl std::fmt::Display) -> StoreError {
    StoreError::Failed(error.to_string())
}
