//! Employees.

use crate::page::{Listed, Page};
use kopeck_domain::card::CardStatus;
use kopeck_domain::employee::{Employee, EmployeeFields, EmployeeStatus};
use kopeck_domain::event::{EmployeeChange, Event, EventData};
use kopeck_domain::ids::{CategoryId, EmployeeId, PartnerId};
use kopeck_domain::person::{CustomId, Email, PersonName, Phone};

use super::support::{
    at, category, employee, get_card, id, insert_category, insert_employee, link, page, partner, read,
    some_cards, write,
};
use crate::{EmployeeFilter, RecordedResponse, Rule, Store, StoreError};

fn name(text: &str) -> Option<PersonName> {
    Some(PersonName::parse(text).unwrap())
}

fn get(store: &dyn Store, partner: PartnerId, employee: &Employee) -> Option<Employee> {
    let id = employee.id();
    read(store, move |unit| unit.employees().get(partner, id))
}

fn update(store: &dyn Store, partner: PartnerId, employee: &Employee) -> Result<(), StoreError> {
    let employee = employee.clone();
    write(store, move |unit| unit.employees().update(partner, &employee))
}

fn list(store: &dyn Store, partner: PartnerId, filter: &EmployeeFilter, page: Page) -> Listed<Employee> {
    let filter = filter.clone();
    read(store, move |unit| unit.employees().list(partner, &filter, page))
}

/// The custom identifiers of the employees that fit, in the order of the list.
fn fitting(store: &dyn Store, partner: PartnerId, filter: &EmployeeFilter) -> Vec<String> {
    let found = list(store, partner, filter, page(1, 500));
    assert_eq!(found.total, found.items.len() as u64);
    found.items.iter().map(|employee| employee.custom_id().as_str().to_owned()).collect()
}

fn query(text: &str) -> EmployeeFilter {
    EmployeeFilter { query: Some(text.to_lowercase()), ..EmployeeFilter::default() }
}

/// An employee with a value in every field. A new field is named here too, so no `..`.
fn full(custom_id: &str, category: CategoryId) -> Employee {
    Employee::from_stored(EmployeeFields {
        id: id(),
        custom_id: CustomId::parse(custom_id).unwrap(),
        surname: name("Ёжиков"),
        name: name("Пётр"),
        patronymic: name("Ильич"),
        phone: Some(Phone::parse("0031234567").unwrap()),
        email: Some(Email::parse("p@example.ru").unwrap()),
        category: Some(category),
        status: EmployeeStatus::DontWork,
        created_at: at(0),
        status_updated_at: at(77),
    })
}

/// With everything and with nothing.
pub fn an_employee_is_read_as_it_was_stored(store: &dyn Store) {
    let partner = partner(store);
    let cooks = category("Повара");
    insert_category(store, partner, &cooks).unwrap();
    let full = full("Таб_0-1x", cooks.id);
    let bare = employee("E-1");
    assert_eq!(get(store, partner, &bare), None);
    for one in [full, bare] {
        insert_employee(store, partner, &one).unwrap();
        assert_eq!(get(store, partner, &one), Some(one.clone()));
        let custom_id = one.custom_id().clone();
        let found = read(store, move |unit| unit.employees().id_by_custom_id(partner, &custom_id));
        assert_eq!(found, Some(one.id()));
    }
}

/// A field that was emptied is empty, and the search follows.
pub fn an_update_changes_and_clears(store: &dyn Store) {
    let partner = partner(store);
    let cooks = category("Повара");
    insert_category(store, partner, &cooks).unwrap();
    let bare = employee("E-0");
    insert_employee(store, partner, &bare).unwrap();
    let filled = EmployeeFields { id: bare.id(), ..full("E-9", cooks.id).into_fields() };
    for one in [Employee::from_stored(filled), bare.clone()] {
        update(store, partner, &one).unwrap();
        assert_eq!(get(store, partner, &bare), Some(one));
    }
    let before = Employee::from_stored(EmployeeFields {
        surname: name("Иванов"),
        phone: Some(Phone::parse("9031234567").unwrap()),
        ..employee("E-1").into_fields()
    });
    let neighbour = employee("E-2");
    insert_employee(store, partner, &before).unwrap();
    insert_employee(store, partner, &neighbour).unwrap();
    let after = Employee::from_stored(EmployeeFields {
        custom_id: CustomId::parse("E-3").unwrap(),
        surname: name("Петров"),
        phone: None,
        status: EmployeeStatus::Vacation,
        status_updated_at: at(5),
        ..before.clone().into_fields()
    });
    update(store, partner, &after).unwrap();
    assert_eq!(get(store, partner, &before), Some(after));
    assert_eq!(get(store, partner, &neighbour), Some(neighbour));
    assert_eq!(fitting(store, partner, &query("иванов")), [""; 0]);
    assert_eq!(fitting(store, partner, &query("петров")), ["E-3"]);
}

/// At the insert and at the update; another partner's are another matter.
pub fn a_custom_id_belongs_to_one_employee(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    insert_employee(store, first, &employee("E-1")).unwrap();
    let taken = StoreError::Conflict(Rule::EmployeeCustomId);
    assert_eq!(insert_employee(store, first, &employee("E-1")), Err(taken.clone()));
    let other = employee("E-2");
    insert_employee(store, first, &other).unwrap();
    let renamed = Employee::from_stored(EmployeeFields {
        custom_id: CustomId::parse("E-1").unwrap(),
        ..other.clone().into_fields()
    });
    assert_eq!(update(store, first, &renamed), Err(taken));
    assert_eq!(get(store, first, &other), Some(other));
    insert_employee(store, first, &employee("e-1")).unwrap();
    insert_employee(store, second, &employee("E-1")).unwrap();
}

/// One of another partner is one that does not exist.
pub fn a_category_must_be_the_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let foreign = category("Повара");
    insert_category(store, second, &foreign).unwrap();
    let plain = employee("E-1");
    insert_employee(store, first, &plain).unwrap();
    for category in [foreign.id, id()] {
        let refused = Err(StoreError::Conflict(Rule::Reference));
        let stranger = Employee::from_stored(EmployeeFields {
            category: Some(category),
            ..employee("E-2").into_fields()
        });
        assert_eq!(insert_employee(store, first, &stranger), refused);
        let moved =
            Employee::from_stored(EmployeeFields { category: Some(category), ..plain.clone().into_fields() });
        assert_eq!(update(store, first, &moved), refused);
    }
    assert_eq!(get(store, first, &plain), Some(plain));
}

/// Neither seen nor listed nor changed by another.
pub fn an_employee_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let kept = employee("E-1");
    insert_employee(store, first, &kept).unwrap();
    assert_eq!(get(store, second, &kept), None);
    let custom_id = kept.custom_id().clone();
    assert_eq!(read(store, move |unit| unit.employees().id_by_custom_id(second, &custom_id)), None);
    for filter in [EmployeeFilter::default(), query("e")] {
        let listed = list(store, second, &filter, page(1, 10));
        assert_eq!(listed, Listed { items: Vec::new(), total: 0 });
    }
    let changed = Employee::from_stored(EmployeeFields {
        status: EmployeeStatus::Medical,
        ..kept.clone().into_fields()
    });
    update(store, second, &changed).unwrap();
    assert_eq!(get(store, first, &kept), Some(kept.clone()));
    let stranger = insert_employee(store, id(), &employee("E-1"));
    assert_eq!(stranger, Err(StoreError::Conflict(Rule::Reference)));
}

/// Full pages, the last one, and those past the end; two partners' lists do not mix.
pub fn pages_follow_the_order_of_creation(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let mut employees = Vec::new();
    for number in 0..5 {
        // Neither names nor timestamps are in the order of creation.
        let one = Employee::from_stored(EmployeeFields {
            created_at: at(100 - number),
            ..employee(&format!("E-{}", 9 - number)).into_fields()
        });
        insert_employee(store, partner, &one).unwrap();
        insert_employee(store, other, &employee(&format!("X-{number}"))).unwrap();
        employees.push(one);
    }
    let all = EmployeeFilter::default();
    for (number, range) in [(1, 0..2), (2, 2..4), (3, 4..5), (4, 5..5), (Page::MAX_NUMBER, 5..5)] {
        let listed = list(store, partner, &all, page(number, 2));
        assert_eq!(listed, Listed { items: employees[range].to_vec(), total: 5 }, "page {number}");
    }
    assert_eq!(list(store, partner, &all, page(1, 500)).items, employees);
}

/// Even if the unit of work goes on and is committed.
pub fn a_refused_insert_leaves_no_gap(store: &dyn Store) {
    let partner = partner(store);
    let (first, double, second) = (employee("E-1"), employee("E-1"), employee("E-2"));
    write(store, move |unit| {
        unit.employees().insert(partner, &first)?;
        let refused = unit.employees().insert(partner, &double);
        assert_eq!(refused, Err(StoreError::Conflict(Rule::EmployeeCustomId)));
        unit.employees().insert(partner, &second)
    })
    .unwrap();
    let listed = list(store, partner, &EmployeeFilter::default(), page(2, 1));
    assert_eq!((listed.items[0].custom_id().as_str(), listed.total), ("E-2", 2));
}

/// Each alone, and all at once.
pub fn filters_have_to_fit_all_together(store: &dyn Store) {
    let partner = partner(store);
    let cooks = category("Повара");
    insert_category(store, partner, &cooks).unwrap();
    let rows = [
        ("E-1", EmployeeStatus::Work, None, None),
        ("E-2", EmployeeStatus::Work, Some(cooks.id), name("Иванов")),
        ("E-3", EmployeeStatus::Medical, Some(cooks.id), name("Иванов")),
        ("E-4", EmployeeStatus::Work, Some(cooks.id), None),
    ];
    for (custom_id, status, category, surname) in rows {
        let one = Employee::from_stored(EmployeeFields {
            status,
            category,
            surname,
            ..employee(custom_id).into_fields()
        });
        insert_employee(store, partner, &one).unwrap();
    }
    let none = EmployeeFilter::default();
    let working = EmployeeFilter { status: Some(EmployeeStatus::Work), ..none.clone() };
    assert_eq!(fitting(store, partner, &working), ["E-1", "E-2", "E-4"]);
    let cooking = EmployeeFilter { category: Some(cooks.id), ..none.clone() };
    assert_eq!(fitting(store, partner, &cooking), ["E-2", "E-3", "E-4"]);
    let named = EmployeeFilter { custom_id: Some(CustomId::parse("E-3").unwrap()), ..none.clone() };
    assert_eq!(fitting(store, partner, &named), ["E-3"]);
    assert_eq!(fitting(store, partner, &query("иванов")), ["E-2", "E-3"]);
    let all = EmployeeFilter {
        status: Some(EmployeeStatus::Work),
        category: Some(cooks.id),
        custom_id: Some(CustomId::parse("E-2").unwrap()),
        query: Some("иван".to_owned()),
    };
    assert_eq!(fitting(store, partner, &all), ["E-2"]);
    let foreign = EmployeeFilter { category: Some(id()), ..none };
    assert_eq!(fitting(store, partner, &foreign), [""; 0]);
}

/// In surname, name and custom identifier, Cyrillic too; and in nothing else.
pub fn the_search_knows_no_letter_case(store: &dyn Store) {
    let partner = partner(store);
    let one = Employee::from_stored(EmployeeFields {
        surname: name("ЁЖИКОВ"),
        name: name("Ґалаґан"),
        patronymic: name("Ильич"),
        email: Some(Email::parse("mail@example.ru").unwrap()),
        ..employee("Таб-Q").into_fields()
    });
    insert_employee(store, partner, &one).unwrap();
    insert_employee(store, partner, &employee("other")).unwrap();
    for text in ["ёжиков", "ЁЖ", "жико", "ґАЛА", "таб", "б-q"] {
        assert_eq!(fitting(store, partner, &query(text)), ["Таб-Q"], "{text}");
    }
    let two = Employee::from_stored(EmployeeFields {
        surname: name("MÜLLER"),
        name: name("Nguyễn"),
        ..employee("E-2").into_fields()
    });
    insert_employee(store, partner, &two).unwrap();
    for text in ["müll", "MÜLLER", "NGUYỄN", "ễn"] {
        assert_eq!(fitting(store, partner, &query(text)), ["E-2"], "{text}");
    }
    for text in ["ежиков", "ильич", "example", "ёжиковґ", "muller"] {
        assert_eq!(fitting(store, partner, &query(text)), [""; 0], "{text}");
    }
}

/// `%`, `_` and `\` stand for themselves.
pub fn the_search_takes_wildcards_literally(store: &dyn Store) {
    let partner = partner(store);
    for custom_id in ["a_b", "a-b", "aXb"] {
        insert_employee(store, partner, &employee(custom_id)).unwrap();
    }
    assert_eq!(fitting(store, partner, &query("a_b")), ["a_b"]);
    for text in ["a%b", "%", r"a\_b", r"\"] {
        assert_eq!(fitting(store, partner, &query(text)), [""; 0], "{text}");
    }
    assert_eq!(fitting(store, partner, &query("")), ["a_b", "a-b", "aXb"]);
}

/// The total counts what fits.
pub fn filtered_lists_are_paged_too(store: &dyn Store) {
    let partner = partner(store);
    for number in 0..7 {
        let status = if number % 2 == 0 { EmployeeStatus::Work } else { EmployeeStatus::Vacation };
        let one = Employee::from_stored(EmployeeFields {
            status,
            ..employee(&format!("E-{number}")).into_fields()
        });
        insert_employee(store, partner, &one).unwrap();
    }
    let working = EmployeeFilter { status: Some(EmployeeStatus::Work), ..EmployeeFilter::default() };
    let pages = [(1, vec!["E-0", "E-2", "E-4"]), (2, vec!["E-6"]), (3, vec![]), (Page::MAX_NUMBER, vec![])];
    for (number, expected) in pages {
        let listed = list(store, partner, &working, page(number, 3));
        let custom_ids: Vec<&str> = listed.items.iter().map(|one| one.custom_id().as_str()).collect();
        assert_eq!((custom_ids, listed.total), (expected, 4), "page {number}");
    }
}

fn erase(store: &dyn Store, partner: PartnerId, employee: EmployeeId) {
    write(store, move |unit| unit.employees().erase(partner, employee, at(99))).unwrap();
}

/// An event and a recorded response of each employee, as adding them leaves them.
fn traces(store: &dyn Store, partner: PartnerId, employees: &[Employee]) {
    for one in employees {
        let change = EmployeeChange { employee: one.id(), custom_id: Some(one.custom_id().clone()) };
        let event = Event { id: id(), created_at: at(1), data: EventData::EmployeeCreated(change) };
        let body = Some(one.custom_id().as_str().as_bytes().to_vec());
        let (fingerprint, employee) = ([1; 32], Some(one.id()));
        let answer = RecordedResponse { fingerprint, status: 200, body, employee, recorded_at: at(1) };
        let key = one.custom_id().as_str().to_owned();
        write(store, move |unit| {
            unit.events().append(partner, std::slice::from_ref(&event))?;
            unit.idempotency().record(partner, &key, &answer, at(0))
        })
        .unwrap();
    }
}

/// What refers to the identifier stays; no other data change.
pub fn an_erased_employee_leaves_the_identifier_alone(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let cooks = category("Повара");
    insert_category(store, partner, &cooks).unwrap();
    let leaver = Employee::from_stored(EmployeeFields {
        surname: name("Ёжиков"),
        phone: Some(Phone::parse("9031234567").unwrap()),
        category: Some(cooks.id),
        ..employee("E-1").into_fields()
    });
    let neighbour = employee("E-2");
    for one in [&leaver, &neighbour] {
        insert_employee(store, partner, one).unwrap();
    }
    traces(store, partner, &[leaver.clone(), neighbour.clone()]);
    let card = some_cards(store, partner, 1).remove(0);
    link(store, partner, &card, Some((leaver.id(), CardStatus::Main))).unwrap();
    erase(store, other, leaver.id());
    erase(store, partner, id());
    assert_eq!(get(store, partner, &leaver), Some(leaver.clone()), "another partner, another employee");

    erase(store, partner, leaver.id());
    assert_eq!(get(store, partner, &leaver), None);
    let erased = leaver.id();
    assert_eq!(read(store, move |unit| unit.employees().with_cards(partner, erased)), None);
    let custom_id = leaver.custom_id().clone();
    assert_eq!(read(store, move |unit| unit.employees().id_by_custom_id(partner, &custom_id)), None);
    assert_eq!(fitting(store, partner, &EmployeeFilter::default()), ["E-2"]);
    assert_eq!(fitting(store, partner, &query("ёжиков")), [""; 0]);
    let archived = EmployeeFilter { status: Some(EmployeeStatus::DontWork), ..EmployeeFilter::default() };
    assert_eq!(fitting(store, partner, &archived), [""; 0]);
    assert_eq!(read(store, move |unit| unit.categories().employees_in(partner, cooks.id)), 0);

    let answer = |key: &'static str| read(store, move |unit| unit.idempotency().find(partner, key)).unwrap();
    let (gone, kept) = (answer("E-1"), answer("E-2"));
    assert_eq!((gone.body, gone.fingerprint), (None, [1; 32]), "the key stays spent");
    assert_eq!(kept.body.as_deref(), Some(&b"E-2"[..]));
    let events = read(store, move |unit| unit.events().after(partner, 0, &[], 10));
    let told = |custom_id| EventData::EmployeeCreated(EmployeeChange { employee: erased, custom_id });
    assert_eq!(events[0].event.data, told(None));
    assert_eq!(events[1].event.data.names(), Some(neighbour.id()));

    let linked = get_card(store, partner, card.id()).unwrap().card.link().unwrap();
    assert_eq!(linked.employee, leaver.id(), "what refers to the identifier stays");
    link(store, partner, &card, Some((leaver.id(), CardStatus::Additional))).unwrap();
    let again = employee("E-1");
    insert_employee(store, partner, &again).unwrap();
    assert_eq!(fitting(store, partner, &EmployeeFilter::default()), ["E-2", "E-1"]);
    erase(store, partner, again.id());
    assert_eq!(get(store, partner, &neighbour), Some(neighbour));
}

/// Those at both ends and in the middle, one after another; pages stay full, and the total is exact.
pub fn pages_close_the_gaps_of_erased_employees(store: &dyn Store) {
    let partner = partner(store);
    let mut left: Vec<Employee> = (1..=9).map(|number| employee(&format!("E-{number}"))).collect();
    for one in &left {
        insert_employee(store, partner, one).unwrap();
    }
    for place in [8, 0, 3, 3, 1] {
        erase(store, partner, left.remove(place).id());
        for filter in [EmployeeFilter::default(), query("e-")] {
            for (number, shown) in (1..).zip(left.chunks(2).chain([&[][..]])) {
                let listed = list(store, partner, &filter, page(number, 2));
                assert_eq!(
                    listed,
                    Listed { items: shown.to_vec(), total: left.len() as u64 },
                    "page {number}"
                );
            }
        }
    }
}
