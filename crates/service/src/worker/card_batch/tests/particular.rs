//! Rules that only some kinds have.

use kopeck_port_store::mock::InPlaceStore;
use kopeck_port_system::Clock;

use super::*;
use crate::worker::{Worker, WorkerSettings};

#[test]
fn a_new_batch_is_started() {
    let mut unit = MockUnit::default();
    stored_batch::<LimitChanges>(&mut unit, S::New, 2);
    expect_state::<LimitChanges>(&mut unit, S::InProcess);
    open_items_are(&mut unit, open_limit_items(2));
    let task = run_prepare::<LimitChanges>(&mut unit).unwrap().unwrap();
    assert_eq!(task.items, open_limit_items(2));
}

/// Nothing is held, and the bank is not called: the job is done with the taking of it.
#[test]
fn a_batch_of_which_nothing_is_covered_is_declined_at_once() {
    let mut unit = MockUnit::default();
    stored_batch::<TopUps>(&mut unit, S::New, 2);
    unit.replenishments.expect_items().returning(|_, _, _, _| Ok(sample_items(2)));
    unit.ledger.expect_sheet().returning(|_| Ok(Some(sheet(99, 0))));
    unit.runs.expect_of_replenishment().returning(|_, _| Ok(None));
    let uncovered = ItemState::Refused(TopUpRefusal::NotEnoughBalance);
    expect_settled::<TopUps>(&mut unit, vec![(0, uncovered), (1, uncovered)]);
    expect_state::<TopUps>(&mut unit, S::InProcess);
    open_items_are::<TopUps>(&mut unit, vec![]);
    counts_are::<TopUps>(&mut unit, 0, 0, 2);
    expect_concluded::<TopUps>(&mut unit, S::Decline);
    unit.jobs
        .expect_complete()
        .withf(|claim| *claim == batch_claim::<TopUps>())
        .times(1)
        .returning(|_| Ok(()));
    assert!(run_prepare::<TopUps>(&mut unit).unwrap().is_none());
}

fn expect_sheet(unit: &mut MockUnit, spent: i64) {
    unit.ledger.expect_sheet().returning(move |_| Ok(Some(spent_sheet(spent))));
}

/// What the ledger can book is booked, and nothing of the verdict on the other card is lost: the bank has it under its key.
#[test]
fn a_return_beyond_the_spending_is_left_to_a_person() {
    let found = || vec![Ok(Withdrawals::DONE), Ok(Withdrawals::DONE)];
    for (cards, next) in [(2, Next::LeaveToPerson), (3, Next::Later { may_have_sent: true })] {
        let mut unit = MockUnit::default();
        expect_sheet(&mut unit, RETURNED.get() * 2 - 1);
        stored_batch::<Withdrawals>(&mut unit, S::InProcess, cards);
        expect_settled::<Withdrawals>(&mut unit, vec![(0, ItemState::Returned(RETURNED))]);
        unit.withdrawals
            .expect_add_returned()
            .withf(|_, _, amount| *amount == RETURNED)
            .times(1)
            .returning(|_, _, _| Ok(()));
        unit.ledger.expect_book().times(1).returning(|_, _, _, _| Ok(()));
        unit.cards.expect_outdate_bank_view().returning(|_, _, _| Ok(()));
        assert_eq!(
            run_settle::<Withdrawals>(&mut unit, &verdicts(Strategy::Send, found())),
            Ok(next),
            "{cards}"
        );
    }
}

/// The event of the end of a batch comes before those of its cards.
#[test]
fn the_end_of_a_batch_is_the_first_event() {
    let mut unit = MockUnit::default();
    stored_batch::<Withdrawals>(&mut unit, S::InProcess, 1);
    expect_settled::<Withdrawals>(&mut unit, vec![(0, ItemState::Returned(RETURNED))]);
    Withdrawals::expect_applied(&mut unit, &[0], &[]);
    counts_are::<Withdrawals>(&mut unit, 0, 1, 0);
    expect_concluded::<Withdrawals>(&mut unit, S::Success);
    let verdicts = verdicts(Strategy::Send, vec![Ok(Withdrawals::DONE)]);
    assert_eq!(run_settle::<Withdrawals>(&mut unit, &verdicts), Ok(Next::Finished));
    let types: Vec<_> = unit.events.data().iter().map(|data| data.event_type()).collect();
    assert_eq!(types, [EventType::WithdrawalStatus, EventType::BalanceReturned]);
}

/// It stays new, and its job is due again soon, without a failure.
#[test]
fn an_urgent_closing_waits_for_a_batch_that_has_its_card() {
    let mut unit = MockUnit::default();
    let closing = batch::<Closings>(S::New, 1).into_fields();
    let closing = CardBatch::from_stored(BatchFields { terms: ClosingTerms { is_urgent: true }, ..closing });
    unit.closings.expect_get().returning(move |_, _| Ok(Some(closing.clone())));
    unit.closings.expect_items().returning(|_, _, _, _| Ok(sample_items(1)));
    unit.closings.expect_targets().returning(|_, _| {
        Ok(vec![BatchTarget {
            card: card_id(0),
            number: number(0),
            status: None,
            standing: Standing::Open,
            valid_until: LAST_DAY,
            claims: CardClaims { money: true, urgent: true, limits: false },
        }])
    });
    unit.jobs
        .expect_reschedule()
        .withf(|claim, terms| {
            *claim == batch_claim::<Closings>()
                && !terms.may_have_sent
                && terms.failures == 0
                && terms.delay > Duration::ZERO
        })
        .times(1)
        .returning(|_, _| Ok(()));
    assert!(run_prepare::<Closings>(&mut unit).unwrap().is_none());
}

/// Each card adds a movement, so few are settled at a time.
#[test]
fn cards_that_give_money_back_are_sent_in_small_chunks() {
    let policy = SubmissionPolicy { chunk: 1_000, ..POLICY };
    let mut unit = MockUnit::default();
    unit.closings
        .expect_unsent_items()
        .withf(|_, _, limit| *limit == Closings::CHUNK)
        .times(1)
        .returning(|_, _, _| Ok(sample_items(3)));
    unit.closings.expect_mark_sent().times(1).returning(|_, _, _, _| Ok(()));
    assert_eq!(gathered::<Closings>(&mut unit, &batch_claim::<Closings>(), policy).1, [0, 1, 2]);
}

/// Each card is sent before any is queried, and what the bank has not decided is not sent again.
#[test]
fn a_card_without_a_verdict_for_days_holds_up_no_other() {
    let (mut unit, _) = marked::<Closings>(&[]);
    for expected in [
        (Strategy::SendOnce, vec![0, 1]),
        (Strategy::SendOnce, vec![2]),
        (Strategy::QueryThenSend, vec![0, 1, 2]),
    ] {
        assert_eq!(gathered::<Closings>(&mut unit, &batch_claim::<Closings>(), POLICY), expected);
    }
    let mut bank = MockBankGateway::default();
    let known = vec![Some(Verdict::Pending), Some(Closings::DONE), None];
    expect_query::<Closings>(&mut bank, &[0, 1, 2], Ok(known));
    expect_submit::<Closings>(&mut bank, &[2], vec![Ok(Closings::DONE)]);
    let task = BatchTask { is_rest: true, ..task::<Closings>(3, Strategy::QueryThenSend) };
    let verdicts = task.call(&bank, NO_BLOCKS);
    let mut unit = MockUnit::default();
    expect_sheet(&mut unit, 500);
    stored_batch::<Closings>(&mut unit, S::InProcess, 5);
    let done = ItemState::Returned(RETURNED);
    expect_settled::<Closings>(&mut unit, vec![(1, done), (2, done)]);
    Closings::expect_applied(&mut unit, &[1, 2], &[]);
    assert_eq!(run_settle::<Closings>(&mut unit, &verdicts), Ok(Next::Later { may_have_sent: true }));
}

/// What is settled at a time is bounded after a query too.
#[test]
fn of_many_verdicts_a_chunk_is_booked() {
    let count = Closings::CHUNK + 2;
    let mut bank = MockBankGateway::default();
    bank.expect_query().times(1).returning(|keys| {
        let known = |at| Some(if at == 0 { Verdict::Pending } else { Closings::DONE });
        Ok((0..keys.len()).map(known).collect())
    });
    let task = BatchTask { is_rest: true, ..task::<Closings>(count, Strategy::QueryThenSend) };
    let verdicts = task.call(&bank, NO_BLOCKS);
    assert_eq!(verdicts.items.len(), usize::try_from(count - 1).unwrap());
    assert_eq!(verdicts.rest, Remaining::Verdicts);
    let missing = vec![(&verdicts.items[0].0, NoVerdict::Pending)];
    let next =
        next_without_verdict(&mut MockUnit::default(), &batch_claim::<Closings>(), &verdicts, &missing, true);
    assert_eq!(next, Ok(Some(Next::GoOn)));
}

/// Of three withdrawals, two at a time, the bank decides none. All are sent and queried before any time passes.
#[test]
fn pending_cards_do_not_delay_those_that_are_not_sent() {
    let (bench, (mut unit, _)) = (Bench::new(), marked::<Withdrawals>(&[]));
    unit.withdrawals.expect_get().returning(|_, _| Ok(Some(batch(S::InProcess, 3))));
    unit.withdrawals.expect_settle_items().returning(|_, _, decided| {
        assert!(decided.is_empty());
        Ok(())
    });
    let due_at = Arc::new(Mutex::new(Duration::ZERO));
    let (clock, due) = (Arc::clone(&bench.clock), Arc::clone(&due_at));
    unit.jobs.expect_claim().returning(move |_, _| {
        let is_due = clock.steady() >= *due.lock().unwrap();
        Ok(is_due.then(batch_claim::<Withdrawals>).into_iter().collect())
    });
    unit.jobs.expect_is_current().returning(|_| Ok(true));
    let (clock, due) = (Arc::clone(&bench.clock), Arc::clone(&due_at));
    unit.jobs.expect_reschedule().returning(move |_, terms| {
        *due.lock().unwrap() = clock.steady() + terms.delay;
        Ok(())
    });
    let mut bank = MockBankGateway::new();
    bank.expect_repeat_is_safe().return_const(true);
    let pending = vec![Ok(Verdict::Pending); 2];
    expect_submit::<Withdrawals>(&mut bank, &[0, 1], pending.clone());
    expect_submit::<Withdrawals>(&mut bank, &[2], pending[..1].to_vec());
    expect_query::<Withdrawals>(&mut bank, &[0, 1, 2], Ok(vec![Some(Verdict::Pending); 3]));
    let settings = WorkerSettings { chunk: 2, ..WorkerSettings::default() };
    let worker = Worker::new(Arc::new(InPlaceStore::new(unit)), Arc::new(bank), bench.shared(), settings);
    while worker.run_once(&|| false).unwrap() > 0 {}
    assert!(*due_at.lock().unwrap() > Duration::ZERO, "the query comes again, later");
}
