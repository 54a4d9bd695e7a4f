//! Movements that the service is yet to read from the bank's feed.
//!
//! The order of the looks decides. A movement of the registry stands in the feed when the feed is read after it. If the
//! service's place in the feed was read before, and the movement has a greater number, the service has not come to it. If
//! not, the service has passed it, so its copy has to be here.

use std::collections::HashSet;

use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{FeedChange, FeedError};
use kopeck_port_store::{StoreError, UnitOfWork};

use super::{BankReconciler, Day, Difference, NotHere, ReconcileError};

/// Entries of a request.
const PAGE: u32 = 1_000;

impl BankReconciler {
    /// Reports the movements that are missing here, without those that the feed is about to bring or has brought
    /// meanwhile. Returns those that it is about to bring.
    pub(super) fn tell_unread_apart(
        &self,
        day: &Day<'_>,
        not_here: Vec<NotHere>,
        report: &mut dyn FnMut(Difference),
    ) -> Result<Vec<Difference>, ReconcileError> {
        if not_here.is_empty() {
            return Ok(Vec::new());
        }
        let wanted: Vec<_> = not_here.iter().map(|one| (one.partner, one.card, one.transaction)).collect();
        let look = move |unit: &mut dyn UnitOfWork| -> Result<_, StoreError> {
            let cursor = unit.bank_feed().state()?.cursor;
            let is_here = |(partner, card, id): &(_, _, _)| {
                Ok(unit.reconciliation().transaction(*partner, *card, *id)?.is_some())
            };
            Ok((cursor, wanted.iter().map(is_here).collect::<Result<Vec<bool>, StoreError>>()?))
        };
        let (cursor, here) = self.read(look)?;
        let missing: Vec<NotHere> =
            not_here.into_iter().zip(here).filter_map(|(one, is_here)| (!is_here).then_some(one)).collect();
        let behind = self.behind(day, cursor, &missing)?;
        let mut unread = Vec::new();
        for NotHere { number, transaction, difference, .. } in missing {
            if behind.contains(&(number, transaction)) {
                unread.push(difference);
            } else {
                report(difference);
            }
        }
        Ok(unread)
    }

    /// Which of these movements stand in the bank's feed behind this place. A bank without a feed has none.
    fn behind(
        &self,
        day: &Day<'_>,
        cursor: i64,
        missing: &[NotHere],
    ) -> Result<HashSet<(CardNumber, i64)>, ReconcileError> {
        let wanted: HashSet<(CardNumber, i64)> =
            missing.iter().map(|one| (one.number, one.transaction)).collect();
        let (mut behind, mut after) = (HashSet::new(), cursor);
        while behind.len() < wanted.len() {
            day.go_on()?;
            let page = match self.bank.feed(after, PAGE) {
                Ok(page) => page,
                Err(FeedError::NotSupported) => break,
                Err(FeedError::Forgotten { oldest }) => {
                    // Entries that are gone will not be read any more.
                    after = after.max(oldest - 1);
                    self.bank.feed(after, PAGE).or_else(|error| match error {
                        FeedError::Bank(error) => Err(error),
                        FeedError::Forgotten { .. } | FeedError::NotSupported => Ok(Vec::new()),
                    })?
                }
                Err(FeedError::Bank(error)) => return Err(error.into()),
            };
            let Some(last) = page.last().map(|entry| entry.seq) else { break };
            after = last;
            for entry in page {
                if let FeedChange::Transaction { transaction, .. } = &entry.change
                    && wanted.contains(&(entry.card, transaction.id))
                {
                    behind.insert((entry.card, transaction.id));
                }
            }
        }
        Ok(behind)
    }
}
