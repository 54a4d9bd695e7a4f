//! A cancel and a worker that takes the request up at the same moment: exactly one wins, and the money agrees.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use kopeck_port_bank::BankKey;
use serde_json::{Value, json};

use crate::api_client::{top_ups, virtual_order};
use crate::raw_http::{RawRequest, get, optional, post};
use crate::server::{SETTINGS, TestServer};
use crate::world::Things;

const ROUNDS: u32 = 80;

/// The requests of a kind of job.
struct Race {
    /// The price of a request that goes through, in kopecks.
    cost: i64,
    /// The error code of a late cancel.
    too_late: &'static str,
    /// The field of the response with the identifier.
    id_field: &'static str,
    /// The prefix and suffix of the key at the bank.
    bank_key: (&'static str, &'static str),
    create: Box<dyn Fn(u32) -> RawRequest>,
    cancel: fn(&str) -> RawRequest,
    status: fn(&str) -> RawRequest,
    result: fn(&str) -> RawRequest,
    /// The card whose limit the round number becomes.
    limited: Option<String>,
}

fn orders(_: &Things) -> Race {
    Race {
        cost: 5_000,
        too_late: "order_not_cancellable",
        id_field: "orderId",
        bank_key: ("order/", ""),
        create: Box::new(|_| post("/v1/order/virtualcards", &virtual_order(1, 5_000))),
        cancel: |id| post("/v1/order/cancel", &json!({"orderId": id})),
        status: |id| get(&format!("/v1/order/status/{id}")),
        result: |id| get(&format!("/v1/order/result/{id}")),
        limited: None,
    }
}

fn replenishments(things: &Things) -> Race {
    let card = things.id("card").to_owned();
    Race {
        cost: 10,
        too_late: "request_not_cancellable",
        id_field: "replenishmentId",
        bank_key: ("replenishment/", "/0"),
        create: Box::new(move |_| post("/v1/replenishment", &top_ups(&[(&card, 10)]))),
        cancel: |id| RawRequest::new("DELETE", &format!("/v1/replenishment/{id}")),
        status: |id| get(&format!("/v1/replenishment/{id}/status")),
        result: |id| get(&format!("/v1/replenishment/{id}/result")),
        limited: None,
    }
}

fn limit_changes(things: &Things) -> Race {
    let card = things.id("card").to_owned();
    let limited = Some(card.clone());
    let create = move |round| {
        let limit = json!({"amount": round + 1, "period": "CDAY"});
        post("/v1/setlimitscards", &json!({"data": [{"idCard": card}], "limit": limit}))
    };
    Race {
        cost: 0,
        too_late: "request_not_cancellable",
        id_field: "setLimitsCardsId",
        bank_key: ("limit/", "/0"),
        create: Box::new(create),
        cancel: |id| post("/v1/limits/cancel", &json!({"setLimitsCardsId": id})),
        status: |id| post("/v1/limits/status", &json!({"setLimitsCardsId": id})),
        result: |id| get(&format!("/v1/limits/result/{id}")),
        limited,
    }
}

/// By how much one of the two starts later. It favours the loser, so that the two meet again and again.
struct HeadStart {
    /// The delay of the cancel; if negative, of the worker.
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

fn run(race: fn(&Things) -> Race) {
    let server = TestServer::start();
    let (_, token) = optional(&server);
    let race = race(&Things::make(&server, &token, 1));
    server.run_jobs();
    let send = |call: RawRequest| call.token(&token).send(&server);
    let mut money = send(get("/v1/balance")).ok(200)["available"].as_i64().unwrap();
    let (mut head_start, mut cancelled) = (HeadStart::new(), 0);
    for round in 0..ROUNDS {
        let id = send((race.create)(round)).text_of(race.id_field);
        server.clock.advance(SETTINGS.processing_delay);
        let barrier = Barrier::new(2);
        let answer = thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                HeadStart::hold(head_start.micros);
                server.work_now();
            });
            let call = (race.cancel)(&id).token(&token);
            barrier.wait();
            HeadStart::hold(-head_start.micros);
            call.send(&server)
        });
        server.work_now();
        let went_through = answer.status != 200;
        if went_through {
            assert_eq!(answer.code(), (409, race.too_late.to_owned()));
            money -= race.cost;
        }
        let state = send((race.status)(&id)).text_of("message");
        assert_eq!(state, if went_through { "SUCCESS" } else { "REJECTED" });
        assert_eq!(send((race.result)(&id)).status == 200, went_through);
        let key = BankKey::new(format!("{}{id}{}", race.bank_key.0, race.bank_key.1)).unwrap();
        assert_eq!(server.bank.applied(&key).unwrap(), u32::from(went_through));
        let balance: Value = send(get("/v1/balance")).ok(200);
        assert_eq!((&balance["available"], &balance["hold"]), (&json!(money), &json!(0)));
        if let Some(card) = &race.limited {
            let info = send(get(&format!("/v1/card/{card}"))).ok(200);
            let has_it = info["data"]["limit"]["amount"] == json!(round + 1);
            assert_eq!(has_it, went_through, "{info}");
        }
        assert_eq!(server.check(), 0);
        cancelled += u32::from(!went_through);
        head_start.learn(!went_through);
    }
    println!("{cancelled} of {ROUNDS} were cancelled; {} µs between the two", head_start.micros);
}

#[test]
fn an_order_is_cancelled_or_made() {
    run(orders);
}

#[test]
fn a_replenishment_is_cancelled_or_carried_out() {
    run(replenishments);
}

#[test]
fn a_limit_change_is_cancelled_or_carried_out() {
    run(limit_changes);
}
