//! Units of work that are run together end as if each had been run by itself, in the order in which they ended.
//!
//! Random ones wait behind one that is held, so that the threads take up many at once. Each notes when its last run was
//! over; in that order they are run again, one by one, on SQLite, which has no memory and one writer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use kopeck_adapter_store_diesel::{BatchedStore, StoreConfig};
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardFields;
use kopeck_domain::card::{Card, CardLink, CardStatus};
use kopeck_domain::card_batch::ItemState;
use kopeck_domain::employee::{Employee, EmployeeFields};
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::person::CustomId;
use kopeck_domain::replenishment::{Replenishment, ReplenishmentItem};
use kopeck_port_store::page::Page;
use kopeck_port_store::{
    Access, EmployeeFilter, RecordedResponse, SpentNonce, Store, StoreError, Subject, UnitOfWork, submit,
    transact,
};
use kopeck_test_support::Random;
use time::Duration;
use uuid::Uuid;

use crate::support::{
    Kind, NOW, PARTNER, clock, config, credentials, employee, order_with_cards, read, write,
};

const OTHER: PartnerId = PartnerId::new(Uuid::from_u128(2));
const CARDS: u32 = 4;

/// Something that a unit of work does.
#[derive(Debug, Clone, Copy)]
enum Step {
    Add { employee: u128, custom_id: u64 },
    AddUnlessThere { employee: u128, custom_id: u64 },
    Rename { from: u64, to: u64 },
    Find { custom_id: u64 },
    Get { employee: u128 },
    Answer { key: u64 },
    Spend { nonce: u64 },
    TopUp { request: u128, card: u64 },
    Targets,
    List,
}

/// A unit of work: what it does for whom, and whether it is undone in the end.
#[derive(Debug, Clone)]
struct Script {
    steps: Vec<(PartnerId, Step)>,
    fails: bool,
}

/// Random units of work.
struct Numbers(Random);

impl Numbers {
    fn below(&self, end: u64) -> u64 {
        self.0.below(end)
    }

    fn step(&mut self, fresh: u128) -> Step {
        let (custom_id, to) = (self.below(12), self.below(12));
        match self.below(11) {
            0 => Step::Add { employee: fresh, custom_id },
            1 | 2 => Step::AddUnlessThere { employee: fresh, custom_id },
            3 => Step::Rename { from: custom_id, to },
            4 => Step::Find { custom_id },
            5 => Step::Get { employee: u128::from(self.below(60)) },
            6 => Step::Answer { key: custom_id },
            7 => Step::TopUp { request: fresh, card: self.below(u64::from(CARDS) + 1) },
            8 => Step::Targets,
            9 => Step::Spend { nonce: custom_id },
            _ => Step::List,
        }
    }

    fn script(&mut self, fresh: u128) -> Script {
        let home = if self.below(2) == 0 { PARTNER } else { OTHER };
        let steps = (0..=self.below(4)).map(|number| {
            let partner = if self.below(8) == 0 { OTHER } else { home };
            (partner, self.step(fresh * 10 + u128::from(number)))
        });
        let steps = steps.collect();
        Script { steps, fails: self.below(6) == 0 }
    }
}

fn custom_id(number: u64) -> CustomId {
    CustomId::parse(&format!("C-{number}")).unwrap()
}

fn named(id: u128, custom: u64) -> Employee {
    Employee::from_stored(EmployeeFields { custom_id: custom_id(custom), ..employee(id).into_fields() })
}

fn card(partner: PartnerId, number: u64) -> CardId {
    let order: u128 = if partner == PARTNER { 1 } else { 2 };
    Uuid::from_u128((order << 32) + u128::from(number)).into()
}

/// What a step returns, as text. A refusal is one too; anything else ends the unit of work.
fn take(unit: &mut dyn UnitOfWork, partner: PartnerId, step: Step) -> Result<String, StoreError> {
    let refused = |result: Result<(), StoreError>| match result {
        Ok(()) => Ok("done".to_owned()),
        Err(StoreError::Conflict(rule)) => Ok(format!("{rule:?}")),
        Err(error) => Err(error),
    };
    Ok(match step {
        Step::Add { employee, custom_id } => {
            refused(unit.employees().insert(partner, &named(employee, custom_id)))?
        }
        Step::AddUnlessThere { employee, custom_id: name } => {
            match unit.employees().id_by_custom_id(partner, &custom_id(name))? {
                Some(holder) => format!("{holder:?}"),
                None => refused(unit.employees().insert(partner, &named(employee, name)))?,
            }
        }
        Step::Rename { from, to } => match unit.employees().id_by_custom_id(partner, &custom_id(from))? {
            Some(id) => {
                let employee = unit.employees().get(partner, id)?.unwrap();
                let renamed = Employee::from_stored(EmployeeFields {
                    custom_id: custom_id(to),
                    ..employee.into_fields()
                });
                refused(unit.employees().update(partner, &renamed))?
            }
            None => "none".to_owned(),
        },
        Step::Find { custom_id: name } => {
            format!("{:?}", unit.employees().id_by_custom_id(partner, &custom_id(name))?)
        }
        Step::Get { employee } => {
            let id: EmployeeId = Uuid::from_u128(employee).into();
            format!("{:?}", unit.employees().get(partner, id)?.map(|one| one.into_fields().custom_id))
        }
        Step::Answer { key } => answer(unit, partner, key)?,
        Step::Spend { nonce } => refused(spend(unit, partner, nonce))?,
        Step::TopUp { request, card } => top_up(unit, partner, request, card)?,
        Step::Targets => format!("{:?}", targets(unit, partner)?),
        Step::List => list(unit, partner)?,
    })
}

fn answer(unit: &mut dyn UnitOfWork, partner: PartnerId, key: u64) -> Result<String, StoreError> {
    let key = format!("key-{key}");
    if let Some(answer) = unit.idempotency().find(partner, &key)? {
        return Ok(format!("{answer:?}"));
    }
    let answer = RecordedResponse {
        fingerprint: [7; 32],
        status: 201,
        body: Some(key.clone().into_bytes()),
        employee: None,
        recorded_at: NOW,
    };
    unit.idempotency().record(partner, &key, &answer, NOW)?;
    Ok("recorded".to_owned())
}

/// Without a look at it before, so that the store has to find out that it is spent.
fn spend(unit: &mut dyn UnitOfWork, partner: PartnerId, nonce: u64) -> Result<(), StoreError> {
    let spent =
        SpentNonce { idempotency_key: nonce.is_multiple_of(2).then(|| "key".to_owned()), spent_at: NOW };
    unit.sealed_nonces().spend(partner, &format!("nonce-{nonce}"), &spent, NOW)
}

fn targets(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<Vec<(CardId, bool)>, StoreError> {
    let cards: Vec<CardId> = (0..=u64::from(CARDS)).map(|number| card(partner, number)).collect();
    let mut found: Vec<_> = unit
        .replenishments()
        .targets(partner, &cards)?
        .into_iter()
        .map(|target| (target.card, target.claims.money))
        .collect();
    found.sort_unstable_by_key(|(card, _)| card.uuid());
    Ok(found)
}

fn top_up(
    unit: &mut dyn UnitOfWork,
    partner: PartnerId,
    id: u128,
    number: u64,
) -> Result<String, StoreError> {
    let wanted = card(partner, number);
    let Some(target) =
        unit.replenishments().targets(partner, &[wanted])?.pop().filter(|one| !one.claims.money)
    else {
        return Ok("not to be had".to_owned());
    };
    let id = Uuid::from_u128(id).into();
    let amount = Kopecks::new(100);
    let request = Replenishment::new(id, 1, amount, NOW);
    let (number, state) = (target.number, ItemState::Open);
    let item = ReplenishmentItem { ordinal: 0, card: wanted, number, terms: amount, state };
    unit.replenishments().insert(partner, &request, &[item])?;
    unit.jobs().enqueue(partner, Subject::Replenishment(id), Duration::days(1))?;
    Ok("asked for".to_owned())
}

fn list(unit: &mut dyn UnitOfWork, partner: PartnerId) -> Result<String, StoreError> {
    let listed = unit.employees().list(partner, &EmployeeFilter::default(), Page::new(1, 500).unwrap())?;
    let ids: Vec<u128> = listed.items.iter().map(|one| one.id().uuid().as_u128()).collect();
    Ok(format!("{} {ids:?}", listed.total))
}

/// How a unit of work ended: what its steps returned, or that it was undone.
type Ending = Result<Vec<String>, StoreError>;

const UNDONE: StoreError = StoreError::Corrupt(String::new());

fn play(unit: &mut dyn UnitOfWork, script: &Script) -> Ending {
    let answers =
        script.steps.iter().map(|(partner, step)| take(unit, *partner, *step)).collect::<Result<_, _>>()?;
    if script.fails { Err(UNDONE) } else { Ok(answers) }
}

/// Plays all of them while a held one keeps every writer busy, and returns how each ended and when.
fn play_together(store: &dyn Store, writers: usize, scripts: &[Script]) -> Vec<(usize, Ending)> {
    let held: Vec<_> = (0..writers)
        .map(|_| {
            let ((release, told), (begun, has_begun)) = (mpsc::channel::<()>(), mpsc::channel());
            let told = Mutex::new(told);
            let body = move |_: &mut dyn UnitOfWork| {
                let _ = begun.send(());
                let _ = told.lock().unwrap().recv();
                Ok::<_, StoreError>(())
            };
            submit(store, Access::Write, body, |_| ());
            has_begun.recv().unwrap();
            release
        })
        .collect();
    let over = Arc::new(AtomicUsize::new(0));
    let endings: Vec<_> = scripts
        .iter()
        .map(|script| {
            let (sender, receiver) = mpsc::channel();
            let (script, over, when) = (script.clone(), Arc::clone(&over), Arc::new(AtomicUsize::new(0)));
            let noted = Arc::clone(&when);
            let body = move |unit: &mut dyn UnitOfWork| {
                let ending = play(unit, &script);
                when.store(over.fetch_add(1, Ordering::SeqCst), Ordering::SeqCst);
                ending
            };
            submit(store, Access::Write, body, move |ending| {
                sender.send((noted.load(Ordering::SeqCst), ending)).unwrap();
            });
            receiver
        })
        .collect();
    drop(held);
    endings.into_iter().map(|ending| ending.recv().unwrap()).collect()
}

fn prepare(store: &dyn Store) {
    write(store, |unit| {
        unit.partners().insert(&credentials())?;
        let mut other = credentials();
        (other.partner.id, other.api_key_hash) = (OTHER, [2; 32]);
        other.partner.login = "other".to_owned();
        unit.partners().insert(&other)?;
        for (number, partner) in [(1, PARTNER), (2, OTHER)] {
            let (order, lines, cards) = order_with_cards(number, CARDS);
            unit.orders().insert(partner, &order, &lines)?;
            unit.cards().insert_issued(partner, &cards)?;
        }
        Ok(())
    })
    .unwrap();
}

fn everything(store: &dyn Store) -> Vec<String> {
    read(store, |unit| {
        let mut all = vec![format!("work: {}", unit.jobs().count()?)];
        for partner in [PARTNER, OTHER] {
            all.push(list(unit, partner)?);
            all.push(format!("{:?}", targets(unit, partner)?));
            for key in 0..12 {
                all.push(format!("{:?}", unit.idempotency().find(partner, &format!("key-{key}"))?));
                all.push(format!("{:?}", unit.sealed_nonces().find(partner, &format!("nonce-{key}"))?));
                let found = unit.employees().id_by_custom_id(partner, &custom_id(key))?;
                all.push(format!("{found:?}"));
            }
        }
        Ok(all)
    })
    .unwrap()
}

/// `undone_from`: the round from which on some are to be undone.
fn end_as_if_one_by_one(kind: Kind, writers: usize, seed: u64, undone_from: u128) {
    let (shared, oracle) = (kind.empty_store(), Kind::Sqlite.empty_store());
    let config = StoreConfig {
        connections: 2 * u16::try_from(writers).unwrap(),
        ..config(shared.url.clone(), clock())
    };
    let store = BatchedStore::open(config).unwrap();
    prepare(&store);
    prepare(&oracle);
    let (mut numbers, mut committed) = (Numbers(Random::new(seed)), 0);
    for round in 0..25 {
        let script = |number| numbers.script(1_000 + round * 100 + number);
        let mut scripts: Vec<Script> = (0..40).map(script).collect();
        scripts.iter_mut().for_each(|script| script.fails &= round >= undone_from);
        let mut played: Vec<_> = play_together(&store, writers, &scripts).into_iter().zip(&scripts).collect();
        played.sort_by_key(|((when, _), _)| *when);
        for ((_, ending), script) in played {
            if ending == Err(StoreError::Busy) {
                continue;
            }
            let script_again = script.clone();
            let expected = transact(&oracle, Access::Write, move |unit| play(unit, &script_again));
            assert_eq!(ending, expected, "seed {seed}, round {round}: {script:?}");
            committed += usize::from(ending.is_ok());
        }
        assert_eq!(everything(&store), everything(&oracle), "seed {seed}, round {round}");
    }
    assert!(committed > 500, "most of them are done: {committed}");
}

#[test]
fn with_one_writer() {
    (0..4).for_each(|seed| end_as_if_one_by_one(Kind::Postgres, 1, seed, 0));
}

#[test]
fn with_writers_that_are_in_each_others_way() {
    (4..8).for_each(|seed| end_as_if_one_by_one(Kind::Postgres, 3, seed, 0));
}

#[test]
fn on_sqlite() {
    (8..12).for_each(|seed| end_as_if_one_by_one(Kind::Sqlite, 1, seed, 12));
}

/// Each sees one state, whatever runs beside it.
#[test]
fn concurrent_readers_get_the_results_of_single_ones() {
    let postgres = Kind::Postgres.empty_store();
    let config = StoreConfig { connections: 2, ..config(postgres.url.clone(), clock()) };
    let store = BatchedStore::open(config).unwrap();
    prepare(&store);
    let add = |number: u128| {
        write(&store, move |unit| unit.employees().insert(PARTNER, &employee(number))).unwrap();
    };
    (0..30).for_each(add);
    // Two employees with two cards each, that of the later issue linked first.
    let holders = [0_u128, 1, 1, 0];
    for (number, employee) in [3, 2, 1, 0].into_iter().zip(holders) {
        let link = CardLink { employee: Uuid::from_u128(employee).into(), status: CardStatus::Additional };
        write(&store, move |unit| {
            let card = unit.cards().get(PARTNER, card(PARTNER, number))?.unwrap().card;
            unit.cards()
                .set_link(PARTNER, &Card::from_stored(CardFields { link: Some(link), ..card.into_fields() }))
        })
        .unwrap();
    }
    let (release, told) = mpsc::channel::<()>();
    let told = Mutex::new(told);
    let hold = move |_: &mut dyn UnitOfWork| {
        let _ = told.lock().unwrap().recv();
        Ok::<_, StoreError>(())
    };
    submit(&store, Access::Read, hold, |_| ());
    let ask = |partner: PartnerId, number: u128| {
        let (sender, receiver) = mpsc::channel();
        let id: EmployeeId = Uuid::from_u128(number).into();
        let body = move |unit: &mut dyn UnitOfWork| {
            let found = unit.employees().get(partner, id)?.map(|one| one.id());
            let cards: Vec<_> =
                unit.cards().of_employee(partner, id)?.into_iter().map(|(id, _)| id).collect();
            // Past the memory.
            Ok::<_, StoreError>((found, cards, unit.cards().main_card(partner, id)?))
        };
        submit(&store, Access::Read, body, move |result| sender.send(result).unwrap());
        receiver
    };
    let asked: Vec<_> = (0..60).map(|number| (number, ask(PARTNER, number), ask(OTHER, number))).collect();
    drop(release);
    for (number, own, others) in asked {
        let there = (number < 30).then(|| Uuid::from_u128(number).into());
        let held = (0..).zip(holders).filter(|(_, holder)| *holder == number);
        let held = held.map(|(number, _)| card(PARTNER, number)).collect();
        assert_eq!(own.recv().unwrap(), Ok((there, held, None)));
        assert_eq!(
            others.recv().unwrap(),
            Ok((None, Vec::new(), None)),
            "another partner's are not to be seen"
        );
    }
}
