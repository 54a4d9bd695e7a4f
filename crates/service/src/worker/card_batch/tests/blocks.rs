//! Top-ups of cards that the partner blocks.

use std::sync::atomic::{AtomicUsize, Ordering};

use kopeck_domain::card::BlockState;
use kopeck_domain::ids::CardId;

use super::*;
use crate::worker::blocks::AT_A_TIME;

const REFUSED: Verdict = Verdict::Declined(DeclineReason::BlockedByPartner);

/// Of the four cards of a task the second is blocked and the bank does not know it, the third is, and the bank knows.
fn blocks(cards: Vec<CardId>) -> Result<Vec<(CardId, BlockState)>, StoreError> {
    assert_eq!(cards, (0..4).map(card_id).collect::<Vec<_>>());
    Ok(vec![(card_id(1), BlockState::Blocking), (card_id(2), BlockState::Blocked)])
}

type Found = Vec<(u32, Result<Verdict, NoVerdict>)>;

fn found_with<K: SampleKind>(bank: &MockBankGateway, strategy: Strategy, blocks: ReadBlocks<'_>) -> Found {
    let verdicts = task::<K>(4, strategy).call(bank, blocks);
    let mut found: Found =
        verdicts.items.into_iter().map(|(item, verdict)| (item.ordinal, verdict)).collect();
    found.sort_unstable_by_key(|(ordinal, _)| *ordinal);
    found
}

/// What the service knows counts: the bank need not know it yet.
#[test]
fn a_top_up_of_a_blocked_card_is_refused_without_the_bank() {
    for strategy in [Strategy::Send, Strategy::SendOnce] {
        let mut bank = MockBankGateway::new();
        expect_submit::<TopUps>(&mut bank, &[0, 3], vec![Ok(Verdict::Done); 2]);
        let expected = [Verdict::Done, REFUSED, REFUSED, Verdict::Done].map(Ok);
        assert_eq!(
            found_with::<TopUps>(&bank, strategy, &blocks),
            (0..).zip(expected).collect::<Vec<_>>(),
            "{strategy:?}"
        );
    }
    assert_eq!(TopUps::refusal(DeclineReason::BlockedByPartner), TopUpRefusal::BlockedByPartner);
}

/// The bank may have it, so the service must not refuse it. It is sent again once the bank refuses it by itself.
#[test]
fn a_top_up_that_may_be_at_the_bank_waits_until_the_bank_knows_of_the_block() {
    let mut bank = MockBankGateway::new();
    expect_query::<TopUps>(&mut bank, &[0, 1, 2, 3], Ok(vec![None; 4]));
    expect_submit::<TopUps>(&mut bank, &[0, 2, 3], vec![Ok(Verdict::Done), Ok(REFUSED), Ok(Verdict::Done)]);
    let expected = [Ok(Verdict::Done), Err(NoVerdict::BlockUnconfirmed), Ok(REFUSED), Ok(Verdict::Done)];
    let found = found_with::<TopUps>(&bank, Strategy::QueryThenSend, &blocks);
    assert_eq!(found, (0..).zip(expected.clone()).collect::<Vec<_>>());
    let later = Some(Next::Later { may_have_sent: true });
    let mut unit = MockUnit::default();
    assert_eq!(after::<TopUps>(&mut unit, Strategy::QueryThenSend, expected.to_vec()), later);
    // What it knows is its verdict, whatever the block is.
    let mut bank = MockBankGateway::new();
    expect_query::<TopUps>(&mut bank, &[0, 1, 2, 3], Ok(vec![Some(Verdict::Done); 4]));
    let found = found_with::<TopUps>(&bank, Strategy::QueryThenSend, NO_BLOCKS);
    assert_eq!(found, (0..4).map(|ordinal| (ordinal, Ok(Verdict::Done))).collect::<Vec<_>>());
}

/// A limit is set, and money comes back, whether the card is blocked or not.
#[test]
fn other_kinds_look_at_no_block() {
    fn sends_all<K: SampleKind>() {
        let mut bank = MockBankGateway::new();
        expect_submit::<K>(&mut bank, &[0, 1, 2, 3], vec![Ok(K::DONE); 4]);
        let found = found_with::<K>(&bank, Strategy::SendOnce, &|_| panic!("blocks are read"));
        assert_eq!(found, (0..4).map(|ordinal| (ordinal, Ok(K::DONE))).collect::<Vec<_>>());
    }
    sends_all::<LimitChanges>();
    sends_all::<Withdrawals>();
    sends_all::<Closings>();
}

/// A bank that takes seconds for a request is not sent what was blocked meanwhile.
#[test]
fn blocks_are_read_before_each_request_to_the_bank() {
    let count = u32::try_from(AT_A_TIME).unwrap() * 2 + 1;
    let looks = AtomicUsize::new(0);
    let all_from_the_second_look = |cards: Vec<CardId>| {
        let is_first = looks.fetch_add(1, Ordering::Relaxed) == 0;
        let blocked = cards.into_iter().map(|card| (card, BlockState::Blocking));
        Ok(blocked.filter(|_| !is_first).collect())
    };
    let mut bank = MockBankGateway::new();
    bank.expect_submit()
        .withf(|submissions| submissions.len() == AT_A_TIME)
        .times(1)
        .returning(|submissions| submissions.iter().map(|_| Ok(Verdict::Done)).collect());
    let verdicts = task::<TopUps>(count, Strategy::Send).call(&bank, &all_from_the_second_look);
    let done = verdicts.items.iter().filter(|(_, verdict)| *verdict == Ok(Verdict::Done)).count();
    let refused = verdicts.items.iter().filter(|(_, verdict)| *verdict == Ok(REFUSED)).count();
    assert_eq!((done, refused, looks.into_inner()), (AT_A_TIME, AT_A_TIME + 1, 3));
}

/// A bank that is away is not called again for the rest, and nothing of that has to be queried.
#[test]
fn a_bank_that_is_away_is_called_once_and_has_nothing() {
    let count = u32::try_from(AT_A_TIME).unwrap() + 1;
    let mut bank = MockBankGateway::new();
    bank.expect_submit().times(1).returning(|submissions| {
        submissions.iter().map(|_| Err(BankError::Unavailable("down".to_owned()))).collect()
    });
    let verdicts = task::<TopUps>(count, Strategy::Send).call(&bank, NO_BLOCKS);
    assert_eq!(verdicts.items.len(), AT_A_TIME + 1);
    assert!(verdicts.items.iter().all(|(_, verdict)| matches!(verdict, Err(NoVerdict::NotSent(_)))));
    let mut unit = MockUnit::default();
    for (found, may_have_sent) in [
        (vec![not_sent(), not_sent()], false),
        (vec![not_sent(), no_answer()], true),
        (vec![Ok(Verdict::Done), not_sent()], false),
    ] {
        let later = Some(Next::Later { may_have_sent });
        assert_eq!(after::<TopUps>(&mut unit, Strategy::Send, found), later);
    }
    // An earlier claim may have sent it.
    let later = Some(Next::Later { may_have_sent: true });
    assert_eq!(after::<TopUps>(&mut unit, Strategy::QueryThenSend, vec![not_sent()]), later);
}

#[test]
fn without_a_look_at_the_blocks_nothing_is_sent() {
    let found = found_with::<TopUps>(&MockBankGateway::new(), Strategy::Send, &|_| Err(broken()));
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|(_, verdict)| matches!(verdict, Err(NoVerdict::NotSent(_)))), "{found:?}");
}
