//! Cards by their names.

use kopeck_domain::card::{Card, CardStatus};
use kopeck_domain::card_ref::CardRef;
use kopeck_domain::employee::Employee;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};

use super::support::{
    at, employee, get_card, id, insert_cards, insert_employee, link, new_card, partner, read, some_cards,
    some_order, write,
};
use crate::{CardAndHolder, CardHolder, CardView, NewCard, Store};

/// What each name leads to.
fn found(store: &dyn Store, partner: PartnerId, names: &[CardRef]) -> Vec<Option<CardAndHolder>> {
    let names = names.to_vec();
    read(store, move |unit| unit.cards().by_references(partner, &names))
}

/// Every name of the employee and of the card.
fn names(employee: &Employee, card: &Card) -> [CardRef; 4] {
    [
        CardRef::Id(card.id()),
        CardRef::Number(card.number()),
        CardRef::Employee(employee.id()),
        CardRef::CustomId(employee.custom_id().clone()),
    ]
}

fn holder(employee: &Employee) -> Option<CardHolder> {
    let (custom_id, status) = (employee.custom_id().clone(), employee.status());
    Some(CardHolder { id: employee.id(), custom_id, status })
}

fn view(store: &dyn Store, partner: PartnerId, card: &Card) -> Option<CardView> {
    get_card(store, partner, card.id()).map(|record| CardView { card: record.card, bank: record.bank })
}

fn hire(store: &dyn Store, partner: PartnerId, custom_id: &str) -> Employee {
    let employee = employee(custom_id);
    insert_employee(store, partner, &employee).unwrap();
    employee
}

/// By its identifier and its number; the MAIN one also by both identifiers of the employee. The bank's view is the stored
/// one.
pub fn a_card_is_found_by_each_of_its_names(store: &dyn Store) {
    let partner = partner(store);
    let (holding, other) = (hire(store, partner, "Ёлка-1"), hire(store, partner, "T-1"));
    let cards = some_cards(store, partner, 3);
    link(store, partner, &cards[0], Some((holding.id(), CardStatus::Additional))).unwrap();
    link(store, partner, &cards[1], Some((holding.id(), CardStatus::Main))).unwrap();
    let of = |employee: Option<&Employee>, card: Option<&Card>| {
        let (holder, card) = (employee.and_then(holder), card.and_then(|card| view(store, partner, card)));
        Some(CardAndHolder { holder, card })
    };
    let main = of(Some(&holding), Some(&cards[1]));
    assert_eq!(found(store, partner, &names(&holding, &cards[1])), [(); 4].map(|()| main.clone()));
    let [additional, additional_number, ..] = names(&holding, &cards[0]);
    let [free, free_number, without, without_too] = names(&other, &cards[2]);
    let asked = [without, additional, free_number, additional_number, without_too, free];
    let expected = [
        of(Some(&other), None),
        of(Some(&holding), Some(&cards[0])),
        of(None, Some(&cards[2])),
        of(Some(&holding), Some(&cards[0])),
        of(Some(&other), None),
        of(None, Some(&cards[2])),
    ];
    assert_eq!(found(store, partner, &asked), expected);
    assert_eq!(found(store, partner, &[]), []);
}

/// Neither are those of another partner.
pub fn names_that_no_card_has_are_not_found(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let (holding, order) = (hire(store, first, "T-1"), some_order(store, first));
    let card = some_cards(store, first, 1).remove(0);
    link(store, first, &card, Some((holding.id(), CardStatus::Main))).unwrap();
    assert_eq!(found(store, second, &names(&holding, &card)), [const { None }; 4]);
    let unknown = new_card(order, 9).record.card;
    let stranger = employee("T-2");
    let mut asked = names(&stranger, &unknown).to_vec();
    asked.push(CardRef::Id(id::<CardId>()));
    asked.push(CardRef::Employee(id::<EmployeeId>()));
    assert_eq!(found(store, first, &asked), [const { None }; 6]);
}

/// Their cards are found, and have no holder then.
pub fn an_erased_employee_is_found_by_no_name(store: &dyn Store) {
    let partner = partner(store);
    let employee = hire(store, partner, "T-1");
    let card = some_cards(store, partner, 1).remove(0);
    link(store, partner, &card, Some((employee.id(), CardStatus::Main))).unwrap();
    let erased = employee.id();
    write(store, move |unit| unit.employees().erase(partner, erased, at(9))).unwrap();
    let card_alone = Some(CardAndHolder { holder: None, card: view(store, partner, &card) });
    let expected = [card_alone.clone(), card_alone, None, None];
    assert_eq!(found(store, partner, &names(&employee, &card)), expected);
}

/// In the order of the names, whatever their kinds.
pub fn ten_thousand_names_are_found_at_once(store: &dyn Store) {
    const PEOPLE: u32 = 500;
    let partner = partner(store);
    let order = some_order(store, partner);
    let cards: Vec<NewCard> = (0..PEOPLE).map(|ordinal| new_card(order, ordinal)).collect();
    insert_cards(store, partner, &cards).unwrap();
    let cards: Vec<Card> = cards.into_iter().map(|new| new.record.card).collect();
    let staff: Vec<Employee> = (0..PEOPLE).map(|n| employee(&format!("T-{n}"))).collect();
    let linked: Vec<_> = staff.iter().cloned().zip(cards.clone()).collect();
    write(store, move |unit| {
        for (employee, card) in &linked {
            unit.employees().insert(partner, employee)?;
            let link = kopeck_domain::card::CardLink { employee: employee.id(), status: CardStatus::Main };
            let fields = kopeck_domain::card::CardFields { link: Some(link), ..card.clone().into_fields() };
            unit.cards().set_link(partner, &Card::from_stored(fields))?;
        }
        Ok(())
    })
    .unwrap();
    let everyone = staff.iter().zip(&cards);
    let asked: Vec<CardRef> =
        everyone.flat_map(|(employee, card)| names(employee, card)).cycle().take(10_000).collect();
    let found = found(store, partner, &asked);
    for (place, found) in found.iter().enumerate() {
        let found = found.as_ref().unwrap();
        let person = place / 4 % cards.len();
        assert_eq!(found.holder, holder(&staff[person]), "name {place}");
        assert_eq!(found.card.as_ref().unwrap().card.id(), cards[person].id(), "name {place}");
    }
}
