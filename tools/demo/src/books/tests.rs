use super::*;

const NONE: Uuid = Uuid::nil();

fn funds(balance: i64) -> Funds {
    Funds { balance, hold: 0, available: balance }
}

fn top_up(asked: i64, outcome: CardOutcome) -> CardTopUp {
    CardTopUp { card: NONE, asked, expected: outcome.clone(), outcome, answered: asked }
}

fn card(first_top_up: i64, topped_up: i64) -> CardMoney {
    CardMoney { card: NONE, first_top_up, topped_up, balance: first_top_up + topped_up }
}

/// 1000 deposited; three cards of 100, one of them free; a top-up of 50 and one of 70 that is refused.
fn good() -> Books {
    Books {
        deposit: 1_000,
        at_start: funds(1_000),
        after_orders: funds(700),
        after_refused_order: funds(700),
        at_end: funds(650),
        order_cost: 300,
        employees: Count { expected: 2, found: 2 },
        orders: Count { expected: 2, found: 2 },
        requests: Count { expected: 1, found: 1 },
        repeats_answered_alike: true,
        top_ups: vec![top_up(50, CardOutcome::ToppedUp), top_up(70, CardOutcome::Blocked)],
        linked: vec![card(100, 50), card(100, 0)],
        free: vec![card(100, 0)],
    }
}

fn wrong(change: impl FnOnce(&mut Books)) -> Vec<String> {
    let mut books = good();
    change(&mut books);
    books.checks().iter().filter(|check| !check.fits()).map(ToString::to_string).collect()
}

#[test]
fn a_good_day_adds_up() {
    assert_eq!(wrong(|_| {}), Vec::<String>::new());
}

#[test]
fn a_wrong_figure_is_named_with_both_values() {
    assert_eq!(
        wrong(|books| books.at_end.hold = 70),
        ["nothing is held at the end: should be 0.00, is 0.70"]
    );
}

#[test]
fn a_top_up_booked_twice_is_found() {
    let wrong = wrong(|books| books.at_end = funds(600));
    assert_eq!(wrong.len(), 3, "{wrong:?}");
    assert!(wrong.iter().any(|line| line.starts_with("all cards hold what left")), "{wrong:?}");
}

#[test]
fn money_on_the_wrong_card_is_found_though_the_sums_are_right() {
    let wrong = wrong(|books| {
        for (card, more) in books.linked.iter_mut().zip([-5, 5]) {
            card.balance += more;
        }
    });
    assert_eq!(wrong, ["cards that hold just what they have to: should be 3, is 1"]);
}

#[test]
fn a_refusal_for_another_reason_is_found() {
    let wrong = wrong(|books| {
        if let Some(card) = books.top_ups.last_mut() {
            card.outcome = CardOutcome::RefusedByBank;
        }
    });
    assert_eq!(
        wrong,
        [
            "top-ups: blocked by the bank: should be 0.70, is 0.00",
            "top-ups: refused by the bank: should be 0.00, is 0.70",
            "cards that ended as they had to: should be 2, is 1",
        ]
    );
}

#[test]
fn every_figure_counts() {
    let changes: [fn(&mut Books); 14] = [
        |books| books.deposit += 1,
        |books| books.at_start.balance += 1,
        |books| books.after_orders.balance += 1,
        |books| books.after_orders.available -= 1,
        |books| books.after_refused_order.balance -= 1,
        |books| books.after_refused_order.hold += 1,
        |books| books.at_end.available -= 1,
        |books| books.order_cost += 1,
        |books| books.employees.found += 1,
        |books| books.orders.found += 1,
        |books| books.requests.found += 1,
        |books| books.repeats_answered_alike = false,
        |books| books.free.iter_mut().for_each(|card| card.balance += 1),
        |books| books.top_ups.iter_mut().for_each(|card| card.answered += 1),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert!(!wrong(change).is_empty(), "change {number}");
    }
}
