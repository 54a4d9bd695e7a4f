use kopeck_domain::event::EmployeeChange;
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::person::CustomId;
use kopeck_port_store::mock::{MockUnit, MockWebhookRepository};
use kopeck_port_store::{Lease, RedeliveryRange, StoreError};
use time::Duration;
use uuid::Uuid;

use super::delivery::{AttemptReport, Next, next, record};
use super::*;
use crate::testing::*;
use kopeck_port_store::webhook::AttemptOutcome;

const OWN: Uuid = Uuid::from_u128(1);

fn stored() -> WebhookRecord {
    WebhookRecord {
        webhook: Webhook {
            types: Some(vec![EventType::EmployeeCreated]),
            ..Webhook::new(
                WebhookId::new(Uuid::from_u128(2)),
                WebhookUrl::from_stored("https://example.com/".to_owned()),
                START,
            )
        },
        secret: [1; 32],
        former_secret: None,
        cursor: 0,
        due_at: None,
        redelivery: None,
        lease: None,
    }
}

fn unit_with(record: WebhookRecord) -> MockUnit {
    let mut unit = MockUnit::default();
    unit.partners.expect_get().returning(|_| Ok(Some(partner(PartnerStatus::Active))));
    unit.webhooks.expect_get().returning(move |_, _| Ok(Some(record.clone())));
    unit
}

fn employee(n: u128) -> EventData {
    let custom_id = CustomId::parse(&format!("E-{n}")).unwrap();
    EventData::EmployeeCreated(EmployeeChange { employee: employee_id(n), custom_id: Some(custom_id) })
}

/// Expects one update that leaves the webhook like this.
fn expect_update(
    webhooks: &mut MockWebhookRepository,
    is_right: impl Fn(&WebhookRecord) -> bool + Send + 'static,
) {
    webhooks.expect_update().withf(move |_, record| is_right(record)).times(1).returning(|_, _| Ok(()));
}

#[test]
fn another_process_is_left_alone_until_its_lease_ends() {
    let bench = Bench::new();
    let lease = |until| Some(Lease { owner: Uuid::from_u128(9), until });
    let mut unit = unit_with(WebhookRecord { lease: lease(START + Duration::SECOND), ..stored() });
    assert!(matches!(next(&mut unit, &bench, PARTNER, stored().webhook.id, OWN, &[]), Ok(Next::Lost)));
    let mut unit = unit_with(WebhookRecord { lease: lease(START), ..stored() });
    unit.webhooks.expect_due().returning(|_, _, _, _| Ok(Vec::new()));
    unit.webhooks.expect_next_due().returning(|_, _| Ok(None));
    expect_update(&mut unit.webhooks, |record| record.lease.is_none());
    assert!(matches!(next(&mut unit, &bench, PARTNER, stored().webhook.id, OWN, &[]), Ok(Next::Nothing)));
}

#[test]
fn events_of_the_feed_are_queued_and_handed_out_under_a_lease() {
    let (bench, mut unit) = (Bench::new(), unit_with(stored()));
    events::append(&mut unit, &bench, PARTNER, [employee(1), EventData::Ping(Ping {})]).unwrap();
    let delivery =
        Delivery::new(DeliveryId::new(OWN), 1, EventId::new(OWN), EventType::EmployeeCreated, START);
    let mut found = [Vec::new(), vec![delivery.clone()]].into_iter();
    unit.webhooks.expect_due().times(2).returning(move |_, _, _, _| Ok(found.next().unwrap()));
    let queued = |deliveries: &[Delivery]| deliveries.iter().map(|one| one.seq).collect::<Vec<_>>() == [1];
    unit.webhooks
        .expect_enqueue()
        .withf(move |_, _, all, _| queued(all))
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    let lease = Lease { owner: OWN, until: START + Duration::MINUTE };
    expect_update(&mut unit.webhooks, move |record| {
        (record.lease, record.cursor, record.due_at) == (Some(lease), 2, Some(START))
    });
    let Ok(Next::Attempts(_, attempts)) = next(&mut unit, &bench, PARTNER, stored().webhook.id, OWN, &[])
    else {
        panic!("an attempt is due");
    };
    assert_eq!(attempts.iter().map(|(one, event)| (one, event.seq)).collect::<Vec<_>>(), [(&delivery, 1)]);
}

/// One page of the feed a transaction, whatever is in it.
#[test]
fn a_long_feed_of_other_types_is_passed_page_by_page() {
    let (bench, mut unit) = (Bench::new(), unit_with(stored()));
    events::append(&mut unit, &bench, PARTNER, (0..501).map(|_| EventData::Ping(Ping {}))).unwrap();
    unit.webhooks.expect_due().returning(|_, _, _, _| Ok(Vec::new()));
    expect_update(&mut unit.webhooks, |record| record.cursor == 500 && record.lease.is_some());
    let Ok(Next::Attempts(_, attempts)) = next(&mut unit, &bench, PARTNER, stored().webhook.id, OWN, &[])
    else {
        panic!("the next page follows");
    };
    assert_eq!(attempts, []);
}

#[test]
fn a_disabled_webhook_gets_nothing() {
    let mut record = stored();
    record.webhook.enabled = false;
    let (bench, mut unit) = (Bench::new(), unit_with(record));
    assert!(matches!(next(&mut unit, &bench, PARTNER, stored().webhook.id, OWN, &[]), Ok(Next::Lost)));
}

#[test]
fn the_webhooks_of_a_suspended_partner_rest() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.partners.expect_get().returning(|_| Ok(Some(partner(PartnerStatus::Suspended))));
    unit.webhooks.expect_get().returning(|_, _| Ok(Some(stored())));
    assert!(matches!(next(&mut unit, &bench, PARTNER, stored().webhook.id, OWN, &[]), Ok(Next::Lost)));
}

#[test]
fn an_attempt_that_disables_says_so_once() {
    let (bench, mut unit) = (Bench::new(), unit_with(stored()));
    unit.webhooks.expect_update_delivery().times(1).returning(|_, _, _| Ok(()));
    unit.webhooks.expect_fail_pending().times(1).returning(|_, _, _| Ok(()));
    expect_update(&mut unit.webhooks, |record| {
        record.webhook.last_failure_at == Some(START) && !record.webhook.enabled
    });
    let delivery = Delivery::new(DeliveryId::new(OWN), 1, EventId::new(OWN), EventType::Ping, START);
    let report = AttemptReport { outcome: AttemptOutcome::Gone, status_code: Some(410), error: None };
    record(&mut unit, &bench, PARTNER, stored().webhook.id, &[(delivery, report)]).unwrap();
    let disabled = WebhookDisabled { webhook: stored().webhook.id, reason: DisableReason::Gone };
    assert_eq!(unit.events.data(), [&EventData::WebhookDisabled(disabled)]);
}

#[test]
fn the_report_of_a_deleted_webhook_is_forgotten() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.webhooks.expect_get().returning(|_, _| Ok(None));
    let delivery = Delivery::new(DeliveryId::new(OWN), 1, EventId::new(OWN), EventType::Ping, START);
    let report = AttemptReport { outcome: AttemptOutcome::Delivered, status_code: Some(200), error: None };
    assert_eq!(record(&mut unit, &bench, PARTNER, stored().webhook.id, &[(delivery, report)]), Ok(()));
}

fn refs(seqs: impl IntoIterator<Item = i64>) -> Vec<EventRef> {
    let one = |seq| EventRef { seq, event: EventId::new(OWN), event_type: EventType::EmployeeCreated };
    seqs.into_iter().map(one).collect()
}

/// It is marked at once, and queued when the webhook is delivered to.
#[test]
fn missed_events_are_marked_and_counted() {
    let (bench, mut unit) = (Bench::new(), unit_with(WebhookRecord { cursor: 9, ..stored() }));
    unit.webhooks.expect_queued().returning(|_, _| Ok(9_998));
    let id = stored().webhook.id;
    let room = |_: PartnerId, _: &Webhook, after: i64, until: i64, room: u32| {
        assert_eq!((after, until, room), (4, 9, 2));
        Ok(refs([6, 8]))
    };
    unit.webhooks.expect_missed().times(1).returning(room);
    let missed = missed(&mut unit, PARTNER, id, Redelivery::After(4)).unwrap();
    let range = RedeliveryRange { after: 4, until: 8, left: 2 };
    assert_eq!(missed, Selection::Missed(range));
    expect_update(&mut unit.webhooks, move |record| {
        (record.due_at, record.redelivery) == (Some(START), Some(range))
    });
    assert_eq!(redeliver(&mut unit, &bench, PARTNER, id, missed), Ok(2));
}

/// 1,200 events make three transactions, the last of which finds no more.
#[test]
fn a_redelivery_is_queued_page_by_page() {
    let bench = Bench::new();
    let range = RedeliveryRange { after: 0, until: 20_000, left: 503 };
    let mut record = WebhookRecord { cursor: 20_000, redelivery: Some(range), ..stored() };
    let pages =
        [(0, 10_000, refs(1..=500)), (500, 10_500, refs([501])), (10_500, 20_000, refs([11_000, 20_000]))];
    let left = [(500, 3), (10_500, 2)].map(|(after, left)| RedeliveryRange { after, left, ..range });
    for ((after, until, page), left) in pages.into_iter().zip(left.map(Some).into_iter().chain([None])) {
        let mut unit = unit_with(record.clone());
        unit.webhooks.expect_due().returning(|_, _, _, _| Ok(Vec::new()));
        let number = page.len();
        unit.webhooks.expect_missed().times(1).returning(move |_, _, from, to, most| {
            assert_eq!((from, to, most), (after, until, 500));
            Ok(page.clone())
        });
        unit.webhooks.expect_enqueue().times(1).returning(move |_, _, queued, _| {
            assert_eq!(queued.len(), number);
            Ok(())
        });
        unit.webhooks.expect_next_due().returning(|_, _| Ok(None));
        expect_update(&mut unit.webhooks, move |record| record.redelivery == left);
        let next = next(&mut unit, &bench, PARTNER, record.webhook.id, OWN, &[]).unwrap();
        assert!(matches!(next, Next::Attempts(_, ref none) if none.is_empty()) == left.is_some());
        record.redelivery = left;
    }
}

#[test]
fn an_event_on_its_way_is_not_queued_again() {
    let (bench, id) = (Bench::new(), stored().webhook.id);
    let range = |after, until| Some(RedeliveryRange { after, until, left: 1 });
    // Where the cursor stands, what is marked, and whether a delivery is pending or the event was missed.
    for (cursor, redelivery, is_pending, is_missed, outcome) in [
        (1, None, true, false, Err(WebhookError::Pending)),
        (0, None, false, true, Err(WebhookError::Pending)),
        (1, range(0, 1), false, true, Err(WebhookError::Pending)),
        (1, range(0, 1), false, false, Ok(1)),
        (2, range(1, 2), false, true, Ok(1)),
        (1, None, false, true, Ok(1)),
    ] {
        let mut unit = unit_with(WebhookRecord { cursor, redelivery, ..stored() });
        events::append(&mut unit, &bench, PARTNER, [employee(1)]).unwrap();
        let event = event_at(&mut unit, PARTNER, 1).unwrap().unwrap().event.id;
        unit.webhooks.expect_is_pending().returning(move |_, _, seq| Ok(is_pending && seq == 1));
        unit.webhooks
            .expect_missed()
            .returning(move |_, _, after, until, _| Ok(refs((after + 1..=until).filter(|_| is_missed))));
        unit.webhooks.expect_queued().returning(|_, _| Ok(9_998));
        unit.webhooks.expect_enqueue().returning(|_, _, _, _| Ok(()));
        unit.webhooks.expect_update().returning(|_, _| Ok(()));
        let redelivered = redeliver(&mut unit, &bench, PARTNER, id, Selection::Event(event));
        assert_eq!(redelivered, outcome, "{cursor} {redelivery:?} {is_pending} {is_missed}");
    }
}

#[test]
fn no_more_than_ten_thousand_are_pending() {
    let (bench, id) = (Bench::new(), stored().webhook.id);
    let mut unit = unit_with(WebhookRecord { cursor: 1, ..stored() });
    events::append(&mut unit, &bench, PARTNER, [employee(1)]).unwrap();
    let event = event_at(&mut unit, PARTNER, 1).unwrap().unwrap().event.id;
    unit.webhooks.expect_queued().returning(|_, _| Ok(MAX_PENDING));
    unit.webhooks.expect_is_pending().returning(|_, _, _| Ok(false));
    let full = Err(WebhookError::TooManyPending);
    assert_eq!(redeliver(&mut unit, &bench, PARTNER, id, Selection::Event(event)), full);
    assert_eq!(missed(&mut unit, PARTNER, id, Redelivery::After(0)), Err(WebhookError::TooManyPending));
    assert_eq!(ping(&mut unit, &bench, PARTNER, id), Err(WebhookError::TooManyPending));
    let marked = Selection::Missed(RedeliveryRange { after: 0, until: 1, left: 1 });
    assert_eq!(redeliver(&mut unit, &bench, PARTNER, id, marked), full, "it filled up meanwhile");
    let range = Some(RedeliveryRange { after: 0, until: 1, left: 1 });
    let mut unit = unit_with(WebhookRecord { cursor: 1, redelivery: range, ..stored() });
    assert_eq!(missed(&mut unit, PARTNER, id, Redelivery::After(0)), Err(WebhookError::Pending));
}

/// One attempt at a time, and a pause after each; all other deliveries wait with it.
#[test]
fn an_endpoint_that_keeps_failing_gets_one_attempt_at_a_time() {
    let (bench, id) = (Bench::new(), stored().webhook.id);
    let due = |number: u128| {
        let id = DeliveryId::new(Uuid::from_u128(number));
        Delivery::new(id, 1, EventId::new(OWN), EventType::EmployeeCreated, START)
    };
    let attempts = |failures, paused_until, in_flight: &[DeliveryId]| {
        let mut record = WebhookRecord { cursor: 1, ..stored() };
        (record.webhook.failures, record.webhook.paused_until) = (failures, paused_until);
        let mut unit = unit_with(record);
        events::append(&mut unit, &bench, PARTNER, [employee(1)]).unwrap();
        unit.webhooks.expect_due().returning(move |_, _, _, _| Ok((1..=4).map(due).collect()));
        unit.webhooks.expect_next_due().returning(|_, _| Ok(Some(START)));
        unit.webhooks.expect_update().returning(|_, _| Ok(()));
        match next(&mut unit, &bench, PARTNER, id, OWN, in_flight).unwrap() {
            Next::Attempts(_, attempts) => Ok(attempts.len()),
            other => Err(format!("{other:?}")),
        }
    };
    let in_flight = [DeliveryId::new(Uuid::from_u128(1))];
    assert_eq!(attempts(9, None, &[]), Ok(4));
    assert_eq!(attempts(9, None, &in_flight), Ok(3));
    assert_eq!(attempts(10, Some(START), &[]), Ok(1));
    assert_eq!(attempts(10, Some(START), &in_flight), Err("Wait".to_owned()));
    let later = Some(START + Duration::SECOND);
    assert_eq!(attempts(10, later, &[]), Err("Nothing".to_owned()));
    assert_eq!(attempts(10, later, &in_flight), Err("Wait".to_owned()));
}

#[test]
fn there_are_ten_at_most() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.partners.expect_get().returning(|_| Ok(None));
    unit.webhooks.expect_list().returning(|_, _| Ok(Listed { items: Vec::new(), total: MAX_WEBHOOKS }));
    let new = NewWebhook { url: stored().webhook.url, types: None, description: String::new(), sealed: None };
    assert_eq!(create(&mut unit, &bench, PARTNER, new), Err(WebhookError::TooMany));
}

#[test]
fn a_failing_store_is_passed_on() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.webhooks.expect_get().returning(|_, _| Err(StoreError::Busy));
    let id = stored().webhook.id;
    assert_eq!(ping(&mut unit, &bench, PARTNER, id), Err(WebhookError::Store(StoreError::Busy)));
}
