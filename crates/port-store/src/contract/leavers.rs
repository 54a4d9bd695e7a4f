//! Leavers.

use kopeck_domain::card::CardStatus;
use kopeck_domain::ids::{EmployeeId, PartnerId, RunId};
use kopeck_domain::leaver::{FrozenCard, Leaver, LeaverRules};

use super::support::{at, id, partner, read, some_cards, some_employee, write};
use crate::Store;

fn rules(store: &dyn Store, partner: PartnerId) -> LeaverRules {
    read(store, move |unit| unit.leavers().rules(partner))
}

fn put(store: &dyn Store, partner: PartnerId, leaver: &Leaver) {
    let leaver = leaver.clone();
    write(store, move |unit| unit.leavers().put(partner, &leaver)).unwrap();
}

fn get(store: &dyn Store, partner: PartnerId, employee: EmployeeId) -> Option<Leaver> {
    read(store, move |unit| unit.leavers().get(partner, employee))
}

fn due(store: &dyn Store, seconds: i64, limit: u32) -> Vec<(PartnerId, EmployeeId)> {
    read(store, move |unit| unit.leavers().due(at(seconds), limit))
}

/// An employee of the partner who has left, with the next step at so many seconds.
fn leaver(store: &dyn Store, partner: PartnerId, seconds: Option<i64>) -> Leaver {
    let employee = some_employee(store, partner);
    let look_at = seconds.map(at);
    let leaver = Leaver { employee, left_at: at(1), frozen: Vec::new(), closes: false, run: None, look_at };
    put(store, partner, &leaver);
    leaver
}

/// Those of another partner stay.
pub fn rules_for_leavers_are_kept(store: &dyn Store) {
    let [one, other] = [partner(store), partner(store)];
    assert_eq!(rules(store, one), LeaverRules::default());
    for set in [
        LeaverRules::new(true, Some(30), true).unwrap(),
        LeaverRules::new(false, Some(0), false).unwrap(),
        LeaverRules::default(),
    ] {
        write(store, move |unit| unit.leavers().set_rules(one, &set)).unwrap();
        assert_eq!((rules(store, one), rules(store, other)), (set, LeaverRules::default()));
    }
}

/// Also when it is stored anew, with other cards.
pub fn a_leaver_is_read_as_it_was_stored(store: &dyn Store) {
    let partner = partner(store);
    let cards = some_cards(store, partner, 2);
    let plain = leaver(store, partner, None);
    assert_eq!(get(store, partner, plain.employee).as_ref(), Some(&plain));
    let statuses = [CardStatus::Main, CardStatus::Additional];
    let mut frozen: Vec<_> =
        cards.iter().zip(statuses).map(|(card, status)| FrozenCard { card: card.id(), status }).collect();
    frozen.sort_by_key(|frozen| frozen.card.uuid());
    let full = Leaver { frozen, closes: true, run: Some(id()), look_at: Some(at(9)), ..plain.clone() };
    for stored in [&full, &plain, &full] {
        put(store, partner, stored);
        assert_eq!(get(store, partner, plain.employee).as_ref(), Some(stored));
    }
    let stranger = super::support::partner(store);
    assert_eq!(get(store, stranger, full.employee), None);
    write(store, move |unit| unit.leavers().remove(stranger, full.employee)).unwrap();
    assert!(get(store, partner, full.employee).is_some());
    write(store, move |unit| unit.leavers().remove(partner, full.employee)).unwrap();
    assert_eq!(get(store, partner, full.employee), None);
}

/// The longest due first.
pub fn leavers_are_due_by_their_time(store: &dyn Store) {
    let [one, other] = [partner(store), partner(store)];
    let [late, early, _never] = [Some(20), Some(10), None].map(|seconds| leaver(store, one, seconds));
    let middle = leaver(store, other, Some(15));
    assert_eq!(due(store, 9, 10), []);
    assert_eq!(due(store, 10, 10), [(one, early.employee)]);
    let all = [(one, early.employee), (other, middle.employee), (one, late.employee)];
    assert_eq!(due(store, 20, 10), all);
    assert_eq!(due(store, 20, 2), all[..2]);
}

/// Of the leaver whose run it is; no other partner's.
pub fn the_end_of_a_run_makes_the_next_step_due(store: &dyn Store) {
    let [one, other] = [partner(store), partner(store)];
    let run: RunId = id();
    let with_run = |partner| {
        let leaver = Leaver { run: Some(run), ..leaver(store, partner, None) };
        put(store, partner, &leaver);
        leaver.employee
    };
    let (waiting, _) = (with_run(one), with_run(other));
    write(store, move |unit| unit.leavers().wake(one, id(), at(5))).unwrap();
    assert_eq!(due(store, 5, 10), []);
    write(store, move |unit| unit.leavers().wake(one, run, at(5))).unwrap();
    assert_eq!(due(store, 5, 10), [(one, waiting)]);
}

/// But those that have begun.
pub fn steps_of_leavers_can_be_called_off(store: &dyn Store) {
    let [one, other] = [partner(store), partner(store)];
    let [off, begun] = [Some(5), Some(6)].map(|seconds| leaver(store, one, seconds));
    put(store, one, &Leaver { run: Some(id()), ..begun.clone() });
    let theirs = leaver(store, other, Some(7));
    write(store, move |unit| unit.leavers().call_off(one)).unwrap();
    assert_eq!(due(store, 9, 10), [(one, begun.employee), (other, theirs.employee)]);
    assert_eq!(get(store, one, off.employee), Some(Leaver { look_at: None, ..off }));
}
