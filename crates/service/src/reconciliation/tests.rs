use super::*;
use crate::testing::*;
use BatchState as S;
use OrderState as O;
use kopeck_domain::ledger::{Balances, TransferReference};
use kopeck_port_store::mock::MockUnit;
use kopeck_port_store::{BalanceSheet, BatchAmounts, ItemCounts};
use uuid::Uuid;

/// The books of a partner, as a test would have them.
#[derive(Clone)]
struct Books {
    unbalanced: Vec<i64>,
    wrong_after: Vec<i64>,
    entries: Balances,
    stored: Balances,
    sums: Vec<ReferenceSums>,
    orders: Vec<OrderFacts>,
    replenishments: Vec<BatchFacts<TopUps>>,
    limit_changes: Vec<BatchFacts<LimitChanges>>,
    closings: Vec<BatchFacts<Closings>>,
    withdrawals: Vec<BatchFacts<Withdrawals>>,
    two_main_cards: Vec<EmployeeId>,
}

fn balances(available: i64, held: i64, spent: i64) -> Balances {
    Balances {
        deposited: kopecks(-(available + held + spent)),
        available: kopecks(available),
        held: kopecks(held),
        spent: kopecks(spent),
    }
}

fn sums(reference: Reference, held: i64, spent: i64) -> ReferenceSums {
    ReferenceSums { reference, held: kopecks(held), spent: kopecks(spent) }
}

fn order_facts(n: u128, state: O, cost: i64) -> OrderFacts {
    let stored_cards = if matches!(state, O::Success | O::Confirmed) { 2 } else { 0 };
    let cost = kopecks(cost);
    OrderFacts { id: order_id(n), state, cost, cards: 2, stored_cards, has_job: state.is_open() }
}

/// A batch of three cards of `amount` each.
fn batch_facts<K: BatchKind>(
    n: u128,
    amount: i64,
    state: S,
    [open, done, refused]: [u32; 3],
) -> BatchFacts<K> {
    let sum = |cards: u32| kopecks(amount * i64::from(cards));
    BatchFacts {
        id: K::Id::from(Uuid::from_u128(n)),
        state,
        cards: 3,
        counts: ItemCounts { open, done, refused },
        amounts: BatchAmounts {
            asked: Some(sum(3)),
            open: sum(open),
            done: sum(done),
            refused: sum(refused),
            ..BatchAmounts::default()
        },
        claimed_cards: if state.is_open() { 3 } else { 0 },
        has_job: state.is_open(),
    }
}

/// A batch in every state.
fn every_state<K: BatchKind>(amount: i64) -> Vec<BatchFacts<K>> {
    vec![
        batch_facts(1, amount, S::New, [3, 0, 0]),
        batch_facts(2, amount, S::InProcess, [1, 1, 1]),
        batch_facts(3, amount, S::Success, [0, 3, 0]),
        batch_facts(4, amount, S::PartSuccess, [0, 1, 2]),
        batch_facts(5, amount, S::Decline, [0, 0, 3]),
        batch_facts(6, amount, S::Rejected, [3, 0, 0]),
    ]
}

/// The same for a kind that brings money back: `returned` from each successful card, whatever the requested amount.
fn every_state_of_returns<K: BatchKind>(returned: i64) -> Vec<BatchFacts<K>> {
    let mut batches = every_state::<K>(0);
    for batch in &mut batches {
        let sum = kopecks(returned * i64::from(batch.counts.done));
        (batch.amounts.asked, batch.amounts.returned, batch.amounts.returned_by_cards) = (None, sum, sum);
    }
    batches
}

/// Books with an order and a batch of each kind in every state, and everything as it should be.
fn clean() -> Books {
    let (order, request) =
        (|n| Reference::Order(order_id(n)), |n| Reference::Replenishment(replenishment_id(n)));
    Books {
        unbalanced: vec![],
        wrong_after: vec![],
        entries: balances(1_000, 1_100, 1_300),
        stored: balances(1_000, 1_100, 1_300),
        sums: vec![
            sums(order(1), 500, 0),
            sums(order(2), 500, 0),
            sums(order(3), 0, 400),
            sums(order(4), 0, 400),
            sums(request(2), 100, 100),
            sums(request(3), 0, 300),
            sums(request(4), 0, 100),
            sums(Reference::Closing(closing_id(2)), 0, -40),
            sums(Reference::Closing(closing_id(3)), 0, -120),
            sums(Reference::Closing(closing_id(4)), 0, -40),
            sums(Reference::Withdrawal(withdrawal_id(2)), 0, -5),
            sums(Reference::Withdrawal(withdrawal_id(3)), 0, -15),
            sums(Reference::Withdrawal(withdrawal_id(4)), 0, -5),
        ],
        orders: vec![
            order_facts(1, O::New, 500),
            order_facts(2, O::InProcess, 500),
            order_facts(3, O::Success, 400),
            order_facts(4, O::Confirmed, 400),
            order_facts(5, O::Decline, 700),
            order_facts(6, O::Rejected, 700),
            order_facts(7, O::New, 0),
        ],
        replenishments: every_state(100),
        limit_changes: every_state(0),
        closings: every_state_of_returns(40),
        withdrawals: every_state_of_returns(5),
        two_main_cards: vec![],
    }
}

fn discrepancies(books: Books) -> Vec<Discrepancy> {
    let mut unit = MockUnit::default();
    let Books {
        unbalanced, wrong_after, entries, stored, sums, orders, replenishments, limit_changes, ..
    } = books;
    let Books { closings, withdrawals, two_main_cards, .. } = books;
    let sheet = BalanceSheet {
        balances: stored,
        updated_at: BEFORE,
        threshold: Kopecks::ZERO,
        approval_above: Kopecks::ZERO,
    };
    unit.ledger.expect_sheet().returning(move |_| Ok(Some(sheet)));
    unit.reconciliation.expect_unbalanced_movements().returning(move |_| Ok(unbalanced.clone()));
    unit.reconciliation.expect_wrong_balances_after().returning(move |_| Ok(wrong_after.clone()));
    unit.reconciliation.expect_entry_sums().returning(move |_| Ok(entries));
    unit.reconciliation.expect_reference_sums().returning(move |_| Ok(sums.clone()));
    unit.reconciliation.expect_orders().returning(move |_| Ok(orders.clone()));
    unit.replenishments.expect_facts().returning(move |_| Ok(replenishments.clone()));
    unit.limit_changes.expect_facts().returning(move |_| Ok(limit_changes.clone()));
    unit.closings.expect_facts().returning(move |_| Ok(closings.clone()));
    unit.withdrawals.expect_facts().returning(move |_| Ok(withdrawals.clone()));
    unit.reconciliation.expect_employees_with_two_main_cards().returning(move |_| Ok(two_main_cards.clone()));
    check(&mut unit, PARTNER).unwrap()
}

fn discrepancies_after(spoil: impl FnOnce(&mut Books)) -> Vec<Discrepancy> {
    let mut books = clean();
    spoil(&mut books);
    discrepancies(books)
}

fn order_discrepancy(n: u128, what: &'static str) -> Discrepancy {
    Discrepancy::WrongRequest { subject: Subject::Order(order_id(n)), what }
}

fn request_discrepancy(n: u128, what: &'static str) -> Discrepancy {
    Discrepancy::WrongRequest { subject: Subject::Replenishment(replenishment_id(n)), what }
}

#[test]
fn clean_books_have_no_discrepancy() {
    assert_eq!(discrepancies(clean()), []);
}

#[test]
fn a_movement_that_does_not_add_up() {
    let found = discrepancies_after(|books| books.unbalanced = vec![12]);
    assert_eq!(found, [Discrepancy::UnbalancedMovement(12)]);
    assert_eq!(found[0].to_string(), "movement 12: its entries do not add up to zero");
}

#[test]
fn a_balance_after_a_movement_that_is_not_the_sum_of_the_entries_before() {
    let found = discrepancies_after(|books| books.wrong_after = vec![12]);
    assert_eq!(found, [Discrepancy::WrongBalanceAfter(12)]);
    let text = "movement 12: other balances are stored after it than the entries add up to";
    assert_eq!(found[0].to_string(), text);
}

#[test]
fn a_balance_that_is_not_the_sum_of_its_entries() {
    for &account in Account::ALL {
        let found = discrepancies_after(|books| {
            let slot = match account {
                Account::Deposited => &mut books.stored.deposited,
                Account::Available => &mut books.stored.available,
                Account::Held => &mut books.stored.held,
                Account::Spent => &mut books.stored.spent,
            };
            *slot = slot.plus(kopecks(1)).unwrap();
        });
        let computed = clean().entries.on(account);
        let stored = computed.plus(kopecks(1)).unwrap();
        assert_eq!(found, [Discrepancy::WrongBalance { account, stored, computed }]);
    }
}

/// What the ledger should hold and have spent for an order in each state.
#[test]
fn the_money_of_an_order_fits_its_state() {
    for &state in O::ALL {
        let expected = match state {
            O::New | O::InProcess => (500, 0),
            O::Success | O::Confirmed => (0, 500),
            O::Decline | O::Rejected => (0, 0),
        };
        for booked in [(500, 0), (0, 500), (0, 0), (500, 500)] {
            let found = discrepancies_after(|books| {
                books.orders = vec![order_facts(1, state, 500)];
                (books.replenishments, books.closings, books.withdrawals) = (vec![], vec![], vec![]);
                books.sums = vec![sums(Reference::Order(order_id(1)), booked.0, booked.1)];
            });
            let money: Vec<&'static str> = found
                .iter()
                .filter_map(|discrepancy| match discrepancy {
                    Discrepancy::WrongMoney { what, .. } => Some(*what),
                    Discrepancy::UnbalancedMovement(_)
                    | Discrepancy::WrongBalanceAfter(_)
                    | Discrepancy::WrongBalance { .. }
                    | Discrepancy::WrongRequest { .. }
                    | Discrepancy::TwoMainCards(_) => None,
                })
                .collect();
            let wrong = [("held", booked.0 != expected.0), ("spent", booked.1 != expected.1)];
            let wrong: Vec<&str> =
                wrong.into_iter().filter(|(_, wrong)| *wrong).map(|(what, _)| what).collect();
            assert_eq!(money, wrong, "{state} {booked:?}");
        }
    }
}

#[test]
fn money_of_a_replenishment_that_is_missing_or_too_much() {
    let reference = Reference::Replenishment(replenishment_id(2));
    let found = discrepancies_after(|books| books.sums.retain(|sums| sums.reference != reference));
    let wrong = |what, booked, expected| Discrepancy::WrongMoney {
        reference: reference.clone(),
        what,
        booked: kopecks(booked),
        expected: kopecks(expected),
    };
    assert_eq!(found, [wrong("held", 0, 100), wrong("spent", 0, 100)]);

    // A request that is still NEW holds nothing yet.
    let found = discrepancies_after(|books| {
        books.sums.push(sums(Reference::Replenishment(replenishment_id(1)), 300, 0));
    });
    assert!(matches!(found[..], [Discrepancy::WrongMoney { what: "held", .. }]), "{found:?}");
}

#[test]
fn money_for_what_is_not_there() {
    let reference = Reference::Transfer(TransferReference::parse("r-1").unwrap());
    let found = discrepancies_after(|books| books.sums.push(sums(reference.clone(), 0, 7)));
    let (booked, expected) = (kopecks(7), Kopecks::ZERO);
    assert_eq!(found, [Discrepancy::WrongMoney { reference, what: "spent", booked, expected }]);
    assert_eq!(found[0].to_string(), "transfer r-1: 0.07 is spent, the request says 0.00");
}

#[test]
fn an_order_whose_cards_or_work_do_not_fit() {
    for n in 1..=7 {
        let found = discrepancies_after(|books| {
            let order = books.orders.iter_mut().find(|order| order.id == order_id(n)).unwrap();
            order.has_job = !order.has_job;
        });
        assert_eq!(found, [order_discrepancy(n, "open requests have work, and only they")]);
    }
    for (n, cards, what) in [
        (1, 1, "has cards that were never issued"),
        (3, 1, "done, but its cards are not all there"),
        (4, 3, "done, but its cards are not all there"),
        (5, 1, "has cards that were never issued"),
        (6, 1, "has cards that were never issued"),
    ] {
        let found = discrepancies_after(|books| {
            let order = books.orders.iter_mut().find(|order| order.id == order_id(n)).unwrap();
            order.stored_cards = cards;
        });
        assert_eq!(found, [order_discrepancy(n, what)]);
    }
}

#[test]
fn a_replenishment_whose_work_or_claims_do_not_fit() {
    for n in 1..=6 {
        let spoilt = |spoil: fn(&mut BatchFacts<TopUps>)| {
            discrepancies_after(|books| {
                let mut all = books.replenishments.iter_mut();
                spoil(all.find(|request| request.id == replenishment_id(n)).unwrap());
            })
        };
        assert_eq!(
            spoilt(|request| request.has_job = !request.has_job),
            [request_discrepancy(n, "open requests have work, and only they")]
        );
        assert_eq!(
            spoilt(|request| request.claimed_cards = 1),
            [request_discrepancy(n, "open requests keep their cards, and only they")]
        );
        assert_eq!(
            spoilt(|request| request.cards += u32::from(!request.state.is_open())),
            if n <= 2 { vec![] } else { vec![request_discrepancy(n, "its cards are not all there")] }
        );
    }
}

/// Every state × every way in which three cards can stand.
#[test]
fn a_replenishment_whose_state_does_not_fit_its_cards() {
    let stands = (0..=3).flat_map(|topped_up| (0..=3 - topped_up).map(move |refused| (topped_up, refused)));
    for (topped_up, refused) in stands {
        let open = 3 - topped_up - refused;
        for &state in S::ALL {
            let fits = match state {
                S::New | S::Rejected => open == 3,
                S::InProcess => true,
                S::Success => topped_up == 3,
                S::PartSuccess => open == 0 && topped_up > 0 && refused > 0,
                S::Decline => refused == 3,
            };
            let found = discrepancies_after(|books| {
                books.replenishments.push(batch_facts(9, 100, state, [open, topped_up, refused]));
            });
            let discrepancy = request_discrepancy(9, "the state does not fit what became of its cards");
            assert_eq!(found.contains(&discrepancy), !fits, "{state} {open} {topped_up} {refused}");
        }
    }
}

/// The rules are those of a replenishment; this test checks that each applies.
#[test]
fn a_limit_change_that_does_not_fit() {
    let spoilt = |spoil: fn(&mut BatchFacts<LimitChanges>)| {
        discrepancies_after(|books| spoil(&mut books.limit_changes[3]))
    };
    let discrepancy =
        |what| Discrepancy::WrongRequest { subject: Subject::LimitChange(limit_change_id(4)), what };
    for (spoil, what) in [
        (
            (|change| change.has_job = true) as fn(&mut BatchFacts<LimitChanges>),
            "open requests have work, and only they",
        ),
        (|change| change.claimed_cards = 1, "open requests keep their cards, and only they"),
        (|change| change.cards = 4, "its cards are not all there"),
        (|change| change.state = S::Success, "the state does not fit what became of its cards"),
    ] {
        assert_eq!(spoilt(spoil), [discrepancy(what)]);
    }
    let shown = discrepancy("its cards are not all there").to_string();
    assert_eq!(shown, "limit change 00000000-0000-0000-0000-000000000004: its cards are not all there");
}

#[test]
fn an_employee_with_two_main_cards() {
    let found = discrepancies_after(|books| books.two_main_cards = vec![employee_id(3)]);
    assert_eq!(found, [Discrepancy::TwoMainCards(employee_id(3))]);
}

#[test]
fn a_partner_without_accounts_cannot_be_checked() {
    let mut unit = MockUnit::default();
    unit.reconciliation.expect_unbalanced_movements().returning(|_| Ok(vec![]));
    unit.reconciliation.expect_wrong_balances_after().returning(|_| Ok(vec![]));
    unit.reconciliation.expect_entry_sums().returning(|_| Ok(Balances::default()));
    unit.ledger.expect_sheet().returning(|_| Ok(None));
    assert!(matches!(check(&mut unit, PARTNER), Err(StoreError::Corrupt(_))));
}

#[test]
fn a_request_whose_sum_is_not_that_of_its_cards() {
    let mut id = None;
    let found = discrepancies_after(|books| {
        books.replenishments[0].amounts.asked = Some(kopecks(301));
        id = Some(books.replenishments[0].id);
    });
    let subject = Subject::Replenishment(id.unwrap());
    let what = "the sum asked for is not that of its cards";
    assert_eq!(found, [Discrepancy::WrongRequest { subject, what }]);
}

/// The ledger, the batch and its cards have to agree on what came back.
#[test]
fn money_that_came_back_is_that_of_the_cards() {
    let reference = Reference::Withdrawal(withdrawal_id(3));
    let found = discrepancies_after(|books| {
        let booked = books.sums.iter_mut().find(|sums| sums.reference == reference).unwrap();
        booked.spent = kopecks(-14);
    });
    let (booked, expected) = (kopecks(-14), kopecks(-15));
    let wrong = Discrepancy::WrongMoney { reference: reference.clone(), what: "spent", booked, expected };
    assert_eq!(found, [wrong]);

    let found = discrepancies_after(|books| books.closings[2].amounts.returned = kopecks(121));
    let subject = Subject::Closing(closing_id(3));
    let wrong =
        Discrepancy::WrongRequest { subject, what: "the sum that came back is not that of its cards" };
    assert_eq!(found, [wrong]);
    let expected =
        "closing 00000000-0000-0000-0000-000000000003: the sum that came back is not that of its cards";
    assert_eq!(found[0].to_string(), expected);

    // A closing that holds money.
    let found = discrepancies_after(|books| books.sums.push(sums(Reference::Closing(closing_id(1)), 7, 0)));
    assert!(matches!(found[..], [Discrepancy::WrongMoney { what: "held", .. }]), "{found:?}");
}
