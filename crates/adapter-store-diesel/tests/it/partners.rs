//! A row of one partner cannot refer to a row of another: the database itself refuses it, whatever a query forgets.

use std::collections::BTreeSet;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{Integer, Text};
use kopeck_adapter_store_diesel::migrate;

/// The tables whose rows belong to no partner: the partners, digests of who has not logged in yet, the operator's calendar, and the
/// audit log.
const WITHOUT_PARTNER: [&str; 9] = [
    "bank_feed",
    "calendar_days",
    "audit_chains",
    "audit_entries",
    "audit_checkpoints",
    "history_notices",
    "login_failures",
    "partners",
    "spent_nonces",
];

/// Partner one with a row for every foreign key there is. They hold on to each other, and are put in their order.
const ROWS: &str = "
    INSERT INTO partners VALUES (ONE, 'One', 'one', HASH, NULL, NULL, 'hash', 'ACTIVE', 'optional', 0, 0, NULL, 0);
    INSERT INTO sessions VALUES (ONE, ID, 0, 1, 0, NULL, NULL, NULL);
    INSERT INTO token_pairs VALUES (ONE, ID, ID, 'FRESH', 0, NULL, 0, 1);
    INSERT INTO categories VALUES (ONE, ID, 1, 'Office', 'office', 0);
    INSERT INTO employees (partner_id, id, seq, custom_id, category_id, status, created_at, status_updated_at, search_text)
        VALUES (ONE, ID, 1, 'E-1', ID, 'WORK', 0, 0, 'e-1');
    INSERT INTO orders VALUES (ONE, ID, 1, 'PLASTIC', 'MP4', 1, NULL, 0, 'SUCCESS', 0, 0);
    INSERT INTO order_lines VALUES (ONE, ID, 0, 'MP4', 1, x'01', x'02', x'03', NULL);
    INSERT INTO cards (partner_id, id, seq, number, kind, order_id, ordinal, valid_until, employee_id, link_status,
            balance, remaining_top_up, standing, seen_at, account_value, account_updated_at, spending_limit)
        VALUES (ONE, ID, 1, 4006381333931, 'MP4', ID, 0, 1, ID, 'MAIN', 0, 0, 'OPEN', 0, 0, 0, 'UNLIMITED');
    INSERT INTO leavers VALUES (ONE, ID, 0, 0, NULL, NULL);
    INSERT INTO leaver_cards VALUES (ONE, ID, ID, 'MAIN');
    INSERT INTO transactions VALUES (ONE, ID, 1, 1, 0, 'PAYMENT', 1, NULL, NULL, NULL);
    INSERT INTO card_batches VALUES (ONE, ID, 'REPLENISHMENT', 1, 1, NULL, 1, NULL, 0, 0, 'NEW', 0, 0, 0);
    INSERT INTO card_batch_items VALUES (ONE, ID, 0, 'REPLENISHMENT', ID, 4006381333931, 1, 'OPEN', NULL, NULL, 0, NULL, 1, 0);
    INSERT INTO movements (partner_id, number, kind, order_id, replenishment_id, closing_id, withdrawal_id, created_at)
        VALUES (ONE, 1, 'HOLD', ID, NULL, NULL, NULL, 0), (ONE, 2, 'HOLD', NULL, ID, NULL, NULL, 0),
            (ONE, 3, 'RETURN', NULL, NULL, ID, NULL, 0), (ONE, 4, 'RETURN', NULL, NULL, NULL, ID, 0);
    INSERT INTO entries VALUES (ONE, 1, 'AVAILABLE', -1), (ONE, 1, 'HELD', 1);
    INSERT INTO webhooks (partner_id, id, url, description, sealed, enabled, created_at, secret, cursor)
        VALUES (ONE, ID, 'https://example.com/', '', 0, 1, 0, x'01', 0);
    INSERT INTO webhook_deliveries (partner_id, webhook_id, position, id, seq, event_id, kind, status, attempts, created_at)
        VALUES (ONE, ID, 1, ID, 1, ID, 'ping', 'FAILED', 0, 0);
    INSERT INTO bank_declines VALUES (ONE, 1);
    INSERT INTO users (partner_id, id, login, login_digest, role, status, password_hash, created_at)
        VALUES (ONE, ID, x'01', HASH, 'OWNER', 'ACTIVE', 'hash', 0);
    INSERT INTO user_recovery_codes VALUES (ONE, ID, HASH);
    INSERT INTO user_sessions VALUES (ONE, ID, ID, HASH, 'OPEN', NULL, NULL, 0, 0, 1);
    INSERT INTO user_uploads VALUES (ONE, ID, ID, x'01', 0, 1);
    INSERT INTO runs (partner_id, id, seq, kind, creates_categories, items, faulty, amount, available, available_after, digest,
            created_by, created_at, state, state_since)
        VALUES (ONE, ID, 1, 'TOP_UP', 0, 1, 0, 1, 1, 0, HASH, 'PARTNER', 0, 'DRAFT', 0);
    INSERT INTO run_items (partner_id, run_id, ordinal, line, is_main) VALUES (ONE, ID, 0, 1, 1);
    INSERT INTO run_requests VALUES (ONE, ID, 0, 'REPLENISHMENT', ID);
    INSERT INTO former_card_holders VALUES (ONE, ID, 1, ID, 0);
    INSERT INTO closed_months (partner_id, month, known, kept_up_to, erasures, is_changed) VALUES (ONE, 0, 0, 0, 0, 0);
    INSERT INTO closed_month_rows VALUES (ONE, 0, 1, ID, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0);
";
const ONE: &str = "x'00000000000000000000000000000001'";
const TWO: &str = "x'00000000000000000000000000000002'";

/// A column of a foreign key.
#[derive(Debug, Clone, QueryableByName)]
struct Part {
    #[diesel(sql_type = Integer)]
    key: i32,
    #[diesel(sql_type = Text)]
    child: String,
    #[diesel(sql_type = Text)]
    parent: String,
    #[diesel(sql_type = Text)]
    column: String,
    #[diesel(sql_type = Text)]
    target: String,
}

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    kind: String,
    /// Its place in the primary key, from one; or zero.
    #[diesel(sql_type = Integer)]
    place: i32,
}

/// A new database with these rows, and its folder.
fn database(rows: &str) -> (SqliteConnection, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", folder.path().join("kopeck.db").display());
    migrate(&url).unwrap();
    let mut connection = SqliteConnection::establish(url.strip_prefix("sqlite://").unwrap()).unwrap();
    let rows = rows.replace("ONE", ONE).replace("HASH", "zeroblob(32)").replace("ID", "zeroblob(16)");
    connection.batch_execute(&format!("PRAGMA foreign_keys = ON; {rows}")).unwrap();
    (connection, folder)
}

fn tables(connection: &mut SqliteConnection) -> BTreeSet<String> {
    #[derive(QueryableByName)]
    struct Table {
        #[diesel(sql_type = Text)]
        name: String,
    }
    let query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_\\_%' ESCAPE '\\'
        AND name NOT LIKE 'sqlite%'";
    let tables: Vec<Table> = diesel::sql_query(query).load(connection).unwrap();
    tables.into_iter().map(|table| table.name).collect()
}

fn columns(connection: &mut SqliteConnection, table: &str) -> Vec<Column> {
    let query = format!("SELECT name, type AS kind, pk AS place FROM pragma_table_info('{table}')");
    diesel::sql_query(query).load(connection).unwrap()
}

/// The foreign keys of a table, each with its columns.
fn foreign_keys(connection: &mut SqliteConnection, table: &str) -> Vec<Vec<Part>> {
    let query = format!(
        "SELECT id AS key, '{table}' AS child, \"table\" AS parent, \"from\" AS column, \"to\" AS target
         FROM pragma_foreign_key_list('{table}') ORDER BY id, seq"
    );
    let parts: Vec<Part> = diesel::sql_query(query).load(connection).unwrap();
    parts.chunk_by(|one, other| one.key == other.key).map(<[Part]>::to_vec).collect()
}

/// Foreign keys between tables that both belong to partners.
fn foreign_keys_within_partners(connection: &mut SqliteConnection) -> Vec<Vec<Part>> {
    let tables = tables(connection);
    let mut keys: Vec<_> = tables.iter().flat_map(|table| foreign_keys(connection, table)).collect();
    keys.retain(|key| !WITHOUT_PARTNER.contains(&key[0].parent.as_str()));
    keys
}

#[test]
fn every_key_carries_the_partner() {
    let (mut connection, _folder) = database("");
    for table in tables(&mut connection) {
        let columns = columns(&mut connection, &table);
        let keys = foreign_keys(&mut connection, &table);
        if WITHOUT_PARTNER.contains(&table.as_str()) {
            assert!(keys.is_empty() && columns.iter().all(|column| column.name != "partner_id"), "{table}");
            continue;
        }
        let is_in_key = columns.iter().any(|column| column.name == "partner_id" && column.place > 0);
        assert!(is_in_key, "the primary key of {table} carries the partner");
        // An event's number comes from a counter, which holds on to the partner. Operators are users of no partner.
        let is_exempt = table == "events" || table == "users";
        assert!(!keys.is_empty() || is_exempt, "{table} holds on to its partner");
        for key in keys {
            let target = if key[0].parent == "partners" { "id" } else { "partner_id" };
            let carries = key.iter().any(|part| part.column == "partner_id" && part.target == target);
            assert!(carries, "{key:?}");
        }
    }
}

#[test]
fn no_row_refers_to_one_of_another_partner() {
    let (mut connection, _folder) = database("");
    let keys = foreign_keys_within_partners(&mut connection);
    assert_eq!(keys.len(), 26, "{keys:?}");
    for key in keys {
        let (mut connection, _folder) = database(ROWS);
        let parts: Vec<&Part> = key.iter().filter(|part| part.column != "partner_id").collect();
        let Part { child, parent, .. } = parts[0];
        let columns = columns(&mut connection, parent);
        let fresh = |name: &str| {
            let column = columns.iter().find(|column| column.name == name).unwrap();
            if column.kind == "BLOB" { "x'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'" } else { "999999" }
        };

        // Partner two gets a row like that of partner one, under a key that partner one has not.
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let copy = names.iter().map(|name| match *name {
            "partner_id" => TWO,
            // Unique over all partners.
            "number" if parent == "cards" => "number + 1",
            "login_digest" => "x'eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'",
            name if parts.iter().any(|part| part.target == name) => fresh(name),
            name => name,
        });
        let copied = format!(
            "PRAGMA foreign_keys = OFF;
             INSERT INTO {parent} ({}) SELECT {} FROM {parent} WHERE partner_id = {ONE} LIMIT 1;
             PRAGMA foreign_keys = ON",
            names.join(", "),
            copy.collect::<Vec<_>>().join(", ")
        );
        connection.batch_execute(&copied).unwrap();

        let set: Vec<String> =
            parts.iter().map(|part| format!("{} = {}", part.column, fresh(&part.target))).collect();
        let column = &parts[0].column;
        let refer = format!(
            "UPDATE {child} SET {} WHERE partner_id = {ONE} AND {column} IS NOT NULL",
            set.join(", ")
        );
        let refused = diesel::sql_query(&refer).execute(&mut connection).unwrap_err();
        assert!(refused.to_string().contains("FOREIGN KEY constraint failed"), "{refer}: {refused}");

        // The same row in the hands of partner one may be referred to.
        let moved = format!(
            "PRAGMA foreign_keys = OFF;
             DELETE FROM {parent} WHERE partner_id = {ONE};
             UPDATE {parent} SET partner_id = {ONE};
             PRAGMA foreign_keys = ON"
        );
        connection.batch_execute(&moved).unwrap();
        let changed = diesel::sql_query(&refer).execute(&mut connection).unwrap();
        assert!(changed > 0, "no row of {child} has a {column}");
    }
}
