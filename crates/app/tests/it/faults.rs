//! One fault at a time: every call that a use case makes to the store, to the bank or to the sandbox fails once before it
//! has an effect and once after; at every such call the process ends once before and once after. The client calls
//! again, the workers work until nothing is due, and everything is as if nothing had happened.
//!
//! ```console
//! cargo test --workspace --locked --test it -- faults --nocapture
//! ```

mod bench;
mod ports;
mod state;

pub use state::observe;

use std::sync::OnceLock;
use std::time::Instant;

use bench::{BEGINNING, Cast, SETTLED, Scene, Tally, UseCase};
use kopeck_port_store::{Access, transact};
use serde_json::json;
use time::Duration;

use crate::api_client::{top_ups, virtual_order};
use crate::copies::{Sealer, copies};
use crate::raw_http::{
    RawRequest, RawResponse, Tokens, fresh_nonce, get, login, login_call, now, post, refresh_call,
};
use crate::server::{SETTINGS, TestServer};
use crate::world::{Sample, samples};

/// A request of the API with a token.
struct TokenCall {
    call: RawRequest,
    changes: bool,
}

impl TokenCall {
    fn of(sample: &Sample, cast: &Cast) -> Self {
        let call = sample.call(&cast.things).token(&cast.token);
        Self { call, changes: sample.operation.changes }
    }
}

impl UseCase for TokenCall {
    /// The client is authenticated from the cache; its first request is a separate case.
    fn prepare(&self, server: &TestServer, cast: &Cast) {
        get("/v1/balance").token(&cast.token).send(server).ok(200);
    }

    fn once(&self, server: &TestServer, _: &Cast) -> Option<RawResponse> {
        Some(self.call.send(server))
    }

    fn complete(&self, server: &TestServer, _: &Cast, first: Option<RawResponse>, recorded: bool) -> String {
        let first = answered(first);
        let was_answered = first.is_some();
        let answer = first.unwrap_or_else(|| self.call.send(server));
        assert!((200..300).contains(&answer.status), "{:?}: {answer:?}", self.call);
        let again = self.call.send(server);
        if self.changes {
            assert_eq!(answer.replayed(), recorded && !was_answered, "{:?}: {answer:?}", self.call);
            assert_eq!((again.status, &again.text), (answer.status, &answer.text));
            assert!(again.replayed());
        }
        format!("{} {}", again.status, again.text)
    }
}

/// A sealed mutation. An attacker copied it and sends it under another key before the client retries.
struct CopiedCall {
    clear: RawRequest,
    sealed: OnceLock<RawRequest>,
}

impl CopiedCall {
    fn of(sample: &Sample, cast: &Cast) -> Self {
        let clear = sample.call(&cast.things).token(&cast.token).key("the-callers-own");
        Self { clear, sealed: OnceLock::new() }
    }

    /// The same bytes each time: every run begins at the same moment.
    fn sealed(&self, server: &TestServer, cast: &Cast) -> &RawRequest {
        self.sealed.get_or_init(|| Sealer { key: &cast.partner.key, now: now(server) }.body(&self.clear))
    }
}

impl UseCase for CopiedCall {
    fn prepare(&self, server: &TestServer, cast: &Cast) {
        get("/v1/balance").token(&cast.token).send(server).ok(200);
    }

    fn once(&self, server: &TestServer, cast: &Cast) -> Option<RawResponse> {
        Some(self.sealed(server, cast).send(server))
    }

    fn complete(
        &self,
        server: &TestServer,
        cast: &Cast,
        first: Option<RawResponse>,
        recorded: bool,
    ) -> String {
        let call = self.sealed(server, cast);
        let first = answered(first);
        let has_had_its_effect = first.is_some() || recorded;
        let mut requests = copies(call);
        requests.push(call.clone());
        let answers: Vec<RawResponse> = requests.iter().map(|request| request.send(server)).collect();
        let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|got| got.status < 300);
        let [done] = done[..] else { panic!("{call:?}: {answers:?}") };
        refused.iter().for_each(|got| assert_eq!(got.fields(), "x-nonce", "{call:?}"));
        if has_had_its_effect {
            assert!(answers.last().is_some_and(RawResponse::replayed), "{call:?}: {answers:?}");
        }
        if let Some(first) = first {
            assert_eq!((first.status, &first.text), (done.status, &done.text));
        }
        format!("{} {}", done.status, done.text)
    }
}

/// The first request with a token.
struct FirstCall;

impl UseCase for FirstCall {
    fn once(&self, server: &TestServer, cast: &Cast) -> Option<RawResponse> {
        Some(get("/v1/balance").token(&cast.unused.access).send(server))
    }

    fn complete(&self, server: &TestServer, cast: &Cast, first: Option<RawResponse>, _: bool) -> String {
        answered(first).or_else(|| self.once(server, cast)).unwrap().ok(200).to_string()
    }
}

/// The login, each time with a new nonce, as its nonce is spent.
struct Login;

impl UseCase for Login {
    fn once(&self, server: &TestServer, cast: &Cast) -> Option<RawResponse> {
        let partner = &cast.partner;
        Some(login_call(&partner.api_key, &partner.login, &partner.password).send(server))
    }

    fn complete(&self, server: &TestServer, cast: &Cast, first: Option<RawResponse>, _: bool) -> String {
        let got = answered(first).or_else(|| self.once(server, cast)).unwrap();
        use_tokens(server, cast, &Tokens::of(&got));
        String::new()
    }
}

/// The request that exchanges a refresh token.
struct Refresh;

impl UseCase for Refresh {
    fn once(&self, server: &TestServer, cast: &Cast) -> Option<RawResponse> {
        Some(refresh_call(&cast.partner, &cast.unused.refresh).nonce(&fresh_nonce()).send(server))
    }

    fn complete(&self, server: &TestServer, cast: &Cast, first: Option<RawResponse>, _: bool) -> String {
        let got = answered(first).or_else(|| self.once(server, cast)).unwrap();
        use_tokens(server, cast, &Tokens::of(&got));
        String::new()
    }
}

/// Both are good.
fn use_tokens(server: &TestServer, cast: &Cast, tokens: &Tokens) {
    get("/v1/balance").token(&tokens.access).send(server).ok(200);
    let next = Tokens::of(&refresh_call(&cast.partner, &tokens.refresh).send(server));
    get("/v1/balance").token(&next.access).send(server).ok(200);
}

/// The response, unless it reports the fault.
fn answered(first: Option<RawResponse>) -> Option<RawResponse> {
    let told = |got: &RawResponse| [500, 503].contains(&got.status);
    first.filter(|got| !told(got))
}

/// All work that is due.
struct Work;

impl UseCase for Work {
    fn once(&self, server: &TestServer, _: &Cast) -> Option<RawResponse> {
        // A failed job runs later.
        let _ = server.try_work_now();
        None
    }

    fn complete(&self, _: &TestServer, _: &Cast, _: Option<RawResponse>, _: bool) -> String {
        String::new()
    }
}

/// The daily refresh of accounts.
struct Accounts;

impl Accounts {
    fn due(server: &TestServer) -> usize {
        let midnight = SETTINGS.zone.start_of(server.application.env.today());
        let day = midnight..midnight + time::Duration::DAY;
        let due = transact(&*server.application.store, Access::Read, move |unit| {
            unit.cards().accounts_due(day.clone(), 1_000)
        });
        due.unwrap().len()
    }
}

impl UseCase for Accounts {
    fn once(&self, server: &TestServer, _: &Cast) -> Option<RawResponse> {
        assert_ne!(Self::due(server), 0);
        let _ = server.try_refresh_accounts();
        None
    }

    fn complete(&self, server: &TestServer, _: &Cast, _: Option<RawResponse>, _: bool) -> String {
        // Longer than any card is left out for.
        server.clock.advance(Duration::minutes(2));
        server.refresh_accounts();
        assert_eq!(Self::due(server), 0);
        String::new()
    }

    fn token(&self, server: &TestServer, cast: &Cast) -> String {
        login(server, &cast.partner).access
    }
}

/// The steps of somebody who has left, and the work that comes of each.
struct Leaver;

impl Leaver {
    /// Each step is due with the end of the work of the one before.
    const STEPS: usize = 3;
}

impl UseCase for Leaver {
    fn once(&self, server: &TestServer, _: &Cast) -> Option<RawResponse> {
        for _ in 0..Self::STEPS {
            let _ = server.try_run_timer();
            server.clock.advance(SETTINGS.processing_delay);
            let _ = server.try_work_now();
        }
        None
    }

    fn complete(&self, server: &TestServer, _: &Cast, _: Option<RawResponse>, _: bool) -> String {
        for _ in 0..2 * Self::STEPS {
            // A lease is over, and whatever waited for another request looks again.
            server.clock.advance(Duration::minutes(2));
            server.run_timer();
            server.run_jobs();
        }
        String::new()
    }

    fn token(&self, server: &TestServer, cast: &Cast) -> String {
        login(server, &cast.partner).access
    }
}

/// What programmes have to do.
struct Payday;

impl UseCase for Payday {
    fn once(&self, server: &TestServer, _: &Cast) -> Option<RawResponse> {
        let _ = server.try_programmes();
        None
    }

    fn complete(&self, server: &TestServer, _: &Cast, _: Option<RawResponse>, _: bool) -> String {
        server.pay();
        String::new()
    }

    fn token(&self, server: &TestServer, cast: &Cast) -> String {
        login(server, &cast.partner).access
    }
}

/// Runs all of these, and says what was run.
fn exhaust<'a>(what: &str, scene: &Scene, cases: impl IntoIterator<Item = (String, Box<dyn UseCase + 'a>)>) {
    let (started, mut tally) = (Instant::now(), Tally::default());
    for (name, case) in cases {
        scene.exhaust(&name, &*case, &mut tally);
    }
    println!("{what}: {tally:?} in {:?}", started.elapsed());
}

/// The samples that `choose` accepts, sealed and copied.
fn copied_calls(scene: &Scene, choose: impl Fn(&Sample) -> bool) -> Vec<(String, Box<dyn UseCase>)> {
    let case = |sample: Sample| {
        let call = CopiedCall::of(&sample, &scene.cast);
        (format!("copied {}", sample.operation.name), Box::new(call) as Box<dyn UseCase>)
    };
    samples().filter(choose).map(case).collect()
}

/// The samples that `choose` accepts.
fn calls(scene: &Scene, choose: impl Fn(&Sample) -> bool) -> Vec<(String, Box<dyn UseCase>)> {
    let case = |sample: Sample| {
        let call = TokenCall::of(&sample, &scene.cast);
        (sample.operation.name.to_owned(), Box::new(call) as Box<dyn UseCase>)
    };
    samples().filter(choose).map(case).collect()
}

fn is_of_the_sandbox(sample: &Sample) -> bool {
    sample.operation.name.starts_with("sandbox.")
}

#[test]
fn calls_that_change_something() {
    let scene = &*BEGINNING;
    let chosen = |sample: &Sample| sample.operation.changes && !is_of_the_sandbox(sample);
    exhaust("calls that change something", scene, calls(scene, chosen));
}

#[test]
fn calls_of_the_sandbox() {
    let scene = &*SETTLED;
    let chosen = |sample: &Sample| sample.operation.changes && is_of_the_sandbox(sample);
    exhaust("calls of the sandbox", scene, calls(scene, chosen));
}

#[test]
fn copied_calls_that_change_something() {
    let scene = &*BEGINNING;
    let chosen = |sample: &Sample| sample.operation.changes && !is_of_the_sandbox(sample);
    exhaust("copied calls that change something", scene, copied_calls(scene, chosen));
}

#[test]
fn copied_calls_of_the_sandbox() {
    let scene = &*SETTLED;
    let chosen = |sample: &Sample| sample.operation.changes && is_of_the_sandbox(sample);
    exhaust("copied calls of the sandbox", scene, copied_calls(scene, chosen));
}

#[test]
fn calls_that_read() {
    // Every copy of the bank's word is old.
    let scene = SETTLED.after(|server, _| server.clock.advance(SETTINGS.card_cache + Duration::SECOND));
    exhaust("calls that read", &scene, calls(&scene, |sample| !sample.operation.changes));
}

#[test]
fn tokens() {
    let cases: [(&str, Box<dyn UseCase>); 3] =
        [("first call", Box::new(FirstCall)), ("login", Box::new(Login)), ("refresh", Box::new(Refresh))];
    exhaust("tokens", &SETTLED, cases.map(|(name, case)| (name.to_owned(), case)));
}

#[test]
fn workers() {
    let send = |server: &TestServer, cast: &Cast, call: RawRequest| call.token(&cast.token).send(server);
    let three_cards = |server: &TestServer, cast: &Cast| {
        let add = json!({"customId": "third"});
        let employee = send(server, cast, post("/v1/employee/add", &add)).text_of("idEmployee");
        let link = json!({"customIdCard": cast.things.get("number"), "statusCard": "MAIN"});
        let path = format!("/v1/employee/{employee}/link_card");
        let third = send(server, cast, post(&path, &link)).text_of("idCard");
        [cast.things.id("card").to_owned(), cast.things.id("other card").to_owned(), third]
    };
    let ask = |path: &str, body: &serde_json::Value, server: &TestServer, cast: &Cast| {
        send(server, cast, post(path, body)).ok(202);
        server.clock.advance(SETTINGS.processing_delay);
    };
    let order = SETTLED.after(|server, cast| {
        ask("/v1/order/virtualcards", &virtual_order(3, 5_000), server, cast);
    });
    let replenishment = SETTLED.after(|server, cast| {
        let [a, b, c] = three_cards(server, cast);
        // The bank refuses the second.
        ask("/v1/replenishment", &top_ups(&[(&a, 1_000), (&b, 1_013), (&c, 2_000)]), server, cast);
    });
    let limits = SETTLED.after(|server, cast| {
        let cards = three_cards(server, cast).map(|card| json!({"idCard": card}));
        let body = json!({"data": cards, "limit": {"amount": 777, "period": "CDAY"}});
        ask("/v1/setlimitscards", &body, server, cast);
    });
    // One card holds less than requested.
    let withdrawal = SETTLED.after(|server, cast| {
        let [a, b, c] = three_cards(server, cast);
        let cards = json!([{"idCard": a, "amount": 300}, {"idCard": b, "amount": 99_999}, {"idCard": c}]);
        ask("/v1/withdrawals", &json!({"data": cards}), server, cast);
    });
    let closing = SETTLED.after(|server, cast| {
        let reasons = ["LOST", "DAMAGED", "OTHER"];
        let cards = three_cards(server, cast).into_iter().zip(reasons);
        let cards: Vec<_> = cards.map(|(card, reason)| json!({"idCard": card, "reason": reason})).collect();
        ask("/v1/closings", &json!({"data": cards}), server, cast);
    });
    let submitted = |server: &TestServer, cast: &Cast, body: &serde_json::Value| {
        let run = send(server, cast, post("/v1/runs", body)).ok(201);
        let path = format!("/v1/run/{}/submit", run["idRun"].as_str().unwrap());
        let digest = json!({"digest": run["digest"], "skipFaulty": true});
        send(server, cast, post(&path, &digest)).ok(200);
        server.clock.advance(SETTINGS.processing_delay);
    };
    let top_up_run = SETTLED.after(|server, cast| {
        let [a, b, c] = three_cards(server, cast);
        let amounts = [(a, 1_000), (b, 1_013), (c, 0)];
        let items = amounts.map(|(card, amount)| json!({"idCard": card, "amount": amount}));
        submitted(server, cast, &json!({"kind": "TOP_UP", "items": items}));
    });
    let staff_run = SETTLED.after(|server, cast| {
        let new = (0..101).map(|place| json!({"customId": format!("N-{place}"), "category": "New"}));
        let items: Vec<_> = new.chain([json!({"customId": "faulty", "phone": "1"})]).collect();
        submitted(server, cast, &json!({"kind": "EMPLOYEES", "createCategories": true, "items": items}));
    });
    let everything = BEGINNING.after(|server, _| server.clock.advance(SETTINGS.processing_delay));
    let scenes = [
        ("order", order),
        ("replenishment", replenishment),
        ("limits", limits),
        ("withdrawal", withdrawal),
        ("closing", closing),
        ("run of top-ups", top_up_run),
        ("run of employees", staff_run),
        ("all", everything),
    ];
    for (name, scene) in scenes {
        exhaust(name, &scene, [(name.to_owned(), Box::new(Work) as Box<dyn UseCase>)]);
    }
}

/// At whichever call the process ends: one run and one closing, and the money is back.
#[test]
fn leavers() {
    let scene = SETTLED.after(|server, cast| {
        let put = |path: &str, body: &serde_json::Value| {
            RawRequest::new("PUT", path).json(body).token(&cast.token).send(server).ok(200)
        };
        put("/v1/settings", &json!({"leavers": {"freeze": true, "takeBackAfterDays": 0, "close": true}}));
        put(&format!("/v1/employee/{}", cast.things.id("employee")), &json!({"status": "DONT_WORK"}));
    });
    let case = ("leaver".to_owned(), Box::new(Leaver) as Box<dyn UseCase>);
    exhaust("leavers", &scene, [case]);
}

/// Two programmes that are due at one moment, each by what the bank says of cards.
#[test]
fn payday() {
    let scene = SETTLED.after(|server, _| server.clock.advance(Duration::days(30)));
    exhaust("payday", &scene, [("payday".to_owned(), Box::new(Payday) as Box<dyn UseCase>)]);
}

#[test]
fn daily_refresh() {
    let scene = SETTLED.after(|server, cast| {
        let path = format!("/sandbox/v1/card/{}/purchase", cast.things.id("card"));
        post(&path, &json!({"amount": 300})).token(&cast.token).send(server).ok(200);
        server.clock.advance(Duration::DAY);
    });
    let case = ("accounts".to_owned(), Box::new(Accounts) as Box<dyn UseCase>);
    exhaust("daily refresh", &scene, [case]);
}
