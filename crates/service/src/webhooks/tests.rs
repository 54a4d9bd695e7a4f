use kopeck_domain::event::EmployeeChange;
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::person::CustomId;
use kopeck_port_store::mock::{MockUnit, MockWebhookRepository};
use kopeck_port_store::{Lease, StoreError};
use time::Duration;
use uuid::Uuid;

use super::delivery::{AttemptReport, Next, next, record};
use super::*;
use crate::testing::*;
use kopeck_domain::webhook::AttemptOutcome;

const OWN: Uuid = Uuid::from_u128(1);

fn stored() -> WebhookRecord {
    WebhookRecord {
        webhook: Webhook {
            id: WebhookId::new(Uuid::from_u128(2)),
            url: WebhookUrl::from_stored("https://example.com/".to_owned()),
            types: Some(vec![EventType::EmployeeCreated]),
            description: String::new(),
            sealed: false,
            enabled: true,
            created_at: START,
            last_success_at: None,
            last_failure_at: None,
            failing_since: None,
        },
        secret: [1; 32],
        former_secret: None,
        cursor: 0,
        due_at: None,
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
fn what_the_feed_has_is_queued_and_handed_out_under_a_lease() {
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
    record(&mut unit, &bench, PARTNER, stored().webhook.id, &delivery, &report).unwrap();
    let disabled = WebhookDisabled { webhook: stored().webhook.id, reason: DisableReason::Gone };
    assert_eq!(unit.events.data(), [&EventData::WebhookDisabled(disabled)]);
}

#[test]
fn what_comes_of_a_deleted_webhook_is_forgotten() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.webhooks.expect_get().returning(|_, _| Ok(None));
    let delivery = Delivery::new(DeliveryId::new(OWN), 1, EventId::new(OWN), EventType::Ping, START);
    let report = AttemptReport { outcome: AttemptOutcome::Delivered, status_code: Some(200), error: None };
    assert_eq!(record(&mut unit, &bench, PARTNER, stored().webhook.id, &delivery, &report), Ok(()));
}

#[test]
fn only_what_was_missed_is_delivered_again() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    events::append(
        &mut unit,
        &bench,
        PARTNER,
        [employee(1), EventData::Ping(Ping {}), employee(2), employee(3)],
    )
    .unwrap();
    unit.webhooks.expect_get().returning(|_, _| Ok(Some(WebhookRecord { cursor: 3, ..stored() })));
    unit.webhooks.expect_delivered_or_pending().returning(|_, _, _, _| Ok([1].into()));
    let queued = |deliveries: &[Delivery]| deliveries.iter().map(|one| one.seq).collect::<Vec<_>>() == [3];
    unit.webhooks
        .expect_enqueue()
        .withf(move |_, _, all, _| queued(all))
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    expect_update(&mut unit.webhooks, |record| record.due_at == Some(START));
    let id = stored().webhook.id;
    assert_eq!(redeliver(&mut unit, &bench, PARTNER, id, Redelivery::After(0)), Ok(1));
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
