//! What moved on the cards of each person in a month, and months that are closed.

use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CalendarMonth;
use kopeck_domain::card::{Card, CardStatus};
use kopeck_domain::card_batch::{BatchFields, BatchState, CardBatch};
use kopeck_domain::employee::Employee;
use kopeck_domain::employee::EmployeeFields;
use kopeck_domain::ids::{EmployeeId, PartnerId};
use kopeck_domain::person::PersonName;
use kopeck_domain::programme::{Audience, Programme};
use kopeck_domain::replenishment::TopUps;
use kopeck_domain::report::ReportAmounts;
use kopeck_domain::run::{Outcome, RunItem};
use kopeck_domain::transaction::{Transaction, TransactionType};

use super::programmes::{fixed, item, programme, run_of, terms};
use super::support::{
    at, category, employee, id, insert_batch, insert_category, insert_employee, link, partner, read,
    some_cards, write,
};
use crate::{ClosedMonth, ReportPeriod, ReportRow, RunDecision, RunRequest, Store};

const END: i64 = 1_000_000;

fn month(text: &str) -> CalendarMonth {
    CalendarMonth::parse(text).unwrap()
}

/// The seconds from 100 up to 200.
fn period(known_before: i64, known: i64) -> ReportPeriod {
    ReportPeriod { within: at(100)..at(200), known_before, known }
}

fn append(store: &dyn Store, partner: PartnerId, card: &Card, all: &[(i64, i64, TransactionType, i64)]) {
    let transactions: Vec<Transaction> = all
        .iter()
        .map(|(id, seconds, kind, amount)| Transaction {
            id: *id,
            executed_at: at(*seconds),
            kind: *kind,
            amount: Kopecks::new(*amount),
            place: None,
            mcc: None,
            merchant_id: None,
        })
        .collect();
    let card = card.id();
    write(store, move |unit| unit.transactions().append(partner, card, &transactions, at(1_000))).unwrap();
}

fn people(store: &dyn Store, partner: PartnerId, period: &ReportPeriod) -> Vec<ReportRow> {
    let period = period.clone();
    read(store, move |unit| unit.reports().people(partner, 1..END, &period))
}

/// Opening, what is given, spent, refunded, returned and corrected, late ones, and the closing.
fn figures(amounts: &ReportAmounts) -> [i64; 8] {
    let ReportAmounts { opening, given, spent, refunded, returned, correction, late, .. } = *amounts;
    let closing = amounts.closing().unwrap();
    [opening, given, spent, refunded, returned, correction, late, closing].map(Kopecks::get)
}

fn unlink(store: &dyn Store, partner: PartnerId, card: &Card, employee: EmployeeId, seconds: i64) {
    link(store, partner, card, None).unwrap();
    let card = card.id();
    write(store, move |unit| unit.reports().note_former_holder(partner, card, employee, at(seconds)))
        .unwrap();
}

/// Of each type within the month and before it, at the very ends; behind it, and of another partner, nothing.
pub fn rows_add_up_what_moved_on_the_cards_of_a_person(store: &dyn Store) {
    use TransactionType::{Correction, Payment, Refund, Replenishment, Reversal};
    let (partner, other) = (partner(store), partner(store));
    let cooks = category("Повара");
    insert_category(store, partner, &cooks).unwrap();
    let named = Employee::from_stored(EmployeeFields {
        surname: Some(PersonName::parse("Ёжиков").unwrap()),
        category: Some(cooks.id),
        ..employee("E-1").into_fields()
    });
    let (idle, second) = (employee("E-2"), employee("E-3"));
    for one in [&named, &idle, &second] {
        insert_employee(store, partner, one).unwrap();
    }
    let cards = some_cards(store, partner, 4);
    link(store, partner, &cards[0], Some((named.id(), CardStatus::Main))).unwrap();
    link(store, partner, &cards[1], Some((named.id(), CardStatus::Additional))).unwrap();
    link(store, partner, &cards[2], Some((second.id(), CardStatus::Main))).unwrap();
    append(
        store,
        partner,
        &cards[0],
        &[
            (1, 99, Replenishment, 1_000),
            (2, 100, Replenishment, 500),
            (3, 150, Payment, 300),
            (4, 151, Payment, 30),
            (5, 160, Refund, 20),
            (6, 170, Reversal, 100),
            (7, 199, Correction, 7),
            (8, 200, Payment, 1_000),
        ],
    );
    append(store, partner, &cards[1], &[(9, 120, Replenishment, 40)]);
    append(store, partner, &cards[2], &[(10, 50, Replenishment, 70)]);
    append(store, partner, &cards[3], &[(11, 110, Replenishment, 900), (12, 20, Replenishment, 9)]);
    let rows = people(store, partner, &period(END, END));
    assert_eq!(rows.iter().map(|row| row.place).collect::<Vec<_>>(), [1, 3], "who has nothing has no row");
    assert_eq!(figures(&rows[0].amounts), [1_000, 540, 330, 20, 100, 7, 0, 1_137]);
    assert_eq!((rows[0].amounts.payments, rows[0].amounts.transactions), (2, 7));
    assert_eq!(figures(&rows[1].amounts), [70, 0, 0, 0, 0, 0, 0, 70]);
    let person = rows[0].person.clone().unwrap();
    assert_eq!((person.id, person.custom_id.as_deref()), (named.id(), Some("E-1")));
    assert_eq!((person.surname.as_deref(), person.name), (Some("Ёжиков"), None));
    assert_eq!(person.category, Some((cooks.id, "Повара".to_owned())));
    let nobody = |of| read(store, move |unit| unit.reports().unassigned(of, &period(END, END)));
    assert_eq!(figures(&nobody(partner)), [9, 900, 0, 0, 0, 0, 0, 909]);
    assert_eq!((people(store, other, &period(END, END)), nobody(other)), (vec![], ReportAmounts::default()));
    let pages = read(store, move |unit| unit.reports().people(partner, 2..4, &period(END, END)));
    assert_eq!(pages, rows[1..]);
    let ends = read(store, move |unit| {
        Ok((unit.reports().last_transaction(partner)?, unit.reports().last_person(partner)?))
    });
    assert_eq!(ends, (12, 3));
}

/// By the numbers in which the service learnt of them.
pub fn transactions_of_closed_months_are_late(store: &dyn Store) {
    use TransactionType::{Payment, Replenishment};
    let partner = partner(store);
    let one = employee("E-1");
    insert_employee(store, partner, &one).unwrap();
    let card = some_cards(store, partner, 1).remove(0);
    link(store, partner, &card, Some((one.id(), CardStatus::Main))).unwrap();
    append(store, partner, &card, &[(1, 50, Replenishment, 1_000), (2, 110, Payment, 10)]);
    append(store, partner, &card, &[(3, 60, Payment, 200), (4, 120, Payment, 5)]);
    append(store, partner, &card, &[(5, 130, Payment, 3), (6, 70, Replenishment, 8)]);
    for (known_before, known, expected) in [
        (END, END, [808, 0, 18, 0, 0, 0, 0, 790]),
        (2, END, [1_000, 0, 18, 0, 0, 0, -192, 790]),
        (2, 4, [1_000, 0, 15, 0, 0, 0, -200, 785]),
        (2, 2, [1_000, 0, 10, 0, 0, 0, 0, 990]),
    ] {
        let rows = people(store, partner, &period(known_before, known));
        assert_eq!(figures(&rows[0].amounts), expected, "{known_before} {known}");
    }
}

/// A card that was unlinked stays with who had it, until someone else gets it.
pub fn former_holders_keep_what_moved_while_they_had_the_card(store: &dyn Store) {
    use TransactionType::{Payment, Replenishment, Reversal};
    let partner = partner(store);
    let (first, second) = (employee("E-1"), employee("E-2"));
    for one in [&first, &second] {
        insert_employee(store, partner, one).unwrap();
    }
    let cards = some_cards(store, partner, 2);
    for card in &cards {
        link(store, partner, card, Some((first.id(), CardStatus::Additional))).unwrap();
        append(
            store,
            partner,
            card,
            &[(card_number(card), 110, Replenishment, 1_000), (card_number(card) + 1, 120, Reversal, 1_000)],
        );
        unlink(store, partner, card, first.id(), 130);
    }
    link(store, partner, &cards[1], Some((second.id(), CardStatus::Main))).unwrap();
    append(store, partner, &cards[1], &[(900, 140, Replenishment, 70), (901, 150, Payment, 20)]);
    let rows = people(store, partner, &period(END, END));
    let shown: Vec<_> = rows.iter().map(|row| (row.place, figures(&row.amounts))).collect();
    let before = [0, 2_000, 0, 0, 2_000, 0, 0, 0];
    assert_eq!(shown, [(1, before), (2, [0, 70, 20, 0, 0, 0, 0, 50])]);
    let nobody = read(store, move |unit| unit.reports().unassigned(partner, &period(END, END)));
    assert_eq!(nobody, ReportAmounts::default());
    // Unlinked again: what comes afterwards is still of the last holder.
    unlink(store, partner, &cards[1], second.id(), 160);
    append(store, partner, &cards[1], &[(902, 170, Payment, 5)]);
    let rows = people(store, partner, &period(END, END));
    assert_eq!(figures(&rows[1].amounts), [0, 70, 25, 0, 0, 0, 0, 45]);
    let page = read(store, move |unit| unit.reports().people(partner, 2..3, &period(END, END)));
    assert_eq!(page, rows[1..]);
}

/// The bank's number of the first transaction of a card in a test.
fn card_number(card: &Card) -> i64 {
    i64::try_from(card.number().get() % 100_000).unwrap() + 1_000
}

fn closed(store: &dyn Store, partner: PartnerId, of: &str) -> Option<ClosedMonth> {
    let of = month(of);
    read(store, move |unit| unit.reports().closed(partner, of))
}

fn known_since(store: &dyn Store, partner: PartnerId, from: &str) -> Option<i64> {
    let from = month(from);
    read(store, move |unit| unit.reports().known_since(partner, from))
}

/// With names as of its closing, but for those of who is erased.
pub fn a_closed_month_keeps_its_rows(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let (named, leaver) = (employee("E-1"), employee("E-2"));
    for one in [&named, &leaver] {
        insert_employee(store, partner, one).unwrap();
    }
    let cards = some_cards(store, partner, 2);
    for (card, one) in cards.iter().zip([&named, &leaver]) {
        link(store, partner, card, Some((one.id(), CardStatus::Main))).unwrap();
        append(store, partner, card, &[(card_number(card), 110, TransactionType::Payment, 5)]);
    }
    let rows = people(store, partner, &period(END, END));
    let last = ReportRow { place: ReportRow::LAST, person: None, amounts: rows[0].amounts };
    let (of, kept, last_row) = (month("2026-01"), rows.clone(), last.clone());
    assert_eq!((closed(store, partner, "2026-01"), known_since(store, partner, "1970-01")), (None, None));
    write(store, move |unit| {
        unit.reports().begin_closing(partner, of, 2)?;
        unit.reports().begin_closing(partner, month("2026-03"), 7)?;
        unit.reports().keep_rows(partner, of, &kept, 2)
    })
    .unwrap();
    let begun = ClosedMonth { known: 2, kept_up_to: 2, sha256: None, erasures: 0, is_changed: false };
    assert_eq!(closed(store, partner, "2026-01"), Some(begun.clone()));
    assert_eq!(
        ["2025-12", "2026-02", "2026-04"].map(|from| known_since(store, partner, from)),
        [Some(2), Some(7), None]
    );
    write(store, move |unit| {
        unit.reports().keep_rows(partner, of, std::slice::from_ref(&last_row), ReportRow::LAST)?;
        unit.reports().end_closing(partner, of, [7; 32], false, at(5))
    })
    .unwrap();
    let ended = ClosedMonth { kept_up_to: ReportRow::LAST, sha256: Some([7; 32]), ..begun };
    assert_eq!(closed(store, partner, "2026-01"), Some(ended.clone()));
    let read_rows = |of_partner, after, limit| {
        read(store, move |unit| unit.reports().kept_rows(of_partner, of, after, limit))
    };
    let mut expected = [rows, vec![last]].concat();
    assert_eq!(read_rows(partner, 0, 10), expected);
    assert_eq!(read_rows(partner, 1, 1), expected[1..2]);
    assert_eq!((read_rows(other, 0, 10), closed(store, other, "2026-01")), (vec![], None));
    // An erasure takes the names out, and is noted.
    let erased = leaver.id();
    write(store, move |unit| unit.employees().erase(partner, erased, at(6))).unwrap();
    let person = expected[1].person.as_mut().unwrap();
    (person.custom_id, person.surname, person.name, person.patronymic) = (None, None, None, None);
    assert_eq!(read_rows(partner, 0, 10), expected);
    assert_eq!(
        closed(store, partner, "2026-01"),
        Some(ClosedMonth { erasures: 1, is_changed: true, ..ended })
    );
    assert!(!closed(store, partner, "2026-03").unwrap().is_changed, "a month without a row of theirs");
    let live = people(store, partner, &period(END, END));
    assert_eq!(
        (live[1].person.as_ref().unwrap().custom_id.clone(), live[1].amounts),
        (None, expected[1].amounts)
    );
}

/// A run of a programme over these cards of an employee, whose request lasted that long; the last item is refused.
fn paid(
    store: &dyn Store,
    partner: PartnerId,
    (programme, period): (&Programme, &str),
    cards: &[(&Card, EmployeeId, i64)],
    (created, ended): (i64, i64),
) {
    let run = run_of(programme, period);
    let items: Vec<RunItem> = (0..)
        .zip(cards)
        .map(|(ordinal, (card, employee, amount))| {
            let (employee, card) = (Some(*employee), Some(card.id()));
            RunItem { employee, card, ..item(ordinal, *amount) }
        })
        .collect();
    let batch = CardBatch::<TopUps>::new(id(), 1, Kopecks::new(1), at(created));
    let ended = BatchFields { state: BatchState::Success, state_since: at(ended), ..batch.into_fields() };
    insert_batch(store, partner, &CardBatch::from_stored(ended.clone()), &[]).unwrap();
    let last = items.len() - 1;
    let decide = move |item: &RunItem| {
        let outcome = if item.ordinal as usize == last { Outcome::Refused } else { Outcome::Done };
        RunDecision { ordinal: item.ordinal, outcome, reason: None, employee: None }
    };
    write(store, move |unit| {
        unit.runs().insert(partner, &run, &items)?;
        unit.runs().add_requests(partner, run.id(), &[RunRequest::Replenishment(ended.id)])?;
        unit.runs().decide(partner, run.id(), &items.iter().map(decide).collect::<Vec<_>>())
    })
    .unwrap();
}

/// That of the transaction, if the request lasted from one month into the next; nothing of other programmes and partners, and
/// nothing that was refused.
pub fn a_programme_gives_in_one_month_whatever_it_gives(store: &dyn Store) {
    use TransactionType::Replenishment;
    let (own, other) = (partner(store), partner(store));
    let (first, second) = (employee("E-1"), employee("E-2"));
    for one in [&first, &second] {
        insert_employee(store, own, one).unwrap();
    }
    let cards = some_cards(store, own, 3);
    let of = |place: usize, employee: &Employee, amount| (&cards[place], employee.id(), amount);
    let refused = of(2, &second, 1_000);
    let named = |name| programme(terms(name, Audience::All, fixed()));
    let (meals, gifts) = (named("A"), named("B"));
    paid(store, own, (&meals, "2026-01"), &[of(0, &first, 3), refused], (100, 100));
    paid(store, own, (&meals, "2026-02"), &[of(0, &first, 4), of(1, &second, 50), refused], (198, 199));
    paid(store, own, (&meals, "2026-03"), &[of(0, &first, 500), refused], (99, 99));
    paid(store, own, (&meals, "2026-04"), &[of(1, &second, 600), refused], (200, 201));
    // Around the ends of the month; what was never reported counts when its request ended.
    append(store, own, &cards[0], &[(1, 100, Replenishment, 10), (2, 199, Replenishment, 20)]);
    append(store, own, &cards[1], &[(3, 99, Replenishment, 10), (4, 200, Replenishment, 20)]);
    paid(store, own, (&meals, "2026-05"), &[of(0, &first, 10), of(1, &second, 10), refused], (98, 101));
    paid(store, own, (&meals, "2026-06"), &[of(0, &first, 20), of(1, &second, 20), refused], (197, 202));
    paid(store, own, (&meals, "2026-07"), &[of(0, &first, 7_000), refused], (196, 203));
    paid(store, own, (&gifts, "2026-01"), &[of(0, &first, 90_000), refused], (120, 121));
    let given = |of, programme: &Programme, places: std::ops::Range<i64>, within: [i64; 2]| {
        let (id, within) = (programme.id(), at(within[0])..at(within[1]));
        let given = read(store, move |unit| unit.reports().given_by(of, id, places.clone(), &within));
        given.into_iter().map(|(place, amount)| (place, amount.get())).collect::<Vec<_>>()
    };
    assert_eq!(given(own, &meals, 1..END, [100, 200]), [(1, 3 + 4 + 10 + 20), (2, 50)]);
    assert_eq!(given(own, &meals, 2..3, [100, 200]), [(2, 50)]);
    assert_eq!(given(own, &meals, 1..END, [0, 100]), [(1, 500), (2, 10)]);
    assert_eq!(given(own, &meals, 1..END, [200, 300]), [(1, 7_000), (2, 600 + 20)]);
    assert_eq!(given(own, &gifts, 1..END, [100, 200]), [(1, 90_000)]);
    assert_eq!(given(other, &meals, 1..END, [100, 200]), []);
    assert_eq!(given(own, &named("C"), 1..END, [100, 200]), []);
}
