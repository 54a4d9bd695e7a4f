use super::*;
use crate::testing::*;
use OrderState as S;
use kopeck_domain::card::CardType;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{DeclineReason, MockBankGateway};
use kopeck_port_store::Subject;
use kopeck_port_store::mock::MockUnit;

const KEY: &str = "order/00000000-0000-0000-0000-000000000001";

fn order_claim(may_have_sent: bool) -> Claim {
    Claim { may_have_sent, ..claim(Subject::Order(order_id(1))) }
}

/// An task of one virtual line of three cards.
fn task(stored: u32) -> OrderTask {
    let lines = if stored == 0 { vec![virtual_line(3, 5_000)] } else { vec![] };
    OrderTask { order: order_id(1), lines, stored }
}

fn issued(n: u64) -> IssuedCard {
    IssuedCard {
        number: number(n),
        kind: CardType::Mlz,
        valid_until: LAST_DAY,
        activation_code: Some(format!("code {n}")),
        code_valid_until: Some(LAST_DAY),
        first_top_up: Some(kopecks(5_000)),
        remaining_top_up: kopecks(9_000),
        activated_at: None,
        issued_at: START,
    }
}

fn expect_submit(bank: &mut MockBankGateway, answers: Vec<Result<Verdict, BankError>>) {
    let line =
        OrderedCards { kind: CardType::Mlz, count: 3, first_top_up: Some(kopecks(5_000)), delivery: None };
    let expected =
        [Submission { key: BankKey::new(KEY).unwrap(), instruction: Instruction::IssueCards(vec![line]) }];
    bank.expect_submit()
        .withf(move |submissions| *submissions == expected)
        .times(1)
        .returning(move |_| answers.clone());
}

fn expect_query(bank: &mut MockBankGateway, answer: Result<Vec<Option<Verdict>>, BankError>) {
    bank.expect_query()
        .withf(|keys| *keys == [BankKey::new(KEY).unwrap()])
        .times(1)
        .returning(move |_| answer.clone());
}

fn expect_fetch(bank: &mut MockBankGateway, skip: u32, answer: Result<Vec<IssuedCard>, BankError>) {
    bank.expect_issued_cards()
        .withf(move |key, from, limit| (key.as_str(), *from, *limit) == (KEY, skip, 2))
        .times(1)
        .returning(move |_, _, _| answer.clone());
}

fn silence() -> BankError {
    BankError::Unknown("timeout".to_owned())
}

const REFUSED: Verdict = Verdict::Declined(DeclineReason::Refused);

/// Calls the bank with chunks of two.
fn call(bank: &MockBankGateway, stored: u32, may_have_sent: bool) -> OrderFindings {
    task(stored).call(bank, &order_claim(may_have_sent), 2)
}

fn assert_cards(report: &OrderFindings, expected: &[IssuedCard]) {
    match report {
        OrderFindings::Cards(cards) => assert_eq!(cards, expected),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_first_claim_sends_without_asking() {
    let mut bank = MockBankGateway::new();
    expect_submit(&mut bank, vec![Ok(Verdict::Done)]);
    expect_fetch(&mut bank, 0, Ok(vec![issued(1), issued(2)]));
    assert_cards(&call(&bank, 0, false), &[issued(1), issued(2)]);
}

#[test]
fn an_instruction_that_may_have_been_sent_is_queried_and_not_sent_again() {
    let mut bank = MockBankGateway::new();
    expect_query(&mut bank, Ok(vec![Some(Verdict::Done)]));
    expect_fetch(&mut bank, 0, Ok(vec![issued(1)]));
    assert_cards(&call(&bank, 0, true), &[issued(1)]);

    let mut bank = MockBankGateway::new();
    expect_query(&mut bank, Ok(vec![Some(REFUSED)]));
    assert!(matches!(call(&bank, 0, true), OrderFindings::Declined));
}

/// A short answer to the question says as little as `None`.
#[test]
fn unseen_instructions_are_sent_again_only_with_idempotency() {
    for answer in [vec![None], vec![]] {
        let mut bank = MockBankGateway::new();
        expect_query(&mut bank, Ok(answer.clone()));
        bank.expect_repeat_is_safe().return_const(true);
        expect_submit(&mut bank, vec![Ok(Verdict::Done)]);
        expect_fetch(&mut bank, 0, Ok(vec![issued(1)]));
        assert_cards(&call(&bank, 0, true), &[issued(1)]);

        let mut bank = MockBankGateway::new();
        expect_query(&mut bank, Ok(answer));
        bank.expect_repeat_is_safe().return_const(false);
        assert!(matches!(call(&bank, 0, true), OrderFindings::NotKnown), "and nothing is sent");
    }
}

#[test]
fn an_unavailable_bank_gets_no_instruction() {
    let mut bank = MockBankGateway::new();
    expect_query(&mut bank, Err(BankError::Unavailable("down".to_owned())));
    assert!(matches!(call(&bank, 0, true), OrderFindings::Later { may_have_sent: true }));
}

/// No response at all, and a response vector that is too short, decide nothing.
#[test]
fn silence_is_no_refusal() {
    let down = BankError::Unavailable("down".to_owned());
    for (answers, may_be_there) in [(vec![Err(silence())], true), (vec![Err(down)], false), (vec![], true)] {
        let mut bank = MockBankGateway::new();
        expect_submit(&mut bank, answers);
        let report = call(&bank, 0, false);
        assert!(matches!(report, OrderFindings::Later { may_have_sent } if may_have_sent == may_be_there));
    }
    let mut bank = MockBankGateway::new();
    expect_submit(&mut bank, vec![Ok(Verdict::Done)]);
    expect_fetch(&mut bank, 0, Err(silence()));
    assert!(matches!(call(&bank, 0, false), OrderFindings::Later { may_have_sent: true }));
}

#[test]
fn a_refused_order_has_no_cards_to_fetch() {
    let mut bank = MockBankGateway::new();
    expect_submit(&mut bank, vec![Ok(REFUSED)]);
    assert!(matches!(call(&bank, 0, false), OrderFindings::Declined));
}

/// Cards are stored, so the bank accepted it: it gets neither a query nor an instruction again, whatever the claim says.
#[test]
fn an_order_with_cards_is_only_fetched_further() {
    for may_have_sent in [false, true] {
        let mut bank = MockBankGateway::new();
        expect_fetch(&mut bank, 2, Ok(vec![issued(3)]));
        assert_cards(&call(&bank, 2, may_have_sent), &[issued(3)]);
    }
}

#[test]
fn a_plastic_order_says_where_it_goes() {
    let sent = ordered(plastic_line(7));
    let delivery = Delivery {
        address: "Moscow, 1 Main Street".to_owned(),
        recipient: "Ivan Ivanov".to_owned(),
        phone: "9031234567".to_owned(),
    };
    let expected =
        OrderedCards { kind: CardType::Kkl, count: 7, first_top_up: None, delivery: Some(delivery) };
    assert_eq!(sent, expected);
}

fn stored_order(unit: &mut MockUnit, order: Order) {
    unit.orders.expect_get().times(1).returning(move |_, _| Ok(Some(order.clone())));
}

fn stored_cards(unit: &mut MockUnit, count: u32) {
    unit.orders.expect_stored_cards().returning(move |_, _| Ok(count));
    unit.orders.expect_lines().returning(|_, _| Ok(vec![virtual_line(3, 5_000)]));
}

fn expect_state(unit: &mut MockUnit, state: OrderState) {
    unit.orders
        .expect_set_state()
        .withf(move |partner, order| {
            *partner == PARTNER && order.state() == state && order.state_since() == START
        })
        .times(1)
        .returning(|_, _| Ok(()));
}

#[test]
fn a_new_order_is_in_process_once_it_is_taken() {
    for (state, starts) in [(S::New, true), (S::InProcess, false)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_order(&mut unit, order(state, 3, 15_000));
        stored_cards(&mut unit, 0);
        if starts {
            expect_state(&mut unit, S::InProcess);
        }
        let task = prepare(&mut unit, &bench, &order_claim(false), order_id(1)).unwrap().unwrap();
        assert_eq!((task.stored, task.lines), (0, vec![virtual_line(3, 5_000)]));
    }
}

#[test]
fn an_order_that_is_closed_needs_nothing_more() {
    for state in [S::Rejected, S::Success, S::Decline, S::Confirmed] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_order(&mut unit, order(state, 3, 15_000));
        unit.jobs
            .expect_complete()
            .withf(|claim| *claim == order_claim(false))
            .times(1)
            .returning(|_| Ok(()));
        let prepared = prepare(&mut unit, &bench, &order_claim(false), order_id(1));
        assert!(matches!(prepared, Ok(None)), "{state}");
    }
}

fn run_settle(unit: &mut MockUnit, report: &OrderFindings) -> Result<Next, StoreError> {
    settle(unit, &Bench::new(), &order_claim(false), report)
}

#[test]
fn a_refused_order_frees_its_money() {
    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 3, 15_000));
    let reference = Reference::Order(order_id(1));
    expect_booking(&mut unit, sheet(0, 15_000), MovementKind::Release, reference, 15_000);
    expect_state(&mut unit, S::Decline);
    assert!(matches!(run_settle(&mut unit, &OrderFindings::Declined), Ok(Next::Finished)));
}

#[test]
fn silence_books_nothing() {
    let next = run_settle(&mut MockUnit::default(), &OrderFindings::Later { may_have_sent: true });
    assert!(matches!(next, Ok(Next::Later { may_have_sent: true })));
}

/// The cards that are stored: their ordinals, numbers, and what activates them.
fn expect_cards(unit: &mut MockUnit, expected: &'static [(u32, u64)]) {
    unit.cards
        .expect_insert_issued()
        .withf(move |partner, cards| {
            let card = |card: &NewCard| (card.ordinal, card.record.card.number());
            let stored: Vec<_> = cards.iter().map(card).collect();
            let expected: Vec<_> = expected.iter().map(|(ordinal, n)| (*ordinal, number(*n))).collect();
            *partner == PARTNER && stored == expected
        })
        .times(1)
        .returning(|_, _| Ok(()));
}

#[test]
fn cards_come_in_chunks_and_the_last_one_captures() {
    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 3, 15_000));
    stored_cards(&mut unit, 0);
    expect_cards(&mut unit, &[(0, 1), (1, 2)]);
    let report = OrderFindings::Cards(vec![issued(1), issued(2)]);
    assert!(matches!(run_settle(&mut unit, &report), Ok(Next::GoOn)), "and books nothing yet");

    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 3, 15_000));
    stored_cards(&mut unit, 2);
    expect_cards(&mut unit, &[(2, 3)]);
    let reference = Reference::Order(order_id(1));
    expect_booking(&mut unit, sheet(0, 15_000), MovementKind::Capture, reference, 15_000);
    expect_state(&mut unit, S::Success);
    let report = OrderFindings::Cards(vec![issued(3)]);
    assert!(matches!(run_settle(&mut unit, &report), Ok(Next::Finished)));
}

#[test]
fn a_plastic_order_is_done_without_booking() {
    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 1, 0));
    unit.orders.expect_stored_cards().returning(|_, _| Ok(0));
    unit.orders.expect_lines().returning(|_, _| Ok(vec![plastic_line(1)]));
    let ean = CardNumber::ean13(460_000_000_000).unwrap();
    let card = IssuedCard { number: ean, kind: CardType::Kkl, first_top_up: None, ..issued(1) };
    unit.cards
        .expect_insert_issued()
        .withf(move |_, cards| matches!(cards, [card] if card.record.card.number() == ean))
        .times(1)
        .returning(|_, _| Ok(()));
    expect_state(&mut unit, S::Success);
    let report = OrderFindings::Cards(vec![card]);
    assert!(matches!(run_settle(&mut unit, &report), Ok(Next::Finished)));
}

/// Nothing is stored or booked, not even the good card before it.
#[test]
fn a_card_that_was_not_ordered_is_left_to_a_person() {
    let ean = CardNumber::ean13(460_000_000_000).unwrap();
    let wrong = [
        IssuedCard { kind: CardType::Mp4, ..issued(2) },
        IssuedCard { number: ean, ..issued(2) },
        IssuedCard { first_top_up: Some(kopecks(4_999)), ..issued(2) },
        IssuedCard { first_top_up: None, ..issued(2) },
    ];
    for wrong in wrong {
        let mut unit = MockUnit::default();
        stored_order(&mut unit, order(S::InProcess, 3, 15_000));
        stored_cards(&mut unit, 0);
        let report = OrderFindings::Cards(vec![issued(1), wrong]);
        assert!(matches!(run_settle(&mut unit, &report), Ok(Next::LeaveToPerson)), "{report:?}");
    }
}

/// The bank says that there are no more, though the order has more.
#[test]
fn too_few_cards_are_left_to_a_person() {
    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 3, 15_000));
    stored_cards(&mut unit, 2);
    assert!(matches!(run_settle(&mut unit, &OrderFindings::Cards(vec![])), Ok(Next::LeaveToPerson)));
}

/// The bank accepted the order but has no card to show yet.
#[test]
fn an_order_without_cards_yet_is_queried_later() {
    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 3, 15_000));
    stored_cards(&mut unit, 0);
    assert!(matches!(
        run_settle(&mut unit, &OrderFindings::Cards(vec![])),
        Ok(Next::Later { may_have_sent: true })
    ));
}

#[test]
fn no_more_cards_are_stored_than_were_ordered() {
    let mut unit = MockUnit::default();
    stored_order(&mut unit, order(S::InProcess, 3, 0));
    stored_cards(&mut unit, 2);
    expect_cards(&mut unit, &[(2, 3)]);
    expect_state(&mut unit, S::Success);
    let report = OrderFindings::Cards(vec![issued(3), issued(4)]);
    assert!(matches!(run_settle(&mut unit, &report), Ok(Next::Finished)));
}

#[test]
fn a_card_enters_as_the_bank_issued_it() {
    let bench = Bench::new();
    let spec = CardSpec { card_type: CardType::Mlz, first_top_up: Some(kopecks(5_000)) };
    let card = new_card(&bench, order_id(1), spec, 5, &issued(4)).unwrap();
    assert_eq!((card.ordinal, card.record.card.id()), (5, CardId::new(fresh_id(1))));
    assert_eq!((card.record.card.order(), card.record.card.link()), (order_id(1), None));
    assert_eq!(
        (card.record.bank.balance, card.record.bank.remaining_top_up),
        (kopecks(5_000), kopecks(9_000))
    );
    assert_eq!((card.record.bank.seen_at, card.record.transactions_seen_at), (START, None));
    let account = card.record.account;
    assert_eq!((account.value, account.updated_at), (kopecks(5_000), START), "the issue is a refresh");
    let activation =
        Activation { code: Some("code 4".to_owned()), valid_until: LAST_DAY, first_top_up: kopecks(5_000) };
    assert!(card.activation == Some(activation));

    let plastic = IssuedCard { activation_code: None, first_top_up: None, ..issued(4) };
    assert_eq!(new_card(&bench, order_id(1), spec, 0, &plastic).err(), Some(CardMismatch::FirstTopUp));
    let spec = CardSpec { first_top_up: None, ..spec };
    let card = new_card(&bench, order_id(1), spec, 0, &plastic).unwrap();
    assert_eq!((card.record.bank.balance, card.record.account.value), (kopecks(0), kopecks(0)));
    assert!(card.activation.is_none());
}

#[test]
fn broken_data_are_named_and_nothing_is_booked() {
    let mut unit = MockUnit::default();
    unit.orders.expect_get().returning(|_, _| Ok(None));
    assert!(matches!(run_settle(&mut unit, &OrderFindings::Declined), Err(StoreError::Corrupt(_))));
    let other = claim(Subject::Replenishment(replenishment_id(1)));
    let settled = settle(&mut MockUnit::default(), &Bench::new(), &other, &OrderFindings::Declined);
    assert!(matches!(settled, Err(StoreError::Corrupt(_))));
}
