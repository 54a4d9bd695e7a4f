//! Orders and their cards.

use std::collections::HashSet;

use kopeck_domain::Kopecks;
use kopeck_domain::card::{CardType, Standing};
use kopeck_domain::transaction::TransactionType;

use super::{issue, key, order, plastic, submit_one, virtual_cards};
use crate::{BankGateway, Delivery, OrderedCards, Verdict};

/// A plastic card is of its product, empty, active and open.
pub fn plastic_cards_start_empty_and_active(bank: &dyn BankGateway) {
    let other = OrderedCards { kind: CardType::Kkl, ..plastic(1) };
    let cards = issue(bank, "o", &[plastic(2), other]);
    assert_eq!(
        cards.iter().map(|card| card.kind).collect::<Vec<_>>(),
        [CardType::Mp4, CardType::Mp4, CardType::Kkl]
    );
    for card in cards {
        assert!(card.number.is_plastic());
        assert_eq!(card.activated_at, Some(card.issued_at));
        assert_eq!((card.activation_code, card.code_valid_until, card.first_top_up), (None, None, None));
        let stands = bank.card(card.number).unwrap().unwrap();
        assert_eq!((stands.balance, stands.account), (Kopecks::ZERO, Kopecks::ZERO));
        assert_eq!((stands.standing, stands.valid_until), (Standing::Open, card.valid_until));
        assert_eq!(
            (stands.remaining_top_up, stands.activated_at),
            (card.remaining_top_up, card.activated_at)
        );
        assert_eq!(bank.transactions(card.number, 0, 10), Ok(vec![]));
    }
}

/// Each virtual card has another code, and the money of its order.
pub fn virtual_cards_hold_their_money_and_wait_for_their_code(bank: &dyn BankGateway) {
    let cards = issue(bank, "o", &[virtual_cards(2, 500_000)]);
    assert_ne!(cards[0].activation_code, cards[1].activation_code);
    for card in cards {
        assert!(!card.number.is_plastic());
        assert!(card.activation_code.is_some_and(|code| !code.is_empty()));
        assert!(card.code_valid_until.unwrap() > card.issued_at.date());
        assert_eq!((card.activated_at, card.first_top_up), (None, Some(Kopecks::new(500_000))));
        let stands = bank.card(card.number).unwrap().unwrap();
        assert_eq!((stands.balance.get(), stands.activated_at), (500_000, None));
        let transactions = bank.transactions(card.number, 0, 10).unwrap();
        let seen: Vec<_> = transactions.iter().map(|made| (made.kind, made.amount.get())).collect();
        assert_eq!(seen, [(TransactionType::Replenishment, 500_000)]);
    }
}

/// Pages of every size join to the same list.
pub fn cards_come_in_pages_of_one_order(bank: &dyn BankGateway) {
    let all = issue(bank, "o", &[plastic(7), virtual_cards(5, 100)]);
    issue(bank, "another", &[plastic(3)]);
    let page = |skip, limit| bank.issued_cards(&key("o"), skip, limit).unwrap();
    for size in [1, 5, 12, 13] {
        let mut joined = Vec::new();
        for start in (0..12).step_by(usize::try_from(size).unwrap()) {
            joined.extend(page(start, size));
        }
        assert_eq!(joined, all, "pages of {size}");
    }
    assert_eq!((page(12, 5), page(u32::MAX, 5)), (vec![], vec![]));
}

/// More cards than any page of a protocol has.
pub fn a_large_order_is_read_whole(bank: &dyn BankGateway) {
    let cards = issue(bank, "o", &[plastic(1_500), virtual_cards(1_000, 1_000)]);
    assert_eq!(cards.iter().map(|card| card.number).collect::<HashSet<_>>().len(), 2_500);
    let part = bank.issued_cards(&key("o"), 400, 1_700).unwrap();
    assert_eq!(part, cards[400..2_100]);
}

/// An unknown key has no cards, and that is no error.
pub fn an_order_that_was_never_made_has_no_cards(bank: &dyn BankGateway) {
    assert_eq!(bank.issued_cards(&key("never"), 0, 5), Ok(vec![]));
}

/// Whatever the alphabet; and the same order again is the same order.
pub fn any_text_can_be_delivered_to(bank: &dyn BankGateway) {
    let delivery = Delivery {
        address: "ул. Ёлочная, д. 1 «Б»\n\"кв\" \\ 2".into(),
        recipient: "Anna-Maria O'Neill 🙂".into(),
        phone: "9001234567".into(),
    };
    let lines = [OrderedCards { delivery: Some(delivery), ..plastic(1) }];
    let cards = issue(bank, "o", &lines);
    assert_eq!(submit_one(bank, &order("o", &lines)), Ok(Verdict::Done));
    assert_eq!(bank.issued_cards(&key("o"), 0, 10), Ok(cards));
}
