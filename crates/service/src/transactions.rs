//! Transactions of a card: an incremental copy of the bank's list.

use kopeck_domain::card::Card;
use kopeck_domain::event::{CardTransaction, EventData};
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::Transaction;
use kopeck_port_bank::{BankError, BankGateway};
use kopeck_port_store::page::{Listed, Page};
use kopeck_port_store::{
    Access, CardRecord, PartnerTransaction, Store, StoreError, TransactionFilter, TransactionQuery,
    UnitOfWork, transact,
};
use time::OffsetDateTime;

use crate::cards::FetchError;
use crate::{Env, events};

/// Transactions per bank request.
const FETCH: u32 = 500;

/// The fetch time of an incomplete copy: so long ago that it is stale.
pub(crate) const NOT_YET_WHOLE: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;

/// Why the transactions of a card were not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TransactionsError {
    /// The partner has no such card.
    #[error("no such card")]
    NotFound,
    /// The bank cannot be reached, and there is no copy to answer from.
    #[error("the bank is unavailable")]
    BankUnavailable,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Refreshes the copy of the card's transactions unless it is fresh. While the bank is unavailable, an older copy
/// serves. Blocks during bank requests.
///
/// # Errors
/// [`TransactionsError`].
pub fn sync(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    id: CardId,
) -> Result<(), TransactionsError> {
    let copy = stored(store, partner, id)?.ok_or(TransactionsError::NotFound)?;
    if copy.record.transactions_seen_at.is_some_and(|seen_at| !env.is_stale(seen_at)) {
        return Ok(());
    }
    match fetch(store, bank, env, partner, copy) {
        Ok(()) => Ok(()),
        Err(FetchError::Store(error)) => Err(error.into()),
        Err(FetchError::Bank(BankError::Unavailable(reason) | BankError::Unknown(reason))) => {
            log::debug!(reason = reason.as_str(); "the bank returned no transactions");
            let record = transact(store, Access::Read, move |unit| unit.cards().get(partner, id))?;
            let has_copy = record.is_some_and(|record| record.transactions_seen_at.is_some());
            if has_copy { Ok(()) } else { Err(TransactionsError::BankUnavailable) }
        }
    }
}

/// A card, and how far its transactions are stored.
pub(crate) struct StoredCopy {
    record: CardRecord,
    latest: i64,
}

/// The card with the end of its transactions, if the partner has it.
pub(crate) fn stored(
    store: &dyn Store,
    partner: PartnerId,
    id: CardId,
) -> Result<Option<StoredCopy>, StoreError> {
    transact(store, Access::Read, move |unit| {
        let Some(record) = unit.cards().get(partner, id)? else { return Ok(None) };
        Ok(Some(StoredCopy { record, latest: unit.transactions().latest_id(partner, id)? }))
    })
}

/// Fetches the transactions of a card that are not stored yet. Blocks during bank requests.
pub(crate) fn fetch(
    store: &dyn Store,
    bank: &dyn BankGateway,
    env: &Env,
    partner: PartnerId,
    copy: StoredCopy,
) -> Result<(), FetchError> {
    let StoredCopy { record, mut latest } = copy;
    let id = record.card.id();
    loop {
        let asked_at = env.now();
        let fetched = bank.transactions(record.card.number(), latest, FETCH)?;
        let newest = fetched.iter().map(|transaction| transaction.id).fold(latest, i64::max);
        // A bank that repeats a page has no more.
        let more = newest > latest && u32::try_from(fetched.len()).is_ok_and(|count| count >= FETCH);
        latest = newest;
        // A copy without the newest transactions is not fresh, whenever it was fetched.
        let seen_at = if more { record.transactions_seen_at.unwrap_or(NOT_YET_WHOLE) } else { asked_at };
        let env = env.clone();
        transact(store, Access::Write, move |unit| record_new(unit, &env, partner, id, &fetched, seen_at))?;
        if !more {
            return Ok(());
        }
    }
}

/// Stores transactions of a card, and appends those that are new to the partner's feed.
fn record_new(
    unit: &mut dyn UnitOfWork,
    env: &Env,
    partner: PartnerId,
    id: CardId,
    fetched: &[Transaction],
    seen_at: OffsetDateTime,
) -> Result<(), StoreError> {
    let latest = unit.transactions().latest_id(partner, id)?;
    unit.transactions().append(partner, id, fetched, seen_at)?;
    let new: Vec<&Transaction> = fetched.iter().filter(|transaction| transaction.id > latest).collect();
    if new.is_empty() {
        return Ok(());
    }
    let Some(record) = unit.cards().get(partner, id)? else { return Ok(()) };
    events::append(unit, env, partner, new.into_iter().map(|transaction| event(&record.card, transaction)))
}

/// The event of a transaction.
pub(crate) fn event(card: &Card, transaction: &Transaction) -> EventData {
    EventData::CardTransaction(CardTransaction {
        card: card.id(),
        employee: card.link().map(|link| link.employee),
        transaction: transaction.clone(),
    })
}

/// A page of the copy, newest first.
///
/// # Errors
/// [`TransactionsError`].
pub fn list(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: CardId,
    filter: TransactionFilter,
    page: Page,
) -> Result<Listed<Transaction>, TransactionsError> {
    unit.cards().get(partner, id)?.ok_or(TransactionsError::NotFound)?;
    Ok(unit.transactions().list(partner, id, filter, page)?)
}

/// A piece of the transactions of all cards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransactionPage {
    /// Transactions in the order of their numbers.
    pub transactions: Vec<PartnerTransaction>,
    /// After which number the next piece begins.
    pub next: i64,
}

/// The transactions of all cards, in the order in which the service learnt of them. The bank is not asked.
///
/// # Errors
/// [`StoreError`] if the store fails.
pub fn after(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    query: &TransactionQuery,
) -> Result<TransactionPage, StoreError> {
    let transactions = unit.transactions().after(partner, query)?;
    let next = transactions.last().map_or(query.after, |last| last.seq);
    Ok(TransactionPage { transactions, next })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;
    use kopeck_domain::transaction::TransactionType;
    use kopeck_port_bank::MockBankGateway;
    use kopeck_port_store::mock::{InPlaceStore, MockUnit};
    use time::Duration;

    /// Transactions with the ids from `first` to `last`.
    fn transactions(first: i64, last: i64) -> Vec<Transaction> {
        let transaction = |id| Transaction {
            id,
            executed_at: BEFORE,
            kind: TransactionType::Payment,
            amount: kopecks(id),
            place: None,
            mcc: None,
            merchant_id: None,
        };
        (first..=last).map(transaction).collect()
    }

    /// A card whose transactions were last fetched at `seen_at`, the latest being `latest`.
    fn copied(seen_at: Option<OffsetDateTime>, latest: i64) -> MockUnit {
        let mut unit = MockUnit::default();
        let record = CardRecord { transactions_seen_at: seen_at, ..card_record(1) };
        unit.cards.expect_get().returning(move |_, _| Ok(Some(record.clone())));
        unit.transactions.expect_latest_id().returning(move |_, _| Ok(latest));
        unit
    }

    fn expect_fetch(bank: &mut MockBankGateway, after: i64, answer: Result<Vec<Transaction>, BankError>) {
        bank.expect_transactions()
            .withf(move |asked, from, limit| (*asked, *from, *limit) == (number(1), after, 500))
            .times(1)
            .returning(move |_, _, _| answer.clone());
    }

    fn expect_append(unit: &mut MockUnit, expected: Vec<Transaction>, seen_at: OffsetDateTime) {
        unit.transactions
            .expect_append()
            .withf(move |partner, card, stored, at| {
                *partner == PARTNER && *card == card_id(1) && *stored == expected[..] && *at == seen_at
            })
            .times(1)
            .returning(|_, _, _, _| Ok(()));
    }

    fn run(unit: MockUnit, bank: &MockBankGateway, bench: &Bench) -> Result<(), TransactionsError> {
        sync(&InPlaceStore::new(unit), bank, bench, PARTNER, card_id(1))
    }

    fn away() -> Result<Vec<Transaction>, BankError> {
        Err(BankError::Unavailable("down".to_owned()))
    }

    #[test]
    fn the_next_piece_begins_behind_the_last_transaction() {
        let query = TransactionQuery { after: 4, limit: 2, ..TransactionQuery::default() };
        for (found, next) in [(vec![5, 6], 6), (vec![], 4)] {
            let one = |seq| PartnerTransaction {
                seq,
                card: card_id(1),
                holder: None,
                transaction: transactions(1, 1).remove(0),
            };
            let found: Vec<PartnerTransaction> = found.into_iter().map(one).collect();
            let (mut unit, expected) = (MockUnit::default(), found.clone());
            unit.transactions
                .expect_after()
                .withf(move |partner, asked| (*partner, *asked) == (PARTNER, query))
                .times(1)
                .returning(move |_, _| Ok(found.clone()));
            let page = after(&mut unit, PARTNER, &query);
            assert_eq!(page, Ok(TransactionPage { transactions: expected, next }));
        }
    }

    #[test]
    fn a_young_copy_asks_nothing() {
        let bench = Bench::new();
        bench.clock.advance(Duration::seconds(9));
        assert_eq!(run(copied(Some(START), 5), &MockBankGateway::new(), &bench), Ok(()));
    }

    #[test]
    fn an_old_copy_asks_for_what_is_new() {
        let (bench, mut unit, mut bank) = (Bench::new(), copied(Some(START), 5), MockBankGateway::new());
        bench.clock.advance(Duration::seconds(10));
        expect_fetch(&mut bank, 5, Ok(transactions(6, 7)));
        expect_append(&mut unit, transactions(6, 7), START + Duration::seconds(10));
        assert_eq!(run(unit, &bank, &bench), Ok(()));
    }

    /// That there is nothing new is noted too, or every call would ask.
    #[test]
    fn an_empty_answer_makes_the_copy_young() {
        let (bench, mut unit, mut bank) = (Bench::new(), copied(None, 0), MockBankGateway::new());
        expect_fetch(&mut bank, 0, Ok(vec![]));
        expect_append(&mut unit, vec![], START);
        assert_eq!(run(unit, &bank, &bench), Ok(()));
    }

    /// Only the last page makes the copy young: before it the newest transactions are missing.
    #[test]
    fn more_than_a_page_is_fetched_page_by_page() {
        for (seen_at, unfinished) in [(None, NOT_YET_WHOLE), (Some(BEFORE), BEFORE)] {
            let (bench, mut unit, mut bank) = (Bench::new(), copied(seen_at, 0), MockBankGateway::new());
            expect_fetch(&mut bank, 0, Ok(transactions(1, 500)));
            expect_fetch(&mut bank, 500, Ok(transactions(501, 1_000)));
            expect_fetch(&mut bank, 1_000, Ok(transactions(1_001, 1_001)));
            expect_append(&mut unit, transactions(1, 500), unfinished);
            expect_append(&mut unit, transactions(501, 1_000), unfinished);
            expect_append(&mut unit, transactions(1_001, 1_001), START);
            assert_eq!(run(unit, &bank, &bench), Ok(()));
        }
    }

    #[test]
    fn pages_fetched_before_an_outage_are_an_older_copy() {
        let (bench, mut unit, mut bank) = (Bench::new(), MockUnit::default(), MockBankGateway::new());
        unit.cards.expect_get().times(2).returning(|_, _| Ok(Some(card_record(1))));
        let copied = CardRecord { transactions_seen_at: Some(NOT_YET_WHOLE), ..card_record(1) };
        unit.cards.expect_get().returning(move |_, _| Ok(Some(copied.clone())));
        unit.transactions.expect_latest_id().returning(|_, _| Ok(0));
        expect_fetch(&mut bank, 0, Ok(transactions(1, 500)));
        expect_fetch(&mut bank, 500, away());
        expect_append(&mut unit, transactions(1, 500), NOT_YET_WHOLE);
        assert_eq!(run(unit, &bank, &bench), Ok(()));
    }

    #[test]
    fn a_bank_that_repeats_itself_is_not_asked_for_ever() {
        let (bench, mut unit, mut bank) = (Bench::new(), copied(None, 500), MockBankGateway::new());
        expect_fetch(&mut bank, 500, Ok(transactions(1, 500)));
        expect_append(&mut unit, transactions(1, 500), START);
        assert_eq!(run(unit, &bank, &bench), Ok(()));
    }

    #[test]
    fn without_the_bank_an_older_copy_does_and_none_does_not() {
        for (seen_at, expected) in [(Some(BEFORE), Ok(())), (None, Err(TransactionsError::BankUnavailable))] {
            for silence in [away(), Err(BankError::Unknown("timeout".to_owned()))] {
                let (bench, mut bank) = (Bench::new(), MockBankGateway::new());
                expect_fetch(&mut bank, 3, silence);
                assert_eq!(run(copied(seen_at, 3), &bank, &bench), expected);
            }
        }
    }

    #[test]
    fn an_unknown_card_is_not_found_and_the_bank_not_queried() {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.cards.expect_get().times(2).returning(|_, _| Ok(None));
        let page = Page::new(1, 100).unwrap();
        let listed = list(&mut unit, PARTNER, card_id(1), TransactionFilter::default(), page);
        assert_eq!(listed, Err(TransactionsError::NotFound));
        assert_eq!(run(unit, &MockBankGateway::new(), &bench), Err(TransactionsError::NotFound));
    }
}
