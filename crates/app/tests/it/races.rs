//! A cancel and a worker that takes the request up at the same moment: exactly one wins, and the money agrees.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use kopeck_port_bank::BankKey;
use serde_json::{Value, json};

use crate::bare::{Call, get, optional, post};
use crate::calls::{top_ups, virtual_order};
use crate::server::{SETTINGS, TestServer};
use crate::world::Things;

const ROUNDS: u32 = 80;

/// What a request of each kind is called, and what it does.
trait Race {
    /// What it costs if it goes through, in kopecks.
    const COST: i64;
    /// The code of a cancel that comes too late.
    const TOO_LATE: &'static str;

    /// Asks for it; the answer has its identifier.
    fn ask(&self, round: u32) -> Call;
    /// The field with the identifier.
    fn id_field(&self) -> &'static str;
    fn cancel(&self, id: &str) -> Call;
    fn status(&self, id: &str) -> Call;
    fn result(&self, id: &str) -> Call;
    /// What the bank knows it by.
    fn key(&self, id: &str) -> String;
    /// Checks what the partner sees of it beside its state.
    fn check(&self, _server: &TestServer, _token: &str, _round: u32, _went_through: bool) {}
}

struct Orders;

impl Race for Orders {
    const COST: i64 = 5_000;
    const TOO_LATE: &'static str = "order_not_cancellable";

    fn ask(&self, _round: u32) -> Call {
        post("/v1/order/virtualcards", &virtual_order(1, Self::COST))
    }

    fn id_field(&self) -> &'static str {
        "orderId"
    }

    fn cancel(&self, id: &str) -> Call {
        post("/v1/order/cancel", &json!({"orderId": id}))
    }

    fn status(&self, id: &str) -> Call {
        get(&format!("/v1/order/status/{id}"))
    }

    fn result(&self, id: &str) -> Call {
        get(&format!("/v1/order/result/{id}"))
    }

    fn key(&self, id: &str) -> String {
        format!("order/{id}")
    }
}

struct TopUps {
    card: String,
}

impl Race for TopUps {
    const COST: i64 = 10;
    const TOO_LATE: &'static str = "request_not_cancellable";

    fn ask(&self, _round: u32) -> Call {
        post("/v1/replenishment", &top_ups(&[(&self.card, Self::COST)]))
    }

    fn id_field(&self) -> &'static str {
        "replenishmentId"
    }

    fn cancel(&self, id: &str) -> Call {
        Call::new("DELETE", &format!("/v1/replenishment/{id}"))
    }

    fn status(&self, id: &str) -> Call {
        get(&format!("/v1/replenishment/{id}/status"))
    }

    fn result(&self, id: &str) -> Call {
        get(&format!("/v1/replenishment/{id}/result"))
    }

    fn key(&self, id: &str) -> String {
        format!("replenishment/{id}/0")
    }
}

struct Limits {
    card: String,
}

impl Race for Limits {
    const COST: i64 = 0;
    const TOO_LATE: &'static str = "request_not_cancellable";

    fn ask(&self, round: u32) -> Call {
        let limit = json!({"amount": round + 1, "period": "CDAY"});
        post("/v1/setlimitscards", &json!({"data": [{"idCard": self.card}], "limit": limit}))
    }

    fn id_field(&self) -> &'static str {
        "setLimitsCardsId"
    }

    fn cancel(&self, id: &str) -> Call {
        post("/v1/limits/cancel", &json!({"setLimitsCardsId": id}))
    }

    fn status(&self, id: &str) -> Call {
        post("/v1/limits/status", &json!({"setLimitsCardsId": id}))
    }

    fn result(&self, id: &str) -> Call {
        get(&format!("/v1/limits/result/{id}"))
    }

    fn key(&self, id: &str) -> String {
        format!("limit/{id}/0")
    }

    fn check(&self, server: &TestServer, token: &str, round: u32, went_through: bool) {
        let info = get(&format!("/v1/card/{}", self.card)).token(token).send(server).ok(200);
        let has_it = info["data"]["limit"]["amount"] == json!(round + 1);
        assert_eq!(has_it, went_through, "{info}");
    }
}

/// By how much one of the two starts later. It follows whoever lost, so that the two meet again and again.
struct HeadStart {
    /// Of the cancel; if negative, of the worker.
    micros: i64,
    step: i64,
    cancel_won: bool,
}

impl HeadStart {
    const fn new() -> Self {
        Self { micros: 0, step: 800, cancel_won: false }
    }

    fn learn(&mut self, cancel_won: bool) {
        if cancel_won != self.cancel_won {
            self.step = (self.step / 2).max(20);
        }
        self.cancel_won = cancel_won;
        self.micros += if cancel_won { -self.step } else { self.step };
    }

    fn hold(micros: i64) {
        let until = Instant::now() + Duration::from_micros(micros.try_into().unwrap_or(0));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
    }
}

fn run<R: Race + Sync>(race: impl FnOnce(&Things) -> R) {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let race = race(&Things::make(&server, &token, 1));
    server.run_jobs();
    let send = |call: Call| call.token(&token).send(&server);
    let mut money = send(get("/v1/balance")).ok(200)["available"].as_i64().unwrap();
    let (mut head_start, mut cancelled) = (HeadStart::new(), 0);
    for round in 0..ROUNDS {
        let id = send(race.ask(round)).text_of(race.id_field());
        server.clock.advance(SETTINGS.processing_delay);
        let barrier = Barrier::new(2);
        let answer = thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                HeadStart::hold(head_start.micros);
                server.work_now();
            });
            let call = race.cancel(&id).token(&token);
            barrier.wait();
            HeadStart::hold(-head_start.micros);
            call.send(&server)
        });
        server.work_now();
        let went_through = answer.status != 200;
        if went_through {
            assert_eq!(answer.code(), (409, R::TOO_LATE.to_owned()));
            money -= R::COST;
        }
        let state = send(race.status(&id)).text_of("message");
        assert_eq!(state, if went_through { "SUCCESS" } else { "REJECTED" });
        assert_eq!(send(race.result(&id)).status == 200, went_through);
        assert_eq!(server.bank.applied(&BankKey::new(race.key(&id))).unwrap(), u32::from(went_through));
        let balance: Value = send(get("/v1/balance")).ok(200);
        assert_eq!((&balance["available"], &balance["hold"]), (&json!(money), &json!(0)));
        race.check(&server, &token, round, went_through);
        assert_eq!(server.check(), 0);
        cancelled += u32::from(!went_through);
        head_start.learn(!went_through);
    }
    println!("{cancelled} of {ROUNDS} were cancelled; {} µs between the two", head_start.micros);
}

#[test]
fn an_order_is_cancelled_or_made() {
    run(|_| Orders);
}

#[test]
fn a_replenishment_is_cancelled_or_carried_out() {
    run(|things| TopUps { card: things.id("card").to_owned() });
}

#[test]
fn a_limit_change_is_cancelled_or_carried_out() {
    run(|things| Limits { card: things.id("card").to_owned() });
}
