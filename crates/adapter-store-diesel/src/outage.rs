//! Failures of the database that pass without a change of the program: a full disk, a lock timeout, a read-only server.
//!
//! Diesel has a kind for few of them, and hides SQLite's result codes and PostgreSQL's SQLSTATE. What is left is the
//! message. SQLite has one fixed message for each result code. PostgreSQL's are recognised in English; a server that
//! speaks another language is served by the rule for unknown failures: they are retried and count as an outage then.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind};
use kopeck_port_store::Outage;

/// SQLite's messages by their beginnings: some name a table after it.
const OF_SQLITE: [(&str, Outage); 10] = [
    ("database or disk is full", Outage::Full),
    ("attempt to write a readonly database", Outage::ReadOnly),
    ("database is locked", Outage::Locked),
    ("database table is locked", Outage::Locked),
    ("locking protocol", Outage::Locked),
    ("disk I/O error", Outage::Io),
    ("unable to open database file", Outage::Io),
    ("database disk image is malformed", Outage::Malformed),
    ("malformed database schema", Outage::Malformed),
    ("file is not a database", Outage::Malformed),
];

/// PostgreSQL's, of those after which another try would only take as long again.
const OF_POSTGRES: [(&str, Outage); 3] = [
    ("could not extend file", Outage::Full),
    ("canceling statement due to lock timeout", Outage::Locked),
    // A statement timeout, a replay conflict, an operator's `pg_cancel_backend`.
    ("canceling statement due to", Outage::Other),
];

/// How the operating system says that there is no space.
const NO_SPACE: [&str; 2] = ["No space left on device", "Disk quota exceeded"];

/// The outage behind a failed statement, if it is recognised.
pub(crate) fn outage_of(kind: &DatabaseErrorKind, message: &str) -> Option<Outage> {
    match kind {
        DatabaseErrorKind::ReadOnlyTransaction => return Some(Outage::ReadOnly),
        DatabaseErrorKind::Unknown => {}
        _ => return None,
    }
    if NO_SPACE.iter().any(|words| message.contains(words)) {
        return Some(Outage::Full);
    }
    let known = OF_SQLITE.iter().chain(&OF_POSTGRES).find(|(start, _)| message.starts_with(start));
    known.map(|(_, outage)| *outage).or_else(|| is_file_error(message).then_some(Outage::Io))
}

/// Whether SQLite says, behind words of ours, that its file is damaged.
pub(crate) fn tells_of_damage(message: &str) -> bool {
    let damaged = OF_SQLITE.iter().filter(|(_, outage)| *outage == Outage::Malformed);
    damaged.into_iter().any(|(words, _)| message.contains(words))
}

/// Whether PostgreSQL could not do something with a file, such as `could not read block 3 in file "base/5/1": …`.
fn is_file_error(message: &str) -> bool {
    message.starts_with("could not ") && [" file ", " directory "].iter().any(|word| message.contains(word))
}

/// Whether the statement itself is wrong, so that no retry helps: it names a place in its text, or breaks a rule that is
/// written down in the schema.
pub(crate) fn is_fault(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> bool {
    const FAULTS: [&str; 12] = [
        "the audit log is append-only",
        "permission denied",
        // Class 22: the data of the statement.
        "value too long",
        "invalid ",
        "division by",
        "null ",
        "character with byte sequence",
        "unsupported Unicode escape sequence",
        "malformed ",
        "requested character ",
        "negative substring length",
        "cannot cast jsonb ",
    ];
    let message = info.message();
    info.statement_position().is_some()
        || info.table_name().is_some()
        || message.contains("out of range")
        || FAULTS.iter().any(|start| message.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(message: &str) -> Option<Outage> {
        outage_of(&DatabaseErrorKind::Unknown, message)
    }

    #[test]
    fn messages_tell_the_outage() {
        for (message, outage) in [
            ("database or disk is full", Outage::Full),
            ("could not extend file \"base/5/16\": No space left on device", Outage::Full),
            ("could not write to file \"base/pgsql_tmp/1\": No space left on device", Outage::Full),
            ("attempt to write a readonly database", Outage::ReadOnly),
            ("database table is locked: cards", Outage::Locked),
            ("canceling statement due to lock timeout", Outage::Locked),
            ("canceling statement due to statement timeout", Outage::Other),
            ("disk I/O error", Outage::Io),
            ("unable to open database file", Outage::Io),
            ("database disk image is malformed", Outage::Malformed),
            ("malformed database schema (cards) - invalid rootpage", Outage::Malformed),
            ("file is not a database", Outage::Malformed),
            ("could not read block 3 in file \"base/5/16\": Input/output error", Outage::Io),
        ] {
            assert_eq!(unknown(message), Some(outage), "{message}");
        }
        for fault in ["no such table: cards", "could not determine data type", "deadlock detected"] {
            assert_eq!(unknown(fault), None, "{fault}");
        }
        let refused = outage_of(&DatabaseErrorKind::UniqueViolation, "database is locked");
        assert_eq!(refused, None, "a constraint may have any name");
    }
}
