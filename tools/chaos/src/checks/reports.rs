//! The closed month is as it was closed, and the reports have every kopeck of the cards.

use anyhow::Context as _;
use kopeck_client::{ReportFilter, ReportTotals};

use super::Account;
use super::money::CardSpending;
use crate::journal::Journal;
use crate::load::{Answer, Change, months, sum_of_report};

/// Compares the reports of both months. The bank's feed has to be read to its end.
pub(super) async fn check(account: &Account<'_>, journal: &Journal) -> anyhow::Result<()> {
    let (partner, name) = (account.partner, &account.partner.name);
    let (client, _) = partner.client(0).context("no client")?;
    let Some((month, sha256)) = partner.book().closed_month() else {
        journal.wrong(format!("{name}: no month was closed"));
        return Ok(());
    };
    let read = sum_of_report(client, &month).await?;
    journal.must(read == sha256, || format!("{name}: {month} was closed as {sha256}, and is {read}"));
    let ([first, next], filter) = (months(client).await?, ReportFilter::default());
    let closed = client.statements().report(&first.text(), &filter).await?;
    journal.must(closed.sha256.as_ref() == Some(&sha256), || {
        format!("{name}: {month} is not closed: {closed:?}")
    });
    let open = client.statements().report(&next.text(), &filter).await?;
    for (month, totals) in [(first, &closed.totals), (next, &open.totals)] {
        let ReportTotals { opening, given, spent, refunded, returned, correction, late, closing, .. } =
            totals;
        let sum = opening + given - spent + refunded - returned + correction + late;
        journal.must(sum == *closing, || format!("{name}: {} does not add up: {totals:?}", month.text()));
    }
    journal.must(closed.totals.closing == open.totals.opening, || {
        format!("{name}: {:?} is followed by {:?}", closed.totals, open.totals)
    });
    let spent = CardSpending::total(&account.requests);
    let paid: i64 = {
        let book = partner.book();
        let payments = book.made.iter().filter_map(|made| match (&made.call, &made.answer) {
            (Change::Purchase { amount, .. }, Some(Answer::Purchase { approved: true, .. })) => Some(*amount),
            _ => None,
        });
        payments.sum()
    };
    let left = spent.top_ups + spent.first_top_ups - spent.returned - paid;
    journal.must(open.totals.closing == left, || {
        format!("{name}: {left} should be on the cards, the report has {:?}", open.totals)
    });
    Ok(())
}
