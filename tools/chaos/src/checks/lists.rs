//! The lists of the service have every accepted request, and each once.

use std::collections::BTreeSet;

use anyhow::Context as _;
use kopeck_client::{Client, EmployeeFilter, Error, Page, Paging, RequestFilter, Uuid};

use super::Account;
use crate::journal::Journal;
use crate::load::RequestKind;

/// Records on a page.
const PER_PAGE: u64 = 500;

/// Compares each list with what was answered.
pub(super) async fn check(account: &Account<'_>, journal: &Journal) -> anyhow::Result<()> {
    let (client, _) = account.partner.client(0).context("no client")?;
    for kind in RequestKind::ALL {
        let accepted = account.requests.iter().filter(|request| request.kind == kind);
        let accepted = accepted.map(|request| request.id).collect();
        compare(account, journal, &format!("{kind:?}"), &accepted, listed(client, kind).await?);
    }
    let employees = account.partner.book().employees.iter().copied().collect();
    let listed = whole(async |paging| {
        let page = client.employees().list(&EmployeeFilter::default(), paging).await?;
        Ok(ids(page, |employee| employee.id_employee))
    });
    compare(account, journal, "employee", &employees, listed.await?);
    Ok(())
}

fn compare(
    account: &Account<'_>,
    journal: &Journal,
    what: &str,
    answered: &BTreeSet<Uuid>,
    listed: Vec<Uuid>,
) {
    let name = &account.partner.name;
    let count = listed.len();
    let listed: BTreeSet<Uuid> = listed.into_iter().collect();
    journal.must(count == listed.len(), || format!("{name}: a list has an {what} twice"));
    for lost in answered.difference(&listed) {
        journal.wrong(format!("{name}: {what} {lost} was answered, and is in no list"));
    }
    for stray in listed.difference(answered) {
        journal.wrong(format!("{name}: {what} {stray} is there, and no call made it"));
    }
}

async fn listed(client: &Client, kind: RequestKind) -> Result<Vec<Uuid>, Error> {
    whole(async |paging| {
        Ok(match kind {
            RequestKind::Order => {
                ids(client.orders().list(&RequestFilter::default(), paging).await?, |order| order.order_id)
            }
            RequestKind::TopUp => {
                ids(client.replenishments().list(&RequestFilter::default(), paging).await?, |request| {
                    request.replenishment_id
                })
            }
            RequestKind::Limit => {
                ids(client.limits().list(&RequestFilter::default(), paging).await?, |change| {
                    change.set_limits_cards_id
                })
            }
            RequestKind::Closing => {
                ids(client.closings().list(&RequestFilter::default(), paging).await?, |one| one.closing_id)
            }
            RequestKind::Withdrawal => {
                ids(client.withdrawals().list(&RequestFilter::default(), paging).await?, |one| {
                    one.withdrawal_id
                })
            }
        })
    })
    .await
}

fn ids<T>(page: Page<T>, id: impl Fn(&T) -> Uuid) -> (Vec<Uuid>, Option<Paging>) {
    (page.data.iter().map(id).collect(), page.following())
}

/// All pages of a list.
async fn whole(
    page: impl AsyncFn(Paging) -> Result<(Vec<Uuid>, Option<Paging>), Error>,
) -> Result<Vec<Uuid>, Error> {
    let mut all = Vec::new();
    let mut next = Some(Paging::page(1).per_page(PER_PAGE));
    while let Some(paging) = next {
        let (ids, following) = page(paging).await?;
        all.extend(ids);
        next = following;
    }
    Ok(all)
}
