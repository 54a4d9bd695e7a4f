//! The comparison with the bank's registry: each kind of difference is found, named, and listed once.

use std::sync::Arc;

use kopeck_adapter_http::HttpSettings;
use kopeck_domain::Kopecks;
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::partner::SealingPolicy;
use kopeck_domain::transaction::{Transaction, TransactionType};
use kopeck_port_bank::{BankError, BankGateway, BankKey, RegistryEntry, RegistryError, Submission, Verdict};
use kopeck_service::bank_reconciliation::{BankReconciler, Difference, DifferenceKind, ReconcileError};
use kopeck_service::worker::{Worker, WorkerSettings};
use kopeck_test_support::FakeBank;
use serde_json::{Value, json};
use time::macros::{date, datetime};
use time::{Date, Duration};

use crate::api_client::{Api, start, text, virtual_order};
use crate::server::TestServer;
use crate::transactions::buy;

/// The day of every test.
const DAY: Date = date!(2026 - 03 - 02);
const NEXT: Date = date!(2026 - 03 - 03);

/// Falsifies the bank's registry.
type Lie = Arc<dyn Fn(Vec<RegistryEntry>) -> Vec<RegistryEntry> + Send + Sync>;

/// The bank's verdicts on submissions.
type Answers = Vec<Result<Verdict, BankError>>;

/// A service with a day behind it: two cards that were topped up, one of which has paid, one that was refused, and a
/// virtual card.
struct Scene {
    server: TestServer,
    api: Api,
    /// Topped up by 700 and 900, and not by 513.
    cards: [CardNumber; 3],
    replenishment: String,
}

impl Scene {
    async fn new() -> Self {
        let (server, api) = start(1_000_000).await;
        let ids = api.main_cards(&server, 3).await;
        let replenishment = api.top_up(&[(&ids[0], 700), (&ids[1], 900), (&ids[2], 513)]).await;
        server.run_jobs();
        assert_eq!(api.top_up_state(&replenishment).await, "PART_SUCCESS");
        let purchase = json!({"amount": 300, "place": "Bakery", "mcc": "5462", "merchantId": "M-1"});
        api.post(&format!("/sandbox/v1/card/{}/purchase", ids[0]), &purchase).await.ok(200);
        api.post("/v1/order/virtualcards", &virtual_order(1, 5_000)).await.ok(202);
        server.run_jobs();
        server.follow_feed();
        server.clock.advance(Duration::SECOND);
        let mut cards = Vec::new();
        for id in &ids {
            let shown = api.get(&format!("/v1/card/{id}")).await.ok(200);
            cards.push(CardNumber::parse(&text(&shown["data"]["customCardId"].to_string().into())).unwrap());
        }
        Self { server, api, cards: cards.try_into().unwrap(), replenishment }
    }

    /// The identifier of a card.
    async fn id_of(&self, card: CardNumber) -> String {
        let listed = self.api.get("/v1/cards").await.ok(200);
        let number: Value = serde_json::from_str(&card.to_string()).unwrap();
        let is_it = |one: &&Value| one["customCardId"] == number;
        text(&listed["data"].as_array().unwrap().iter().find(is_it).unwrap()["idCard"])
    }

    fn key(&self, ordinal: u32) -> BankKey {
        BankKey::new(format!("replenishment/{}/{ordinal}", self.replenishment)).unwrap()
    }

    /// The differences on these days with a falsified registry.
    fn compare(&self, days: [Date; 2], lie: Lie) -> Vec<Difference> {
        self.compare_with(days, Arc::new(self.lying(lie)))
    }

    /// The simulator with a registry of lies.
    fn lying(&self, lie: Lie) -> FakeBank {
        FakeBank::over(Arc::clone(&self.server.bank) as _).on_registry(move |bank, period, after, limit| {
            // Entries of other days come from the falsified list.
            let all =
                bank.registry(&(period.start - Duration::WEEK..period.end + Duration::WEEK), None, 1_000)?;
            let mut listed = lie(all);
            listed.sort_by_key(RegistryEntry::position);
            listed.retain(|entry| {
                period.contains(&entry.transaction.executed_at)
                    && after.is_none_or(|after| entry.position() > after)
            });
            listed.truncate(limit as usize);
            Ok(listed)
        })
    }

    fn compare_with(&self, [from, to]: [Date; 2], bank: Arc<dyn BankGateway>) -> Vec<Difference> {
        let application = &self.server.application;
        let before = self.server.dump();
        let reconciler = BankReconciler::new(application.store(), bank, Arc::clone(&application.env));
        let mut differences = Vec::new();
        reconciler.compare(&(from..=to), &|| false, &mut |difference| differences.push(difference)).unwrap();
        assert_eq!(self.server.dump(), before, "nothing changes");
        differences
    }

    /// The differences with a registry that is right but for one change.
    fn changed(&self, change: impl Fn(&mut Vec<RegistryEntry>) + Send + Sync + 'static) -> Vec<Difference> {
        self.compare(
            [DAY, DAY],
            Arc::new(move |mut listed| {
                change(&mut listed);
                listed
            }),
        )
    }

    /// The entry under this key of the truth.
    fn entry(&self, ordinal: u32) -> RegistryEntry {
        let key = self.key(ordinal);
        let period = kopeck_domain::calendar::Zone::parse("+03:00").unwrap().start_of(DAY);
        let all = self.server.bank.registry(&(period..period + Duration::DAY), None, 100).unwrap();
        all.into_iter().find(|entry| entry.key.as_ref() == Some(&key)).unwrap()
    }
}

/// The one difference, by what it says.
#[track_caller]
fn only(differences: &[Difference]) -> (CardNumber, Option<i64>, Option<i64>, DifferenceKind) {
    let [one] = differences else { panic!("{differences:#?}") };
    assert_eq!(one.day, DAY);
    let kopecks = |amount: Option<Kopecks>| amount.map(Kopecks::get);
    (one.card, kopecks(one.here), kopecks(one.there), one.kind.clone())
}

fn purchase(card: CardNumber, id: i64, like: &RegistryEntry) -> RegistryEntry {
    let transaction = Transaction {
        id,
        kind: TransactionType::Payment,
        amount: Kopecks::new(50),
        ..like.transaction.clone()
    };
    RegistryEntry { card, transaction, key: None }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bank_that_agrees_has_no_differences() {
    let scene = Scene::new().await;
    assert_eq!(scene.compare_with([DAY, NEXT], Arc::clone(&scene.server.bank) as _), []);
    // Nor has a day without movements.
    let later = date!(2026 - 05 - 01);
    assert_eq!(scene.compare_with([later, later], Arc::clone(&scene.server.bank) as _), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_kind_of_difference_is_found_and_named_once() {
    let scene = Scene::new().await;
    let [one, two, third] = scene.cards;
    let like = scene.entry(0);

    let found = scene.changed({
        let like = like.clone();
        move |listed| listed.push(purchase(two, 900, &like))
    });
    assert_eq!(only(&found), (two, None, Some(-50), DifferenceKind::MissingHere));

    let key = scene.key(0);
    let found = scene.changed(move |listed| listed.retain(|entry| entry.key.as_ref() != Some(&key)));
    assert_eq!(only(&found), (one, Some(700), None, DifferenceKind::MissingThere));

    let key = scene.key(0);
    let found = scene.changed(move |listed| {
        for entry in listed.iter_mut().filter(|entry| entry.key.as_ref() == Some(&key)) {
            entry.transaction.amount = Kopecks::new(701);
        }
    });
    assert_eq!(only(&found), (one, Some(700), Some(701), DifferenceKind::Amount));
    let found = scene.changed(|listed| {
        for entry in listed.iter_mut().filter(|entry| entry.transaction.kind == TransactionType::Payment) {
            entry.transaction.amount = Kopecks::new(299);
        }
    });
    assert_eq!(only(&found), (one, Some(-300), Some(-299), DifferenceKind::Amount));

    let (refused, entry) = (scene.key(2), like.clone());
    let found = scene.changed(move |listed| {
        listed.push(RegistryEntry { key: Some(refused.clone()), ..purchase(third, 901, &entry) });
    });
    assert_eq!(only(&found), (third, Some(513), Some(-50), DifferenceKind::End { here: "REFUSED" }));

    let (key, entry) = (scene.key(0), like.clone());
    let found = scene.changed(move |listed| {
        let mut again = entry.clone();
        again.transaction.id = 902;
        assert_eq!(again.key.as_ref(), Some(&key));
        listed.push(again);
    });
    assert_eq!(only(&found), (one, Some(700), Some(700), DifferenceKind::Twice));

    let key = scene.key(0);
    let found = scene.changed(move |listed| {
        for entry in listed.iter_mut().filter(|entry| entry.key.as_ref() == Some(&key)) {
            entry.card = two;
        }
    });
    assert_eq!(only(&found), (two, Some(700), Some(700), DifferenceKind::WrongCard { here: one }));

    let stranger = CardNumber::parse("9999999999").unwrap();
    let found = scene.changed(move |listed| listed.push(purchase(stranger, 903, &like)));
    assert_eq!(only(&found), (stranger, None, Some(-50), DifferenceKind::UnknownCard));
    scene.server.run_jobs();
}

/// Money that came back by a closing and by a withdrawal is money that left the card.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn differences_of_money_that_came_back_are_found() {
    let scene = Scene::new().await;
    let [one, two, third] = scene.cards;
    let close = json!({"data": [{"idCard": scene.id_of(one).await, "reason": "LEAVER"}]});
    let closing = text(&scene.api.post("/v1/closings", &close).await.ok(202)["closingId"]);
    let take = json!({"data": [{"idCard": scene.id_of(two).await, "amount": 250}]});
    let withdrawal = text(&scene.api.post("/v1/withdrawals", &take).await.ok(202)["withdrawalId"]);
    scene.server.run_jobs();
    scene.server.follow_feed();
    scene.server.clock.advance(Duration::SECOND);
    assert_eq!(scene.compare_with([DAY, NEXT], Arc::clone(&scene.server.bank) as _), []);

    for (key, card, amount) in
        [(format!("closing/{closing}/0"), one, 400), (format!("withdrawal/{withdrawal}/0"), two, 250)]
    {
        let key = BankKey::new(key).unwrap();
        let changed = |change: fn(&mut RegistryEntry, CardNumber)| {
            let key = key.clone();
            scene.changed(move |listed| {
                let mut entries = listed.iter_mut().filter(|entry| entry.key.as_ref() == Some(&key));
                change(entries.next().unwrap(), third);
                assert_eq!(entries.next(), None);
            })
        };
        let found = changed(|entry, _| entry.transaction.amount = Kopecks::new(1));
        assert_eq!(only(&found), (card, Some(-amount), Some(-1), DifferenceKind::Amount));
        let found = changed(|entry, third| entry.card = third);
        let wrong_card = DifferenceKind::WrongCard { here: card };
        assert_eq!(only(&found), (third, Some(-amount), Some(-amount), wrong_card));
        let own = key.clone();
        let found = scene.changed(move |listed| listed.retain(|entry| entry.key.as_ref() != Some(&own)));
        assert_eq!(only(&found), (card, Some(-amount), None, DifferenceKind::MissingThere));
    }
}

/// The bank carried out what the service took for refused, and what it still waits for.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_end_is_found() {
    let (server, api) = start(1_000_000).await;
    let id = api.main_cards(&server, 1).await.remove(0);
    let refused = api.top_up(&[(&id, 700)]).await;
    let work = |answer: fn(Answers) -> Answers| {
        let lying = FakeBank::over(Arc::clone(&server.bank) as _)
            .on_submit(move |bank, submissions: &[Submission]| answer(bank.submit(submissions)))
            .on_query(|_, keys| Ok(vec![None; keys.len()]));
        let application = &server.application;
        let worker = Worker::new(
            application.store(),
            Arc::new(lying),
            Arc::clone(&application.env),
            WorkerSettings::default(),
        );
        server.clock.advance(Duration::seconds(3));
        worker.run_once(&|| false).unwrap();
    };
    work(|answers| {
        answers.into_iter().map(|_| Ok(Verdict::Declined(kopeck_port_bank::DeclineReason::Refused))).collect()
    });
    assert_eq!(api.top_up_state(&refused).await, "DECLINE");
    let open = api.top_up(&[(&id, 800)]).await;
    work(|answers| {
        answers.into_iter().map(|_| Err(BankError::Unknown("as the test has it".into()))).collect()
    });
    assert_eq!(api.top_up_state(&open).await, "IN_PROCESS");
    server.follow_feed();
    server.clock.advance(Duration::SECOND);

    let application = &server.application;
    let reconciler = application.bank_reconciler(Arc::clone(&server.bank) as _);
    let mut ends = Vec::new();
    let mut report = |difference: Difference| {
        ends.push((difference.key.unwrap(), difference.kind, difference.here.map(Kopecks::get)));
    };
    reconciler.compare(&(DAY..=DAY), &|| false, &mut report).unwrap();
    let key = |id: &str| BankKey::new(format!("replenishment/{id}/0")).unwrap();
    let expected = [
        (key(&refused), DifferenceKind::End { here: "REFUSED" }, Some(700)),
        (key(&open), DifferenceKind::End { here: "IN_PROCESS" }, Some(800)),
    ];
    assert_eq!(ends, expected);
    server.clock.advance(Duration::seconds(10));
    server.work_now();
}

/// One difference, on the side that is compared.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_day_is_found_from_both_sides() {
    let scene = Scene::new().await;
    scene.server.clock.advance(Duration::days(2));
    let key = scene.key(0);
    let id = scene.entry(0).transaction.id;
    let lie: Lie = Arc::new(move |mut listed| {
        for entry in listed.iter_mut().filter(|entry| entry.key.as_ref() == Some(&key)) {
            entry.transaction.executed_at += Duration::DAY;
        }
        listed
    });
    let bank = || -> Arc<dyn BankGateway> {
        Arc::new(scene.lying(Arc::clone(&lie)).on_transactions(move |bank, card, after, limit| {
            let mut made = bank.transactions(card, after, limit)?;
            for one in made.iter_mut().filter(|one| one.id == id) {
                one.executed_at += Duration::DAY;
            }
            Ok(made)
        }))
    };
    for days in [[DAY, DAY], [NEXT, NEXT], [DAY, NEXT]] {
        let found = scene.compare_with(days, bank());
        let [one] = &found[..] else { panic!("{days:?}: {found:#?}") };
        assert_eq!(one.kind, DifferenceKind::WrongDay { here: DAY, there: NEXT }, "{days:?}");
        assert_eq!((one.day, one.card, one.transaction), (days[0], scene.cards[0], Some(id)));
    }
}

/// They are found although the copy of the bank's transactions lacks them, as after a restore of the bank.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_settlement_without_a_movement_at_the_bank_is_found() {
    let (server, api) = start(1_000_000).await;
    let ids = api.main_cards(&server, 2).await;
    // Two days for one request: the bank answers after midnight.
    let lost = api.top_up(&[(&ids[0], 700), (&ids[1], 900)]).await;
    let lying = FakeBank::over(Arc::clone(&server.bank) as _)
        .on_submit(|_, submissions: &[Submission]| submissions.iter().map(|_| Ok(Verdict::Done)).collect());
    let application = &server.application;
    let (store, env) = (application.store(), Arc::clone(&application.env));
    let worker = Worker::new(store, Arc::new(lying), env, WorkerSettings::default());
    server.clock.advance(Duration::seconds(3));
    worker.run_once(&|| false).unwrap();
    assert_eq!(api.top_up_state(&lost).await, "SUCCESS");
    server.clock.advance(Duration::SECOND);
    let reconciler = application.bank_reconciler(Arc::clone(&server.bank) as _);
    let mut found = Vec::new();
    reconciler.compare(&(DAY..=DAY), &|| false, &mut |difference| found.push(difference)).unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|one| (one.key.as_ref().unwrap().as_str(), one.here, one.there, &one.kind))
        .collect();
    let keys = [0, 1].map(|ordinal| format!("replenishment/{lost}/{ordinal}"));
    let expected = [(&*keys[0], 700), (&*keys[1], 900)]
        .map(|(key, amount)| (key, Some(Kopecks::new(amount)), None, &DifferenceKind::MissingThere));
    assert_eq!(told, expected);
}

/// A request that ends on another day than that of its movements is looked up where they are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_ends_after_midnight_is_found_on_the_day_before() {
    let three_minutes_to_midnight = datetime!(2026-03-02 20:57 UTC);
    let http = HttpSettings { workers: 1, ..HttpSettings::default() };
    let server = TestServer::start_at(three_minutes_to_midnight, true, http);
    let partner = server.partner(SealingPolicy::Optional, 1_000_000);
    let api = Api::login(&server, &partner).await;
    let id = api.main_cards(&server, 1).await.remove(0);
    let late = api.top_up(&[(&id, 700)]).await;
    let application = &server.application;
    let lying =
        FakeBank::over(Arc::clone(&server.bank) as _).on_submit(|bank, submissions: &[Submission]| {
            bank.submit(submissions);
            submissions.iter().map(|_| Err(BankError::Unknown("as the test has it".into()))).collect()
        });
    let (store, env) = (application.store(), Arc::clone(&application.env));
    let worker = Worker::new(store, Arc::new(lying), env, WorkerSettings::default());
    server.clock.advance(Duration::seconds(3));
    worker.run_once(&|| false).unwrap();
    server.clock.advance(Duration::minutes(10));
    server.work_now();
    assert_eq!(api.top_up_state(&late).await, "SUCCESS");
    server.follow_feed();
    server.clock.advance(Duration::SECOND);
    for days in [[DAY, DAY], [NEXT, NEXT], [DAY, NEXT]] {
        let mut found = Vec::new();
        let reconciler = application.bank_reconciler(Arc::clone(&server.bank) as _);
        reconciler
            .compare(&(days[0]..=days[1]), &|| false, &mut |difference| found.push(difference))
            .unwrap();
        assert_eq!(found, [], "{days:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bank_without_a_registry_and_one_that_is_away_are_no_agreement() {
    let scene = Scene::new().await;
    let application = &scene.server.application;
    let away = BankError::Unavailable("as the test has it".into());
    for (answer, expected) in [
        (RegistryError::NotSupported, ReconcileError::NotSupported),
        (RegistryError::Bank(away.clone()), ReconcileError::Bank(away)),
    ] {
        let bank = FakeBank::over(Arc::clone(&scene.server.bank) as _)
            .on_registry(move |_, _, _, _| Err(answer.clone()));
        let reconciler = application.bank_reconciler(Arc::new(bank));
        let compared =
            reconciler.compare(&(DAY..=DAY), &|| false, &mut |difference| panic!("{difference:?}"));
        assert_eq!(compared, Err(expected));
    }
    let reconciler = application.bank_reconciler(Arc::clone(&scene.server.bank) as _);
    let stopped = reconciler.compare(&(DAY..=DAY), &|| true, &mut |difference| panic!("{difference:?}"));
    assert_eq!(stopped, Err(ReconcileError::Stopped));
    scene.api.get("/v1/balance").await.ok(200);
}

/// Movements that the feed has not delivered yet are no difference.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_purchase_of_this_moment_is_not_missing() {
    let scene = Scene::new().await;
    let server = &scene.server;
    let compare = || {
        server.clock.advance(Duration::SECOND);
        let reconciler = server.application.bank_reconciler(Arc::clone(&server.bank) as _);
        let mut found = Vec::new();
        let unread = reconciler.compare(&(DAY..=DAY), &|| false, &mut |difference| found.push(difference));
        (unread.unwrap().len(), found.len())
    };
    server.follow_feed();
    assert_eq!(compare(), (0, 0));
    buy(server, &scene.cards[0].to_string(), 100);
    assert_eq!(compare(), (1, 0));
    server.follow_feed();
    assert_eq!(compare(), (0, 0));
}
