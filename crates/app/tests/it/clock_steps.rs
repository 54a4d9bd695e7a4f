//! The machine's clock is set, ahead and back, while the service runs: nothing waits until it has caught up, nothing lives
//! longer, and nothing is done twice.

use std::sync::Arc;

use kopeck_client::{BankBehaviour, Client, IdempotencyKey, RequestState, Uuid};
use kopeck_domain::partner::SealingPolicy;
use kopeck_port_system::Clock;
use time::Duration;

use crate::api_client::{start_client, virtual_item, virtual_order};
use crate::deployment::{Deployment, Plan, SkewedClock};
use crate::raw_http::{Tokens, get, login, login_call, optional, post, refresh_call};
use crate::server::{SETTINGS, START, TestPartner, TestServer};

const YEARS: Duration = Duration::days(1_100);

/// The longest postponement of work.
const LONGEST_PAUSE: Duration = Duration::seconds(10);

const HEALTHY: BankBehaviour = BankBehaviour {
    latency_ms: 0,
    error_rate: 0.0,
    lose_request_rate: 0.0,
    lose_answer_rate: 0.0,
    duplicate_rate: 0.0,
    silent_feed: false,
    down: false,
};

async fn order(client: &Client) -> Uuid {
    client.orders().virtual_cards(&[virtual_item(1, 5_000)]).await.unwrap().order_id
}

/// Runs the checks of every second, until nothing may wait any more.
fn soon(server: &TestServer) {
    server.check_clock();
    server.clock.advance(LONGEST_PAUSE);
    server.work_now();
}

async fn expect_done(client: &Client, orders: &[Uuid]) {
    for order in orders {
        let state = client.orders().status(*order).await.unwrap().state;
        assert_eq!(state, RequestState::Success, "{order}");
    }
}

/// Whether the step is this one. On PostgreSQL the time that really passes between two looks is part of it.
fn is_about(step: Option<Duration>, expected: Duration) -> bool {
    step.is_some_and(|step| (step - expected).abs() < Duration::MINUTE)
}

/// Whether the work was new, given back or in flight when the clock was set.
#[tokio::test]
async fn a_glitch_of_three_years_holds_no_work_up() {
    let (server, client) = start_client(100_000);
    server.check_clock();
    let before = order(&client).await;
    server.clock.step(YEARS);
    assert!(is_about(server.check_clock().step, YEARS));
    let meanwhile = order(&client).await;
    client.sandbox().bank(&BankBehaviour { down: true, ..HEALTHY }).await.unwrap();
    server.run_jobs();
    client.sandbox().bank(&HEALTHY).await.unwrap();
    let untouched = order(&client).await;
    server.clock.step(-YEARS);
    let after = order(&client).await;
    let look = server.check_clock();
    assert!(is_about(look.step, -YEARS), "{:?}", look.step);
    assert_eq!(look.brought_back, 3);
    soon(&server);
    expect_done(&client, &[before, meanwhile, untouched, after]).await;
    let balance = client.balance().await.unwrap();
    assert_eq!((balance.available, balance.hold), (80_000, 0));
}

#[tokio::test]
async fn a_clock_that_is_set_back_holds_no_work_up() {
    for step in [Duration::seconds(-7), Duration::hours(-5), -YEARS] {
        let (server, client) = start_client(100_000);
        server.check_clock();
        let before = order(&client).await;
        server.clock.step(step);
        let after = order(&client).await;
        soon(&server);
        expect_done(&client, &[before, after]).await;
    }
}

/// A dead process left its lease behind, and no running process saw the clock being set.
#[tokio::test]
async fn a_lease_from_the_future_ends_like_any_other() {
    let (server, client) = start_client(100_000);
    let taken = order(&client).await;
    server.clock.step(YEARS);
    server.clock.advance(SETTINGS.processing_delay);
    let claims =
        kopeck_port_store::transact(&*server.application.store, kopeck_port_store::Access::Write, |unit| {
            unit.jobs().claim(Duration::seconds(30), 1)
        });
    assert_eq!(claims.unwrap().len(), 1);
    server.clock.step(-YEARS);
    assert_eq!(server.check_clock().step, None, "it is the first look");
    server.clock.advance(Duration::seconds(20));
    server.work_now();
    assert_eq!(client.orders().status(taken).await.unwrap().state, RequestState::New);
    server.clock.advance(Duration::seconds(11));
    server.work_now();
    expect_done(&client, &[taken]).await;
}

/// The time that a token has left passes whatever the clock shows.
#[test]
fn tokens_live_no_longer_if_the_clock_is_set_back() {
    for step in [Duration::seconds(-200), Duration::hours(-5), -YEARS] {
        let server = TestServer::start();
        let (partner, _) = optional(&server);
        let Tokens { access, refresh } = login(&server, &partner);
        server.clock.step(step);
        let balance = || get("/v1/balance").token(&access).send(&server).status;
        assert_eq!(balance(), 200, "the token is still accepted: {step}");
        server.clock.advance(SETTINGS.lifetimes.access);
        server.clock.advance(Duration::SECOND);
        assert_eq!(balance(), 401, "{step}");
        assert_eq!(refresh_call(&partner, &refresh).send(&server).status, 200, "{step}");
    }
}

#[test]
fn tokens_end_by_the_clock_while_it_is_ahead() {
    let server = TestServer::start();
    let (partner, token) = optional(&server);
    let balance = |token: &str| get("/v1/balance").token(token).send(&server).status;
    server.clock.step(YEARS);
    assert_eq!(balance(&token), 401);
    let meanwhile = login(&server, &partner).access;
    assert_eq!(balance(&meanwhile), 200);
    server.clock.step(-YEARS);
    assert_eq!((balance(&token), balance(&meanwhile)), (200, 200));
    server.clock.advance(SETTINGS.lifetimes.access);
    server.clock.advance(Duration::SECOND);
    assert_eq!((balance(&token), balance(&meanwhile)), (401, 401));
}

fn wrong_login(server: &TestServer, partner: &TestPartner) -> u16 {
    login_call(&partner.api_key, &partner.login, "wrong").send(server).status
}

fn right_login(server: &TestServer, partner: &TestPartner) -> u16 {
    login_call(&partner.api_key, &partner.login, &partner.password).send(server).status
}

/// A step does not end a lockout early.
#[test]
fn a_clock_that_is_set_lengthens_no_lock() {
    for (step, back) in [(YEARS, -YEARS), (Duration::ZERO, Duration::hours(-5))] {
        let server = TestServer::start();
        let (partner, _) = optional(&server);
        server.clock.step(step);
        (0..10).for_each(|_| assert_eq!(wrong_login(&server, &partner), 400));
        assert_eq!(right_login(&server, &partner), 429);
        server.clock.step(back);
        server.clock.advance(kopeck_service::tokens::throttle::WINDOW);
        assert_eq!(right_login(&server, &partner), 200, "{back}");
    }
}

#[test]
fn a_clock_that_is_set_ahead_ends_no_lock() {
    let server = TestServer::start();
    let (partner, _) = optional(&server);
    (0..10).for_each(|_| assert_eq!(wrong_login(&server, &partner), 400));
    server.clock.step(YEARS);
    assert_eq!(right_login(&server, &partner), 429);
}

/// A request is sent again that was answered before the clock went wrong: it must have no second effect, neither while the
/// clock is wrong nor afterwards, although answers are kept for a week only.
#[tokio::test]
async fn a_glitch_lets_no_call_be_carried_out_twice() {
    let (server, client) = start_client(100_000);
    let key = IdempotencyKey::parse("payroll").unwrap();
    let send = || async {
        let items = [virtual_item(1, 5_000)];
        client.orders().virtual_cards(&items).idempotency_key(key.clone()).await.unwrap().order_id
    };
    let first = send().await;
    server.clock.step(YEARS);
    sweep(&server);
    assert_eq!(send().await, first);
    server.clock.step(-YEARS);
    assert_eq!(send().await, first);
    server.clock.advance(SETTINGS.idempotency_retention - Duration::SECOND);
    sweep(&server);
    assert_eq!(send().await, first);
    server.clock.advance(Duration::SECOND * 2);
    assert_ne!(send().await, first, "what passes in earnest counts");
    soon(&server);
}

/// The housekeeping of a minute.
pub fn sweep(server: &TestServer) {
    let env = Arc::clone(&server.application.env);
    let sweep =
        move |unit: &mut dyn kopeck_port_store::UnitOfWork| kopeck_service::housekeeping::sweep(unit, &env);
    kopeck_port_store::transact(&*server.application.store, kopeck_port_store::Access::Write, sweep).unwrap();
}

/// Otherwise the next refresh would be in three years.
#[tokio::test]
async fn an_account_that_was_refreshed_in_the_future_is_refreshed_again() {
    let (server, client) = start_client(100_000);
    order(&client).await;
    server.run_jobs();
    let updated_at = async || {
        let card = client.cards().available(None, Default::default()).await.unwrap().data[0].id_card;
        client.cards().info(card).await.unwrap().balance_account.updated_at
    };
    let issued = updated_at().await;
    server.clock.step(YEARS);
    server.refresh_accounts();
    assert!(updated_at().await > issued + YEARS - Duration::DAY);
    server.clock.step(-YEARS);
    server.refresh_accounts();
    assert_eq!(updated_at().await, issued);
}

/// Two servers on one database, the second with a clock that is ahead; and the clock of each.
fn two_servers(ahead: Duration) -> [(TestServer, Arc<dyn Clock>); 2] {
    let deployment = Arc::new(Deployment::on_a_server(START));
    let start = |clock_ahead| {
        let plan = Plan { clock_ahead, ..Plan::default() };
        let server = TestServer::open(Arc::clone(&deployment), plan);
        let clock = SkewedClock { clock: Arc::clone(&server.clock), ahead: clock_ahead };
        (server, Arc::new(clock) as _)
    };
    [start(Duration::ZERO), start(ahead)]
}

/// A token in return for a plaintext login, which no clock judges.
fn plain_login(server: &TestServer, partner: &TestPartner) -> String {
    Tokens::of(&login_call(&partner.api_key, &partner.login, &partner.password).send(server)).access
}

/// The status of a request that is sealed by this clock, as is the login before it.
fn sealed_call(server: &TestServer, partner: &TestPartner, clock: Arc<dyn Clock>) -> u16 {
    let client = server.client_on(partner, clock);
    let called = tokio::runtime::Runtime::new().unwrap().block_on(async { client.balance().await });
    called.map_or_else(|error| error.status().unwrap(), |_| 200)
}

/// The skew that OPERATIONS.md permits: each server accepts tokens of the other, both accept sealed requests, and each
/// does work of the other.
#[test]
fn two_servers_bear_a_skew_of_250_seconds() {
    let [(first, its_clock), (second, clock_ahead)] = two_servers(Duration::seconds(250));
    let partner = first.partner(SealingPolicy::Optional, 100_000);
    for (issuer, clock, other) in [(&first, its_clock, &second), (&second, clock_ahead, &first)] {
        let token = plain_login(issuer, &partner);
        assert_eq!(get("/v1/balance").token(&token).send(other).status, 200);
        let ordered = post("/v1/order/virtualcards", &virtual_order(1, 5_000)).token(&token).send(issuer);
        first.clock.advance(SETTINGS.processing_delay);
        other.check_clock();
        other.work_now();
        let id = ordered.text_of("orderId");
        let status = get(&format!("/v1/order/status/{id}")).token(&token).send(other);
        assert!(status.text.contains("SUCCESS"), "{status:?}");
        assert_eq!(sealed_call(other, &partner, clock), 200);
    }
}

#[test]
fn two_servers_do_not_bear_a_skew_of_400_seconds() {
    let [(first, its_clock), (second, _)] = two_servers(Duration::seconds(400));
    let partner = first.partner(SealingPolicy::Optional, 100_000);
    let token = plain_login(&second, &partner);
    assert_eq!(get("/v1/balance").token(&token).send(&first).status, 401);
    assert_eq!(sealed_call(&second, &partner, its_clock), 422);
}
