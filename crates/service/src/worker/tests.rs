//! The steps from end to end: what is taken, called, settled, and how work is put back.

use std::cell::Cell;
use std::sync::{Barrier, Mutex, OnceLock};

use super::*;
use crate::testing::*;
use kopeck_domain::card::CardType;
use kopeck_domain::card_batch::{BatchState as S, ItemState};
use kopeck_domain::ledger::{MovementKind, Reference};
use kopeck_domain::order::OrderState;
use kopeck_port_bank::{BankError, DeclineReason, IssuedCard, MockBankGateway, Verdict};
use kopeck_port_store::ItemCounts;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};

/// A bank that does once what it is sent twice, and expects nothing else yet.
fn bank() -> MockBankGateway {
    let mut bank = MockBankGateway::new();
    bank.expect_repeat_is_safe().return_const(true);
    bank
}

fn worker(bench: &Bench, unit: MockUnit, bank: MockBankGateway) -> Worker {
    let settings = WorkerSettings { chunk: 2, ..WorkerSettings::default() };
    Worker::new(Arc::new(InPlaceStore::new(unit)), Arc::new(bank), bench.shared(), settings)
}

fn top_up_claim() -> Claim {
    claim(Subject::Replenishment(replenishment_id(1)))
}

/// `claims` are due once.
fn due(unit: &mut MockUnit, claims: Vec<Claim>) {
    unit.jobs
        .expect_claim()
        .withf(|lease, limit| (*lease, *limit) == (Duration::seconds(30), 4))
        .times(1)
        .returning(move |_, _| Ok(claims.clone()));
}

/// A replenishment that is in process, with these amounts still open.
fn in_process(unit: &mut MockUnit, amounts: &'static [i64]) {
    unit.cards.expect_blocked().returning(|_, _| Ok(Vec::new()));
    unit.replenishments.expect_get().returning(move |_, _| Ok(Some(replenishment(S::InProcess, amounts))));
    unit.replenishments.expect_open_items().returning(move |_, _, limit| {
        let limit = usize::try_from(limit).unwrap();
        Ok(open_items(amounts).into_iter().take(limit).collect())
    });
}

fn current(unit: &mut MockUnit, claim: &Claim, is_current: bool) {
    let claim = claim.clone();
    unit.jobs
        .expect_is_current()
        .withf(move |asked| *asked == claim)
        .times(1)
        .returning(move |_| Ok(is_current));
}

fn expect_reschedule(unit: &mut MockUnit, claim: &Claim, terms: Reschedule) {
    let claim = claim.clone();
    unit.jobs
        .expect_reschedule()
        .withf(move |given, as_given| *given == claim && *as_given == terms)
        .times(1)
        .returning(|_, _| Ok(()));
}

fn answering(answers: Vec<Result<Verdict, BankError>>) -> MockBankGateway {
    let mut bank = bank();
    bank.expect_submit().times(1).returning(move |_| answers.clone());
    bank
}

/// Says from a certain question on that the worker has to stop: it asks before it takes anything, then before each request.
fn stopping_from(question: u32) -> impl Fn() -> bool {
    let asked = Cell::new(0);
    move || {
        asked.set(asked.get() + 1);
        asked.get() >= question
    }
}

fn run(worker: &Worker) -> Result<usize, StoreError> {
    worker.run_once(&|| false)
}

#[test]
fn a_decided_request_is_finished() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    due(&mut unit, vec![top_up_claim()]);
    in_process(&mut unit, &[300]);
    current(&mut unit, &top_up_claim(), true);
    unit.replenishments
        .expect_settle_items()
        .withf(|_, _, decided| *decided == [(0, ItemState::Done)])
        .times(1)
        .returning(|_, _, _| Ok(()));
    let reference = Reference::Replenishment(replenishment_id(1));
    expect_booking(&mut unit, sheet(0, 300), MovementKind::Capture, reference, 300);
    unit.cards
        .expect_outdate_bank_view()
        .withf(|_, cards, _| *cards == [card_id(0)])
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.replenishments.expect_counts().returning(|_, _| Ok(ItemCounts { open: 0, done: 1, refused: 0 }));
    unit.replenishments
        .expect_set_state()
        .withf(|_, request| request.state() == S::Success)
        .times(1)
        .returning(|_, _| Ok(()));
    unit.replenishments.expect_release_cards().times(1).returning(|_, _| Ok(()));
    unit.jobs.expect_complete().withf(|claim| *claim == top_up_claim()).times(1).returning(|_| Ok(()));
    assert_eq!(run(&worker(&bench, unit, answering(vec![Ok(Verdict::Done)]))), Ok(1));
}

/// A chunk that is settled leaves nothing that may have been sent.
#[test]
fn a_chunk_with_more_behind_it_is_due_again_at_once() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let before = Claim { may_have_sent: true, failures: 4, ..top_up_claim() };
    due(&mut unit, vec![before.clone()]);
    in_process(&mut unit, &[300, 200, 100]);
    current(&mut unit, &before, true);
    unit.replenishments.expect_settle_items().times(1).returning(|_, _, _| Ok(()));
    let reference = Reference::Replenishment(replenishment_id(1));
    expect_booking(&mut unit, sheet(0, 600), MovementKind::Release, reference, 500);
    expect_reschedule(
        &mut unit,
        &before,
        Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false },
    );
    let mut bank = bank();
    let refused = Some(Verdict::Declined(DeclineReason::Refused));
    bank.expect_query().withf(|keys| keys.len() == 2).times(1).returning(move |_| Ok(vec![refused; 2]));
    assert_eq!(run(&worker(&bench, unit, bank)), Ok(1));
}

#[test]
fn silence_keeps_the_money_held_and_the_work_waiting_longer_each_time() {
    let waits = [250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000];
    for (failures, wait) in (0..).zip(waits).chain([(u32::MAX, 10_000)]) {
        for silence in [BankError::Unknown("timeout".to_owned()), BankError::Unavailable("down".to_owned())] {
            let (bench, mut unit) = (Bench::new(), MockUnit::default());
            let before = Claim { failures, ..top_up_claim() };
            due(&mut unit, vec![before.clone()]);
            in_process(&mut unit, &[300]);
            current(&mut unit, &before, true);
            unit.replenishments
                .expect_settle_items()
                .withf(|_, _, decided| decided.is_empty())
                .times(1)
                .returning(|_, _, _| Ok(()));
            let terms = Reschedule {
                delay: Duration::milliseconds(wait),
                failures: failures.saturating_add(1),
                may_have_sent: matches!(silence, BankError::Unknown(_)),
            };
            expect_reschedule(&mut unit, &before, terms);
            assert_eq!(run(&worker(&bench, unit, answering(vec![Err(silence)]))), Ok(1));
        }
    }
}

/// Another worker has the job: whatever the bank responded, nothing is booked or rescheduled.
#[test]
fn a_worker_that_lost_its_lease_books_nothing() {
    let order_claim = claim(Subject::Order(order_id(1)));
    for claim in [top_up_claim(), order_claim] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        due(&mut unit, vec![claim.clone()]);
        in_process(&mut unit, &[300]);
        unit.orders.expect_get().returning(|_, _| Ok(Some(order(OrderState::InProcess, 1, 5_000))));
        unit.orders.expect_stored_cards().returning(|_, _| Ok(0));
        unit.orders.expect_lines().returning(|_, _| Ok(vec![virtual_line(1, 5_000)]));
        current(&mut unit, &claim, false);
        let bank = answering(vec![Ok(Verdict::Declined(DeclineReason::Refused))]);
        assert_eq!(run(&worker(&bench, unit, bank)), Ok(1));
    }
}

/// Each task goes to its own kind of work, from the taking to the settling.
#[test]
fn an_order_that_the_bank_refuses_is_declined_and_finished() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let claim = claim(Subject::Order(order_id(1)));
    due(&mut unit, vec![claim.clone()]);
    unit.orders.expect_get().returning(|_, _| Ok(Some(order(OrderState::InProcess, 1, 5_000))));
    unit.orders.expect_stored_cards().returning(|_, _| Ok(0));
    unit.orders.expect_lines().returning(|_, _| Ok(vec![virtual_line(1, 5_000)]));
    current(&mut unit, &claim, true);
    expect_booking(&mut unit, sheet(0, 5_000), MovementKind::Release, Reference::Order(order_id(1)), 5_000);
    unit.orders
        .expect_set_state()
        .withf(|_, order| order.state() == OrderState::Decline)
        .times(1)
        .returning(|_, _| Ok(()));
    unit.jobs.expect_complete().withf(move |finished| *finished == claim).times(1).returning(|_| Ok(()));
    let bank = answering(vec![Ok(Verdict::Declined(DeclineReason::Refused))]);
    assert_eq!(run(&worker(&bench, unit, bank)), Ok(1));
}

#[test]
fn a_limit_change_goes_from_the_taking_to_the_settling() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let claim = claim(Subject::LimitChange(limit_change_id(1)));
    due(&mut unit, vec![claim.clone()]);
    unit.limit_changes.expect_get().times(2).returning(|_, _| Ok(Some(limit_change(S::InProcess))));
    unit.limit_changes.expect_open_items().returning(|_, _, _| Ok(open_limit_items(2)));
    current(&mut unit, &claim, true);
    unit.limit_changes.expect_settle_items().times(1).returning(|_, _, _| Ok(()));
    unit.cards.expect_set_limit().times(1).returning(|_, _, _| Ok(()));
    unit.limit_changes.expect_counts().returning(|_, _| Ok(ItemCounts { open: 0, done: 2, refused: 0 }));
    unit.limit_changes
        .expect_set_state()
        .withf(|_, request| request.state() == S::Success)
        .times(1)
        .returning(|_, _| Ok(()));
    unit.limit_changes.expect_release_cards().times(1).returning(|_, _| Ok(()));
    unit.jobs.expect_complete().withf(move |finished| *finished == claim).times(1).returning(|_| Ok(()));
    let bank = answering(vec![Ok(Verdict::Done); 2]);
    assert_eq!(run(&worker(&bench, unit, bank)), Ok(1));
}

/// What is settled with the taking is no task; the rest of the batch goes on.
#[test]
fn cancelled_work_is_taken_off_and_the_bank_not_called() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    due(&mut unit, vec![claim(Subject::Order(order_id(1)))]);
    unit.orders.expect_get().returning(|_, _| Ok(Some(order(OrderState::Rejected, 1, 5_000))));
    unit.jobs.expect_complete().times(1).returning(|_| Ok(()));
    assert_eq!(run(&worker(&bench, unit, bank())), Ok(0));
}

#[test]
fn without_due_jobs_there_is_no_work() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    due(&mut unit, vec![]);
    assert_eq!(run(&worker(&bench, unit, bank())), Ok(0));
}

/// A claim that says something may have been sent goes back saying so, though this worker sent nothing.
#[test]
fn a_returned_job_is_as_it_was_taken() {
    for may_have_sent in [false, true] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let before = Claim { may_have_sent, failures: 3, ..top_up_claim() };
        due(&mut unit, vec![before.clone()]);
        in_process(&mut unit, &[300]);
        expect_reschedule(
            &mut unit,
            &before,
            Reschedule { delay: Duration::ZERO, failures: 3, may_have_sent },
        );
        let worker = worker(&bench, unit, bank());
        assert_eq!(worker.run_once(&stopping_from(2)), Ok(1), "the bank is not called");
    }
}

#[test]
fn a_stop_in_the_middle_releases_only_the_rest() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let second = claim(Subject::Replenishment(replenishment_id(2)));
    due(&mut unit, vec![top_up_claim(), second.clone()]);
    in_process(&mut unit, &[300]);
    current(&mut unit, &top_up_claim(), false);
    expect_reschedule(
        &mut unit,
        &second,
        Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false },
    );
    let worker = worker(&bench, unit, answering(vec![Ok(Verdict::Done)]));
    assert_eq!(worker.run_once(&stopping_from(3)), Ok(2));
}

#[test]
fn a_worker_that_is_to_stop_takes_nothing() {
    let worker = worker(&Bench::new(), MockUnit::default(), bank());
    assert_eq!(worker.run_once(&|| true), Ok(0));
}

/// Each of two workers has its request answered only when both have called.
#[test]
fn a_slow_bank_is_waited_for_by_all_workers_at_once() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let requests = Mutex::new(1..=2);
    unit.jobs.expect_claim().times(2).returning(move |_, _| {
        let number = requests.lock().unwrap().next().unwrap();
        Ok(vec![claim(Subject::Replenishment(replenishment_id(number)))])
    });
    in_process(&mut unit, &[300]);
    unit.jobs.expect_is_current().times(2).returning(|_| Ok(false));
    let (mut bank, both) = (bank(), Arc::new(Barrier::new(2)));
    // An expectation is met by one request at a time.
    for _ in 0..2 {
        let both = Arc::clone(&both);
        bank.expect_submit().times(1).returning(move |_| {
            both.wait();
            vec![Ok(Verdict::Done)]
        });
    }
    let worker = worker(&bench, unit, bank);
    std::thread::scope(|scope| {
        let workers = [scope.spawn(|| run(&worker)), scope.spawn(|| run(&worker))];
        assert_eq!(workers.map(|worker| worker.join().unwrap()), [Ok(1), Ok(1)]);
    });
}

#[test]
fn a_store_that_fails_ends_the_round() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.jobs.expect_claim().returning(|_, _| Err(broken()));
    assert_eq!(run(&worker(&bench, unit, bank())), Err(broken()));

    let mut unit = MockUnit::default();
    due(&mut unit, vec![top_up_claim()]);
    in_process(&mut unit, &[300]);
    unit.jobs.expect_is_current().returning(|_| Err(broken()));
    let bank = answering(vec![Ok(Verdict::Done)]);
    assert_eq!(run(&worker(&bench, unit, bank)), Err(broken()));
}

/// A request that cannot be read back does not hold up the one behind it.
#[test]
fn a_corrupt_request_is_put_off_and_the_others_go_on() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let corrupt = Claim { failures: 2, ..claim(Subject::Order(order_id(1))) };
    let good = top_up_claim();
    // The whole batch fails, then the corrupt one alone; it is claimed once more to be put off.
    let offered =
        [vec![corrupt.clone(), good.clone()], vec![corrupt.clone()], vec![corrupt.clone()], vec![good]];
    let offers = Mutex::new(offered.into_iter());
    let next = move |_, _| Ok(offers.lock().unwrap().next().unwrap_or_default());
    unit.jobs.expect_claim().returning(next);
    unit.orders.expect_get().returning(|_, _| Err(StoreError::Corrupt("orders.state".to_owned())));
    in_process(&mut unit, &[300]);
    let terms = Reschedule { delay: Duration::seconds(1), failures: 3, may_have_sent: false };
    expect_reschedule(&mut unit, &corrupt, terms);
    let taken = worker(&bench, unit, bank()).take().unwrap();
    assert_eq!(taken.iter().map(|task| task.lease.claim.clone()).collect::<Vec<_>>(), [top_up_claim()]);
}

/// Another worker may have it by now, and may be submitting it at this moment.
#[test]
fn a_job_whose_lease_ended_in_the_queue_is_not_sent_to_the_bank() {
    let (bench, mut unit) = (Arc::new(Bench::new()), MockUnit::default());
    let second = claim(Subject::Replenishment(replenishment_id(2)));
    due(&mut unit, vec![top_up_claim(), second.clone()]);
    expect_reschedule(
        &mut unit,
        &second,
        Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false },
    );
    in_process(&mut unit, &[300]);
    current(&mut unit, &top_up_claim(), false);
    let mut bank = bank();
    let clock = Arc::clone(&bench);
    bank.expect_submit().times(1).returning(move |_| {
        clock.clock.advance(Duration::seconds(30));
        vec![Ok(Verdict::Done)]
    });
    assert_eq!(run(&worker(&bench, unit, bank)), Ok(2));
}

/// A clock that jumps over the lease of a request in flight: another worker of this process claims the work, leaves it
/// to the one that is calling, and that one settles under the new claim.
#[test]
fn a_call_in_flight_is_not_taken_over_within_the_process() {
    let (bench, mut unit) = (Arc::new(Bench::new()), MockUnit::default());
    let renewed = Claim { attempt: 2, may_have_sent: true, ..top_up_claim() };
    let offers = Mutex::new([vec![top_up_claim()], vec![renewed.clone()]].into_iter());
    unit.jobs.expect_claim().times(2).returning(move |_, _| Ok(offers.lock().unwrap().next().unwrap()));
    in_process(&mut unit, &[300]);
    current(&mut unit, &renewed, true);
    unit.replenishments.expect_settle_items().times(1).returning(|_, _, _| Ok(()));
    let terms = Reschedule { delay: Duration::milliseconds(250), failures: 1, may_have_sent: true };
    expect_reschedule(&mut unit, &renewed, terms);

    let calling: Arc<OnceLock<Arc<Worker>>> = Arc::default();
    let mut bank = bank();
    let (other, clock) = (Arc::clone(&calling), Arc::clone(&bench));
    bank.expect_submit().times(1).returning(move |_| {
        clock.clock.advance(Duration::hours(1));
        assert_eq!(run(other.get().unwrap()), Ok(0), "the other worker has nothing to do");
        vec![Err(BankError::Unknown("timeout".to_owned()))]
    });
    let worker = calling.get_or_init(|| Arc::new(worker(&bench, unit, bank)));
    assert_eq!(run(worker), Ok(1));
    assert!(worker.in_flight.subjects().is_empty());
}

/// As does one whose lease was renewed before its turn came.
#[test]
fn work_that_waits_for_its_turn_is_kept_too() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let renewed = Claim { attempt: 2, may_have_sent: true, ..top_up_claim() };
    let offers = Mutex::new([vec![top_up_claim()], vec![renewed.clone()]].into_iter());
    unit.jobs.expect_claim().times(2).returning(move |_, _| Ok(offers.lock().unwrap().next().unwrap()));
    in_process(&mut unit, &[300]);
    // Nothing was sent under either of the claims.
    expect_reschedule(
        &mut unit,
        &renewed,
        Reschedule { delay: Duration::ZERO, failures: 0, may_have_sent: false },
    );
    let worker = worker(&bench, unit, bank());
    let task = worker.take().unwrap().pop().unwrap();
    assert!(worker.take().unwrap().is_empty());
    worker.give_back(task).unwrap();
}

/// A worker that ended in the middle keeps nothing in flight.
#[test]
fn a_dropped_job_is_taken_again() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.jobs.expect_claim().times(2).returning(|_, _| Ok(vec![top_up_claim()]));
    in_process(&mut unit, &[300]);
    let worker = worker(&bench, unit, bank());
    drop(worker.take().unwrap());
    assert_eq!(worker.take().unwrap().len(), 1);
}

/// The transaction that met the taken number books nothing; a second one leaves the order to a person.
#[test]
fn a_card_number_that_is_taken_is_left_to_a_person() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let claim = Claim { may_have_sent: true, failures: 1, ..claim(Subject::Order(order_id(1))) };
    due(&mut unit, vec![claim.clone()]);
    unit.orders.expect_get().returning(|_, _| Ok(Some(order(OrderState::InProcess, 1, 5_000))));
    unit.orders.expect_stored_cards().returning(|_, _| Ok(0));
    unit.orders.expect_lines().returning(|_, _| Ok(vec![virtual_line(1, 5_000)]));
    unit.cards.expect_insert_issued().times(1).returning(|_, _| Err(StoreError::Conflict(Rule::CardNumber)));
    unit.jobs.expect_is_current().times(2).returning(|_| Ok(true));
    unit.jobs.expect_mark_stuck().times(1).returning(|_| Ok(()));
    let terms = Reschedule { delay: Duration::milliseconds(500), failures: 2, may_have_sent: true };
    expect_reschedule(&mut unit, &claim, terms);
    let mut bank = bank();
    bank.expect_query().returning(|_| Ok(vec![Some(Verdict::Done)]));
    bank.expect_issued_cards().returning(|_, _, _| {
        Ok(vec![IssuedCard {
            number: number(1),
            kind: CardType::Mlz,
            valid_until: LAST_DAY,
            activation_code: None,
            code_valid_until: None,
            first_top_up: Some(kopecks(5_000)),
            remaining_top_up: kopecks(0),
            activated_at: None,
            issued_at: START,
        }])
    });
    assert_eq!(worker(&bench, unit, bank).run_once(&|| false), Ok(1));
}
