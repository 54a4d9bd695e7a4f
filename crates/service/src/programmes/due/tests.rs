//! How often the store is asked for payees, and the bank about cards, until a large run is made.

use std::collections::HashMap;
use std::sync::Mutex;

use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::programme::{Grant, TermsFields};
use kopeck_domain::run::RunState;
use kopeck_port_bank::{BankCard, BankError, MockBankGateway};
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use kopeck_port_store::{BatchTarget, CardClaims, CardHolder, CardRecord, CardView, Member};

use super::*;
use crate::testing::*;

/// So many that the bank is asked about them in several rounds.
const PEOPLE: u64 = 1_000;

/// What the ports were asked.
#[derive(Default)]
struct Seen {
    /// Copies of the cards by number.
    cards: HashMap<u64, CardRecord>,
    /// How often the payees were looked for.
    searches: u32,
    /// How often the bank was asked about each card.
    asked: HashMap<u64, u32>,
    runs: Vec<(RunState, usize)>,
    /// Cards of replenishments.
    paid: usize,
    /// Whether the bank is away.
    is_away: bool,
}

fn member(n: u64, record: &CardRecord) -> Member {
    let CardRecord { card, bank, .. } = record.clone();
    let (id, custom_id) = (employee_id(n.into()), custom_id(&format!("E-{n}")));
    let holder = CardHolder { id, custom_id, status: EmployeeStatus::Work };
    Member { holder, created_at: BEFORE, card: CardView { card, bank } }
}

/// A programme that fills everybody's card on the day after the start, and has not paid yet.
fn filling() -> Programme {
    let fields = TermsFields { grant: Grant::UpTo(kopecks(500)), day: 11, ..terms().fields().clone() };
    let (id, by) = (programme().id(), programme().created_by().clone());
    Programme::new(id, Terms::new(fields).unwrap(), by, false, START)
}

fn store(seen: &Arc<Mutex<Seen>>) -> MockUnit {
    let mut unit = MockUnit::default();
    let log = Arc::clone(seen);
    unit.programmes.expect_due().returning(move |_, _, _| {
        let is_paid = !log.lock().unwrap().runs.is_empty();
        Ok(if is_paid { Vec::new() } else { vec![PARTNER] })
    });
    unit.programmes.expect_due_of().returning(|_, _| Ok(vec![filling()]));
    unit.programmes.expect_workdays().returning(|| Ok(Workdays::default()));
    unit.programmes.expect_update().returning(|_, _, _| Ok(()));
    let log = Arc::clone(seen);
    unit.programmes.expect_members().returning(move |_, _, _| {
        let mut seen = log.lock().unwrap();
        seen.searches += 1;
        Ok(seen.cards.iter().map(|(n, record)| member(*n, record)).collect())
    });
    let log = Arc::clone(seen);
    unit.cards.expect_get().returning(move |_, card| {
        Ok(log.lock().unwrap().cards.values().find(|record| record.card.id() == card).cloned())
    });
    let log = Arc::clone(seen);
    unit.cards.expect_set_bank_view().returning(move |_, card, view, _| {
        let mut seen = log.lock().unwrap();
        seen.cards.values_mut().find(|record| record.card.id() == card).unwrap().bank = *view;
        Ok(true)
    });
    unit.runs.expect_retries().returning(|_, _| Ok(Vec::new()));
    unit.runs.expect_is_programme_open().returning(|_, _| Ok(false));
    unit.runs.expect_by_reference().returning(|_, _, _| Ok(None));
    let log = Arc::clone(seen);
    unit.runs.expect_insert().returning(move |_, run, items| {
        log.lock().unwrap().runs.push((run.state(), items.len()));
        Ok(())
    });
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(1_000_000, 0))));
    let log = Arc::clone(seen);
    unit.replenishments.expect_targets().returning(move |_, cards| {
        let seen = log.lock().unwrap();
        let records = seen.cards.values().filter(|record| cards.contains(&record.card.id()));
        Ok(records.map(target).collect())
    });
    let log = Arc::clone(seen);
    unit.replenishments.expect_insert().returning(move |_, batch, items| {
        assert_eq!(batch.cards() as usize, items.len());
        log.lock().unwrap().paid += items.len();
        Ok(())
    });
    unit.runs.expect_add_requests().withf(|_, _, requests| requests.len() == 1).returning(|_, _, _| Ok(()));
    unit.jobs.expect_enqueue().returning(|_, _, _| Ok(()));
    unit
}

fn target(record: &CardRecord) -> BatchTarget {
    BatchTarget {
        card: record.card.id(),
        number: record.card.number(),
        status: Some(CardStatus::Main),
        standing: record.bank.standing,
        valid_until: record.card.valid_until(),
        claims: CardClaims::default(),
    }
}

/// A bank whose cards are empty; it does not know the first one.
fn bank(seen: &Arc<Mutex<Seen>>) -> MockBankGateway {
    let (mut bank, log) = (MockBankGateway::new(), Arc::clone(seen));
    bank.expect_card().returning(move |asked| {
        let mut seen = log.lock().unwrap();
        if seen.is_away {
            return Err(BankError::Unavailable("away".to_owned()));
        }
        let n = (1..=PEOPLE).find(|n| number(*n) == asked).unwrap();
        *seen.asked.entry(n).or_default() += 1;
        Ok((n > 1).then(|| BankCard {
            balance: Kopecks::ZERO,
            remaining_top_up: kopecks(10_000),
            account: Kopecks::ZERO,
            activated_at: Some(BEFORE),
            standing: Standing::Open,
            valid_until: LAST_DAY,
        }))
    });
    bank
}

/// A timer whose programme is due, and what its ports are asked.
fn timer(bench: &Bench) -> (ProgrammeTimer, Arc<Mutex<Seen>>) {
    let record = |n: u64| {
        let mut record = linked(n, employee_id(n.into()), CardStatus::Main);
        record.bank.activated_at = Some(BEFORE);
        (n, record)
    };
    let seen = Arc::new(Mutex::new(Seen { cards: (1..=PEOPLE).map(record).collect(), ..Seen::default() }));
    bench.clock.advance(Duration::hours(21));
    let store = InPlaceStore::new(store(&seen));
    (ProgrammeTimer::new(Arc::new(store), Arc::new(bank(&seen)), bench.shared()), seen)
}

/// Rounds until nothing is left to do; how many.
fn rounds(timer: &mut ProgrammeTimer) -> usize {
    (0..20).take_while(|_| timer.run_once(&|| false).unwrap() == Progress::More).count()
}

#[test]
fn payees_are_looked_for_twice_however_many_there_are() {
    let bench = Bench::new();
    let (mut timer, seen) = timer(&bench);
    let asking = usize::try_from(PEOPLE).unwrap() / ASKED_AT_ONCE;
    assert_eq!(rounds(&mut timer), asking + 1);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.searches, 2);
    assert_eq!(seen.asked.len(), seen.cards.len());
    assert!(seen.asked.values().all(|times| *times == 1), "a card was asked about twice");
    // The card that the bank does not know holds what it held when it was last seen.
    assert_eq!(
        (seen.runs.as_slice(), seen.paid),
        (&[(RunState::InProcess, seen.cards.len() - 1)][..], seen.cards.len() - 1)
    );
}

#[test]
fn who_was_away_is_asked_about_the_rest_or_after_an_hour_about_all() {
    for (silence, times) in [(Duration::minutes(50), 1), (Duration::minutes(61), 2)] {
        let bench = Bench::new();
        let (mut timer, seen) = timer(&bench);
        for _ in 0..2 {
            assert_eq!(timer.run_once(&|| false), Ok(Progress::More));
        }
        seen.lock().unwrap().is_away = true;
        assert_eq!(timer.run_once(&|| false), Ok(Progress::BankUnavailable));
        bench.clock.advance(silence);
        seen.lock().unwrap().is_away = false;
        rounds(&mut timer);
        let seen = seen.lock().unwrap();
        assert_eq!(seen.asked.values().max(), Some(&times), "{silence}");
        assert_eq!((seen.runs.len(), seen.searches), (1, 1 + times));
    }
}

/// A slow bank would never come to the end of them within an hour.
#[test]
fn the_asking_about_many_cards_may_take_longer() {
    for (cards, longest) in
        [(0, Duration::HOUR), (18_000, Duration::HOUR), (100_000, Duration::seconds(20_000))]
    {
        assert_eq!(Asking::of(cards, START).until, START + longest, "{cards}");
    }
}
