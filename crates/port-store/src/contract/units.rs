//! Units of work: all or nothing, one after the other, each answered.

use std::sync::mpsc::{self, Receiver};
use std::thread;

use kopeck_domain::employee::{Employee, EmployeeStatus};
use kopeck_domain::ids::{EmployeeId, PartnerId};

use super::support::{at, category, employee, id, insert_employee, page, partner, read, write};
use crate::{Access, Disposition, EmployeeFilter, Rule, Store, StoreError, UnitOfWork, submit, transact};

fn exists(store: &dyn Store, partner: PartnerId, employee: EmployeeId) -> bool {
    read(store, move |unit| unit.employees().get(partner, employee)).is_some()
}

/// Submits a writing unit of work, to be waited for later.
fn start<T: Send + 'static>(
    store: &dyn Store,
    body: impl FnMut(&mut dyn UnitOfWork) -> Result<T, StoreError> + Send + 'static,
) -> Receiver<Result<T, StoreError>> {
    let (sender, receiver) = mpsc::channel();
    submit(store, Access::Write, body, move |result| sender.send(result).unwrap());
    receiver
}

/// Whichever thread serves it.
pub fn a_commit_is_seen_by_the_next_reader(store: &dyn Store) {
    let partner = partner(store);
    for number in 0..50 {
        let employee = employee(&format!("E-{number}"));
        insert_employee(store, partner, &employee).unwrap();
        assert!(exists(store, partner, employee.id()));
    }
}

/// Whether the work failed or wished it so.
pub fn a_roll_back_leaves_nothing(store: &dyn Store) {
    let partner = partner(store);
    let lost = employee("E-1");
    let (id, lost) = (lost.id(), lost);
    let failed: Result<(), StoreError> = write(store, {
        let lost = lost.clone();
        move |unit| {
            unit.employees().insert(partner, &lost)?;
            assert!(unit.employees().get(partner, lost.id())?.is_some(), "a unit sees its own writes");
            Err(StoreError::Conflict(Rule::Reference))
        }
    });
    assert_eq!(failed, Err(StoreError::Conflict(Rule::Reference)));
    assert!(!exists(store, partner, id));

    let (sender, receiver) = mpsc::channel();
    store.submit(
        Access::Write,
        Box::new(move |unit| {
            unit.employees().insert(partner, &lost).unwrap();
            Disposition::RollBack
        }),
        Box::new(move |ended| sender.send(ended).unwrap()),
    );
    assert_eq!(receiver.recv().unwrap(), Ok(()), "the wished roll-back is no failure");
    assert!(!exists(store, partner, id));
}

/// Every third of many that wait together fails, in one way or another.
pub fn a_failed_unit_harms_no_neighbour(store: &dyn Store) {
    let partner = partner(store);
    let employees: Vec<Employee> = (0..90).map(|number| employee(&format!("E-{number}"))).collect();
    let (free, held) = mpsc::channel::<()>();
    // While this one runs the others gather.
    let first = start(store, move |_| {
        let _ = held.recv();
        Ok(())
    });
    let results: Vec<Receiver<Result<(), StoreError>>> = (0..)
        .zip(&employees)
        .map(|(number, employee)| {
            let employee = employee.clone();
            start(store, move |unit| {
                unit.employees().insert(partner, &employee)?;
                match number % 9 {
                    2 => Err(StoreError::Failed("on purpose".to_owned())),
                    5 => unit.employees().insert(partner, &employee),
                    8 => panic!("on purpose"),
                    _ => Ok(()),
                }
            })
        })
        .collect();
    // No message: what is run again must not wait for another.
    drop(free);
    first.recv().unwrap().unwrap();
    for (number, (result, employee)) in results.into_iter().zip(&employees).enumerate() {
        let succeeded = result.recv().unwrap().is_ok();
        assert_eq!(succeeded, number % 3 != 2, "{number}");
        assert_eq!(exists(store, partner, employee.id()), succeeded, "{number}");
    }
    let listed =
        read(store, move |unit| unit.employees().list(partner, &EmployeeFilter::default(), page(1, 500)));
    assert_eq!((listed.total, listed.items.len()), (60, 60));
}

/// The store goes on, in both of its kinds of threads.
pub fn a_panicking_unit_is_rolled_back(store: &dyn Store) {
    let partner = partner(store);
    let lost = employee("E-1");
    let id = lost.id();
    for access in [Access::Write, Access::Read, Access::Read, Access::Read, Access::Read] {
        let lost = lost.clone();
        let result: Result<(), StoreError> = transact(store, access, move |unit| {
            if access == Access::Write {
                unit.employees().insert(partner, &lost)?;
            }
            panic!("on purpose");
        });
        assert!(matches!(result, Err(StoreError::Failed(_))));
    }
    assert!(!exists(store, partner, id));
    insert_employee(store, partner, &lost).unwrap();
    assert!(exists(store, partner, id));
}

/// Whatever is committed while it looks.
pub fn a_reader_sees_one_state(store: &dyn Store) {
    let partner = partner(store);
    let (looked, has_looked) = mpsc::channel();
    let (written, was_written) = mpsc::channel::<()>();
    let (sender, receiver) = mpsc::channel();
    submit(
        store,
        Access::Read,
        move |unit| -> Result<(u64, u64), StoreError> {
            let total = |unit: &mut dyn UnitOfWork| {
                let all = EmployeeFilter::default();
                unit.employees().list(partner, &all, page(1, 1)).map(|listed| listed.total)
            };
            let before = total(unit)?;
            let _ = looked.send(());
            let _ = was_written.recv();
            Ok((before, total(unit)?))
        },
        move |result| sender.send(result).unwrap(),
    );
    has_looked.recv().unwrap();
    insert_employee(store, partner, &employee("E-1")).unwrap();
    written.send(()).unwrap();
    assert_eq!(receiver.recv().unwrap(), Ok((0, 0)));
}

/// It fails, and nothing is written.
pub fn a_reader_cannot_write(store: &dyn Store) {
    let partner = partner(store);
    let lost = category("Повара");
    let id = lost.id;
    let refused = transact(store, Access::Read, move |unit| unit.categories().insert(partner, &lost, at(0)));
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    assert_eq!(read(store, move |unit| unit.categories().get(partner, id)), None);
}

/// So that no other unit of work changes a row between a read and a write of it.
pub fn writers_see_each_other_one_after_the_other(store: &dyn Store) {
    let partner = partner(store);
    let counter = employee("E-1");
    insert_employee(store, partner, &counter).unwrap();
    let id = counter.id();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    write(store, move |unit| {
                        let mut counter = unit.employees().get(partner, id)?.unwrap().into_fields();
                        counter.status = EmployeeStatus::Work;
                        counter.status_updated_at += time::Duration::SECOND;
                        unit.employees().update(partner, &Employee::from_stored(counter))
                    })
                    .unwrap();
                }
            });
        }
    });
    let counted = read(store, move |unit| unit.employees().get(partner, id)).unwrap();
    assert_eq!(counted.status_updated_at(), at(100));
}

/// From many threads, readers and writers mixed; each gets its own answer.
pub fn every_unit_gets_one_result(store: &dyn Store) {
    let partner = partner(store);
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..25 {
                    let employee = employee(&format!("E-{thread}-{number}"));
                    insert_employee(store, partner, &employee).unwrap();
                    let (custom_id, expected) = (employee.custom_id().clone(), employee.id());
                    let found =
                        read(store, move |unit| unit.employees().id_by_custom_id(partner, &custom_id));
                    assert_eq!(found, Some(expected));
                    let absent = id();
                    assert!(!exists(store, partner, absent));
                }
            });
        }
    });
    let listed =
        read(store, move |unit| unit.employees().list(partner, &EmployeeFilter::default(), page(1, 500)));
    assert_eq!((listed.total, listed.items.len()), (100, 100));
}
