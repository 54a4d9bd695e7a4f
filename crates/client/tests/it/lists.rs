//! Lists that change while they are read.

use std::sync::Mutex;

use kopeck_client::{Client, Error, RequestFilter, TransactionFilter, Uuid};
use serde_json::json;

use crate::stub::{RecordedRequest, Reply, Stub, logged_in};

/// A service of one list. `change` changes it after each read of the first page.
async fn service(ids: Vec<u128>, change: fn(&mut Vec<u128>)) -> Stub {
    let ids = Mutex::new(ids);
    logged_in(move |seen| {
        let mut ids = ids.lock().unwrap();
        let (page, size) = (number(seen, "page"), number(seen, "per_page"));
        let data: Vec<_> = ids.iter().skip((page - 1) * size).take(size).map(|id| record(*id)).collect();
        let meta = json!({
            "current_page": page, "from": 1, "to": 1, "total": ids.len(), "path": seen.path(),
            "last_page": ids.len().div_ceil(size).max(1), "per_page": size,
        });
        if page == 1 {
            change(&mut ids);
        }
        Reply::json(200, json!({"data": data, "meta": meta}).to_string())
    })
    .await
}

fn number(seen: &RecordedRequest, name: &str) -> usize {
    let (_, query) = seen.target.split_once('?').unwrap();
    let mut parameters = query.split('&').filter_map(|parameter| parameter.split_once('='));
    parameters.find(|(found, _)| *found == name).unwrap().1.parse().unwrap()
}

/// A record that any list can read.
fn record(id: u128) -> serde_json::Value {
    let uuid = Uuid::from_u128(id);
    json!({
        "orderId": uuid, "idCategory": uuid, "replenishmentId": uuid, "setLimitsCardsId": uuid, "idCard": uuid,
        "id": id, "status": "NEW", "kind": "VIRTUAL", "typeCard": "MLZ", "numberCards": 1, "amount": 1,
        "createdAt": "07.02.2026 09:05", "statusUpdatedAt": "07.02.2026 09:05", "nameCategory": "N", "employees": 0,
        "customIdCard": "4006381333931", "dateUntil": "31.01.2029", "bankStatus": "OPEN", "type": "PAYMENT",
        "dateExecutionAt": "07.02.2026", "timeExecutionAt": "09:05",
    })
}

/// The records that a client finds in a list that changes meanwhile.
async fn found(
    change: fn(&mut Vec<u128>),
    all: impl AsyncFn(Client) -> Result<Vec<u128>, Error>,
) -> Vec<u128> {
    all(service((1..=60).collect(), change).await.client()).await.unwrap()
}

#[tokio::test]
async fn records_made_meanwhile_duplicate_and_hide_no_other() {
    let expected: Vec<u128> = (1..=60).collect();
    let grow: fn(&mut Vec<u128>) = |ids| ids.insert(0, ids.len() as u128 + 100);
    let orders = found(grow, async |client| {
        let all = client.orders().all(&RequestFilter::default()).per_page(20).collect().await?;
        Ok(all.into_iter().map(|one| one.order_id.as_u128()).collect())
    });
    assert_eq!(orders.await, expected);
    let top_ups = found(grow, async |client| {
        let all = client.replenishments().all(&RequestFilter::default()).per_page(20).collect().await?;
        Ok(all.into_iter().map(|one| one.replenishment_id.as_u128()).collect())
    });
    assert_eq!(top_ups.await, expected);
    let limits = found(grow, async |client| {
        let all = client.limits().all(&RequestFilter::default()).per_page(20).collect().await?;
        Ok(all.into_iter().map(|one| one.set_limits_cards_id.as_u128()).collect())
    });
    assert_eq!(limits.await, expected);
    let transactions = found(grow, async |client| {
        let cards = client.cards();
        let all = cards.all_transactions(Uuid::from_u128(1), &TransactionFilter::default()).per_page(20);
        Ok(all.collect().await?.into_iter().map(|one| u128::try_from(one.id).unwrap()).collect())
    });
    assert_eq!(transactions.await, expected);
}

#[tokio::test]
async fn records_that_leave_meanwhile_hide_no_other() {
    let expected: Vec<u128> = (1..=60).collect();
    let shrink: fn(&mut Vec<u128>) = |ids| drop(ids.drain(..3));
    let categories = found(shrink, async |client| {
        let (mut walk, mut found) = (client.categories().all().per_page(20), Vec::new());
        while let Some(one) = walk.next().await? {
            found.push(one.id_category.as_u128());
        }
        Ok(found)
    });
    assert_eq!(categories.await, expected);
    let free = found(shrink, async |client| {
        let all = client.cards().all_available(None).per_page(20).collect().await?;
        Ok(all.into_iter().map(|one| one.id_card.as_u128()).collect())
    });
    assert_eq!(free.await, expected);
}
