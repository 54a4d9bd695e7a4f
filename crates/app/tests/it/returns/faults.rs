//! A bank that fails, forgets, or returns money that was never spent.

use super::*;

/// Lost answers, failures and slow verdicts: what came back is booked once, to the kopeck.
#[tokio::test]
async fn a_bank_that_loses_responses_returns_each_kopeck_once() {
    let (server, api) = start(100_000).await;
    let cards = loaded(&server, &api, &[1_000; 8]).await;
    let faults = BankFaults { error_rate: 0.3, lose_answer_rate: 0.5, ..BankFaults::default() };
    server.bank.inject_faults(faults).unwrap();
    let (taken, closed) = cards.split_at(4);
    let withdrawal =
        WITHDRAWAL.create(&api, &taken.iter().map(|card| take(&card.id, 250)).collect::<Vec<_>>()).await;
    let closing =
        CLOSING.create(&api, &closed.iter().map(|card| close(&card.id, "OTHER")).collect::<Vec<_>>()).await;
    for _ in 0..20 {
        server.clock.advance(Duration::seconds(10));
        server.work_now();
    }
    server.bank.inject_faults(BankFaults::default()).unwrap();
    server.run_jobs();
    assert_eq!(WITHDRAWAL.state(&api, &withdrawal).await, "SUCCESS");
    assert_eq!(CLOSING.state(&api, &closing).await, "SUCCESS");
    api.expect_money(92_000 + 1_000 + 4_000, 0).await;
    for request in [format!("withdrawal/{withdrawal}"), format!("closing/{closing}")] {
        for ordinal in 0..4 {
            let key = BankKey::new(format!("{request}/{ordinal}")).unwrap();
            assert_eq!(server.bank.applied(&key).unwrap(), 1, "{key:?}");
        }
    }
    assert_eq!(server.check(), 0);
}

/// Runs a worker at a bank that must not be sent anything twice, carries out what it is sent, and knows none of it.
fn work_with_amnesia(server: &TestServer) {
    let bank = FakeBank::over(Arc::clone(&server.bank) as _)
        .repeat_is_safe(false)
        .on_submit(|bank, submissions: &[Submission]| {
            bank.submit(submissions);
            submissions.iter().map(|_| Err(BankError::Unknown("lost".to_owned()))).collect()
        })
        .on_query(|_, keys| Ok(vec![None; keys.len()]));
    let env = Arc::clone(&server.application.env);
    let worker = Worker::new(server.application.store(), Arc::new(bank), env, WorkerSettings::default());
    for _ in 0..5 {
        server.clock.advance(Duration::seconds(10));
        while worker.run_once(&|| false).unwrap() > 0 {}
    }
}

fn settle(
    server: &TestServer,
    request: &str,
    outcome: StuckOutcome,
    card: Option<&str>,
) -> Result<usize, StuckError> {
    let (env, request) = (Arc::clone(&server.application.env), Uuid::parse_str(request).unwrap());
    let card = card.map(|card| CardId::new(Uuid::parse_str(card).unwrap()));
    transact(&*server.application.store, Access::Write, move |unit| {
        stuck::settle(unit, &env, request, outcome, card)
    })
}

/// A bank that does twice what it is sent twice is sent each card once; a person says what came back.
#[tokio::test]
async fn an_operator_settles_a_return_that_the_bank_lost() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000, 2_000]).await;
    let id = CLOSING.create(&api, &[close(&cards[0].id, "OTHER"), close(&cards[1].id, "OTHER")]).await;
    work_with_amnesia(&server);
    assert_eq!(CLOSING.state(&api, &id).await, "IN_PROCESS");
    api.expect_money(7_000, 0).await;
    let returned = |amount| StuckOutcome::Returned(Kopecks::new(amount));
    let (first, second) = (Some(cards[0].id.as_str()), Some(cards[1].id.as_str()));
    assert_eq!(settle(&server, &id, StuckOutcome::Applied, first), Err(StuckError::AmountNeeded));
    assert_eq!(settle(&server, &id, returned(1_000), None), Err(StuckError::AmountNeeded));
    assert_eq!(settle(&server, &id, returned(3_001), first), Err(StuckError::MoreThanSpent(3_000)));
    assert_eq!(settle(&server, &id, returned(1_000), first), Ok(1));
    assert_eq!(CLOSING.state(&api, &id).await, "IN_PROCESS");
    api.expect_money(8_000, 0).await;
    assert_eq!(settle(&server, &id, returned(2_000), second), Ok(1));
    assert_eq!(CLOSING.state(&api, &id).await, "SUCCESS");
    api.expect_money(10_000, 0).await;
    assert_eq!(server.check(), 0);
}

/// The bank put its own money on the card: the ledger posts what was spent, and an operator the rest.
#[tokio::test]
async fn money_that_was_never_spent_is_left_to_an_operator() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000, 500]).await;
    let gift = FakeBank::over(Arc::clone(&server.bank) as _).on_submit(|bank, submissions: &[Submission]| {
        let more = |verdict| match verdict {
            Ok(Verdict::Returned(amount)) => Ok(Verdict::Returned(amount.plus(Kopecks::new(400)).unwrap())),
            other => other,
        };
        bank.submit(submissions).into_iter().map(more).collect()
    });
    let gift = gift.on_query(|bank, keys| {
        let more = |verdict| match verdict {
            Some(Verdict::Returned(amount)) => {
                Some(Verdict::Returned(amount.plus(Kopecks::new(400)).unwrap()))
            }
            other => other,
        };
        Ok(bank.query(keys)?.into_iter().map(more).collect())
    });
    let id = CLOSING.create(&api, &[close(&cards[0].id, "OTHER"), close(&cards[1].id, "OTHER")]).await;
    let env = Arc::clone(&server.application.env);
    let worker = Worker::new(server.application.store(), Arc::new(gift), env, WorkerSettings::default());
    for _ in 0..5 {
        server.clock.advance(Duration::seconds(10));
        while worker.run_once(&|| false).unwrap() > 0 {}
    }
    // 1,400 of the 1,500 that were spent came back from the first; the 900 of the second are more than the rest.
    assert_eq!(CLOSING.state(&api, &id).await, "IN_PROCESS");
    assert_eq!(available(&api).await, 9_900);
    assert_eq!(server.check(), 1, "its job stays");
    let second = Some(cards[1].id.as_str());
    assert_eq!(
        settle(&server, &id, StuckOutcome::Returned(Kopecks::new(900)), second),
        Err(StuckError::MoreThanSpent(100))
    );
    assert_eq!(settle(&server, &id, StuckOutcome::Returned(Kopecks::new(100)), second), Ok(1));
    assert_eq!(CLOSING.state(&api, &id).await, "SUCCESS");
    assert_eq!(available(&api).await, 10_000);
    assert_eq!(server.check(), 0);
}

/// A purchase of the card is not settled yet, so the bank has no verdict on its closing.
#[tokio::test]
async fn a_closing_that_takes_days_holds_up_no_other() {
    let (server, api) = start(10_000).await;
    let cards = loaded(&server, &api, &[1_000, 2_000, 500]).await;
    let items: Vec<_> = cards.iter().map(|card| close(&card.id, "LEAVER")).collect();
    let id = CLOSING.create(&api, &items).await;
    let is_slow = |key: &BankKey| key.as_str().starts_with("closing/") && key.as_str().ends_with("/0");
    let slow = FakeBank::over(Arc::clone(&server.bank) as _)
        .on_submit(move |bank, submissions: &[Submission]| {
            let answer = |one: &Submission| {
                if is_slow(&one.key) {
                    return Err(BankError::Unknown("later".to_owned()));
                }
                // The response for the last card is lost.
                match bank.submit(std::slice::from_ref(one)).remove(0) {
                    Ok(_) if one.key.as_str().ends_with("/2") => Err(BankError::Unknown("lost".to_owned())),
                    answer => answer,
                }
            };
            submissions.iter().map(answer).collect()
        })
        .on_query(move |bank, keys| {
            let known = bank.query(keys)?.into_iter().zip(keys);
            Ok(known.map(|(known, key)| if is_slow(key) { Some(Verdict::Pending) } else { known }).collect())
        });
    let env = Arc::clone(&server.application.env);
    let worker = Worker::new(server.application.store(), Arc::new(slow), env, WorkerSettings::default());
    for _ in 0..20 {
        server.clock.advance(Duration::seconds(10));
        while worker.run_once(&|| false).unwrap() > 0 {}
    }
    assert_eq!(CLOSING.state(&api, &id).await, "IN_PROCESS");
    assert_eq!(available(&api).await, 9_000);
    assert_eq!(server.bank.applied(&BankKey::new(format!("closing/{id}/0")).unwrap()).unwrap(), 0);
    server.clock.advance(Duration::minutes(2));
    server.run_jobs();
    assert_eq!(CLOSING.state(&api, &id).await, "SUCCESS");
    assert_eq!(available(&api).await, 10_000);
    assert_eq!(server.check(), 0);
}
