use std::sync::{Arc, Mutex};

use kopeck_domain::employee::NewEmployee;
use kopeck_port_store::mock::MockUnit;

use super::*;
use crate::testing::*;

fn rules(unit: &mut MockUnit, freeze: bool, days: Option<u16>, close: bool) {
    let rules = LeaverRules::new(freeze, days, close).unwrap();
    unit.leavers.expect_rules().returning(move |_| Ok(rules));
}

fn employee(status: EmployeeStatus) -> Employee {
    let fields = NewEmployee { status: Some(status), ..NewEmployee::default() };
    Employee::add(employee_id(1), custom_id("E-1"), fields, START)
}

/// The leavers that are stored.
fn stored(unit: &mut MockUnit) -> Arc<Mutex<Vec<Leaver>>> {
    let stored = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&stored);
    unit.leavers.expect_put().returning(move |partner, leaver| {
        assert_eq!(partner, PARTNER);
        seen.lock().unwrap().push(leaver.clone());
        Ok(())
    });
    stored
}

fn leaver(run: Option<RunId>, closes: bool) -> Leaver {
    let (employee, look_at) = (employee_id(1), Some(START));
    Leaver { employee, left_at: START - Duration::DAY, frozen: Vec::new(), closes, run, look_at }
}

fn known(unit: &mut MockUnit, leaver: &Leaver) {
    let leaver = leaver.clone();
    unit.leavers.expect_get().returning(move |_, _| Ok(Some(leaver.clone())));
}

/// Neither a look at the rules, which most updates would pay for, nor anything else.
#[test]
fn only_leaving_and_coming_back_have_consequences() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    for before in EmployeeStatus::ALL {
        for after in EmployeeStatus::ALL {
            let left = |status: &EmployeeStatus| *status == EmployeeStatus::DontWork;
            if left(before) == left(after) {
                follow(&mut unit, &bench, PARTNER, *before, &employee(*after)).unwrap();
            }
        }
    }
}

#[test]
fn without_rules_nothing_is_noted() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    rules(&mut unit, false, None, false);
    follow(&mut unit, &bench, PARTNER, EmployeeStatus::Work, &employee(EmployeeStatus::DontWork)).unwrap();
}

#[test]
fn what_is_due_later_is_noted_with_the_rules_of_the_day() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    rules(&mut unit, false, Some(30), true);
    let stored = stored(&mut unit);
    follow(&mut unit, &bench, PARTNER, EmployeeStatus::Work, &employee(EmployeeStatus::DontWork)).unwrap();
    let expected = Leaver { left_at: START, look_at: Some(START + Duration::days(30)), ..leaver(None, true) };
    assert_eq!(*stored.lock().unwrap(), [expected]);
}

#[test]
fn who_was_not_noted_comes_back_to_what_was() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.leavers.expect_get().times(1).returning(|_, _| Ok(None));
    follow(&mut unit, &bench, PARTNER, EmployeeStatus::DontWork, &employee(EmployeeStatus::Work)).unwrap();
}

#[test]
fn a_step_that_is_not_due_is_not_taken() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, &Leaver { look_at: Some(START + Duration::MICROSECOND), ..leaver(None, true) });
    assert_eq!(advance(&mut unit, &bench, PARTNER, employee_id(1)), Ok(false));
    let mut unit = MockUnit::default();
    unit.leavers.expect_get().returning(|_, _| Ok(None));
    assert_eq!(advance(&mut unit, &bench, PARTNER, employee_id(1)), Ok(false));
}

/// Somebody without cards has nothing to take back and nothing to close.
#[test]
fn a_leaver_without_cards_is_forgotten() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    known(&mut unit, &leaver(None, true));
    unit.cards.expect_of_employee().returning(|_, _| Ok(Vec::new()));
    unit.closings.expect_targets().returning(|_, _| Ok(Vec::new()));
    unit.leavers
        .expect_remove()
        .withf(|partner, employee| (*partner, *employee) == (PARTNER, employee_id(1)))
        .times(1)
        .returning(|_, _| Ok(()));
    assert_eq!(advance(&mut unit, &bench, PARTNER, employee_id(1)), Ok(true));
    assert!(unit.events.data().is_empty());
}

#[test]
fn rules_without_a_taking_back_call_it_off() {
    let mut unit = MockUnit::default();
    unit.leavers.expect_set_rules().times(2).returning(|_, _| Ok(()));
    unit.leavers.expect_call_off().times(1).returning(|_| Ok(()));
    for days in [Some(1), None] {
        let rules = LeaverRules::new(true, days, false).unwrap();
        assert_eq!(set_rules(&mut unit, PARTNER, rules), Ok(rules));
    }
}
