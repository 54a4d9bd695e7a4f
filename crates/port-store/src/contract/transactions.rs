//! The copy of the bank's transactions.

use crate::page::{Listed, Page};
use kopeck_domain::Kopecks;
use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{CardId, PartnerId};
use kopeck_domain::transaction::{Transaction, TransactionType};

use super::support::{at, get_card, id, link, page, partner, read, some_cards, some_employee, write};
use crate::{PartnerTransaction, Rule, Store, StoreError, TransactionFilter, TransactionQuery};

fn transaction(id: i64, seconds: i64, kind: TransactionType) -> Transaction {
    let spending = kind == TransactionType::Payment;
    Transaction {
        id,
        executed_at: at(seconds),
        kind,
        amount: Kopecks::new(1_000 + id),
        place: spending.then(|| "Столовая №1".to_owned()),
        mcc: spending.then(|| "5814".to_owned()),
        merchant_id: spending.then(|| "M-1".to_owned()),
    }
}

fn append(
    store: &dyn Store,
    partner: PartnerId,
    card: CardId,
    transactions: &[Transaction],
    seen: i64,
) -> Result<(), StoreError> {
    let transactions = transactions.to_vec();
    write(store, move |unit| unit.transactions().append(partner, card, &transactions, at(seen)))
}

fn list(
    store: &dyn Store,
    partner: PartnerId,
    card: CardId,
    filter: TransactionFilter,
    page: Page,
) -> Listed<Transaction> {
    read(store, move |unit| unit.transactions().list(partner, card, filter, page))
}

fn latest(store: &dyn Store, partner: PartnerId, card: CardId) -> i64 {
    read(store, move |unit| unit.transactions().latest_id(partner, card))
}

/// The first data of a transaction stays; the time of the request is noted even if nothing came.
pub fn stored_transactions_are_passed_over(store: &dyn Store) {
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id();
    let seen = || get_card(store, partner, card).unwrap().transactions_seen_at;
    assert_eq!((latest(store, partner, card), seen()), (0, None));
    append(store, partner, card, &[], 5).unwrap();
    assert_eq!((latest(store, partner, card), seen()), (0, Some(at(5))));
    let kind = TransactionType::Payment;
    let (first, second) = (transaction(7, 10, kind), transaction(9, 20, kind));
    append(store, partner, card, &[first.clone(), second.clone()], 30).unwrap();
    let double = Transaction { amount: Kopecks::new(1), ..second.clone() };
    let third = transaction(8, 25, kind);
    append(store, partner, card, &[double, third.clone()], 40).unwrap();
    assert_eq!((latest(store, partner, card), seen()), (9, Some(at(40))));
    let listed = list(store, partner, card, TransactionFilter::default(), page(1, 10));
    assert_eq!(listed, Listed { items: vec![third, second, first], total: 3 });
}

/// By timestamp; of equal timestamps, the bank's greater number is the later.
pub fn the_newest_come_first(store: &dyn Store) {
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id();
    let rows: Vec<Transaction> = [(1, 50), (2, 10), (3, 30), (4, 30), (5, 20)]
        .map(|(id, seconds)| transaction(id, seconds, TransactionType::Refund))
        .to_vec();
    append(store, partner, card, &rows, 60).unwrap();
    let ids = |number| -> Vec<i64> {
        let listed = list(store, partner, card, TransactionFilter::default(), page(number, 2));
        assert_eq!(listed.total, 5);
        listed.items.iter().map(|one| one.id).collect()
    };
    assert_eq!((ids(1), ids(2), ids(3), ids(4)), (vec![1, 4], vec![3, 5], vec![2], vec![]));
}

/// From a timestamp on, before another, of a type.
pub fn filters_have_to_fit_all_together(store: &dyn Store) {
    use TransactionType as T;
    let partner = partner(store);
    let card = some_cards(store, partner, 1)[0].id();
    let kinds = [T::Payment, T::Refund, T::Payment, T::Replenishment, T::Payment];
    let rows: Vec<Transaction> = (1..).zip(kinds).map(|(id, kind)| transaction(id, id * 10, kind)).collect();
    append(store, partner, card, &rows, 60).unwrap();
    let ids = |filter| -> Vec<i64> {
        let listed = list(store, partner, card, filter, page(1, 10));
        assert_eq!(listed.total, listed.items.len() as u64);
        listed.items.iter().map(|one| one.id).collect()
    };
    let none = TransactionFilter::default();
    assert_eq!(ids(TransactionFilter { from: Some(at(20)), ..none }), [5, 4, 3, 2]);
    assert_eq!(ids(TransactionFilter { before: Some(at(20)), ..none }), [1]);
    assert_eq!(ids(TransactionFilter { kind: Some(T::Payment), ..none }), [5, 3, 1]);
    let all = TransactionFilter { from: Some(at(20)), before: Some(at(50)), kind: Some(T::Payment) };
    assert_eq!(ids(all), [3]);
    assert_eq!(ids(TransactionFilter { kind: Some(T::Correction), ..none }), [0; 0]);
}

/// Two cards may have transactions of one number; another partner sees none.
pub fn transactions_are_their_cards_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let rows: Vec<Transaction> =
        [3, 4].map(|amount| transaction(amount, 10, TransactionType::Payment)).to_vec();
    append(store, first, cards[0].id(), &rows, 20).unwrap();
    append(store, first, cards[1].id(), &rows[..1], 20).unwrap();
    for (partner, card, newest, total) in
        [(first, &cards[0], 4, 2), (first, &cards[1], 3, 1), (second, &cards[0], 0, 0)]
    {
        assert_eq!(latest(store, partner, card.id()), newest);
        let listed = list(store, partner, card.id(), TransactionFilter::default(), page(1, 10));
        assert_eq!((listed.total, listed.items.len()), (total, usize::try_from(total).unwrap()));
    }
}

/// Of all cards, in the order of their arrival, with who has the card now. What is stored already has its number.
pub fn all_transactions_are_numbered_as_they_arrive(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let cards = some_cards(store, partner, 2);
    let foreign = some_cards(store, other, 1)[0].id();
    let holder = some_employee(store, partner);
    link(store, partner, &cards[0], Some((holder, CardStatus::Main))).unwrap();
    let custom_id =
        read(store, move |unit| unit.employees().get(partner, holder)).unwrap().custom_id().clone();
    let payment = |id| transaction(id, 10 * id, TransactionType::Payment);
    append(store, partner, cards[1].id(), &[payment(5), payment(7)], 80).unwrap();
    append(store, other, foreign, &[payment(1)], 80).unwrap();
    append(store, partner, cards[0].id(), &[payment(3)], 80).unwrap();
    // Twice in one response, and stored already.
    append(store, partner, cards[1].id(), &[payment(7), payment(6), payment(6), payment(8)], 90).unwrap();
    let expected: Vec<PartnerTransaction> = [(1, 5), (1, 7), (0, 3), (1, 6), (1, 8)]
        .into_iter()
        .zip(1..)
        .map(|((card, id), seq)| PartnerTransaction {
            seq,
            card: cards[card].id(),
            holder: (card == 0).then(|| (holder, Some(custom_id.clone()))),
            transaction: payment(id),
        })
        .collect();
    let query = TransactionQuery { limit: 100, ..TransactionQuery::default() };
    assert_eq!(after(store, partner, query), expected);
    assert_eq!(after(store, partner, TransactionQuery { after: 1, limit: 2, ..query }), expected[1..3]);
    assert_eq!(after(store, partner, TransactionQuery { after: 5, ..query }), []);
    assert_eq!(after(store, other, query).len(), 1);
}

/// Together: by card, holder, time and type.
pub fn filters_of_all_transactions_have_to_fit_all_together(store: &dyn Store) {
    use TransactionType as T;
    let (partner, other) = (partner(store), partner(store));
    let cards = some_cards(store, partner, 3);
    let [first, second] = [some_employee(store, partner), some_employee(store, partner)];
    for (card, holder, status) in
        [(0, first, CardStatus::Main), (2, first, CardStatus::Additional), (1, second, CardStatus::Main)]
    {
        link(store, partner, &cards[card], Some((holder, status))).unwrap();
    }
    for (card, id, kind) in
        [(0, 1, T::Payment), (1, 2, T::Payment), (2, 3, T::Refund), (0, 4, T::Refund), (2, 5, T::Payment)]
    {
        append(store, partner, cards[card].id(), &[transaction(id, 10 * id, kind)], 90).unwrap();
    }
    let all = TransactionQuery { limit: 100, ..TransactionQuery::default() };
    let ids = |query: TransactionQuery| -> Vec<i64> {
        after(store, partner, query).iter().map(|one| one.transaction.id).collect()
    };
    let card = |card: usize| Some(cards[card].id());
    let filtered = |filter| TransactionQuery { filter, ..all };
    assert_eq!(ids(TransactionQuery { card: card(0), ..all }), [1, 4]);
    assert_eq!(ids(TransactionQuery { employee: Some(first), ..all }), [1, 3, 4, 5]);
    assert_eq!(ids(TransactionQuery { employee: Some(first), after: 1, limit: 2, ..all }), [3, 4]);
    assert_eq!(ids(TransactionQuery { card: card(2), employee: Some(first), ..all }), [3, 5]);
    assert_eq!(ids(TransactionQuery { card: card(2), employee: Some(second), ..all }), [0; 0]);
    assert_eq!(ids(TransactionQuery { employee: Some(id()), ..all }), [0; 0]);
    let none = TransactionFilter::default();
    assert_eq!(ids(filtered(TransactionFilter { from: Some(at(30)), ..none })), [3, 4, 5]);
    assert_eq!(ids(filtered(TransactionFilter { before: Some(at(30)), ..none })), [1, 2]);
    let refunds = TransactionFilter { kind: Some(T::Refund), ..none };
    assert_eq!(ids(filtered(refunds)), [3, 4]);
    assert_eq!(ids(TransactionQuery { employee: Some(first), after: 3, ..filtered(refunds) }), [4]);
    assert_eq!(after(store, other, TransactionQuery { card: card(0), ..all }), []);
    assert_eq!(after(store, other, TransactionQuery { employee: Some(first), ..all }), []);
}

fn after(store: &dyn Store, partner: PartnerId, query: TransactionQuery) -> Vec<PartnerTransaction> {
    read(store, move |unit| unit.transactions().after(partner, &query))
}

/// One of the same partner.
pub fn transactions_need_a_card(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let card = some_cards(store, first, 1)[0].id();
    let rows = [transaction(1, 10, TransactionType::Payment)];
    for (partner, card) in [(second, card), (first, id())] {
        let refused = append(store, partner, card, &rows, 20);
        assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
    }
    append(store, second, card, &[], 20).unwrap();
    assert_eq!(get_card(store, first, card).unwrap().transactions_seen_at, None);
}

/// From one timestamp until before another; other kinds of transactions, other cards and other partners do not count.
pub fn a_card_s_spending_is_payments_less_refunds(store: &dyn Store) {
    use TransactionType as T;
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 2);
    let kinds = [T::Payment, T::Replenishment, T::Payment, T::Refund, T::Reversal, T::Correction, T::Payment];
    let rows: Vec<Transaction> = (1..).zip(kinds).map(|(id, kind)| transaction(id, id * 10, kind)).collect();
    append(store, first, cards[0].id(), &rows, 90).unwrap();
    append(store, first, cards[1].id(), &rows[..1], 90).unwrap();
    let spent = |partner, card, from, until| {
        read(store, move |unit| unit.transactions().spent(partner, card, at(from), at(until))).get()
    };
    let of_first = |from, until| spent(first, cards[0].id(), from, until);
    assert_eq!(of_first(0, 100), 1_001 + 1_003 + 1_007 - 1_004);
    assert_eq!(of_first(10, 70), 1_001 + 1_003 - 1_004, "the last moment is not in it");
    assert_eq!(of_first(11, 31), 1_003, "the first moment is");
    assert_eq!(of_first(40, 60), -1_004, "more may come back than was paid");
    assert_eq!(of_first(71, 100), 0);
    assert_eq!(spent(first, cards[1].id(), 0, 100), 1_001);
    assert_eq!(spent(second, cards[0].id(), 0, 100), 0);
}
