//! Signed marks of chains, and the chain that operators' commands share.

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_audit::{Digest, Head, Mark, MarkKind, Opening, Signature};
use kopeck_port_store::StoreError;

use super::rows::{OpeningRow, last_record};
use crate::connection::AnyConnection;
use crate::convert::{fixed, natural, word};
use crate::error::{Stored, StoredRows};
use crate::schema::{audit_chains, audit_checkpoints};
use crate::statements::{self, binds};

/// A mark as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = audit_checkpoints)]
struct MarkRow {
    chain: i64,
    kind: String,
    number: i64,
    hash: Vec<u8>,
    signature: Vec<u8>,
}

impl MarkRow {
    fn mark(self) -> Result<Mark, StoreError> {
        Ok(Mark {
            kind: word(&self.kind, "audit_checkpoints.kind")?,
            head: Head {
                chain: natural(self.chain, "audit_checkpoints.chain")?,
                number: natural(self.number, "audit_checkpoints.number")?,
                hash: Digest::from_bytes(fixed(self.hash, "audit_checkpoints.hash")?),
            },
            signature: Signature::from_bytes(fixed(self.signature, "audit_checkpoints.signature")?),
        })
    }
}

/// The marks of a chain.
pub(crate) fn marks(connection: &mut AnyConnection, chain: u64) -> Result<Vec<Mark>, StoreError> {
    audit_checkpoints::table
        .filter(audit_checkpoints::chain.eq(chain.cast_signed()))
        .select(MarkRow::as_select())
        .load(connection)
        .all(MarkRow::mark)
}

const PUT_MARK: &str = "
    INSERT INTO audit_checkpoints (chain, kind, number, hash, signature)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (chain, kind) DO UPDATE
    SET number = excluded.number, hash = excluded.hash, signature = excluded.signature
    WHERE audit_checkpoints.number <= excluded.number";

/// Puts a mark in place of the one of its kind.
pub(crate) fn put_mark(connection: &mut AnyConnection, mark: &Mark) -> QueryResult<()> {
    let Mark { kind, head: Head { chain, number, hash }, signature } = mark;
    let (hash, signature) = (hash.as_bytes().as_slice(), signature.to_bytes());
    let values = binds![chain.cast_signed(), kind.as_str(), number.cast_signed(), hash, signature.as_slice()];
    statements::execute(connection, PUT_MARK, values).map(drop)
}

/// The last chain that has a mark.
pub(crate) fn last_marked_chain(connection: &mut AnyConnection) -> Result<u64, StoreError> {
    let last: Option<i64> =
        audit_checkpoints::table.select(max(audit_checkpoints::chain)).get_result(connection).stored()?;
    natural(last.unwrap_or(0), "audit_checkpoints.chain")
}

/// How far the chain of operators' commands goes, and its checkpoint; `None` before the first command.
pub(super) fn commands_chain(
    connection: &mut AnyConnection,
) -> Result<Option<(Head, Option<Mark>)>, StoreError> {
    let row: Option<OpeningRow> = audit_chains::table
        .filter(audit_chains::commands)
        .order(audit_chains::chain.desc())
        .limit(1)
        .select(OpeningRow::as_select())
        .get_result(connection)
        .optional()
        .stored()?;
    let Some(opening) = row.map(OpeningRow::opening).transpose()? else { return Ok(None) };
    let marks = marks(connection, opening.chain)?;
    let of = |kind| marks.iter().find(|mark| mark.kind == kind).cloned();
    let head = match last_record(connection, opening.chain)? {
        Some(record) => record.head,
        None => of(MarkKind::Beginning).map_or_else(|| Opening::head(&opening), |mark| mark.head),
    };
    Ok(Some((head, of(MarkKind::Checkpoint))))
}
