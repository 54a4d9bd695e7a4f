//! Compares the service's records of the month with the sums of the responses.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use anyhow::ensure;
use kopeck_client::{
    BankStatus, CardFilter, Client, EmployeeFilter, EntryFilter, EntryType, Paging, TransactionQuery,
    TransactionType,
};

use super::programme::{Programme, Tally};
use crate::books::{Check, Count};
use crate::pool;
use crate::progress::Progress;

/// How long the service may take to hear of the bank's last transaction.
const PATIENCE: Duration = Duration::from_mins(2);

/// Every comparison.
pub(crate) async fn compare(
    client: &Client,
    programme: &Programme<'_>,
    month: String,
) -> anyhow::Result<Vec<Check>> {
    let tally = programme.tally;
    let mut checks = of_transactions(client, &tally).await?;
    checks.extend(of_cards(client, &tally).await?);
    checks.extend(of_statement(client, &tally, &month).await?);
    let employees = client.employees().list(&EmployeeFilter::default(), Paging::default()).await?;
    let found = usize::try_from(employees.meta.total.unwrap_or_default())?;
    checks.push(Check::count("employees who were not erased", Count { expected: tally.employees, found }));
    Ok(checks)
}

async fn of_transactions(client: &Client, tally: &Tally) -> anyhow::Result<Vec<Check>> {
    let mut reader = client.statements().all_transactions(&TransactionQuery::default());
    let (mut number, mut sums) = (0, HashMap::new());
    let begun = Instant::now();
    while number < tally.transactions {
        let Some(transaction) = reader.next().await? else {
            ensure!(
                begun.elapsed() < PATIENCE,
                "the service knows {number} transactions of {}",
                tally.transactions
            );
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        let transaction = transaction.transaction;
        *sums.entry(transaction.transaction_type).or_insert(0) += transaction.amount;
        number += 1;
    }
    ensure!(reader.next().await?.is_none(), "there are more transactions than {number}");
    let sum = |of: &TransactionType| sums.get(of).copied().unwrap_or(0);
    Ok(vec![
        Check::money("top-ups among the transactions", tally.topped_up, sum(&TransactionType::Replenishment)),
        Check::money("payments", tally.spent, sum(&TransactionType::Payment)),
        Check::money("refunds", tally.refunded, sum(&TransactionType::Refund)),
        Check::money("reversals = what came back", tally.returned, sum(&TransactionType::Reversal)),
    ])
}

async fn of_cards(client: &Client, tally: &Tally) -> anyhow::Result<Vec<Check>> {
    let cards = client.cards().all(&CardFilter::default()).collect().await?;
    let closed = cards.iter().filter(|card| card.bank_status == BankStatus::Closed).count();
    let expected = tally.topped_up - tally.returned - tally.spent + tally.refunded;
    // Card by card, since the list may be a day old.
    let progress = Progress::of("balances read", cards.len());
    let on_cards = pool::each(cards.iter(), &progress, async |card| {
        Ok(client.cards().balance(card.id_card).await?.balance)
    })
    .await?;
    Ok(vec![
        Check::count("cards", Count { expected: tally.cards, found: cards.len() }),
        Check::count("cards that are closed", Count { expected: tally.closed, found: closed }),
        Check::money("money on all cards", expected, on_cards.iter().sum()),
    ])
}

async fn of_statement(client: &Client, tally: &Tally, month: &str) -> anyhow::Result<Vec<Check>> {
    let at_end = tally.deposited - tally.topped_up + tally.returned;
    let statement = client.statements().month(month).await?;
    let entries = client.statements().all_entries(&EntryFilter::default()).collect().await?;
    let moved: i64 = entries.iter().map(|entry| entry.amount).sum();
    let total = |of: &EntryType| {
        statement.totals.iter().filter(|total| total.entry_type == *of).map(|total| total.amount).sum()
    };
    let days: i64 = statement.days.iter().map(|day| day.amount).sum();
    Ok(vec![
        Check::money("balance", at_end, client.balance().await?.balance),
        Check::money("the entries add up to it", at_end, moved),
        Check::money("the statement begins with what was deposited", tally.deposited, statement.opening),
        Check::money("the statement ends with the balance", at_end, statement.closing),
        Check::money("what was held in the month", -tally.topped_up, total(&EntryType::Hold)),
        Check::money("what came back in the month", tally.returned, total(&EntryType::Return)),
        Check::money("its days add up to the difference", at_end - tally.deposited, days),
    ])
}
