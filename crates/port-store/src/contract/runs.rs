//! Runs, their items and their requests.

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority, Scopes};
use kopeck_domain::approval::Digest;
use kopeck_domain::ids::{EmployeeId, PartnerId, RunId};
use kopeck_domain::limit::Limit;
use kopeck_domain::person::CustomId;
use kopeck_domain::request::RequestReference;
use kopeck_domain::run::row::{Cell, CellValue};
use kopeck_domain::run::{
    DRAFT_LIFETIME, Fault, FaultCode, NewRun, Outcome, Run, RunItem, RunKind, RunState, RunTotals,
};
use time::Duration;
use uuid::Uuid;

use super::support::{at, id, page, partner, read, write};
use crate::{
    Rule, RunDecision, RunFilter, RunItemFilter, RunOutcomes, RunRequest, Store, StoreError, UnitOfWork,
};

fn reference(text: &str) -> RequestReference {
    RequestReference::parse(text).unwrap()
}

fn draft(kind: RunKind, called: Option<&str>, seconds: i64) -> Run {
    let new = NewRun {
        id: id(),
        kind,
        reference: called.map(reference),
        at: Some(at(seconds) + Duration::HOUR),
        creates_categories: true,
        totals: RunTotals {
            number: 3,
            faulty: 1,
            amount: Kopecks::new(700),
            available: Kopecks::new(1_000),
            available_after: Kopecks::new(300),
        },
        digest: Digest::from_bytes([7; 32]),
    };
    Run::draft(new, Actor::Operator("root:0".to_owned()), at(seconds))
}

fn item(ordinal: u32) -> RunItem {
    let cell = |name: &str, value| Cell { name: name.to_owned(), value };
    RunItem {
        ordinal,
        line: ordinal + 2,
        cells: vec![
            cell("табельный номер", CellValue::Text(format!("T-{ordinal}"))),
            cell("телефон", CellValue::Blank),
            cell("сумма", CellValue::Formula),
        ],
        limit: Some(Limit::Unlimited),
        employee: Some(id()),
        custom_id: Some(CustomId::parse(&format!("T-{ordinal}")).unwrap()),
        card: Some(id()),
        is_main: true,
        amount: Some(Kopecks::new(350)),
        balance_seen: None,
        fault: None,
        outcome: None,
        reason: None,
    }
}

/// Three items, the last with a fault and hardly anything else.
fn items() -> Vec<RunItem> {
    let faulty = RunItem {
        cells: Vec::new(),
        limit: None,
        employee: None,
        custom_id: None,
        card: None,
        is_main: false,
        amount: None,
        fault: Some(Fault::new("сумма", FaultCode::Formula, "is a formula")),
        ..item(2)
    };
    vec![item(0), item(1), faulty]
}

fn insert(store: &dyn Store, partner: PartnerId, run: &Run, items: &[RunItem]) -> Result<(), StoreError> {
    let (run, items) = (run.clone(), items.to_vec());
    write(store, move |unit| unit.runs().insert(partner, &run, &items))
}

fn get(store: &dyn Store, partner: PartnerId, run: RunId) -> Option<Run> {
    read(store, move |unit| unit.runs().get(partner, run))
}

fn change(store: &dyn Store, partner: PartnerId, run: Run) {
    write(store, move |unit| unit.runs().set_state(partner, &run)).unwrap();
}

fn all_items(store: &dyn Store, partner: PartnerId, run: RunId) -> Vec<RunItem> {
    read(store, move |unit| unit.runs().items(partner, run, 0, 100))
}

/// With its items; it is its partner's own.
pub fn a_run_is_read_as_it_was_stored(store: &dyn Store) {
    let (first, other) = (partner(store), partner(store));
    let (run, items) = (draft(RunKind::TopUp, Some("март"), 10), items());
    insert(store, first, &run, &items).unwrap();
    let id = run.id();
    assert_eq!((get(store, first, id), get(store, other, id)), (Some(run.clone()), None));
    assert_eq!(all_items(store, first, id), items);
    assert_eq!(all_items(store, other, id), []);
    let some = read(store, move |unit| unit.runs().items(first, id, 1, 1));
    assert_eq!(some, items[1..2]);
    let plain = draft(RunKind::Employees, None, 20);
    insert(store, first, &plain, &[]).unwrap();
    assert_eq!(get(store, first, plain.id()), Some(plain));
}

/// Who submitted it, who approved it, and why it was refused.
pub fn a_changed_run_is_stored(store: &dyn Store) {
    let partner = partner(store);
    let run = draft(RunKind::TopUp, None, 10);
    insert(store, partner, &run, &items()).unwrap();
    let by = |number| Authority { actor: Actor::User(Uuid::from_u128(number).into()), scopes: Scopes::ALL };
    let submitted = run.submit(&by(1), Digest::from_bytes([7; 32]), true, Kopecks::new(1), at(20)).unwrap();
    change(store, partner, submitted.clone());
    assert_eq!(get(store, partner, submitted.id()), Some(submitted.clone()));
    let refused = submitted.clone().refuse(&by(2), Some("no".to_owned()), at(30)).unwrap();
    change(store, partner, refused.clone());
    assert_eq!(get(store, partner, refused.id()), Some(refused));
    let approved = submitted.approve(&by(2), Digest::from_bytes([7; 32]), at(30)).unwrap();
    change(store, partner, approved.clone());
    assert_eq!(get(store, partner, approved.id()), Some(approved));
}

/// For each partner and kind, unless the run came to nothing.
pub fn a_reference_is_one_run_s(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let first = draft(RunKind::TopUp, Some("R"), 10);
    insert(store, partner, &first, &[]).unwrap();
    let second = draft(RunKind::TopUp, Some("R"), 20);
    assert_eq!(insert(store, partner, &second, &[]), Err(StoreError::Conflict(Rule::RunReference)));
    let found = |kind| read(store, move |unit| unit.runs().by_reference(partner, kind, &reference("R")));
    assert_eq!((found(RunKind::TopUp), found(RunKind::Withdraw)), (Some(first.id()), None));
    insert(store, partner, &draft(RunKind::Withdraw, Some("R"), 20), &[]).unwrap();
    insert(store, other, &draft(RunKind::TopUp, Some("R"), 20), &[]).unwrap();
    change(store, partner, first.cancel(at(30)).unwrap());
    assert_eq!(found(RunKind::TopUp), None);
    insert(store, partner, &second, &[]).unwrap();
    change(store, partner, second.expire(at(20) + DRAFT_LIFETIME));
    insert(store, partner, &draft(RunKind::TopUp, Some("R"), 40), &[]).unwrap();
}

/// Those that fit, page by page.
pub fn runs_are_listed_newest_first(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let runs: Vec<Run> =
        [(RunKind::TopUp, Some("A"), 10), (RunKind::Withdraw, None, 20), (RunKind::TopUp, Some("B"), 30)]
            .map(|(kind, called, seconds)| draft(kind, called, seconds))
            .into();
    for run in &runs {
        insert(store, partner, run, &[]).unwrap();
    }
    insert(store, other, &draft(RunKind::TopUp, None, 10), &[]).unwrap();
    change(store, partner, runs[2].clone().cancel(at(40)).unwrap());
    let list = |filter: RunFilter, page| {
        let listed = read(store, move |unit| unit.runs().list(partner, &filter, page));
        (listed.total, listed.items.iter().map(Run::id).collect::<Vec<_>>())
    };
    let all = RunFilter::default;
    let ids: Vec<RunId> = runs.iter().map(Run::id).collect();
    assert_eq!(list(all(), page(1, 2)), (3, vec![ids[2], ids[1]]));
    assert_eq!(list(all(), page(2, 2)), (3, vec![ids[0]]));
    let whole = |filter| list(filter, page(1, 10)).1;
    assert_eq!(whole(RunFilter { kind: Some(RunKind::TopUp), ..all() }), [ids[2], ids[0]]);
    assert_eq!(whole(RunFilter { state: Some(RunState::Draft), ..all() }), [ids[1], ids[0]]);
    assert_eq!(whole(RunFilter { reference: Some(reference("B")), ..all() }), [ids[2]]);
    assert_eq!(whole(RunFilter { from: Some(at(20)), before: Some(at(30)), ..all() }), [ids[1]]);
}

/// A later decision changes nothing.
pub fn an_item_is_decided_once(store: &dyn Store) {
    let partner = partner(store);
    let run = draft(RunKind::TopUp, None, 10);
    insert(store, partner, &run, &items()).unwrap();
    let id = run.id();
    let decide = |ordinal, outcome, reason: Option<&str>, employee: Option<EmployeeId>| {
        let decision = RunDecision { ordinal, outcome, reason: reason.map(str::to_owned), employee };
        write(store, move |unit| unit.runs().decide(partner, id, std::slice::from_ref(&decision))).unwrap();
    };
    let open = || {
        let open = read(store, move |unit| unit.runs().open_items(partner, id, 2));
        open.iter().map(|item| item.ordinal).collect::<Vec<_>>()
    };
    let outcomes = || read(store, move |unit| unit.runs().outcomes(partner, id));
    assert_eq!((open(), outcomes()), (vec![0, 1], RunOutcomes::default()));
    let employee = super::support::id();
    decide(0, Outcome::Done, None, Some(employee));
    decide(0, Outcome::Refused, Some("late"), None);
    decide(1, Outcome::Refused, Some("the card is closed"), None);
    assert_eq!(open(), [2]);
    decide(2, Outcome::Skipped, Some("is a formula"), None);
    assert_eq!((open(), outcomes()), (vec![], RunOutcomes { done: 1, missed: 1 }));
    let decided = all_items(store, partner, id);
    assert_eq!((decided[0].outcome, decided[0].employee), (Some(Outcome::Done), Some(employee)));
    assert_eq!(
        (decided[0].reason.as_deref(), decided[1].reason.as_deref()),
        (None, Some("the card is closed"))
    );
    let list = |filter| {
        let listed = read(store, move |unit| unit.runs().list_items(partner, id, filter, page(1, 10)));
        (listed.total, listed.items.iter().map(|item| item.ordinal).collect::<Vec<_>>())
    };
    let all = RunItemFilter::default;
    assert_eq!(list(all()), (3, vec![0, 1, 2]));
    assert_eq!(list(RunItemFilter { faulty: Some(true), ..all() }), (1, vec![2]));
    assert_eq!(list(RunItemFilter { faulty: Some(false), outcome: Some(Outcome::Refused) }), (1, vec![1]));
}

/// Of each kind; they are its partner's own.
pub fn a_run_keeps_the_order_of_its_requests(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let run = draft(RunKind::Limit, None, 10);
    insert(store, partner, &run, &[]).unwrap();
    let requests = [
        RunRequest::LimitChange(id()),
        RunRequest::Order(id()),
        RunRequest::Withdrawal(id()),
        RunRequest::Replenishment(id()),
    ];
    let id = run.id();
    write(store, move |unit| unit.runs().add_requests(partner, id, &requests)).unwrap();
    let of = |partner| read(store, move |unit| unit.runs().requests(partner, id));
    assert_eq!((of(partner), of(other)), (requests.to_vec(), vec![]));
}

/// A draft at its end, a scheduled run at its time, another never.
pub fn a_run_is_due_by_its_state(store: &dyn Store) {
    let partner = partner(store);
    let run = draft(RunKind::TopUp, None, 10);
    insert(store, partner, &run, &items()).unwrap();
    let id = run.id();
    let is_due = |at| {
        let due = read(store, move |unit| unit.runs().due(at, 1_000));
        due.contains(&(partner, id))
    };
    let (end, instant) = (at(10) + DRAFT_LIFETIME, Duration::MICROSECOND);
    assert!(is_due(end) && !is_due(end - instant));
    let by = Authority::LOGIN;
    let scheduled = run.submit(&by, Digest::from_bytes([7; 32]), true, Kopecks::ZERO, at(20)).unwrap();
    change(store, partner, scheduled.clone());
    let planned = at(10) + Duration::HOUR;
    assert!(is_due(planned) && !is_due(planned - instant));
    change(store, partner, scheduled.start(planned).unwrap());
    assert!(!is_due(end + Duration::days(99)));
}

/// Those of others stay.
pub fn an_erased_employee_leaves_no_values_in_runs(store: &dyn Store) {
    let partner = partner(store);
    let employee = super::support::some_employee(store, partner);
    let run = draft(RunKind::Employees, None, 10);
    let items = [RunItem { employee: Some(employee), ..item(0) }, item(1)];
    insert(store, partner, &run, &items).unwrap();
    let erase = move |unit: &mut dyn UnitOfWork| unit.employees().erase(partner, employee, at(50));
    write(store, erase).unwrap();
    let left = all_items(store, partner, run.id());
    assert_eq!(
        (left[0].cells.len(), left[0].custom_id.as_ref(), left[0].employee),
        (0, None, Some(employee))
    );
    assert_eq!(left[1], items[1]);
}
