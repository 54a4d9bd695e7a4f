use super::*;
use crate::testing::*;
use kopeck_domain::card::{BlockState, CardStatus, Standing};
use kopeck_domain::card_batch::{BatchState, ItemState};
use kopeck_domain::event::EventData;
use kopeck_port_store::CardClaims;
use kopeck_port_store::mock::MockUnit;

fn target(card: u64, claims: CardClaims) -> BatchTarget {
    BatchTarget {
        card: card_id(u128::from(card)),
        number: number(card),
        status: None,
        standing: Standing::Open,
        valid_until: LAST_DAY,
        claims,
    }
}

fn item(ordinal: u32, reason: ClosingReason, state: ItemState<ClosingRefusal>) -> ClosingItem {
    let n = u64::from(ordinal);
    ClosingItem { ordinal, card: card_id(u128::from(ordinal)), number: number(n), terms: reason, state }
}

fn told(unit: &MockUnit) -> Vec<EventData> {
    unit.events.data().into_iter().cloned().collect()
}

/// The lost card of an employee and a stolen unassigned one are blocked; the damaged one is not.
#[test]
fn lost_and_stolen_cards_are_blocked_with_the_request_which_knows_no_delay() {
    let mut unit = MockUnit::default();
    unit.closings
        .expect_targets()
        .returning(|_, _| Ok((0..3).map(|card| target(card, CardClaims::default())).collect()));
    unit.closings
        .expect_insert()
        .withf(|_, batch, items| {
            let reasons: Vec<_> = items.iter().map(|item| item.terms).collect();
            let expected = [ClosingReason::Damaged, ClosingReason::Lost, ClosingReason::Stolen];
            !batch.terms().is_urgent && reasons == expected
        })
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.jobs
        .expect_enqueue()
        .withf(|_, _, delay| *delay == Duration::ZERO)
        .times(1)
        .returning(|_, _, _| Ok(()));
    unit.cards.expect_get().returning(|_, id| {
        let n = u64::try_from(id.uuid().as_u128()).unwrap();
        Ok(Some(if n == 1 { linked(1, employee_id(5), CardStatus::Main) } else { card_record(n) }))
    });
    unit.cards
        .expect_set_link()
        .withf(|_, card| {
            let status = card.link().map(|link| link.status);
            let expected = (card.id() == card_id(1)).then_some(CardStatus::TemporarilyBlocked);
            card.id() != card_id(0) && status == expected && card.block().state == BlockState::Blocking
        })
        .times(2)
        .returning(|_, _| Ok(()));
    let closing = |card, reason| CardClosing { card: card_id(card).into(), reason };
    let closings = [
        closing(0, ClosingReason::Damaged),
        closing(1, ClosingReason::Lost),
        closing(2, ClosingReason::Stolen),
    ];
    let batch = create(&mut unit, &Bench::new(), PARTNER, &closings, None).unwrap();
    assert_eq!(batch.state(), BatchState::New);
    let told = told(&unit);
    assert!(matches!(told[0], EventData::ClosingStatus(_)), "{told:?}");
    assert!(matches!(&told[1], EventData::CardStatus(holder) if holder.card == card_id(1)), "{told:?}");
    assert!(matches!(&told[2], EventData::CardBankStatus(card) if card.card == card_id(2)), "{told:?}");
    assert_eq!(told.len(), 3);
}

#[test]
fn other_closings_wait_for_the_processing_delay() {
    let bench = Bench::new();
    let items =
        [item(0, ClosingReason::Leaver, ItemState::Open), item(1, ClosingReason::Other, ItemState::Open)];
    assert_eq!(Closings::delay(&bench, &items), bench.settings.processing_delay);
}

/// Whatever moves money on one of its cards goes first.
#[test]
fn an_urgent_closing_goes_after_what_has_its_cards() {
    let free = CardClaims { urgent: true, limits: true, ..CardClaims::default() };
    for (claims, is_urgent, waits) in [
        (CardClaims { money: true, ..free }, true, true),
        (free, true, false),
        (CardClaims { money: true, ..free }, false, false),
    ] {
        let mut unit = MockUnit::default();
        unit.closings
            .expect_items()
            .returning(|_, _, _, _| Ok(vec![item(0, ClosingReason::Lost, ItemState::Open)]));
        unit.closings.expect_targets().returning(move |_, _| Ok(vec![target(0, claims)]));
        let batch = Closing::new(closing_id(1), 1, ClosingTerms { is_urgent }, BEFORE);
        assert_eq!(Closings::has_to_wait(&mut unit, PARTNER, &batch), Ok(waits), "{claims:?} {is_urgent}");
    }
}

#[test]
fn every_card_is_closed_under_its_own_key() {
    let item = item(3, ClosingReason::Lost, ItemState::Open);
    let key = "closing/00000000-0000-0000-0000-000000000001/3";
    assert_eq!(Closings::key(closing_id(1), &item).as_str(), key);
    let instruction = Closings::instruction(&ClosingTerms { is_urgent: true }, &item);
    assert_eq!(instruction, Instruction::CloseCard { card: number(3) });
    for (reason, refusal) in [
        (DeclineReason::Closed, ClosingRefusal::Closed),
        (DeclineReason::Refused, ClosingRefusal::RefusedByBank),
        (DeclineReason::Expired, ClosingRefusal::RefusedByBank),
    ] {
        assert_eq!(Closings::refusal(reason), refusal);
    }
}

/// Of each card in turn: that it is closed, that it is no MAIN card any more, and its money; of an empty card no money.
#[test]
fn a_closed_card_and_its_money_are_told() {
    let mut unit = MockUnit::default();
    let batch = Closing::new(closing_id(1), 2, ClosingTerms { is_urgent: false }, BEFORE);
    let items = [
        item(0, ClosingReason::Leaver, ItemState::Returned(Kopecks::ZERO)),
        item(1, ClosingReason::Leaver, ItemState::Returned(kopecks(300))),
    ];
    unit.cards.expect_get().returning(|_, id| {
        let n = u64::try_from(id.uuid().as_u128()).unwrap();
        Ok(Some(linked(
            n,
            employee_id(5),
            if n == 1 { CardStatus::Main } else { CardStatus::TemporarilyBlocked },
        )))
    });
    unit.cards
        .expect_set_bank_view()
        .withf(|_, _, view, _| view.standing == Standing::Closed && view.seen_at > START)
        .times(2)
        .returning(|_, _, _, _| Ok(true));
    unit.cards.expect_set_link().withf(|_, card| card.id() == card_id(1)).times(1).returning(|_, _| Ok(()));
    expect_booking(
        &mut unit,
        spent_sheet(1_000),
        kopeck_domain::ledger::MovementKind::Return,
        Reference::Closing(closing_id(1)),
        300,
    );
    let decided = BatchDecision { done: items.iter().collect(), refused: Vec::new() };
    Closings::apply(&mut unit, &Bench::new(), PARTNER, &batch, &decided).unwrap();
    let told = told(&unit);
    assert!(matches!(&told[0], EventData::CardBankStatus(card) if card.card == card_id(0)), "{told:?}");
    assert!(matches!(&told[1], EventData::CardBankStatus(card) if card.card == card_id(1)), "{told:?}");
    assert!(matches!(&told[2], EventData::CardStatus(holder) if holder.card == card_id(1)), "{told:?}");
    let by = ReturnOrigin::Closing(closing_id(1));
    assert!(
        matches!(&told[3], EventData::BalanceReturned(back) if (back.amount.get(), back.by) == (300, by))
    );
    assert_eq!(told.len(), 4);
}
