//! Moving the clock forward: everything follows it, and the partner's clock does not matter.

use kopeck_client::{
    CardLimit, Client, Error, IdempotencyKey, LimitPeriod, PaymentQuestion, PrimitiveDateTime, RequestState,
    TopUp,
};
use kopeck_domain::calendar::Zone;
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_bank::BankKey;
use kopeck_port_bank::sandbox::{BankFaults, SandboxControl as _};
use kopeck_port_system::Clock as _;
use serde_json::{Value, json};
use time::macros::{date, datetime};

use crate::api_client::{Api, start, start_client};
use crate::can_pay::{filled_card, purchase, set_limit};
use crate::process::Installation;
use crate::raw_http::{self, Tokens, login, optional, refresh_call};
use crate::server::{SETTINGS, START, TestServer};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

async fn advance(client: &Client, seconds: u64) {
    client.sandbox().advance_clock(seconds).await.unwrap();
}

/// When the account of the one unassigned card was refreshed, and with what.
async fn account(client: &Client) -> (PrimitiveDateTime, i64) {
    let card = client.cards().available(None, Default::default()).await.unwrap().data[0].id_card;
    let account = client.cards().info(card).await.unwrap().balance_account;
    (account.updated_at, account.value)
}

#[tokio::test]
async fn faulty_moves_are_refused() {
    let (server, api) = start(0).await;
    let path = "/sandbox/v1/clock/advance";
    let ten_years = 10 * 365 * 24 * 3_600;
    for seconds in [json!(0), json!(-1), json!("60"), json!(1.5), Value::Null, json!(ten_years + 1)] {
        api.post(path, &json!({"seconds": seconds})).await.faulty(&["seconds"]);
    }
    api.post(path, &json!({})).await.faulty(&["seconds"]);
    assert_eq!(server.application.env.now(), START);
}

/// The jump counts for the service's clock; sealing uses the machine's.
#[tokio::test]
async fn tokens_expire_and_sealed_calls_go_on() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Optional, 0);
    let (api, client) = (Api::login(&server, &partner).await, server.client(&partner));
    api.post("/sandbox/v1/clock/advance", &json!({"seconds": 840})).await.ok(200);
    api.get("/v1/balance").await.ok(200);
    api.post("/sandbox/v1/clock/advance", &json!({"seconds": 120})).await.ok(200);
    api.get("/v1/balance").await.refused(401, "unauthorized");
    // The client seals by a clock that did not jump, logs in again, and reads sealed responses.
    client.balance().await.unwrap();
    advance(&client, 40 * DAY).await;
    client.balance().await.unwrap();
    let balance = client.balance().await.unwrap();
    assert_eq!(balance.balance, 0);
    assert_eq!(server.application.env.now() - START, time::Duration::days(40) + time::Duration::minutes(16));
}

/// The window of sealing stays that of the machine: who is off by more than five minutes of it is refused.
#[tokio::test]
async fn a_sealed_value_is_judged_by_the_machines_time() {
    let server = TestServer::start();
    let partner = server.partner(SealingPolicy::Required, 0);
    let client = server.client(&partner);
    advance(&client, HOUR).await;
    let by_service = server.client_on(&partner, std::sync::Arc::clone(&server.application.env.clock));
    let refused = by_service.balance().await.unwrap_err();
    assert!(matches!(refused.status(), Some(422 | 400)), "{refused:?}");
    client.balance().await.unwrap();
}

#[tokio::test]
async fn a_retried_move_moves_once() {
    let (server, client) = start_client(0);
    let key = IdempotencyKey::fresh();
    for _ in 0..3 {
        client.sandbox().advance_clock(10 * DAY).idempotency_key(key.clone()).await.unwrap();
    }
    assert_eq!(server.application.env.now() - START, time::Duration::days(10));
    let other = client.sandbox().advance_clock(DAY).idempotency_key(key).await.unwrap_err();
    assert_eq!(other.status(), Some(422));
}

#[tokio::test]
async fn periods_roll_over() {
    let (server, client) = start_client(100_000);
    let card = filled_card(&server, &client, 10_000).await;
    set_limit(&server, &client, card, &CardLimit::per(LimitPeriod::Day, 100)).await;
    for _ in 0..3 {
        assert!(client.sandbox().purchase(card, &purchase(100, None)).await.unwrap().approved);
        assert!(!client.sandbox().purchase(card, &purchase(1, None)).await.unwrap().approved);
        assert!(!client.cards().can_pay(card, &PaymentQuestion::new(1)).await.unwrap().allowed);
        // Noon of one day to noon of the next.
        advance(&client, DAY).await;
        let answer = client.cards().can_pay(card, &PaymentQuestion::new(100)).await.unwrap();
        assert_eq!((answer.allowed, answer.remaining), (true, Some(100)));
    }
}

/// Noon of the last day of each period, and noon of the day after.
#[tokio::test]
async fn every_period_rolls_over_in_a_jump() {
    for (period, last, next) in [
        (LimitPeriod::Day, datetime!(2026-03-02 12:00), datetime!(2026-03-03 12:00)),
        (LimitPeriod::Week, datetime!(2026-03-08 12:00), datetime!(2026-03-09 12:00)),
        (LimitPeriod::Month, datetime!(2026-03-31 12:00), datetime!(2026-04-01 12:00)),
        (LimitPeriod::Quarter, datetime!(2026-03-31 12:00), datetime!(2026-04-01 12:00)),
    ] {
        let (server, client) = start_client(100_000);
        let card = filled_card(&server, &client, 10_000).await;
        set_limit(&server, &client, card, &CardLimit::per(period.clone(), 100)).await;
        assert!(client.sandbox().purchase(card, &purchase(100, None)).await.unwrap().approved);
        for (noon, left) in [(last, 0), (next, 100)] {
            let ahead = noon.assume_offset(server.application.env.settings.zone.offset())
                - server.application.env.now();
            if ahead.is_positive() {
                advance(&client, ahead.whole_seconds().unsigned_abs()).await;
            }
            let asked = client.cards().can_pay(card, &PaymentQuestion::new(1)).await.unwrap();
            assert_eq!((asked.allowed, asked.remaining), (left > 0, Some(left)), "{period:?} at {noon}");
            let bought = client.sandbox().purchase(card, &purchase(1, None)).await.unwrap();
            assert_eq!(bought.approved, left > 0, "{period:?} at {noon}");
        }
    }
}

/// Info, balance, the list of unassigned cards, links and top-ups agree on the last day and on the day after.
#[tokio::test]
async fn cards_expire_everywhere_at_once() {
    let (server, client) = start_client(100_000);
    let card = filled_card(&server, &client, 100).await;
    client.orders().plastic(&[crate::api_client::plastic_item(1)]).await.unwrap();
    server.run_jobs();
    let free = client.cards().available(None, Default::default()).await.unwrap().data.remove(0);
    assert_eq!(free.date_until, date!(2029 - 03 - 31));
    let last_day = datetime!(2029-03-31 20:59 UTC);
    let seconds = (last_day - server.application.env.now()).whole_seconds();
    advance(&client, seconds.unsigned_abs()).await;
    let listed = client.cards().available(None, Default::default()).await.unwrap().data;
    assert_eq!(listed, std::slice::from_ref(&free));
    assert!(client.sandbox().purchase(card, &purchase(1, None)).await.unwrap().approved);

    advance(&client, 60).await;
    assert!(client.cards().available(None, Default::default()).await.unwrap().data.is_empty());
    assert_eq!(client.cards().info(free.id_card).await.unwrap().date_until, free.date_until);
    let declined = client.sandbox().purchase(card, &purchase(1, None)).await.unwrap();
    assert_eq!(declined.reason.as_deref(), Some("the card has expired"));
    let asked = client.cards().can_pay(card, &PaymentQuestion::new(1)).await.unwrap();
    assert_eq!(asked.reason, declined.reason);
    let employee =
        client.employees().add(&kopeck_client::NewEmployee::new("late")).await.unwrap().id_employee;
    let link = client.cards().link(employee, &free.custom_id_card, &kopeck_client::CardStatus::Main);
    assert_eq!(link.await.unwrap_err().status(), Some(409));
    let top_up = client.replenishments().create(&[TopUp::new(card, 100)]).await.unwrap_err();
    assert!(matches!(top_up, Error::Cards { status: 409, .. }), "{top_up:?}");
}

/// Once a calendar day of the service's zone, and once however many days the clock jumps.
#[tokio::test]
async fn accounts_are_refreshed_once_a_day() {
    let (server, client) = start_client(100_000);
    client.orders().virtual_cards(&[crate::api_client::virtual_item(3, 5_000)]).await.unwrap();
    server.run_jobs();
    let issued = datetime!(2026-03-02 12:00);
    assert_eq!(account(&client).await, (issued, 5_000));
    let card = client.cards().available(None, Default::default()).await.unwrap().data[0].id_card;
    client.sandbox().activate(card, None).await.unwrap();
    client.sandbox().purchase(card, &purchase(1_000, None)).await.unwrap();
    server.refresh_accounts();
    assert_eq!(account(&client).await, (issued, 5_000), "it is the same day");
    advance(&client, 12 * HOUR).await;
    assert_eq!(account(&client).await, (issued, 5_000), "the bank has not been queried yet");
    server.refresh_accounts();
    assert_eq!(account(&client).await, (datetime!(2026-03-03 00:00), 4_000));
    advance(&client, 5 * DAY + HOUR).await;
    server.refresh_accounts();
    server.refresh_accounts();
    assert_eq!(account(&client).await, (datetime!(2026-03-08 01:00), 4_000));
}

/// A bank that is away makes no difference but the delay.
#[tokio::test]
async fn accounts_without_a_bank_response_are_refreshed_later() {
    let (server, client) = start_client(100_000);
    client.orders().virtual_cards(&[crate::api_client::virtual_item(10, 5_000)]).await.unwrap();
    server.run_jobs();
    advance(&client, DAY).await;
    for behaviour in [
        kopeck_client::BankBehaviour { down: true, ..Default::default() },
        kopeck_client::BankBehaviour { error_rate: 0.7, ..Default::default() },
        Default::default(),
    ] {
        client.sandbox().bank(&behaviour).await.unwrap();
        for _ in 0..3 {
            advance(&client, 10).await;
            server.refresh_accounts();
        }
    }
    for card in client.cards().available(None, Default::default()).await.unwrap().data {
        let account = client.cards().info(card.id_card).await.unwrap().balance_account;
        assert_eq!(account.updated_at.date(), date!(2026 - 03 - 03));
    }
}

/// Access tokens end after a quarter of an hour, refresh tokens after thirty days.
#[test]
fn tokens_end_on_their_day() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let advance = |token: &str, days: u64| {
        let body = json!({"seconds": days * DAY});
        raw_http::post("/sandbox/v1/clock/advance", &body).token(token).send(&server).ok(200);
    };
    let tokens = login(&server, &partner);
    advance(&token, 29);
    let refused = raw_http::get("/v1/balance").token(&tokens.access).send(&server);
    assert_eq!(refused.code(), (401, "unauthorized".to_owned()));
    let renewed = Tokens::of(&refresh_call(&partner, &tokens.refresh).send(&server));
    assert_eq!(raw_http::get("/v1/balance").token(&renewed.access).send(&server).status, 200);
    advance(&renewed.access, 31);
    let refused = refresh_call(&partner, &renewed.refresh).send(&server);
    assert_eq!(refused.code(), (401, "unauthorized".to_owned()));
    assert_eq!(
        raw_http::get("/v1/balance").token(&login(&server, &partner).access).send(&server).status,
        200
    );
}

/// The fault says that the code is right but expired.
#[tokio::test]
async fn an_activation_code_expires() {
    let (server, client) = start_client(100_000);
    let order = client.orders().virtual_cards(&[crate::api_client::virtual_item(2, 5_000)]).await.unwrap();
    server.run_jobs();
    let issued = client.orders().result(order.order_id).await.unwrap().data;
    let free = client.cards().available(None, Default::default()).await.unwrap().data;
    let card = |place: usize| {
        let card = free.iter().find(|card| card.custom_id_card == issued[place].custom_id_card);
        (card.unwrap().id_card, issued[place].activation_code.as_ref())
    };
    let last_day = issued[0].validity_period.unwrap();
    let days = (last_day - START.date()).whole_days().unsigned_abs();
    advance(&client, days * DAY).await;
    let (first, code) = card(0);
    client.sandbox().activate(first, code).await.unwrap();
    advance(&client, DAY).await;
    let (second, code) = card(1);
    for (code, detail) in
        [(code, "the activation code has expired"), (card(0).1, "the activation code is not the card's")]
    {
        let refused = client.sandbox().activate(second, code).await.unwrap_err();
        let Error::Invalid { faults, .. } = refused else { panic!("{refused:?}") };
        assert_eq!((faults.len(), faults[0].field.as_str()), (1, "activationCode"));
        assert_eq!(faults[0].detail.as_deref(), Some(detail));
    }
    assert!(!client.cards().info(second).await.unwrap().activated);
    client.sandbox().activate(second, None).await.unwrap();
}

/// The jump ends every lease. The bank does twice what is sent twice, so that a second request would show.
#[tokio::test]
async fn work_in_hand_is_done_once_over_a_jump_of_days() {
    for looks_for_work in [false, true] {
        let (server, client) = start_client(100_000);
        let card = filled_card(&server, &client, 1_000).await;
        let order =
            client.orders().virtual_cards(&[crate::api_client::virtual_item(1, 5_000)]).await.unwrap();
        let top_up = client.replenishments().create(&[TopUp::new(card, 500)]).await.unwrap();
        let limit = client.limits().set(&[card], &CardLimit::per(LimitPeriod::Day, 300)).await.unwrap();
        server.bank.inject_faults(BankFaults { duplicate_rate: 1.0, ..BankFaults::default() }).unwrap();
        server.clock.advance(SETTINGS.processing_delay);
        let worker = server.application.worker(server.bank.clone());
        let errands = worker.take().unwrap();
        assert_eq!(errands.len(), 3);
        advance(&client, 5 * DAY).await;
        if looks_for_work {
            assert_eq!(worker.take().unwrap().len(), 0, "another thread of the same process takes nothing");
        }
        for errand in errands {
            let report = worker.call(errand);
            advance(&client, 5 * DAY).await;
            worker.settle(report).unwrap();
        }
        while worker.run_once(&|| false).unwrap() > 0 {}
        assert_eq!(client.orders().status(order.order_id).await.unwrap().state, RequestState::Success);
        let (top_up, limit) = (top_up.replenishment_id, limit.set_limits_cards_id);
        assert_eq!(client.replenishments().status(top_up).await.unwrap().state, RequestState::Success);
        assert_eq!(client.limits().status(limit).await.unwrap().state, RequestState::Success);
        for key in [format!("order/{}", order.order_id), format!("replenishment/{top_up}/0")] {
            assert_eq!(server.bank.applied(&BankKey::new(&*key).unwrap()).unwrap(), 1, "{key}");
        }
        let shown = client.cards().info(card).await.unwrap();
        assert_eq!((shown.balance, shown.limit.amount), (1_500, Some(300)));
        let money = client.balance().await.unwrap();
        assert_eq!((money.available, money.hold), (100_000 - 1_500 - 5_000, 0));
        assert_eq!(server.check(), 0);
    }
}

/// With the real binary: the offset survives a graceful stop and a kill, and the refresh runs.
#[tokio::test]
async fn a_restart_does_not_take_the_service_back() {
    let installation = Installation::new();
    let partner = installation.create_partner(&["--deposit", "1000.00"]);
    let zone = Zone::parse("+03:00").unwrap();
    let started = kopeck_adapter_system::SystemClock::default();
    let days_ahead = |at: PrimitiveDateTime| (at - day_start(zone, &started)).whole_days();

    let running = installation.serve(&["--processing-delay", "0s"]);
    let client = running.client(&partner);
    client.orders().virtual_cards(&[crate::api_client::virtual_item(1, 5_000)]).await.unwrap();
    let card = loop {
        let free = client.cards().available(None, Default::default()).await.unwrap().data;
        if let [card] = free.as_slice() {
            break card.id_card;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    advance(&client, 100 * DAY).await;
    let refreshed = async |client: &Client, days: i64| {
        let patience = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let account = client.cards().info(card).await.unwrap().balance_account;
            if days_ahead(account.updated_at) >= days {
                return days_ahead(account.updated_at);
            }
            assert!(tokio::time::Instant::now() < patience, "the daily refresh does not run");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    assert!((100..=101).contains(&refreshed(&client, 100).await));
    let (_, well) = running.stop("TERM");
    assert!(well);

    let mut running = installation.serve(&[]);
    let client = running.client(&partner);
    client.sandbox().deposit(1).await.unwrap();
    assert!((100..=101).contains(&days_ahead(client.balance().await.unwrap().updated_at)));
    advance(&client, DAY).await;
    running.kill();

    let running = installation.serve(&[]);
    let client = running.client(&partner);
    client.sandbox().deposit(1).await.unwrap();
    assert!((101..=102).contains(&days_ahead(client.balance().await.unwrap().updated_at)));
    assert!((101..=102).contains(&refreshed(&client, 101).await));
    // The commands use the same clock.
    drop(running);
    let reference = ["partner", "deposit", partner.id.as_str(), "0.01", "--reference", "R"];
    installation.succeed(&reference);
    installation.succeed(&["check"]);
}

/// The first moment of the machine's present day in the zone.
fn day_start(zone: Zone, clock: &kopeck_adapter_system::SystemClock) -> PrimitiveDateTime {
    PrimitiveDateTime::new(zone.day(clock.now()), time::Time::MIDNIGHT)
}
