//! The bank's own books: every instruction once, every kopeck on its card.

use std::collections::{BTreeMap, BTreeSet};

use kopeck_adapter_bank_simulator::Simulator;
use kopeck_client::{RequestState, Uuid};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::{BankGateway as _, BankKey};

use super::money::CardSpending;
use super::{Account, EndedRequest};
use crate::bank;
use crate::installation::Installation;
use crate::journal::Journal;
use crate::load::{Answer, Change, RequestKind};

/// Rows that are read at a time.
pub(super) const ROWS: u32 = 1_000;

/// Compares the bank's ledger with the service's responses to the partners.
pub(super) fn check(
    installation: &Installation,
    accounts: &[Account<'_>],
    journal: &Journal,
) -> anyhow::Result<()> {
    let bank = bank::books(installation)?;
    for discrepancy in bank.check()? {
        journal.wrong(format!("the bank's books: {discrepancy:?}"));
    }
    for account in accounts {
        for request in &account.requests {
            check_keys(&bank, account, request, journal)?;
        }
        check_cards(&bank, account, journal)?;
    }
    let spent = CardSpending::total(accounts.iter().flat_map(|account| &account.requests));
    let books = bank.totals()?;
    let there = CardSpending {
        top_ups: books.top_ups.get(),
        first_top_ups: books.first_top_ups.get(),
        returned: books.reversals.get(),
    };
    journal.must(spent == there, || format!("partners spent {spent:?}, the bank got {there:?}"));
    let issued: usize =
        accounts.iter().flat_map(|account| &account.requests).map(|request| request.issued.len()).sum();
    journal.must(books.cards == issued as u64, || {
        format!("the bank issued {} cards, partners have {issued}", books.cards)
    });
    Ok(())
}

/// Every completed instruction was applied once under its key, and no other was applied.
fn check_keys(
    bank: &Simulator,
    account: &Account<'_>,
    request: &EndedRequest,
    journal: &Journal,
) -> anyhow::Result<()> {
    let id = request.id;
    for (ordinal, done) in request.done.iter().enumerate() {
        let key = match request.kind {
            RequestKind::Order => format!("order/{id}"),
            RequestKind::TopUp => format!("replenishment/{id}/{ordinal}"),
            RequestKind::Limit => format!("limit/{id}/{ordinal}"),
            RequestKind::Closing => format!("closing/{id}/{ordinal}"),
            RequestKind::Withdrawal => format!("withdrawal/{id}/{ordinal}"),
        };
        let applied = bank.applied(&BankKey::new(key.as_str())?)?;
        let (name, state): (_, &RequestState) = (&account.partner.name, &request.state);
        journal.must(applied == u32::from(*done), || {
            format!("{name}: {key} was applied {applied} times; the request is {state}, done: {done}")
        });
    }
    Ok(())
}

/// Each card got and paid the amounts in the service's responses.
fn check_cards(bank: &Simulator, account: &Account<'_>, journal: &Journal) -> anyhow::Result<()> {
    let name = &account.partner.name;
    let (numbers, paid) = {
        let book = account.partner.book();
        let numbers: BTreeMap<Uuid, CardNumber> =
            book.cards.iter().chain(&book.spare).map(|card| (card.id, card.number)).collect();
        let paid: BTreeSet<i64> = book.made.iter().filter_map(|made| transaction(&made.answer)).collect();
        (numbers, paid)
    };
    let mut there_paid = BTreeSet::new();
    for (number, (expected, expected_back)) in expected(account, &numbers)? {
        let transactions = transactions(bank, number)?;
        let of_kind = |kind| transactions.iter().filter(move |transaction| transaction.kind == kind);
        let sum = |kind| of_kind(kind).map(|transaction| transaction.amount.get()).sum::<i64>();
        let (got, back) = (sum(TransactionType::Replenishment), sum(TransactionType::Reversal));
        journal.must((got, back) == (expected, expected_back), || {
            format!(
                "{name}: card {number} got {got} and gave {back} back, it should be {expected} and {expected_back}"
            )
        });
        there_paid.extend(of_kind(TransactionType::Payment).map(|transaction| transaction.id));
    }
    journal.must(paid == there_paid, || {
        let (told, there) = (paid.len(), there_paid.len());
        format!("{name}: {told} purchases were approved, the bank has {there}, or others")
    });
    Ok(())
}

fn transaction(answer: &Option<Answer>) -> Option<i64> {
    match answer {
        Some(Answer::Purchase { transaction, .. }) => *transaction,
        _ => None,
    }
}

/// The expected top-ups and returns of each card of a partner.
fn expected(
    account: &Account<'_>,
    numbers: &BTreeMap<Uuid, CardNumber>,
) -> anyhow::Result<BTreeMap<CardNumber, (i64, i64)>> {
    let mut expected: BTreeMap<CardNumber, (i64, i64)> = BTreeMap::new();
    for request in &account.requests {
        for (number, amount) in &request.issued {
            let number = CardNumber::parse(number).map_err(|_| anyhow::anyhow!("{number} is no number"))?;
            expected.entry(number).or_default().0 += amount;
        }
        if let Change::TopUp(cards) = &request.call {
            for (card, _) in cards.iter().zip(&request.done).filter(|(_, done)| **done) {
                if let Some(number) = card.card.id().and_then(|id| numbers.get(&id)) {
                    expected.entry(*number).or_default().0 += card.amount_replenishment;
                }
            }
        }
        for (card, back) in request.returns() {
            if let Some(number) = numbers.get(&card) {
                expected.entry(*number).or_default().1 += back;
            }
        }
    }
    Ok(expected)
}

/// All transactions of a card.
pub(super) fn transactions(bank: &Simulator, number: CardNumber) -> anyhow::Result<Vec<Transaction>> {
    let mut all: Vec<Transaction> = Vec::new();
    loop {
        let after = all.last().map_or(0, |last| last.id);
        let page = bank.transactions(number, after, ROWS)?;
        let more = page.len() == ROWS as usize;
        all.extend(page);
        if !more {
            return Ok(all);
        }
    }
}
