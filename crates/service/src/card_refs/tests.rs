use super::*;
use crate::testing::*;
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::Employee;
use kopeck_port_store::mock::MockUnit;

fn holder(n: u128, status: EmployeeStatus) -> CardHolder {
    let employee: Employee = employee(n);
    CardHolder { id: employee.id(), custom_id: employee.custom_id().clone(), status }
}

fn view(n: u64) -> CardView {
    let record = linked(n, employee_id(1), CardStatus::Main);
    CardView { card: record.card, bank: record.bank }
}

/// The store has these.
fn known(unit: &mut MockUnit, found: Vec<Option<CardAndHolder>>) {
    unit.cards.expect_by_references().times(1).return_once(move |_, _| Ok(found));
}

fn with_main(n: u64) -> Option<CardAndHolder> {
    Some(CardAndHolder { holder: Some(holder(1, EmployeeStatus::Work)), card: Some(view(n)) })
}

fn without_card() -> Option<CardAndHolder> {
    Some(CardAndHolder { holder: Some(holder(2, EmployeeStatus::Work)), card: None })
}

#[test]
fn each_name_has_its_own_fault() {
    let by_person = [CardRef::Employee(employee_id(9)), CardRef::CustomId(custom_id("T-9"))];
    let by_card = [CardRef::Id(card_id(9)), CardRef::Number(number(9))];
    let names = [by_person.as_slice(), &by_card, &by_person[..1]].concat();
    let mut unit = MockUnit::default();
    known(&mut unit, vec![None, None, None, None, without_card()]);
    let faults: Vec<CardRefError> =
        find(&mut unit, PARTNER, &names).unwrap().into_iter().map(Result::unwrap_err).collect();
    let expected = [
        CardRefError::UnknownEmployee,
        CardRefError::UnknownEmployee,
        CardRefError::UnknownCard,
        CardRefError::UnknownCard,
        CardRefError::NoMainCard(holder(2, EmployeeStatus::Work)),
    ];
    assert_eq!(faults, expected);
}

#[test]
fn a_holder_who_left_is_told() {
    for status in [EmployeeStatus::Work, EmployeeStatus::Vacation, EmployeeStatus::DontWork] {
        let found = FoundCard { view: view(1), holder: Some(holder(1, status)) };
        assert_eq!(found.holder_has_left(), status == EmployeeStatus::DontWork);
    }
    assert!(!FoundCard { view: view(1), holder: None }.holder_has_left());
}

fn named<'a>(unit: &mut MockUnit, names: &'a [CardRef]) -> Result<NamedCards<'a>, CreateBatchError<()>> {
    NamedCards::find(unit, PARTNER, names.iter())
}

/// The mock fails at any look-up.
#[test]
fn identifiers_of_cards_are_not_looked_up() {
    let names = [CardRef::Id(card_id(1)), CardRef::Id(card_id(2))];
    assert_eq!(named(&mut MockUnit::default(), &names).unwrap().ids(), [card_id(1), card_id(2)]);
}

#[test]
fn a_card_under_two_names_is_refused_before_unknown_ones() {
    let names = [
        CardRef::Id(card_id(1)),
        CardRef::CustomId(custom_id("nobody")),
        CardRef::Employee(employee_id(1)),
        CardRef::Number(number(1)),
    ];
    let mut unit = MockUnit::default();
    known(&mut unit, vec![with_main(1), None, with_main(1), with_main(1)]);
    let twice = vec![(2, names[2].clone()), (3, names[3].clone())];
    assert_eq!(named(&mut unit, &names).err(), Some(CreateBatchError::Twice(twice)));
    known(&mut unit, vec![with_main(1), None, with_main(2), None]);
    let unknown = vec![names[1].clone(), names[3].clone()];
    assert_eq!(named(&mut unit, &names).err(), Some(CreateBatchError::UnknownCards(unknown)));
}

#[test]
fn an_employee_without_main_card_is_a_conflict_in_its_place() {
    let names =
        [CardRef::Number(number(1)), CardRef::Employee(employee_id(2)), CardRef::CustomId(custom_id("T-3"))];
    let mut unit = MockUnit::default();
    known(&mut unit, vec![with_main(1), without_card(), with_main(3)]);
    let named = named(&mut unit, &names).unwrap();
    assert_eq!(named.ids(), [card_id(1), card_id(3)]);
    let conflicts = named.conflicts(|card| (card == card_id(3)).then_some(ConflictReason::Expired));
    let expected = [
        CardConflict { named: names[1].clone(), card: None, reason: ConflictReason::NoMainCard },
        CardConflict { named: names[2].clone(), card: Some(card_id(3)), reason: ConflictReason::Expired },
    ];
    assert_eq!(conflicts, expected);
}
