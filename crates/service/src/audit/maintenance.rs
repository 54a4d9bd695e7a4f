//! Maintenance of the audit log: pruning, and retiring a former key.

use std::sync::Arc;

use kopeck_audit::{Head, Mark, MarkKind, Opening, Record, Statement};
use kopeck_port_store::{
    Access, AuditRepository, AuditSigner, SignatureCheck, Store, StoreError, UnitOfWork, transact,
};
use time::OffsetDateTime;

use super::verify::BATCH;

/// Removes entries older than `before` from the beginning of each chain, and writes a signed mark of the new beginning.
/// Returns the number of removed entries. [Verify](super::verify) the log first: pruning would hide changes in the
/// removed entries.
///
/// # Errors
/// [`StoreError`]; entries removed by then stay removed, with their marks.
pub fn prune(
    store: &dyn Store,
    signer: &Arc<dyn AuditSigner>,
    before: OffsetDateTime,
) -> Result<u64, StoreError> {
    let mut removed = 0;
    for_each_chain(store, |opening| {
        loop {
            let (signer, opening) = (Arc::clone(signer), opening.clone());
            let piece = transact(store, Access::Write, move |unit| {
                prune_piece(unit.audit(), &*signer, &opening, before)
            })?;
            if piece == 0 {
                return Ok(());
            }
            removed += piece;
        }
    })?;
    Ok(removed)
}

/// Removes one batch of entries of a chain, if there are any.
fn prune_piece(
    audit: &mut dyn AuditRepository,
    signer: &dyn AuditSigner,
    opening: &Opening,
    before: OffsetDateTime,
) -> Result<u64, StoreError> {
    let marks = audit.marks(opening.chain)?;
    let begins = marks.iter().find(|mark| mark.kind == MarkKind::Beginning);
    let after = begins.map_or(0, |mark| mark.head.number);
    let piece = audit.records(opening.chain, after, BATCH)?;
    let Some(last) = piece.into_iter().take_while(|record| record.entry.at < before).last() else {
        return Ok(0);
    };
    audit.prune(&signed(signer, MarkKind::Beginning, last.head))
}

/// Removes all dependencies on former keys: signs their marks anew, and adds a checkpoint to each chain whose last
/// entry has a signature of one, which vouches for every entry before it. Returns the chains with invalid signatures,
/// which stay as they are.
///
/// # Errors
/// [`StoreError`].
pub fn renew_signatures(store: &dyn Store, signer: &Arc<dyn AuditSigner>) -> Result<Vec<u64>, StoreError> {
    let mut invalid = Vec::new();
    for_each_chain(store, |opening| {
        let (signer, chain) = (Arc::clone(signer), opening.chain);
        let renew = move |unit: &mut dyn UnitOfWork| renew_chain(unit.audit(), &*signer, chain);
        if !transact(store, Access::Write, renew)? {
            invalid.push(chain);
        }
        Ok(())
    })?;
    Ok(invalid)
}

/// Returns whether the signatures of the chain are valid.
fn renew_chain(
    audit: &mut dyn AuditRepository,
    signer: &dyn AuditSigner,
    chain: u64,
) -> Result<bool, StoreError> {
    let is_valid = |mark: &Mark| signer.check(&mark.signed_bytes(), &mark.signature) == SignatureCheck::Valid;
    let mut marks = audit.marks(chain)?;
    if !marks.iter().all(is_valid) {
        return Ok(false);
    }
    let last = audit.last_record(chain)?;
    if let Some(Record { head, signature: Some(signature), .. }) = last
        && !signer.is_current(&signature)
    {
        let checkpoint = marks.iter_mut().find(|mark| mark.kind == MarkKind::Checkpoint);
        match checkpoint {
            // The checkpoint vouches for all of it.
            Some(mark) if mark.head == head => {}
            Some(mark)
                if mark.head.number < head.number
                    && signer.check(&head.signed_bytes(Statement::Entry), &signature)
                        == SignatureCheck::Valid =>
            {
                mark.head = head;
            }
            // Entries are missing, or the last one is forged.
            _ => return Ok(false),
        }
    }
    for mark in marks {
        audit.put_mark(&signed(signer, mark.kind, mark.head))?;
    }
    Ok(true)
}

fn signed(signer: &dyn AuditSigner, kind: MarkKind, head: Head) -> Mark {
    let signature = signer.sign(&head.signed_bytes(Statement::Mark(kind)));
    Mark { kind, head, signature }
}

/// Calls `each` for one chain after the other.
fn for_each_chain(
    store: &dyn Store,
    mut each: impl FnMut(&Opening) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let piece = transact(store, Access::Read, move |unit| unit.audit().openings(after, BATCH))?;
        let Some(last) = piece.last() else { return Ok(()) };
        after = last.chain;
        piece.iter().try_for_each(&mut each)?;
    }
}

#[cfg(test)]
mod tests;
