//! Orders of cards.

use std::collections::HashSet;

use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::transaction::TransactionType;
use kopeck_port_bank::{
    BankError, BankGateway as _, BankKey, DeclineReason, IssuedCard, OrderedCards, Verdict,
};

use crate::bank::{Bank, START, delivered_to, order, plastic, virtual_cards};

const REFUSED: Verdict = Verdict::Declined(DeclineReason::Refused);

#[test]
fn plastic_cards_start_empty_and_active() {
    let bank = Bank::new();
    let kkl = OrderedCards { kind: CardType::Kkl, ..plastic(1) };
    let cards = bank.issue("o", vec![plastic(2), kkl]);
    assert_eq!(
        cards.iter().map(|card| card.kind).collect::<Vec<_>>(),
        [CardType::Mp4, CardType::Mp4, CardType::Kkl]
    );
    for card in cards {
        assert!(card.number.is_plastic());
        assert_eq!(card.valid_until.to_string(), "2029-11-30");
        assert_eq!(card.issued_at.unix_timestamp(), START);
        assert_eq!(card.activated_at, Some(card.issued_at));
        assert_eq!((card.activation_code, card.code_valid_until, card.first_top_up), (None, None, None));
        assert_eq!(card.remaining_top_up.get(), 1_500_000);
        let stands = bank.card(card.number);
        assert_eq!(
            (stands.balance.get(), stands.account.get(), stands.remaining_top_up.get()),
            (0, 0, 1_500_000)
        );
        assert_eq!((stands.standing, stands.valid_until), (Standing::Open, card.valid_until));
        assert_eq!(bank.bank.transactions(card.number, 0, 10).unwrap(), []);
    }
    bank.assert_books_are_right();
}

#[test]
fn virtual_cards_hold_their_money_and_wait_for_their_code() {
    let bank = Bank::new();
    let cards = bank.issue("o", vec![virtual_cards(2, 500_000), virtual_cards(1, 2_000_000)]);
    let [first, second, third] = <[IssuedCard; 3]>::try_from(cards).unwrap();
    assert_ne!(first.activation_code, second.activation_code);
    for (card, amount, room) in
        [(first, 500_000, 1_000_000), (second, 500_000, 1_000_000), (third, 2_000_000, 0)]
    {
        assert!(!card.number.is_plastic());
        assert_eq!(card.activation_code.unwrap().len(), 8);
        assert_eq!(card.code_valid_until.unwrap().to_string(), "2027-02-19");
        assert_eq!(card.activated_at, None);
        assert_eq!(card.first_top_up.unwrap().get(), amount);
        assert_eq!(card.remaining_top_up.get(), room);
        let stands = bank.card(card.number);
        assert_eq!((stands.balance.get(), stands.remaining_top_up.get()), (amount, room));
        let transactions = bank.bank.transactions(card.number, 0, 10).unwrap();
        let seen: Vec<_> = transactions.iter().map(|t| (t.kind, t.amount.get())).collect();
        assert_eq!(seen, [(TransactionType::Replenishment, amount)]);
    }
    assert_eq!(bank.bank.totals().unwrap().first_top_ups.get(), 3_000_000);
    bank.assert_books_are_right();
}

#[test]
fn an_order_to_the_word_is_declined_and_issues_nothing() {
    let bank = Bank::new();
    let lines = vec![plastic(1), delivered_to("12 DECLINE Street", 1)];
    assert_eq!(bank.submit_one(order("o", lines)), Ok(REFUSED));
    assert_eq!(bank.bank.issued_cards(&BankKey::new("o").unwrap(), 0, 10).unwrap(), []);
    assert_eq!(bank.bank.query(&[BankKey::new("o").unwrap()]), Ok(vec![Some(REFUSED)]));
    assert_eq!(bank.bank.applied(&BankKey::new("o").unwrap()).unwrap(), 0);
    assert_eq!(bank.bank.totals().unwrap().cards, 0);
}

#[test]
fn a_repeated_order_issues_once() {
    let bank = Bank::new();
    let cards = bank.issue("o", vec![virtual_cards(3, 100)]);
    assert_eq!(bank.issue("o", vec![virtual_cards(3, 100)]), cards);
    assert_eq!(bank.bank.applied(&BankKey::new("o").unwrap()).unwrap(), 1);
    assert_eq!(bank.bank.totals().unwrap().cards, 3);
}

#[test]
fn a_key_never_names_two_instructions() {
    let bank = Bank::new();
    let cards = bank.issue("o", vec![plastic(1)]);
    for other in [vec![plastic(2)], vec![delivered_to("2 Main Street", 1)]] {
        let answer = bank.submit_one(order("o", other));
        assert!(matches!(answer, Err(BankError::Unavailable(_))), "{answer:?}");
    }
    assert_eq!(bank.bank.issued_cards(&BankKey::new("o").unwrap(), 0, 10).unwrap(), cards);
}

#[test]
fn issued_cards_come_in_pages_of_one_order() {
    let bank = Bank::new();
    let all = bank.issue("o", vec![plastic(7), virtual_cards(5, 100)]);
    assert_eq!(all.len(), 12);
    let page = |skip, limit| bank.bank.issued_cards(&BankKey::new("o").unwrap(), skip, limit).unwrap();
    let mut pages = Vec::new();
    for skip in [0, 5, 10] {
        pages.extend(page(skip, 5));
    }
    assert_eq!(pages, all);
    assert_eq!(page(12, 5), []);
    assert_eq!(page(u32::MAX, 5), []);
    assert_eq!(page(0, 0), []);
    assert_eq!(bank.bank.issued_cards(&BankKey::new("unknown").unwrap(), 0, 5).unwrap(), []);
}

#[test]
fn a_large_order_is_issued_whole() {
    let bank = Bank::new();
    let cards = bank.issue("o", vec![plastic(1_500), virtual_cards(3_500, 1_000)]);
    assert_eq!(cards.len(), 5_000);
    assert_eq!(cards.iter().map(|card| card.number).collect::<HashSet<_>>().len(), 5_000);
    assert_eq!(bank.bank.totals().unwrap().first_top_ups.get(), 3_500_000);
    bank.assert_books_are_right();
}

#[test]
fn a_restart_keeps_everything_and_numbers_go_on() {
    let bank = Bank::new();
    let before = bank.issue("a", vec![virtual_cards(50, 100), plastic(50)]);
    let bank = bank.restarted();
    assert_eq!(bank.bank.issued_cards(&BankKey::new("a").unwrap(), 0, 1_000).unwrap(), before);
    assert_eq!(bank.submit_one(order("a", vec![virtual_cards(50, 100), plastic(50)])), Ok(Verdict::Done));
    let after = bank.issue("b", vec![virtual_cards(50, 100), plastic(50)]);
    let numbers: HashSet<_> = before.iter().chain(&after).map(|card| card.number).collect();
    assert_eq!(numbers.len(), 200);
    bank.assert_books_are_right();
}

#[test]
fn two_processes_share_the_database() {
    let bank = Bank::new();
    let neighbour = bank.neighbour();
    let order_of = |name: &str, n: usize| order(&format!("{name}{n}"), vec![plastic(10)]);
    std::thread::scope(|scope| {
        scope
            .spawn(|| (0..10).for_each(|n| assert_eq!(bank.submit_one(order_of("a", n)), Ok(Verdict::Done))));
        scope.spawn(|| {
            (0..10).for_each(|n| assert_eq!(neighbour.submit(&[order_of("b", n)]), [Ok(Verdict::Done)]));
        });
    });
    assert_eq!(bank.bank.totals().unwrap().cards, 200);
}

#[test]
fn several_processes_may_create_the_database_at_once() {
    for round in 0..10 {
        let bank = Bank::new();
        let issue = |name: usize| {
            let key = format!("{round}-{name}");
            assert_eq!(
                bank.neighbour_at("new.db").submit(&[order(&key, vec![plastic(10)])]),
                [Ok(Verdict::Done)]
            );
        };
        std::thread::scope(|scope| {
            for name in 0..6 {
                scope.spawn(move || issue(name));
            }
        });
        assert_eq!(bank.neighbour_at("new.db").totals().unwrap().cards, 60);
    }
}

#[test]
fn delivery_data_is_not_stored() {
    let bank = Bank::new();
    bank.issue("the-key-of-it", vec![plastic(1)]);
    let written = bank.written();
    let holds = |text: &str| written.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("the-key-of-it"));
    assert!(!["1 Main Street", "Anna Petrova", "9001234567"].into_iter().any(holds));
}
