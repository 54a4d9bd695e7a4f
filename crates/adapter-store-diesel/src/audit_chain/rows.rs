//! Rows of the audit log: openings of chains, and entries.

use std::borrow::Cow;

use diesel::dsl::max;
use diesel::prelude::*;
use kopeck_audit::{Actor, Digest, Entry, Head, KeyDigest, Opening, Record, Signature};
use kopeck_port_store::StoreError;

use crate::connection::AnyConnection;
use crate::convert::{AsKey, corrupt, fixed, natural, word};
use crate::error::Stored;
use crate::schema::{audit_chains, audit_entries};
use crate::sql_types::{Id, UtcTimestamp};
use crate::statements::{self, binds, row};

/// An opening as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = audit_chains)]
pub(crate) struct OpeningRow {
    chain: i64,
    opened_at: UtcTimestamp,
    hash: Vec<u8>,
}

/// An entry as its table has it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = audit_entries)]
pub(crate) struct RecordRow<'a> {
    chain: i64,
    number: i64,
    hash: Vec<u8>,
    at: UtcTimestamp,
    actor: Cow<'a, str>,
    credential: Option<Id>,
    operator: Option<Cow<'a, str>>,
    actor_id: Option<Id>,
    partner: Option<Id>,
    source: Cow<'a, str>,
    action: Cow<'a, str>,
    subject: Cow<'a, str>,
    request_id: Option<Cow<'a, str>>,
    key_digest: Option<Vec<u8>>,
    sealed: bool,
    outcome: Cow<'a, str>,
    status: Option<i64>,
    code: Option<Cow<'a, str>>,
    signature: Option<Vec<u8>>,
}

impl OpeningRow {
    pub(crate) fn opening(self) -> Result<Opening, StoreError> {
        Ok(Opening {
            chain: natural(self.chain, "audit_chains.chain")?,
            opened_at: self.opened_at.time("audit_chains.opened_at")?,
            hash: Digest::from_bytes(fixed(self.hash, "audit_chains.hash")?),
        })
    }
}

impl<'a> RecordRow<'a> {
    fn new(record: &'a Record) -> Self {
        let Record { entry, head: Head { chain, number, hash }, signature } = record;
        let (actor_id, credential, operator) = match &entry.actor {
            Actor::Unknown | Actor::Service => (None, None, None),
            Actor::Partner(pair) => (None, pair.map(|pair| pair.key()), None),
            Actor::Credential(id, pair) => (Some(id.key()), pair.map(|pair| pair.key()), None),
            Actor::User(id) => (Some(id.key()), None, None),
            Actor::Operator(user) => (None, None, Some(user.as_str().into())),
        };
        Self {
            chain: chain.cast_signed(),
            number: number.cast_signed(),
            hash: hash.as_bytes().to_vec(),
            at: UtcTimestamp::of(entry.at),
            actor: entry.actor.kind().into(),
            credential,
            operator,
            actor_id,
            partner: entry.partner.map(|partner| partner.key()),
            source: entry.source.as_str().into(),
            action: entry.action.as_ref().into(),
            subject: entry.subject.as_str().into(),
            request_id: entry.request_id.as_deref().map(Cow::from),
            key_digest: entry.key.map(|key| key.as_bytes().to_vec()),
            sealed: entry.sealed,
            outcome: entry.outcome.as_str().into(),
            status: entry.status.map(i64::from),
            code: entry.code.as_deref().map(Cow::from),
            signature: signature.map(|signature| signature.to_bytes().to_vec()),
        }
    }

    pub(crate) fn record(self) -> Result<Record, StoreError> {
        let head = Head {
            chain: natural(self.chain, "audit_entries.chain")?,
            number: natural(self.number, "audit_entries.number")?,
            hash: Digest::from_bytes(fixed(self.hash, "audit_entries.hash")?),
        };
        let actor = match (&*self.actor, self.actor_id, self.credential, self.operator) {
            ("UNKNOWN", None, None, None) => Actor::Unknown,
            ("SERVICE", None, None, None) => Actor::Service,
            ("PARTNER", None, pair, None) => Actor::Partner(pair.map(Id::to)),
            ("CREDENTIAL", Some(id), pair, None) => Actor::Credential(id.to(), pair.map(Id::to)),
            ("USER", Some(id), None, None) => Actor::User(id.to()),
            ("OPERATOR", None, None, Some(user)) => Actor::Operator(user.into_owned()),
            _ => return Err(corrupt("audit_entries.actor")),
        };
        let status = self.status.map(u16::try_from).transpose();
        let key = self.key_digest.map(|key| fixed(key, "audit_entries.key_digest")).transpose()?;
        let entry = Entry {
            at: self.at.time("audit_entries.at")?,
            actor,
            partner: self.partner.map(Id::to),
            source: self.source.into_owned(),
            action: self.action.into_owned().into(),
            subject: self.subject.into_owned(),
            request_id: self.request_id.map(Cow::into_owned),
            key: key.map(KeyDigest::from_bytes),
            sealed: self.sealed,
            outcome: word(&self.outcome, "audit_entries.outcome")?,
            status: status.map_err(|_| corrupt("audit_entries.status"))?,
            code: self.code.map(|code| code.into_owned().into()),
        };
        let signature = self.signature.map(|bytes| fixed(bytes, "audit_entries.signature")).transpose()?;
        Ok(Record { entry, head, signature: signature.map(Signature::from_bytes) })
    }
}

/// The opening of the last chain.
pub(crate) fn last_opening(connection: &mut AnyConnection) -> Result<Option<Opening>, StoreError> {
    let last: Option<i64> =
        audit_chains::table.select(max(audit_chains::chain)).get_result(connection).stored()?;
    let Some(last) = last else { return Ok(None) };
    audit_chains::table
        .find(last)
        .select(OpeningRow::as_select())
        .get_result(connection)
        .found(OpeningRow::opening)
}

/// Adds an opening: of the chain of a connection, or of one that operators' commands share.
pub(super) fn insert_opening(
    connection: &mut AnyConnection,
    opening: &Opening,
    commands: bool,
) -> QueryResult<()> {
    let Opening { chain, opened_at, hash } = opening;
    let text = "INSERT INTO audit_chains (chain, opened_at, hash, commands) VALUES (?, ?, ?, ?)";
    let values = binds![chain.cast_signed(), UtcTimestamp::of(*opened_at), &hash.as_bytes()[..], commands];
    statements::execute(connection, text, values).map(drop)
}

/// The last entry of a chain.
pub(crate) fn last_record(connection: &mut AnyConnection, chain: u64) -> Result<Option<Record>, StoreError> {
    audit_entries::table
        .filter(audit_entries::chain.eq(chain.cast_signed()))
        .order(audit_entries::number.desc())
        .limit(1)
        .select(RecordRow::as_select())
        .get_result(connection)
        .found(RecordRow::record)
}

/// The hash of an entry.
pub(crate) fn record_hash(
    connection: &mut AnyConnection,
    chain: u64,
    number: u64,
) -> Result<Option<Vec<u8>>, StoreError> {
    audit_entries::table
        .find((chain.cast_signed(), number.cast_signed()))
        .select(audit_entries::hash)
        .get_result(connection)
        .optional()
        .stored()
}

row!(RecordRow<'_>, audit_entries:
    chain, number, hash, at, actor, credential, operator, actor_id, partner, source, action, subject, request_id, key_digest,
    sealed, outcome, status, code, signature);

/// Adds entries.
pub(super) fn insert_records(connection: &mut AnyConnection, records: &[Record]) -> QueryResult<()> {
    let rows: Vec<RecordRow<'_>> = records.iter().map(RecordRow::new).collect();
    statements::insert(connection, &rows)
}
