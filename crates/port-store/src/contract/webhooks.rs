//! Webhooks and their deliveries.

use crate::webhook::{AttemptOutcome, Delivery, DeliveryStatus, Spread, Webhook, WebhookUrl};
use kopeck_domain::event::{EmployeeChange, Event, EventData, EventType, Ping};
use kopeck_domain::ids::{PartnerId, WebhookId};
use kopeck_domain::partner::PartnerStatus;
use time::OffsetDateTime;

use super::support::{at, id, page, partner, read, write};
use crate::{ATTEMPT_HORIZON, DeliveryBacklog, Lease, RedeliveryRange, Store, WebhookRecord};

fn record(seconds: i64) -> WebhookRecord {
    WebhookRecord {
        webhook: Webhook {
            id: id(),
            url: WebhookUrl::parse("https://example.com/hook?a=1").unwrap(),
            types: None,
            description: String::new(),
            sealed: false,
            enabled: true,
            created_at: at(seconds),
            last_success_at: None,
            last_failure_at: None,
            failing_since: None,
            failures: 0,
            paused_until: None,
        },
        secret: [7; 32],
        former_secret: None,
        cursor: 0,
        due_at: None,
        redelivery: None,
        lease: None,
    }
}

fn insert(store: &dyn Store, partner: PartnerId, record: &WebhookRecord) {
    let record = record.clone();
    write(store, move |unit| unit.webhooks().insert(partner, &record)).unwrap();
}

fn update(store: &dyn Store, partner: PartnerId, record: &WebhookRecord) {
    let record = record.clone();
    write(store, move |unit| unit.webhooks().update(partner, &record)).unwrap();
}

fn get(store: &dyn Store, partner: PartnerId, id: WebhookId) -> Option<WebhookRecord> {
    read(store, move |unit| unit.webhooks().get(partner, id))
}

fn delivery(seq: i64, event_type: EventType) -> Delivery {
    Delivery::new(id(), seq, id(), event_type, at(seq))
}

fn enqueue(store: &dyn Store, partner: PartnerId, id: WebhookId, deliveries: &[Delivery]) {
    let deliveries = deliveries.to_vec();
    write(store, move |unit| unit.webhooks().enqueue(partner, id, &deliveries, at(deliveries[0].seq)))
        .unwrap();
}

fn listed(
    store: &dyn Store,
    partner: PartnerId,
    id: WebhookId,
    status: Option<DeliveryStatus>,
) -> Vec<Delivery> {
    listed_after(store, partner, id, 0, status)
}

fn listed_after(
    store: &dyn Store,
    partner: PartnerId,
    id: WebhookId,
    after: i64,
    status: Option<DeliveryStatus>,
) -> Vec<Delivery> {
    read(store, move |unit| unit.webhooks().deliveries(partner, id, after, status, page(1, 10))).items
}

fn append(store: &dyn Store, partner: PartnerId, data: EventData) {
    let event = Event { id: id(), created_at: at(0), data };
    write(store, move |unit| unit.events().append(partner, std::slice::from_ref(&event))).unwrap();
}

fn ready(store: &dyn Store, seconds: i64) -> Vec<WebhookId> {
    let ready = read(store, move |unit| unit.webhooks().ready(at(seconds), 10));
    ready.into_iter().map(|(_, id)| id).collect()
}

/// With all its fields, for its partner alone, in order of creation.
pub fn a_webhook_is_stored(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (mut first, second) = (record(1), record(2));
    insert(store, partner, &second);
    insert(store, partner, &first);
    assert_eq!(get(store, partner, first.webhook.id), Some(first.clone()));
    assert_eq!(get(store, other, first.webhook.id), None);
    let webhook = &mut first.webhook;
    webhook.url = WebhookUrl::parse("https://example.org").unwrap();
    webhook.types = Some(vec![EventType::OrderStatus, EventType::CardIssued]);
    webhook.description = "Ёж".to_owned();
    (webhook.sealed, webhook.enabled) = (true, false);
    webhook.last_success_at = Some(at(3));
    webhook.last_failure_at = Some(at(4));
    webhook.failing_since = Some(at(5));
    (webhook.failures, webhook.paused_until) = (12, Some(at(6)));
    first.former_secret = Some((first.secret, at(6)));
    first.secret = [8; 32];
    (first.cursor, first.due_at) = (9, Some(at(7)));
    first.redelivery = Some(RedeliveryRange { after: 3, until: 8, left: 4 });
    first.lease = Some(Lease { owner: id(), until: at(8) });
    update(store, partner, &first);
    let listed = read(store, move |unit| unit.webhooks().list(partner, page(1, 10)));
    assert_eq!((listed.items, listed.total), (vec![first, second], 2));
}

/// With its deliveries.
pub fn a_webhook_is_removed(store: &dyn Store) {
    let partner = partner(store);
    let (webhook, kept) = (record(1), record(2));
    for record in [&webhook, &kept] {
        insert(store, partner, record);
        enqueue(store, partner, record.webhook.id, &[delivery(1, EventType::OrderStatus)]);
    }
    let gone = webhook.webhook.id;
    write(store, move |unit| unit.webhooks().delete(partner, gone)).unwrap();
    assert_eq!(get(store, partner, gone), None);
    assert_eq!(listed(store, partner, gone, None), []);
    assert_eq!(listed(store, partner, kept.webhook.id, None).len(), 1);
}

/// If it is enabled, of an active partner, and free, and a delivery is due or the feed has grown.
pub fn a_webhook_is_ready_when_it_has_something_to_do(store: &dyn Store) {
    let partner = partner(store);
    let mut webhook = record(1);
    insert(store, partner, &webhook);
    let id = webhook.webhook.id;
    assert_eq!(ready(store, 10), []);
    webhook.due_at = Some(at(11));
    update(store, partner, &webhook);
    assert_eq!((ready(store, 10), ready(store, 11)), (vec![], vec![id]));
    webhook.due_at = None;
    update(store, partner, &webhook);
    append(store, partner, EventData::Ping(Ping {}));
    assert_eq!(ready(store, 10), [id]);
    webhook.lease = Some(Lease { owner: super::support::id(), until: at(20) });
    update(store, partner, &webhook);
    assert_eq!((ready(store, 19), ready(store, 20)), (vec![], vec![id]));
    // Both of a clock that was set back since.
    webhook.due_at = Some(at(20) + ATTEMPT_HORIZON);
    webhook.cursor = 9;
    webhook.lease = None;
    update(store, partner, &webhook);
    assert_eq!((ready(store, 19), ready(store, 20)), (vec![id], vec![]));
    webhook.cursor = 0;
    webhook.lease = Some(Lease { owner: super::support::id(), until: at(20) + Lease::HORIZON });
    update(store, partner, &webhook);
    assert_eq!((ready(store, 19), ready(store, 20)), (vec![id], vec![]));
    webhook.lease = None;
    update(store, partner, &webhook);
    let suspend = |status| write(store, move |unit| unit.partners().set_status(partner, status)).unwrap();
    suspend(PartnerStatus::Suspended);
    assert_eq!(ready(store, 20), []);
    suspend(PartnerStatus::Active);
    webhook.webhook.enabled = false;
    update(store, partner, &webhook);
    assert_eq!(ready(store, 20), []);
    (webhook.webhook.enabled, webhook.cursor) = (true, 1);
    update(store, partner, &webhook);
    assert_eq!(ready(store, 20), []);
}

/// An endpoint that fails does not come before one that works, nor one that has just failed before another.
pub fn webhooks_that_failed_come_last(store: &dyn Store) {
    let partner = partner(store);
    let webhooks = [(1, Some(at(9))), (2, None), (3, Some(at(8)))].map(|(number, failed_at)| {
        let mut webhook = record(number);
        (webhook.due_at, webhook.webhook.last_failure_at) = (Some(at(10)), failed_at);
        insert(store, partner, &webhook);
        webhook.webhook.id
    });
    assert_eq!(ready(store, 10), [webhooks[1], webhooks[2], webhooks[0]]);
}

/// Until it has ended.
pub fn a_delivery_is_due_until_it_ends(store: &dyn Store) {
    let partner = partner(store);
    let webhook = record(1);
    let id = webhook.webhook.id;
    insert(store, partner, &webhook);
    let mut first = delivery(20, EventType::OrderStatus);
    let second = delivery(10, EventType::OrderStatus);
    enqueue(store, partner, id, &[first.clone(), second.clone()]);
    let due = |moment: OffsetDateTime| read(store, move |unit| unit.webhooks().due(partner, id, moment, 10));
    let next = || read(store, move |unit| unit.webhooks().next_due(partner, id));
    assert_eq!(due(at(9)), []);
    assert_eq!(due(at(20)), [second.clone(), first.clone()]);
    assert_eq!(next(), Some(at(10)));
    first.record(AttemptOutcome::Delivered, at(21), Spread(0));
    first.last_status_code = Some(204);
    let changed = first.clone();
    write(store, move |unit| unit.webhooks().update_delivery(partner, id, &changed)).unwrap();
    assert_eq!(due(at(30)), std::slice::from_ref(&second));
    write(store, move |unit| unit.webhooks().fail_pending(partner, id, "disabled")).unwrap();
    assert_eq!((due(at(30)), next()), (vec![], None));
    let mut failed = second;
    let mut late = failed.clone();
    late.record(AttemptOutcome::Failed { retry_after: None }, at(31), Spread(0));
    write(store, move |unit| unit.webhooks().update_delivery(partner, id, &late)).unwrap();
    failed.give_up("disabled");
    assert_eq!(listed(store, partner, id, None), [failed.clone(), first.clone()]);
    assert_eq!(listed(store, partner, id, Some(DeliveryStatus::Delivered)), [first.clone()]);
    assert_eq!(listed_after(store, partner, id, 19, None), [first]);
    assert_eq!(listed_after(store, partner, id, 20, None), []);
    let has = |event| read(store, move |unit| unit.webhooks().has_delivery_of(partner, id, event));
    assert_eq!((has(listed(store, partner, id, None)[0].event), has(super::support::id())), (true, false));
}

/// Those of its types, in a part of the feed, of which no delivery succeeded or is pending.
pub fn missed_events_are_found(store: &dyn Store) {
    let partner = partner(store);
    let mut webhook = record(1);
    let id = webhook.webhook.id;
    insert(store, partner, &webhook);
    for number in 1..=5 {
        let custom_id = kopeck_domain::person::CustomId::parse(&format!("E-{number}")).ok();
        let employee = super::support::id();
        append(store, partner, EventData::EmployeeCreated(EmployeeChange { employee, custom_id }));
    }
    append(store, partner, EventData::Ping(Ping {}));
    let end = |seq, outcome| {
        let mut ended = delivery(seq, EventType::EmployeeCreated);
        enqueue(store, partner, id, std::slice::from_ref(&ended));
        ended.record(outcome, at(9), Spread(0));
        write(store, move |unit| unit.webhooks().update_delivery(partner, id, &ended)).unwrap();
    };
    end(2, AttemptOutcome::Delivered);
    end(3, AttemptOutcome::Gone);
    enqueue(store, partner, id, &[delivery(4, EventType::EmployeeCreated)]);
    let feed = read(store, move |unit| unit.events().after(partner, 0, &[], 10));
    let missed = |webhook: &Webhook, after, until, limit| {
        let webhook = webhook.clone();
        let found = read(store, move |unit| unit.webhooks().missed(partner, &webhook, after, until, limit));
        for one in &found {
            let event = &feed.iter().find(|event| event.seq == one.seq).unwrap().event;
            assert_eq!((one.event, one.event_type), (event.id, event.data.event_type()));
        }
        found.into_iter().map(|one| one.seq).collect::<Vec<_>>()
    };
    assert_eq!(missed(&webhook.webhook, 0, 6, 10), [1, 3, 5]);
    assert_eq!(missed(&webhook.webhook, 1, 4, 10), [3]);
    assert_eq!(missed(&webhook.webhook, 0, 6, 2), [1, 3]);
    webhook.webhook.types = Some(vec![EventType::OrderStatus]);
    assert_eq!(missed(&webhook.webhook, 0, 6, 10), []);
    let is_pending = |seq| read(store, move |unit| unit.webhooks().is_pending(partner, id, seq));
    assert_eq!([1, 2, 3, 4].map(is_pending), [false, false, false, true]);
    assert_eq!(read(store, move |unit| unit.webhooks().queued(partner, id)), 1);
}

/// As long as its endpoint is left alone.
pub fn a_paused_webhook_is_not_ready(store: &dyn Store) {
    let partner = partner(store);
    let mut webhook = record(1);
    webhook.due_at = Some(at(1));
    webhook.webhook.paused_until = Some(at(20));
    insert(store, partner, &webhook);
    append(store, partner, EventData::Ping(Ping {}));
    assert_eq!((ready(store, 19), ready(store, 20)), (vec![], vec![webhook.webhook.id]));
    assert_eq!([19, 20].map(|seconds| webhook.is_paused(at(seconds))), [true, false]);
    // Of a clock that was set back since.
    webhook.webhook.paused_until = Some(at(21) + ATTEMPT_HORIZON);
    update(store, partner, &webhook);
    assert_eq!((ready(store, 20), ready(store, 21)), (vec![webhook.webhook.id], vec![]));
    assert_eq!([20, 21].map(|seconds| webhook.is_paused(at(seconds))), [false, true]);
}

/// A clock that was set back since left them there.
pub fn attempts_beyond_the_horizon_become_due(store: &dyn Store) {
    let partner = partner(store);
    let webhook = record(1);
    let id = webhook.webhook.id;
    insert(store, partner, &webhook);
    let [near, mut far] = [10, 20].map(|seq| delivery(seq, EventType::OrderStatus));
    enqueue(store, partner, id, &[near.clone(), far.clone()]);
    let now = at(15) - ATTEMPT_HORIZON;
    write(store, move |unit| unit.webhooks().bring_within_horizon(partner, id, now)).unwrap();
    far.next_attempt_at = Some(now);
    let due = |moment: OffsetDateTime| read(store, move |unit| unit.webhooks().due(partner, id, moment, 10));
    assert_eq!(due(now), std::slice::from_ref(&far));
    assert_eq!(due(at(10)), [far, near]);
}

/// Those that are queued, and events of its types that are not queued yet.
pub fn pending_deliveries_are_counted(store: &dyn Store) {
    let partner = partner(store);
    let mut webhook = record(1);
    let id = webhook.webhook.id;
    insert(store, partner, &webhook);
    append(store, partner, EventData::Ping(Ping {}));
    for _ in 0..2 {
        let employee = EmployeeChange {
            employee: super::support::id(),
            custom_id: kopeck_domain::person::CustomId::parse("a").ok(),
        };
        append(store, partner, EventData::EmployeeCreated(employee));
    }
    let pending = |record: &WebhookRecord| {
        let record = record.clone();
        read(store, move |unit| unit.webhooks().pending(partner, &record))
    };
    assert_eq!(pending(&webhook), 2);
    enqueue(store, partner, id, &[delivery(2, EventType::EmployeeCreated)]);
    webhook.cursor = 2;
    assert_eq!(pending(&webhook), 2);
    webhook.webhook.types = Some(vec![EventType::OrderStatus]);
    assert_eq!(pending(&webhook), 1);
    let backlog = read(store, |unit| unit.webhooks().backlog());
    assert_eq!(backlog, DeliveryBacklog { pending: 1, oldest: Some(at(2)), ..DeliveryBacklog::default() });
    webhook.webhook.failing_since = Some(at(3));
    update(store, partner, &webhook);
    let mut other = record(2);
    (other.webhook.failing_since, other.webhook.enabled) = (Some(at(2)), false);
    insert(store, partner, &other);
    let backlog = read(store, |unit| unit.webhooks().backlog());
    assert_eq!((backlog.failing, backlog.failing_since), (1, Some(at(3))));
}

/// Up to the limit, oldest first.
pub fn old_deliveries_are_forgotten(store: &dyn Store) {
    let partner = partner(store);
    let webhook = record(1);
    let id = webhook.webhook.id;
    insert(store, partner, &webhook);
    let deliveries: Vec<Delivery> = (1..=3).map(|seq| delivery(seq, EventType::OrderStatus)).collect();
    deliveries.iter().for_each(|one| enqueue(store, partner, id, std::slice::from_ref(one)));
    let forget =
        |seconds, limit| write(store, move |unit| unit.webhooks().forget_before(at(seconds), limit)).unwrap();
    assert_eq!(forget(3, 1), 1);
    assert_eq!(listed(store, partner, id, None), [deliveries[2].clone(), deliveries[1].clone()]);
    assert_eq!((forget(3, 9), forget(3, 9)), (1, 0));
    assert_eq!(listed(store, partner, id, None), [deliveries[2].clone()]);
}

/// They may repeat what the event held.
pub fn an_erased_employee_leaves_no_trace_in_errors(store: &dyn Store) {
    let partner = partner(store);
    let webhook = record(1);
    let id = webhook.webhook.id;
    insert(store, partner, &webhook);
    let employees = ["E-1", "E-2"].map(super::support::employee);
    for (seq, one) in (1..).zip(&employees) {
        super::support::insert_employee(store, partner, one).unwrap();
        let change = EmployeeChange { employee: one.id(), custom_id: Some(one.custom_id().clone()) };
        append(store, partner, EventData::EmployeeCreated(change));
        let mut failed = delivery(seq, EventType::EmployeeCreated);
        failed.last_error = Some(format!("{} is unknown", one.custom_id().as_str()));
        enqueue(store, partner, id, &[failed]);
    }
    let erased = employees[0].id();
    write(store, move |unit| unit.employees().erase(partner, erased, at(99))).unwrap();
    let errors: Vec<_> = listed(store, partner, id, None).into_iter().map(|one| one.last_error).collect();
    assert_eq!(errors, [Some("E-2 is unknown".to_owned()), None]);
}
