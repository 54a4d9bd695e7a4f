//! Looks after what was accepted, until it has ended.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{StreamExt as _, stream};
use kopeck_client::{Client, Error, RequestState, RequestStatus, Uuid};
use tokio::time::Instant;

use super::call::{Change, RequestKind};
use super::partner::Partner;
use super::reads::{judge, outcome};
use crate::journal::Journal;

/// Time between two looks at everything.
const INTERVAL: Duration = Duration::from_millis(250);
/// Questions at once.
const AT_ONCE: usize = 4;

/// Looks at every open request of a partner again and again, for ever.
pub(crate) async fn watch(partner: Arc<Partner>, journal: Arc<Journal>) {
    let mut round = 0_usize;
    loop {
        let open = open_requests(&partner);
        let looks = open.into_iter().map(|(id, kind)| look(&partner, &journal, round, id, kind));
        stream::iter(looks).buffer_unordered(AT_ONCE).collect::<()>().await;
        round = round.wrapping_add(1);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Waits until every request of `partners` has ended; answers whether all have before `deadline`.
pub(crate) async fn all_ended(partners: &[Arc<Partner>], deadline: Instant) -> bool {
    while partners.iter().any(|partner| !open_requests(partner).is_empty()) {
        if Instant::now() > deadline {
            return false;
        }
        tokio::time::sleep(INTERVAL).await;
    }
    true
}

fn open_requests(partner: &Partner) -> Vec<(Uuid, RequestKind)> {
    let book = partner.book();
    let open = book.requests.iter().filter(|(_, request)| !request.state.is_final());
    open.map(|(id, request)| (*id, request.kind)).collect()
}

/// The state of a request.
pub(crate) async fn status(client: &Client, id: Uuid, kind: RequestKind) -> Result<RequestStatus, Error> {
    match kind {
        RequestKind::Order => client.orders().status(id).await,
        RequestKind::TopUp => client.replenishments().status(id).await,
        RequestKind::Limit => client.limits().status(id).await,
        RequestKind::Closing => client.closings().status(id).await,
        RequestKind::Withdrawal => client.withdrawals().status(id).await,
    }
}

async fn look(partner: &Partner, journal: &Journal, round: usize, id: Uuid, kind: RequestKind) {
    let Some((client, _)) = partner.client(round) else { return };
    let start = Instant::now();
    let status = status(client, id, kind).await;
    let took = start.elapsed();
    match status {
        Ok(status) => {
            journal.call("status", "200".to_owned(), took);
            let seen = status.state.clone();
            let wrong =
                partner.book().requests.get_mut(&id).and_then(|r| r.see(status.state, Instant::now()));
            if let Some(wrong) = wrong {
                journal.wrong(format!("{}: {kind:?} {id}: {wrong}", partner.name));
            }
            if seen == RequestState::Success && kind == RequestKind::Order {
                take_cards(partner, client, id).await;
            }
        }
        Err(error) => {
            journal.call("status", outcome(&error), took);
            judge(journal, &format!("{}: status", partner.name), &error);
            let passes = error.is_transient() || matches!(error.status(), Some(401 | 408));
            journal.must(passes, || format!("{}: {kind:?} {id} was accepted, then: {error}", partner.name));
        }
    }
}

/// Cards of an order that is done can be linked, and its receipt be confirmed.
async fn take_cards(partner: &Partner, client: &Client, id: Uuid) {
    // Nothing is lost if it fails: all results are looked at in the end.
    let Ok(result) = client.orders().result(id).await else { return };
    let mut book = partner.book();
    book.free.extend(result.data.into_iter().map(|card| card.custom_id_card));
    book.done.push(Change::Confirm { order: id });
}
