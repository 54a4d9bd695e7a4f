use super::*;
use crate::testing::*;
use kopeck_domain::card::Standing;
use kopeck_domain::category::{Category, CategoryName};
use kopeck_domain::employee::EmployeeStatus;
use kopeck_domain::person::{Email, PersonName, Phone};
use kopeck_port_store::mock::MockUnit;
use time::{Duration, OffsetDateTime};

fn own_id() -> CustomId {
    custom_id("E-1")
}

fn holder_of_custom_id(unit: &mut MockUnit, holder: Option<EmployeeId>) {
    unit.employees
        .expect_id_by_custom_id()
        .withf(|partner, custom_id| *partner == PARTNER && custom_id.as_str() == "E-1")
        .times(1)
        .returning(move |_, _| Ok(holder));
}

fn known_category(unit: &mut MockUnit, known: bool) {
    let category =
        known.then(|| Category { id: category_id(70), name: CategoryName::parse("Office").unwrap() });
    unit.categories
        .expect_get()
        .withf(|partner, id| *partner == PARTNER && *id == category_id(70))
        .times(1)
        .returning(move |_, _| Ok(category.clone()));
}

#[test]
fn all_conflicts_are_named_at_once() {
    use EmployeeConflict::{CustomIdTaken, UnknownCategory};

    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    holder_of_custom_id(&mut unit, Some(employee_id(9)));
    known_category(&mut unit, false);
    let new = NewEmployee { category: Some(category_id(70)), ..NewEmployee::default() };
    let refused = add(&mut unit, &bench, PARTNER, &own_id(), &new);
    assert_eq!(refused, Err(AddEmployeeError::Conflicts(vec![CustomIdTaken, UnknownCategory])));
}

#[test]
fn a_missing_custom_id_is_not_looked_up() {
    let mut unit = MockUnit::default();
    known_category(&mut unit, false);
    let new = NewEmployee { category: Some(category_id(70)), ..NewEmployee::default() };
    let found = conflicts_of_new(&mut unit, PARTNER, None, &new);
    assert_eq!(found, Ok(vec![EmployeeConflict::UnknownCategory]));
}

#[test]
fn a_new_employee_is_stored_as_answered() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    holder_of_custom_id(&mut unit, None);
    known_category(&mut unit, true);
    let stored = std::sync::Arc::new(std::sync::Mutex::new(None));
    let seen = std::sync::Arc::clone(&stored);
    unit.employees.expect_insert().times(1).returning(move |_, employee| {
        *seen.lock().unwrap() = Some(employee.clone());
        Ok(())
    });
    let fields = NewEmployee {
        category: Some(category_id(70)),
        surname: Some(PersonName::parse("Ёжиков").unwrap()),
        phone: Some(Phone::parse("9031234567").unwrap()),
        email: Some(Email::parse("a@example.org").unwrap()),
        ..NewEmployee::default()
    };
    let employee = add(&mut unit, &bench, PARTNER, &own_id(), &fields).unwrap();
    assert_eq!(employee.id(), EmployeeId::new(fresh_id(1)));
    assert_eq!((employee.status(), employee.status_updated_at()), (EmployeeStatus::Work, START));
    assert_eq!(employee.category(), Some(category_id(70)));
    assert_eq!(employee.surname().map(PersonName::as_str), Some("Ёжиков"));
    assert_eq!(employee.email().map(Email::as_str), Some("a@example.org"));
    assert_eq!(*stored.lock().unwrap(), Some(employee));
}

/// The conflict that a broken rule of the store stands for.
fn conflict_of(rule: Rule) -> Option<EmployeeConflict> {
    match rule {
        Rule::EmployeeCustomId => Some(EmployeeConflict::CustomIdTaken),
        Rule::Reference => Some(EmployeeConflict::UnknownCategory),
        Rule::PartnerLogin
        | Rule::CategoryName
        | Rule::CardNumber
        | Rule::OneMainCard
        | Rule::CardInOneBatch
        | Rule::TransferReference
        | Rule::IdempotencyKey
        | Rule::SealedNonce
        | Rule::UserLogin
        | Rule::RunReference
        | Rule::ProgrammePeriod => None,
    }
}

#[test]
fn a_raced_constraint_is_a_conflict_when_adding() {
    for rule in RULES {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        holder_of_custom_id(&mut unit, None);
        unit.employees.expect_insert().returning(move |_, _| Err(StoreError::Conflict(rule)));
        let refused = add(&mut unit, &bench, PARTNER, &own_id(), &NewEmployee::default()).unwrap_err();
        let expected = match conflict_of(rule) {
            Some(conflict) => AddEmployeeError::Conflicts(vec![conflict]),
            None => AddEmployeeError::Store(StoreError::Conflict(rule)),
        };
        assert_eq!(refused, expected);
    }
}

#[test]
fn a_raced_constraint_is_a_conflict_when_updating() {
    for rule in RULES {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        unit.employees.expect_get().returning(|_, _| Ok(Some(employee(1))));
        unit.employees.expect_update().returning(move |_, _| Err(StoreError::Conflict(rule)));
        let none = EmployeeUpdate::default();
        let refused = update(&mut unit, &bench, PARTNER, employee_id(1), &none, |_| true).unwrap_err();
        let expected = match conflict_of(rule) {
            Some(conflict) => UpdateEmployeeError::Conflicts(vec![conflict]),
            None => UpdateEmployeeError::Store(StoreError::Conflict(rule)),
        };
        assert_eq!(refused, expected);
    }
}

#[test]
fn an_employee_may_be_given_its_own_custom_id() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    holder_of_custom_id(&mut unit, Some(employee_id(1)));
    unit.employees.expect_get().returning(|_, _| Ok(Some(employee(1))));
    unit.employees
        .expect_update()
        .withf(|_, stored| *stored == employee(1))
        .times(1)
        .returning(|_, _| Ok(()));
    let same = EmployeeUpdate { custom_id: Some(custom_id("E-1")), ..EmployeeUpdate::default() };
    let updated = update(&mut unit, &bench, PARTNER, employee_id(1), &same, |_| true);
    assert_eq!(updated, Ok(employee(1)));
}

/// Conflicts come before an employee that is not there: nothing even looks for it.
#[test]
fn conflicts_come_before_an_unknown_employee() {
    use EmployeeConflict::{CustomIdTaken, UnknownCategory};

    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    holder_of_custom_id(&mut unit, Some(employee_id(9)));
    known_category(&mut unit, false);
    let update_to = EmployeeUpdate {
        custom_id: Some(custom_id("E-1")),
        category: Change::Set(category_id(70)),
        ..EmployeeUpdate::default()
    };
    let refused = update(&mut unit, &bench, PARTNER, employee_id(404), &update_to, |_| true);
    assert_eq!(refused, Err(UpdateEmployeeError::Conflicts(vec![CustomIdTaken, UnknownCategory])));
}

#[test]
fn an_unknown_employee_is_neither_updated_nor_shown() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_get().times(1).returning(|_, _| Ok(None));
    unit.employees.expect_with_cards().times(1).returning(|_, _| Ok(None));
    let none = EmployeeUpdate::default();
    assert_eq!(
        update(&mut unit, &bench, PARTNER, employee_id(404), &none, |_| true),
        Err(UpdateEmployeeError::NotFound)
    );
    assert_eq!(get(&mut unit, PARTNER, employee_id(404)), Err(GetEmployeeError::NotFound));
}

/// An unexpected state is refused after the other refusals, and nothing is written.
#[test]
fn an_employee_in_another_state_than_expected_is_not_updated() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_get().times(1).returning(|_, _| Ok(Some(employee(1))));
    let update_to = EmployeeUpdate { status: Some(EmployeeStatus::Vacation), ..EmployeeUpdate::default() };
    let is_other = |present: &Employee| *present != employee(1);
    let refused = update(&mut unit, &bench, PARTNER, employee_id(1), &update_to, is_other);
    assert_eq!(refused, Err(UpdateEmployeeError::Changed));

    unit.employees.expect_get().returning(|_, _| Ok(None));
    let refused = update(&mut unit, &bench, PARTNER, employee_id(404), &update_to, |_| false);
    assert_eq!(refused, Err(UpdateEmployeeError::NotFound));
}

#[test]
fn clearing_a_category_asks_for_none_and_a_new_status_has_its_date() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_get().returning(|_, _| Ok(Some(employee(1))));
    unit.employees.expect_update().times(1).returning(|_, _| Ok(()));
    let update_to = EmployeeUpdate {
        category: Change::Clear,
        status: Some(EmployeeStatus::Vacation),
        ..EmployeeUpdate::default()
    };
    let updated = update(&mut unit, &bench, PARTNER, employee_id(1), &update_to, |_| true).unwrap();
    assert_eq!(updated.category(), None);
    assert_eq!((updated.status(), updated.status_updated_at()), (EmployeeStatus::Vacation, START));
    assert_eq!((updated.created_at(), updated.phone()), (BEFORE, employee(1).phone()));
}

#[test]
fn an_employee_is_shown_with_its_cards() {
    let mut unit = MockUnit::default();
    let cards = vec![(card_id(1), CardStatus::Main), (card_id(2), CardStatus::Additional)];
    let stored = cards.clone();
    unit.employees
        .expect_with_cards()
        .withf(|partner, id| *partner == PARTNER && *id == employee_id(1))
        .returning(move |_, _| Ok(Some((employee(1), stored.clone()))));
    let shown = get(&mut unit, PARTNER, employee_id(1));
    assert_eq!(shown, Ok((employee(1), cards)));
}

#[test]
fn a_broken_store_is_no_fault_of_the_caller() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_id_by_custom_id().returning(|_, _| Err(broken()));
    assert_eq!(
        add(&mut unit, &bench, PARTNER, &own_id(), &NewEmployee::default()),
        Err(AddEmployeeError::Store(broken()))
    );
}

/// Employee 1 has a card that stands so at the bank.
fn with_card(unit: &mut MockUnit, standing: Standing) {
    unit.employees
        .expect_with_cards()
        .withf(|partner, id| *partner == PARTNER && *id == employee_id(1))
        .returning(|_, _| Ok(Some((employee(1), vec![(card_id(1), CardStatus::Main)]))));
    let mut record = linked(1, employee_id(1), CardStatus::Main);
    record.bank.standing = standing;
    unit.cards.expect_get().returning(move |_, _| Ok(Some(record.clone())));
}

fn expect_erasure(unit: &mut MockUnit, at: OffsetDateTime) {
    unit.employees
        .expect_erase()
        .withf(move |partner, id, moment| (*partner, *id, *moment) == (PARTNER, employee_id(1), at))
        .times(1)
        .returning(|_, _, _| Ok(()));
}

#[test]
fn an_employee_whose_cards_are_closed_or_expired_is_erased() {
    for (standing, days) in [(Standing::Closed, 0), (Standing::Open, 400)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        bench.clock.advance(Duration::days(days));
        with_card(&mut unit, standing);
        expect_erasure(&mut unit, START + Duration::days(days));
        assert_eq!(erase(&mut unit, &bench, PARTNER, employee_id(1)), Ok(employee_id(1)));
        let erased = EmployeeErased { employee: employee_id(1) };
        assert_eq!(unit.events.data(), [&EventData::EmployeeErased(erased)]);
    }
}

#[test]
fn an_employee_with_a_card_that_may_pay_is_not_erased() {
    for standing in [Standing::Open, Standing::Blocked] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        with_card(&mut unit, standing);
        let refused = erase(&mut unit, &bench, PARTNER, employee_id(1));
        assert_eq!(refused, Err(EraseEmployeeError::HasCards));
        assert!(unit.events.data().is_empty());
    }
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_with_cards().returning(|_, _| Ok(None));
    assert_eq!(erase(&mut unit, &bench, PARTNER, employee_id(1)), Err(EraseEmployeeError::NotFound));
}
