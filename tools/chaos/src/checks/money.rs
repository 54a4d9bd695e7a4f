//! The balance of a partner is its deposit less the completed requests.

use anyhow::Context as _;

use super::{Account, EndedRequest};
use crate::journal::Journal;
use crate::load::{Answer, Change};

/// Kopecks of one request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CardSpending {
    /// By top-ups.
    pub(super) top_ups: i64,
    /// By virtual cards that hold something from the start.
    pub(super) first_top_ups: i64,
    /// Amounts returned by closings and withdrawals.
    pub(super) returned: i64,
}

impl CardSpending {
    /// The final cost of a request.
    pub(super) fn by(request: &EndedRequest) -> Self {
        match &request.call {
            Change::TopUp(cards) => {
                let done = cards.iter().zip(&request.done).filter(|(_, done)| **done);
                Self { top_ups: done.map(|(card, _)| card.amount_replenishment).sum(), ..Self::default() }
            }
            Change::OrderVirtual { count, amount } if request.succeeded() => {
                Self { first_top_ups: i64::from(*count) * amount, ..Self::default() }
            }
            _ => Self { returned: request.returned.iter().sum(), ..Self::default() },
        }
    }

    /// The cost of several requests.
    pub(super) fn total<'a>(requests: impl IntoIterator<Item = &'a EndedRequest>) -> Self {
        requests.into_iter().map(Self::by).fold(Self::default(), |sum, one| Self {
            top_ups: sum.top_ups + one.top_ups,
            first_top_ups: sum.first_top_ups + one.first_top_ups,
            returned: sum.returned + one.returned,
        })
    }
}

/// Compares the balance with what was deposited and spent. Nothing is open any more, so nothing is held.
pub(super) async fn check(account: &Account<'_>, journal: &Journal) -> anyhow::Result<()> {
    let partner = account.partner;
    let (client, _) = partner.client(0).context("no client")?;
    let balance = client.balance().await?;
    let deposited: i64 = {
        let book = partner.book();
        let deposits = book.made.iter().filter_map(|made| match (&made.call, &made.answer) {
            (Change::Deposit { amount }, Some(Answer::Balance(_))) => Some(*amount),
            _ => None,
        });
        partner.opening + deposits.sum::<i64>()
    };
    let spent = CardSpending::total(&account.requests);
    let left = deposited - spent.top_ups - spent.first_top_ups + spent.returned;
    let name = &partner.name;
    journal.must(balance.hold == 0, || format!("{name}: {} kopecks are still held", balance.hold));
    journal.must(balance.balance == left && balance.available == left, || {
        format!(
            "{name}: deposited {deposited}, spent {spent:?}, so {left} should be left; there is {balance:?}"
        )
    });
    Ok(())
}
