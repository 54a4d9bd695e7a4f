//! Orders.

use crate::page::{Listed, Page};
use kopeck_domain::card::CardType;
use kopeck_domain::ids::{OrderId, PartnerId};
use kopeck_domain::order::OrderFields;
use kopeck_domain::order::{LineDetails, Order, OrderKind, OrderLine, OrderState};
use kopeck_domain::person::{DeliveryAddress, Phone, Recipient};
use kopeck_domain::request::RequestReference;

use super::support::{
    at, id, insert_cards, insert_order, new_card, new_virtual_card, page, partner, read, virtual_order, write,
};
use crate::{NewCard, OrderFilter, OrderResultItem, Rule, Store, StoreError};

fn get(store: &dyn Store, partner: PartnerId, id: OrderId) -> Option<Order> {
    read(store, move |unit| unit.orders().get(partner, id))
}

fn lines(store: &dyn Store, partner: PartnerId, id: OrderId) -> Vec<OrderLine> {
    read(store, move |unit| unit.orders().lines(partner, id))
}

fn set_state(store: &dyn Store, partner: PartnerId, order: &Order) {
    let order = order.clone();
    write(store, move |unit| unit.orders().set_state(partner, &order)).unwrap();
}

fn list(store: &dyn Store, partner: PartnerId, state: Option<OrderState>, page: Page) -> Listed<Order> {
    list_filtered(store, partner, OrderFilter { state, ..OrderFilter::default() }, page)
}

fn list_filtered(store: &dyn Store, partner: PartnerId, filter: OrderFilter, page: Page) -> Listed<Order> {
    read(store, move |unit| unit.orders().list(partner, &filter, page))
}

fn reference(text: &str) -> RequestReference {
    RequestReference::from_stored(text.to_owned())
}

fn plastic_order() -> (Order, Vec<OrderLine>) {
    let line = |card_type, count, address: &str| OrderLine {
        card_type,
        count,
        details: LineDetails::Plastic {
            address: DeliveryAddress::parse(address).unwrap(),
            // Kept as it was accepted, though it would be refused today.
            recipient: Recipient::from_stored("Иванов\u{200b} Пётр Ильич".to_owned()),
            phone: Phone::parse("9031234567").unwrap(),
        },
    };
    let lines = vec![
        line(CardType::Kkl, 10, "Москва, ул. Ёлочная, 1"),
        line(CardType::Mp4, 1, "Тверь"),
        line(CardType::Kkl, 3, "Тула"),
    ];
    let order = Order::place(id(), OrderKind::Plastic, &lines, at(7)).unwrap();
    (order.with_reference(Some(reference("Счёт 7"))), lines)
}

/// With its lines in their order, virtual and plastic.
pub fn an_order_is_read_as_it_was_placed(store: &dyn Store) {
    let partner = partner(store);
    for (order, order_lines) in [plastic_order(), virtual_order(3)] {
        assert_eq!(get(store, partner, order.id()), None);
        insert_order(store, partner, &order, &order_lines).unwrap();
        assert_eq!(get(store, partner, order.id()), Some(order.clone()));
        assert_eq!(lines(store, partner, order.id()), order_lines);
    }
    assert_eq!(lines(store, partner, id()), []);
}

/// With the timestamp of the change.
pub fn a_state_is_stored(store: &dyn Store) {
    let partner = partner(store);
    let ((order, order_lines), (other, other_lines)) = (virtual_order(1), virtual_order(1));
    insert_order(store, partner, &order, &order_lines).unwrap();
    insert_order(store, partner, &other, &other_lines).unwrap();
    for (state, seconds) in OrderState::ALL.iter().zip(10..) {
        let changed = Order::from_stored(OrderFields {
            state: *state,
            state_since: at(seconds),
            ..order.clone().into_fields()
        });
        set_state(store, partner, &changed);
        assert_eq!(get(store, partner, order.id()), Some(changed));
    }
    assert_eq!(get(store, partner, other.id()), Some(other));
}

/// However the cards of a chunk arrived; and of this order alone.
pub fn the_result_comes_by_ordinal(store: &dyn Store) {
    let partner = partner(store);
    let (order, order_lines) = virtual_order(4);
    insert_order(store, partner, &order, &order_lines).unwrap();
    let (other, other_lines) = plastic_order();
    insert_order(store, partner, &other, &other_lines).unwrap();
    insert_cards(store, partner, &[new_card(other.id(), 0)]).unwrap();
    let mut cards: Vec<NewCard> = [1, 0, 3, 2].map(|ordinal| new_virtual_card(order.id(), ordinal)).to_vec();
    let stored = |id| read(store, move |unit| unit.orders().stored_cards(partner, id));
    insert_cards(store, partner, &cards[..2]).unwrap();
    assert_eq!(stored(order.id()), 2);
    insert_cards(store, partner, &cards[2..]).unwrap();
    assert_eq!((stored(order.id()), stored(other.id()), stored(id())), (4, 1, 0));
    cards.sort_by_key(|card| card.ordinal);
    let items: Vec<OrderResultItem> = cards
        .iter()
        .map(|new| OrderResultItem {
            ordinal: new.ordinal,
            card_type: CardType::Mlz,
            number: new.record.card.number(),
            activation: new.activation.clone(),
        })
        .collect();
    let result = |from, limit| {
        let order = order.id();
        read(store, move |unit| unit.orders().result(partner, order, from, limit))
    };
    assert_eq!(result(0, 100), items);
    assert_eq!(result(1, 2), items[1..3]);
    assert_eq!(result(4, 100), []);
    let plastic = read(store, move |unit| unit.orders().result(partner, other.id(), 0, 100));
    assert_eq!((plastic.len(), plastic[0].activation.clone()), (1, None));
}

/// Neither seen nor listed nor changed by another.
pub fn an_order_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let (order, order_lines) = virtual_order(1);
    insert_order(store, first, &order, &order_lines).unwrap();
    insert_cards(store, first, &[new_virtual_card(order.id(), 0)]).unwrap();
    let id = order.id();
    assert_eq!(get(store, second, id), None);
    assert_eq!(lines(store, second, id), []);
    assert_eq!(read(store, move |unit| unit.orders().stored_cards(second, id)), 0);
    assert_eq!(read(store, move |unit| unit.orders().result(second, id, 0, 10)), []);
    assert_eq!(list(store, second, None, page(1, 10)), Listed { items: Vec::new(), total: 0 });
    set_state(
        store,
        second,
        &Order::from_stored(OrderFields { state: OrderState::Rejected, ..order.clone().into_fields() }),
    );
    assert_eq!(get(store, first, id), Some(order.clone()));
    let stranger = insert_order(store, super::support::id(), &order, &order_lines);
    assert_eq!(stranger, Err(StoreError::Conflict(Rule::Reference)));
}

/// Full pages, the last one, and those past the end.
pub fn pages_show_the_newest_first(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let mut orders = Vec::new();
    for _ in 0..5 {
        for (owner, keep) in [(partner, true), (other, false)] {
            let (order, order_lines) = virtual_order(1);
            insert_order(store, owner, &order, &order_lines).unwrap();
            if keep {
                orders.insert(0, order);
            }
        }
    }
    for (number, range) in [(1, 0..2), (2, 2..4), (3, 4..5), (4, 5..5), (Page::MAX_NUMBER, 5..5)] {
        let listed = list(store, partner, None, page(number, 2));
        assert_eq!(listed, Listed { items: orders[range].to_vec(), total: 5 }, "page {number}");
    }
}

/// And counts what fits.
pub fn the_list_filters_by_state(store: &dyn Store) {
    let partner = partner(store);
    let mut rejected = Vec::new();
    for number in 0..6 {
        let (order, order_lines) = virtual_order(1);
        insert_order(store, partner, &order, &order_lines).unwrap();
        if number % 2 == 0 {
            let order =
                Order::from_stored(OrderFields { state: OrderState::Rejected, ..order.into_fields() });
            set_state(store, partner, &order);
            rejected.insert(0, order);
        }
    }
    let page_of = |state, number| list(store, partner, Some(state), page(number, 2));
    let first = Listed { items: rejected[..2].to_vec(), total: 3 };
    let second = Listed { items: rejected[2..].to_vec(), total: 3 };
    assert_eq!(page_of(OrderState::Rejected, 1), first);
    assert_eq!(page_of(OrderState::Rejected, 2), second);
    assert_eq!(page_of(OrderState::New, 1).total, 3);
    assert_eq!(page_of(OrderState::Confirmed, 1), Listed { items: Vec::new(), total: 0 });
}

/// Together, and with the pages counted accordingly. The end of a period is not part of it.
pub fn the_list_filters_by_reference_and_time(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let mut orders = Vec::new();
    for (number, text) in (0..).zip([Some("A"), None, Some("B"), Some("A"), Some("a"), Some("A")]) {
        let (order, order_lines) = virtual_order(1);
        let order = Order::from_stored(OrderFields {
            created_at: at(100 * number),
            reference: text.map(reference),
            ..order.into_fields()
        });
        insert_order(store, partner, &order, &order_lines).unwrap();
        orders.push(order);
    }
    let (foreign, order_lines) = virtual_order(1);
    insert_order(store, other, &foreign.with_reference(Some(reference("A"))), &order_lines).unwrap();
    let listed = |filter, number| list_filtered(store, partner, filter, page(number, 2));
    let expected = |places: &[usize], total| Listed {
        items: places.iter().map(|place| orders[*place].clone()).collect(),
        total,
    };
    let all = OrderFilter::default();
    let named = |text| OrderFilter { reference: Some(reference(text)), ..OrderFilter::default() };
    assert_eq!(listed(named("A"), 1), expected(&[5, 3], 3));
    assert_eq!(listed(named("A"), 2), expected(&[0], 3));
    assert_eq!(listed(named("C"), 1), expected(&[], 0));
    assert_eq!(listed(OrderFilter { from: Some(at(400)), ..all.clone() }, 1), expected(&[5, 4], 2));
    assert_eq!(listed(OrderFilter { before: Some(at(200)), ..all }, 1), expected(&[1, 0], 2));
    let both =
        OrderFilter { state: Some(OrderState::New), from: Some(at(1)), before: Some(at(500)), ..named("A") };
    assert_eq!(listed(both.clone(), 1), expected(&[3], 1));
    assert_eq!(listed(OrderFilter { state: Some(OrderState::Success), ..both }, 1), expected(&[], 0));
}
