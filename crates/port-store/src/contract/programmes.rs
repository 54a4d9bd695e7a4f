//! Programmes, their runs, and the calendar.

use kopeck_domain::Kopecks;
use kopeck_domain::access::{Actor, Authority, Scopes};
use kopeck_domain::approval::Digest;
use kopeck_domain::card::{CardLink, CardStatus};
use kopeck_domain::employee::{Employee, EmployeeFields, EmployeeStatus};
use kopeck_domain::ids::{CategoryId, EmployeeId, PartnerId};
use kopeck_domain::limit::TimeOfDay;
use kopeck_domain::partner::PartnerStatus;
use kopeck_domain::programme::{
    Audience, DayKind, Every, Grant, Notice, OnShortage, Programme, ProgrammeName, ReferenceTemplate, Shift,
    Terms, TermsFields,
};
use kopeck_domain::run::{NewRun, Run, RunItem, RunKind, RunProgramme, RunTotals};
use time::{Duration, Month, OffsetDateTime};
use uuid::Uuid;

use super::support::{
    at, category, date, employee, id, insert_category, insert_employee, link, page, partner, read,
    some_cards, write,
};
use crate::{Member, Rule, RunFilter, RunRequest, Store, StoreError};

pub(super) fn terms(name: &str, audience: Audience, grant: Grant) -> Terms {
    let fields = TermsFields {
        name: ProgrammeName::parse(name).unwrap(),
        audience,
        statuses: vec![EmployeeStatus::Work, EmployeeStatus::Medical],
        grant,
        every: Every::Year,
        day: -1,
        month: Some(2),
        time: TimeOfDay::parse("09:30").unwrap(),
        shift: Shift::Before,
        pro_rata: true,
        on_shortage: OnShortage::Part,
        from: Some(date(2026, Month::January, 31)),
        until: Some(date(2030, Month::December, 1)),
        reference: Some(ReferenceTemplate::parse("обед-{period}").unwrap()),
    };
    Terms::new(fields).unwrap()
}

pub(super) fn fixed() -> Grant {
    Grant::Fixed { amount: Kopecks::new(500), cap: Some(Kopecks::new(900)) }
}

pub(super) fn programme(terms: Terms) -> Programme {
    Programme::new(id(), terms, Actor::User(Uuid::from_u128(7).into()), false, at(10))
}

fn insert(store: &dyn Store, partner: PartnerId, programme: &Programme, look_at: Option<OffsetDateTime>) {
    let programme = programme.clone();
    write(store, move |unit| unit.programmes().insert(partner, &programme, look_at)).unwrap();
}

fn update(store: &dyn Store, partner: PartnerId, programme: &Programme, look_at: Option<OffsetDateTime>) {
    let programme = programme.clone();
    write(store, move |unit| unit.programmes().update(partner, &programme, look_at)).unwrap();
}

pub(super) fn run_of(programme: &Programme, period: &str) -> Run {
    let new = NewRun {
        id: id(),
        kind: RunKind::TopUp,
        reference: None,
        at: Some(at(20)),
        creates_categories: false,
        totals: RunTotals { number: 1, amount: Kopecks::new(5), ..RunTotals::default() },
        digest: Digest::from_bytes([7; 32]),
    };
    let terms = programme.terms().clone();
    let origin = RunProgramme { id: programme.id(), period: period.parse().unwrap(), terms, retry_at: None };
    Run::of_programme(new, origin, at(20))
}

fn insert_run(store: &dyn Store, partner: PartnerId, run: &Run) -> Result<(), StoreError> {
    let run = run.clone();
    write(store, move |unit| unit.runs().insert(partner, &run, &[item(0, 1)]))
}

pub(super) fn item(ordinal: u32, amount: i64) -> RunItem {
    RunItem {
        ordinal,
        line: ordinal + 1,
        cells: Vec::new(),
        limit: None,
        employee: Some(id()),
        custom_id: None,
        card: Some(id()),
        is_main: true,
        amount: Some(Kopecks::new(amount)),
        balance_seen: Some(Kopecks::new(-3)),
        fault: None,
        outcome: None,
        reason: None,
    }
}

/// In every state and with every part; it is its partner's own.
pub fn a_programme_is_read_as_it_was_stored(store: &dyn Store) {
    let (own, other) = (partner(store), partner(store));
    let get = |partner, id| read(store, move |unit| unit.programmes().get(partner, id));
    let first = programme(terms("Обеды", Audience::All, fixed()));
    insert(store, own, &first, Some(at(20)));
    assert_eq!((get(own, first.id()), get(other, first.id())), (Some(first.clone()), None));
    let by = Actor::Credential(Uuid::from_u128(8).into());
    let audiences = [Audience::Categories(vec![id(), id()]), Audience::Employees(vec![id()])];
    for (audience, grant) in
        audiences.into_iter().zip([Grant::UpTo(Kopecks::new(7)), Grant::DownTo(Kopecks::ZERO)])
    {
        let changed = first.clone().change(terms("B", audience, grant), by.clone(), true, at(30));
        let period = "2026".parse().unwrap();
        let changed = changed.paid("2025".parse().unwrap());
        let changed = changed.told(Notice { period, is_of_the_day: true, told_short: false });
        update(store, own, &changed, None);
        assert_eq!(get(own, first.id()), Some(changed.clone()));
        let approver = Authority { actor: Actor::User(Uuid::from_u128(9).into()), scopes: Scopes::ALL };
        let approved = changed.approve(&approver, at(40)).unwrap().pause().unwrap();
        update(store, own, &approved, None);
        assert_eq!(get(own, first.id()), Some(approved));
    }
    let id = first.id();
    write(store, move |unit| unit.programmes().delete(own, id)).unwrap();
    assert_eq!(get(own, id), None);
}

/// The first created first.
pub fn programmes_are_listed_in_the_order_of_creation(store: &dyn Store) {
    let (own, other) = (partner(store), partner(store));
    let mut ids = Vec::new();
    for name in ["C", "A", "B"] {
        let one = programme(terms(name, Audience::All, fixed()));
        insert(store, own, &one, None);
        ids.push(one.id());
    }
    ids.sort_unstable();
    insert(store, other, &programme(terms("D", Audience::All, fixed())), None);
    let listed = read(store, move |unit| unit.programmes().list(own, page(2, 2)));
    assert_eq!((listed.total, listed.items.iter().map(Programme::id).collect::<Vec<_>>()), (3, vec![ids[2]]));
}

/// By category, by name, or all, each with a status that fits and a MAIN card; erased ones are none.
pub fn an_audience_has_its_members(store: &dyn Store) {
    let own = partner(store);
    let lunch = category("Lunch");
    insert_category(store, own, &lunch).unwrap();
    let add = |custom_id: &str, status, category: Option<CategoryId>| {
        let fields = EmployeeFields { status, category, ..employee(custom_id).into_fields() };
        let one = Employee::from_stored(fields);
        insert_employee(store, own, &one).unwrap();
        one.id()
    };
    let b = add("b", EmployeeStatus::Work, Some(lunch.id));
    let a = add("a", EmployeeStatus::Vacation, None);
    let upper = add("C", EmployeeStatus::Work, None);
    let gone = add("d", EmployeeStatus::DontWork, Some(lunch.id));
    let erased = add("e", EmployeeStatus::Work, Some(lunch.id));
    let bare = add("f", EmployeeStatus::Work, Some(lunch.id));
    let cards = some_cards(store, own, 6);
    for (card, employee) in cards.iter().zip([b, a, upper, gone, erased]) {
        link(store, own, card, Some((employee, CardStatus::Main))).unwrap();
    }
    link(store, own, &cards[5], Some((bare, CardStatus::Additional))).unwrap();
    link(store, own, &cards[4], None).unwrap();
    write(store, move |unit| unit.employees().erase(own, erased, at(50))).unwrap();
    let members = |audience: Audience, statuses: &[EmployeeStatus]| -> Vec<EmployeeId> {
        let statuses = statuses.to_vec();
        let members = read(store, move |unit| unit.programmes().members(own, &audience, &statuses));
        for Member { holder, created_at, card } in &members {
            let link = CardLink { employee: holder.id, status: CardStatus::Main };
            assert_eq!((*created_at, card.card.link()), (at(0), Some(link)));
        }
        members.into_iter().map(|member| member.holder.id).collect()
    };
    let working = [EmployeeStatus::Work, EmployeeStatus::Vacation];
    assert_eq!(members(Audience::All, &working), [upper, a, b]);
    assert_eq!(members(Audience::All, &[EmployeeStatus::DontWork]), [gone]);
    assert_eq!(members(Audience::Categories(vec![lunch.id, id()]), &working), [b]);
    assert_eq!(members(Audience::Employees(vec![b, gone, bare, upper, id()]), &working), [upper, b]);
}

/// By the programmes to look at and the runs to try again; an open run of a programme goes first, a suspended partner waits.
pub fn partners_are_due(store: &dyn Store) {
    let own = partner(store);
    let one = programme(terms("A", Audience::All, fixed()));
    insert(store, own, &one, Some(at(30)));
    let due = |now| read(store, move |unit| unit.programmes().due(now, at(0), 10));
    assert_eq!((due(at(29)), due(at(30))), (vec![], vec![own]));
    let due_of = |now| read(store, move |unit| unit.programmes().due_of(own, now));
    assert_eq!((due_of(at(29)), due_of(at(30))), (vec![], vec![one.clone()]));
    let suspend = |status| write(store, move |unit| unit.partners().set_status(own, status)).unwrap();
    suspend(PartnerStatus::Suspended);
    assert_eq!(due(at(30)), []);
    suspend(PartnerStatus::Active);
    let run = run_of(&one, "2026");
    insert_run(store, own, &run).unwrap();
    assert_eq!(due(at(30)), []);
    let is_open = |since| read(store, move |unit| unit.runs().is_programme_open(own, since));
    assert_eq!((is_open(at(20)), is_open(at(21))), (true, false));
    assert_eq!(read(store, move |unit| unit.programmes().due(at(30), at(21), 10)), [own]);
    update(store, own, &one, None);
    let declined = run.conclude(0, 1, at(40)).unwrap().with_retry(Some(at(50)));
    let stored = declined.clone();
    write(store, move |unit| unit.runs().set_state(own, &stored)).unwrap();
    assert_eq!((due(at(49)), due(at(50))), (vec![], vec![own]));
    let retries = |now| read(store, move |unit| unit.runs().retries(own, now));
    assert_eq!((retries(at(49)), retries(at(50))), (vec![], vec![declined]));
}

/// Whatever the process that makes the second.
pub fn a_period_has_one_run(store: &dyn Store) {
    let (own, other) = (partner(store), partner(store));
    let (one, two) =
        (programme(terms("A", Audience::All, fixed())), programme(terms("B", Audience::All, fixed())));
    let run = run_of(&one, "2026");
    insert_run(store, own, &run).unwrap();
    assert_eq!(
        insert_run(store, own, &run_of(&one, "2026")),
        Err(StoreError::Conflict(Rule::ProgrammePeriod))
    );
    for (partner, programme, period) in [(own, &one, "2027"), (own, &two, "2026"), (other, &one, "2026")] {
        insert_run(store, partner, &run_of(programme, period)).unwrap();
    }
    let filter = RunFilter { programme: Some(one.id()), ..RunFilter::default() };
    let listed = read(store, move |unit| unit.runs().list(own, &filter, page(1, 10)));
    assert_eq!((listed.total, listed.items.last()), (2, Some(&run)));
}

/// Its former items and requests are gone.
pub fn a_run_is_tried_again_with_other_items(store: &dyn Store) {
    let own = partner(store);
    let run = run_of(&programme(terms("A", Audience::All, fixed())), "2026");
    insert_run(store, own, &run).unwrap();
    let (id, replenishment) = (run.id(), id());
    let request = [RunRequest::Replenishment(replenishment)];
    write(store, move |unit| unit.runs().add_requests(own, id, &request)).unwrap();
    let of = move || read(store, move |unit| unit.runs().of_replenishment(own, replenishment));
    assert_eq!(of(), Some(run.clone()));
    let declined = run.conclude(0, 1, at(40)).unwrap().with_retry(Some(at(50)));
    let totals = RunTotals { number: 2, amount: Kopecks::new(11), ..RunTotals::default() };
    let again = declined.retry(totals, Digest::from_bytes([8; 32]), at(50)).unwrap();
    let (stored, items) = (again.clone(), vec![item(0, 4), item(1, 7)]);
    let expected = items.clone();
    write(store, move |unit| unit.runs().renew(own, &stored, &items)).unwrap();
    assert_eq!(read(store, move |unit| unit.runs().get(own, id)), Some(again));
    assert_eq!(read(store, move |unit| unit.runs().items(own, id, 0, 10)), expected);
    assert_eq!((read(store, move |unit| unit.runs().requests(own, id)), of()), (vec![], None));
}

/// Then every programme in force is looked at, and no other.
pub fn the_calendar_is_replaced(store: &dyn Store) {
    let own = partner(store);
    let (active, paused) =
        (programme(terms("A", Audience::All, fixed())), programme(terms("B", Audience::All, fixed())));
    insert(store, own, &active, Some(at(1_000_000)));
    insert(store, own, &paused, None);
    let days = [
        (date(2027, Month::January, 1), DayKind::Holiday),
        (date(2027, Month::January, 9), DayKind::Working),
    ];
    write(store, move |unit| unit.programmes().set_workdays(&[(days[0].0, DayKind::Working)])).unwrap();
    write(store, move |unit| unit.programmes().set_workdays(&days)).unwrap();
    let workdays = read(store, |unit| unit.programmes().workdays());
    assert_eq!(workdays.iter().collect::<Vec<_>>(), days);
    let due = read(store, move |unit| unit.programmes().due_of(own, at(0) - Duration::DAY));
    assert_eq!(due, [active]);
}
