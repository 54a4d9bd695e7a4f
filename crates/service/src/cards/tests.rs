use super::*;
use crate::testing::*;
use kopeck_domain::event::EventType;
use kopeck_port_bank::MockBankGateway;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use mockall::Sequence;
use time::{Date, Duration};

fn answer() -> BankCard {
    BankCard {
        balance: kopecks(70),
        remaining_top_up: kopecks(80),
        account: kopecks(90),
        activated_at: Some(START),
        standing: Standing::Blocked,
        valid_until: Date::MAX,
    }
}

fn stored_card(unit: &mut MockUnit, record: Option<CardRecord>) {
    unit.cards.expect_get().returning(move |_, _| Ok(record.clone()));
}

#[test]
fn a_copy_is_fresh_for_the_ten_seconds_of_the_setting() {
    for (age, fresh) in [(0, true), (9, true), (10, false), (11, false)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        stored_card(&mut unit, Some(card_record(1)));
        bench.clock.advance(Duration::seconds(age));
        let look = get(&mut unit, &bench, PARTNER, card_id(1));
        assert_eq!(look, Ok(CardSnapshot { record: card_record(1), fresh }), "{age} s");
    }
}

#[test]
fn an_unknown_card_is_not_found() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    stored_card(&mut unit, None);
    assert_eq!(get(&mut unit, &bench, PARTNER, card_id(1)), Err(CardError::NotFound));
}

#[test]
fn the_data_of_the_bank_is_stored() {
    let (bench, mut unit, mut bank) = (Bench::new(), MockUnit::default(), MockBankGateway::new());
    bench.clock.advance(Duration::minutes(1));
    let view = BankView {
        balance: kopecks(70),
        remaining_top_up: kopecks(80),
        activated_at: Some(START),
        standing: Standing::Blocked,
        seen_at: START + Duration::minutes(1),
    };
    bank.expect_card().withf(|asked| *asked == number(1)).times(1).returning(|_| Ok(Some(answer())));
    unit.cards
        .expect_set_bank_view()
        .withf(move |partner, card, stored, valid_until| {
            *partner == PARTNER && *card == card_id(1) && *stored == view && *valid_until == Date::MAX
        })
        .times(1)
        .returning(|_, _, _, _| Ok(true));
    stored_card(&mut unit, Some(card_record(1)));
    let refreshed = refresh(&InPlaceStore::new(unit), &bank, &bench, PARTNER, card_record(1)).unwrap();
    let before = card_record(1);
    let card = before.card.with_valid_until(Date::MAX);
    assert_eq!(refreshed, CardRecord { card, bank: view, ..before }, "the daily account balance stays");
}

#[test]
fn without_a_bank_response_the_copy_is_used() {
    let silences = [
        Ok(None),
        Err(BankError::Unavailable("down".to_owned())),
        Err(BankError::Unknown("timeout".to_owned())),
    ];
    for silence in silences {
        let (bench, mut bank) = (Bench::new(), MockBankGateway::new());
        let store = InPlaceStore::new(MockUnit::default());
        bank.expect_card().times(1).returning(move |_| silence.clone());
        assert_eq!(refresh(&store, &bank, &bench, PARTNER, card_record(1)), Ok(card_record(1)));
    }
}

#[test]
fn a_refresh_that_cannot_be_stored_fails() {
    let (bench, mut unit, mut bank) = (Bench::new(), MockUnit::default(), MockBankGateway::new());
    bank.expect_card().returning(|_| Ok(Some(answer())));
    stored_card(&mut unit, Some(card_record(1)));
    unit.cards.expect_set_bank_view().returning(|_, _, _, _| Err(broken()));
    let refused = refresh(&InPlaceStore::new(unit), &bank, &bench, PARTNER, card_record(1));
    assert_eq!(refused, Err(broken()));
}

#[test]
fn preparing_asks_the_bank_by_either_name_of_the_card() {
    for key in [CardKey::Id(card_id(1)), CardKey::Number(number(1))] {
        let (bench, mut unit, mut bank) = (Bench::new(), MockUnit::default(), MockBankGateway::new());
        match key {
            CardKey::Id(_) => stored_card(&mut unit, Some(card_record(1))),
            CardKey::Number(_) => {
                by_number(&mut unit, Some(card_record(1)));
                stored_card(&mut unit, Some(card_record(1)));
            }
        }
        bank.expect_card().withf(|asked| *asked == number(1)).times(1).returning(|_| Ok(Some(answer())));
        unit.cards.expect_set_bank_view().times(1).returning(|_, _, _, _| Ok(true));
        assert_eq!(prepare(&InPlaceStore::new(unit), &bank, &bench, PARTNER, key), Ok(()));
    }
}

#[test]
fn preparing_passes_over_an_unknown_card() {
    let (bench, mut unit, bank) = (Bench::new(), MockUnit::default(), MockBankGateway::new());
    unit.cards.expect_get().times(1).returning(|_, _| Ok(None));
    let key = CardKey::Id(card_id(1));
    assert_eq!(prepare(&InPlaceStore::new(unit), &bank, &bench, PARTNER, key), Ok(()));
}

fn by_number(unit: &mut MockUnit, record: Option<CardRecord>) {
    unit.cards
        .expect_by_number()
        .withf(|partner, asked| *partner == PARTNER && *asked == number(1))
        .returning(move |_, _| Ok(record.clone()));
}

/// Employee 1 is known, and has this MAIN card.
fn employee_with_main(unit: &mut MockUnit, main: Option<CardId>) {
    unit.employees
        .expect_get()
        .withf(|partner, id| *partner == PARTNER && *id == employee_id(1))
        .returning(|_, _| Ok(Some(employee(1))));
    unit.cards.expect_main_card().returning(move |_, _| Ok(main));
}

fn expect_link(unit: &mut MockUnit, status: CardStatus) {
    let link = Some(CardLink { employee: employee_id(1), status });
    unit.cards
        .expect_set_link()
        .withf(move |partner, card| *partner == PARTNER && card.id() == card_id(1) && card.link() == link)
        .times(1)
        .returning(|_, _| Ok(()));
}

fn link_main(unit: &mut MockUnit, bench: &Bench) -> Result<Card, LinkCardError> {
    link(unit, bench, PARTNER, employee_id(1), number(1), CardStatus::Main)
}

fn switch_to_main(unit: &mut MockUnit, bench: &Bench) -> Result<Card, SwitchCardError> {
    switch(unit, bench, PARTNER, employee_id(1), card_id(1), CardStatus::Main)
}

fn main_holder() -> kopeck_domain::event::CardHolder {
    linked(1, employee_id(1), CardStatus::Main)
        .card
        .holder(CardLink { employee: employee_id(1), status: CardStatus::Main }, Standing::Open)
}

#[test]
fn an_unassigned_card_is_linked_and_stored() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    employee_with_main(&mut unit, None);
    by_number(&mut unit, Some(card_record(1)));
    expect_link(&mut unit, CardStatus::Main);
    let card = link_main(&mut unit, &bench).unwrap();
    assert_eq!(card, linked(1, employee_id(1), CardStatus::Main).card);
    assert_eq!(unit.events.data(), [&EventData::CardLinked(main_holder())]);
}

/// The employee's 404 comes first, before the card is even looked for.
#[test]
fn linking_needs_an_employee_and_a_card() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_get().times(2).returning(|_, _| Ok(None));
    assert_eq!(link_main(&mut unit, &bench), Err(LinkCardError::EmployeeNotFound));
    assert_eq!(switch_to_main(&mut unit, &bench), Err(SwitchCardError::EmployeeNotFound));

    let mut unit = MockUnit::default();
    employee_with_main(&mut unit, None);
    by_number(&mut unit, None);
    stored_card(&mut unit, None);
    assert_eq!(link_main(&mut unit, &bench), Err(LinkCardError::CardNotFound));
    assert_eq!(switch_to_main(&mut unit, &bench), Err(SwitchCardError::CardNotFound));
}

#[test]
fn linking_what_is_linked_writes_nothing() {
    let main = linked(1, employee_id(1), CardStatus::Main);
    let cases = [
        (main.clone(), Ok(main.card)),
        (linked(1, employee_id(1), CardStatus::Additional), Err(LinkRefusal::AlreadyLinked)),
        (linked(1, employee_id(2), CardStatus::Main), Err(LinkRefusal::LinkedToAnother)),
    ];
    for (record, expected) in cases {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        employee_with_main(&mut unit, Some(card_id(1)));
        by_number(&mut unit, Some(record));
        assert_eq!(link_main(&mut unit, &bench), expected.map_err(LinkCardError::Refused));
        assert!(unit.events.data().is_empty());
    }
}

#[test]
fn linking_goes_by_the_bank_the_day_and_the_main_card() {
    let blocked = BankView { standing: Standing::Blocked, ..card_record(1).bank };
    let cases = [
        (0, CardRecord { bank: blocked, ..card_record(1) }, None, LinkRefusal::NotAvailable),
        (22, card_record(1), None, LinkRefusal::Expired),
        (0, card_record(1), Some(card_id(5)), LinkRefusal::HasMainCard),
    ];
    for (days, record, main, refusal) in cases {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        bench.clock.advance(Duration::days(days));
        employee_with_main(&mut unit, main);
        by_number(&mut unit, Some(record));
        assert_eq!(link_main(&mut unit, &bench), Err(LinkCardError::Refused(refusal)));
    }
}

#[test]
fn a_raced_main_card_is_the_same_refusal() {
    for rule in RULES {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        employee_with_main(&mut unit, None);
        by_number(&mut unit, Some(card_record(1)));
        stored_card(&mut unit, Some(linked(1, employee_id(1), CardStatus::Additional)));
        unit.cards.expect_set_link().times(2).returning(move |_, _| Err(StoreError::Conflict(rule)));
        let (link_error, switch_error) = if rule == Rule::OneMainCard {
            (
                LinkCardError::Refused(LinkRefusal::HasMainCard),
                SwitchCardError::Refused(SwitchRefusal::HasMainCard),
            )
        } else {
            (
                LinkCardError::Store(StoreError::Conflict(rule)),
                SwitchCardError::Store(StoreError::Conflict(rule)),
            )
        };
        assert_eq!(link_main(&mut unit, &bench), Err(link_error));
        assert_eq!(switch_to_main(&mut unit, &bench), Err(switch_error));
    }
}

#[test]
fn switching_stores_the_other_status() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    employee_with_main(&mut unit, None);
    stored_card(&mut unit, Some(linked(1, employee_id(1), CardStatus::Additional)));
    expect_link(&mut unit, CardStatus::Main);
    let card = switch_to_main(&mut unit, &bench).unwrap();
    assert_eq!(card, linked(1, employee_id(1), CardStatus::Main).card);
    assert_eq!(unit.events.data(), [&EventData::CardStatus(main_holder())]);
}

#[test]
fn switching_to_the_same_status_writes_nothing() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    let record = linked(1, employee_id(1), CardStatus::Main);
    employee_with_main(&mut unit, Some(card_id(1)));
    stored_card(&mut unit, Some(record.clone()));
    assert_eq!(switch_to_main(&mut unit, &bench), Ok(record.card));
    assert!(unit.events.data().is_empty());
}

#[test]
fn a_card_that_is_not_the_employees_is_not_found() {
    for record in [card_record(1), linked(1, employee_id(2), CardStatus::Additional)] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        employee_with_main(&mut unit, None);
        stored_card(&mut unit, Some(record));
        assert_eq!(switch_to_main(&mut unit, &bench), Err(SwitchCardError::CardNotFound));
    }
}

#[test]
fn switching_goes_by_the_bank_the_day_and_the_main_card() {
    let own = linked(1, employee_id(1), CardStatus::Additional);
    let closed = BankView { standing: Standing::Closed, ..own.bank };
    let blocked = BankView { standing: Standing::Blocked, ..own.bank };
    let cases = [
        (0, CardRecord { bank: closed, ..own.clone() }, None, SwitchRefusal::Closed),
        (0, CardRecord { bank: blocked, ..own.clone() }, None, SwitchRefusal::Blocked),
        (22, own.clone(), None, SwitchRefusal::Expired),
        (0, own, Some(card_id(5)), SwitchRefusal::HasMainCard),
    ];
    for (days, record, main, refusal) in cases {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        bench.clock.advance(Duration::days(days));
        employee_with_main(&mut unit, main);
        stored_card(&mut unit, Some(record));
        assert_eq!(switch_to_main(&mut unit, &bench), Err(SwitchCardError::Refused(refusal)));
    }
}

#[test]
fn unassigned_cards_are_those_of_today() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    bench.clock.advance(Duration::hours(12)); // Midnight in the service's zone.
    let today = Date::from_calendar_date(2026, time::Month::March, 11).unwrap();
    unit.cards
        .expect_available()
        .withf(move |partner, filter, _| {
            *partner == PARTNER && *filter == AvailableFilter { kind: Some(CardType::Kkl), today }
        })
        .times(1)
        .returning(|_, _, _| Ok(Listed { items: vec![], total: 0 }));
    let page = Page::new(1, 15).unwrap();
    let free = available(&mut unit, &bench, PARTNER, Some(CardType::Kkl), page).unwrap();
    assert_eq!(free.total, 0);
}

/// Earlier copies are invalidated first, so that after a timeout the next read queries the bank.
#[test]
fn after_something_happened_at_the_bank_no_copy_counts_as_young() {
    for silent in [false, true] {
        let (bench, mut unit, mut bank) = (Bench::new(), MockUnit::default(), MockBankGateway::new());
        let mut order = Sequence::new();
        unit.cards
            .expect_outdate_bank_view()
            .withf(|partner, cards, _| *partner == PARTNER && *cards == [card_id(1)])
            .times(1)
            .in_sequence(&mut order)
            .returning(|_, _, _| Ok(()));
        stored_card(&mut unit, Some(card_record(1)));
        let word = if silent { Err(BankError::Unavailable("down".to_owned())) } else { Ok(Some(answer())) };
        bank.expect_card().times(1).in_sequence(&mut order).returning(move |_| word.clone());
        unit.cards.expect_set_bank_view().times(usize::from(!silent)).returning(|_, _, _, _| Ok(true));
        assert_eq!(renew(&InPlaceStore::new(unit), &bank, &bench, PARTNER, card_id(1)), Ok(()));
    }
}

#[test]
fn a_card_that_is_not_the_partners_is_not_renewed() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.cards.expect_outdate_bank_view().returning(|_, _, _| Ok(()));
    stored_card(&mut unit, None);
    let renewed = renew(&InPlaceStore::new(unit), &MockBankGateway::new(), &bench, PARTNER, card_id(1));
    assert_eq!(renewed, Err(CardError::NotFound));
}

/// A card that the bank closed is no MAIN card any more, and never opens again.
#[test]
fn a_card_that_the_bank_closed_keeps_its_place_alone() {
    let closed = |record: CardRecord| CardRecord {
        bank: BankView { standing: Standing::Closed, ..record.bank },
        ..record
    };
    let main = linked(1, employee_id(5), CardStatus::Main);
    let blocked = linked(1, employee_id(5), CardStatus::TemporarilyBlocked);
    for (before, standing, stored, told) in [
        (main.clone(), Standing::Closed, true, vec![EventType::CardBankStatus, EventType::CardStatus]),
        (blocked.clone(), Standing::Closed, true, vec![EventType::CardBankStatus]),
        (closed(blocked), Standing::Open, true, vec![]),
        (main, Standing::Closed, false, vec![]),
    ] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        let links = usize::from(told.contains(&EventType::CardStatus));
        let view = BankView { standing, ..before.bank };
        unit.cards.expect_get().returning(move |_, _| Ok(Some(before.clone())));
        unit.cards
            .expect_set_bank_view()
            .withf(|_, _, view, _| view.standing == Standing::Closed)
            .times(1)
            .returning(move |_, _, _, _| Ok(stored));
        unit.cards
            .expect_set_link()
            .withf(|_, card| card.link().is_some_and(|link| link.status == CardStatus::TemporarilyBlocked))
            .times(links)
            .returning(|_, _| Ok(()));
        store_view(&mut unit, &bench, PARTNER, card_id(1), &view, LAST_DAY).unwrap();
        let types: Vec<_> = unit.events.data().iter().map(|data| data.event_type()).collect();
        assert_eq!(types, told);
    }
}

fn unlink_one(unit: &mut MockUnit, bench: &Bench) -> Result<Card, UnlinkCardError> {
    unlink(unit, bench, PARTNER, employee_id(1), card_id(1))
}

#[test]
fn a_closed_card_is_unlinked() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    employee_with_main(&mut unit, None);
    let mut record = linked(1, employee_id(1), CardStatus::Main);
    record.bank.standing = Standing::Closed;
    stored_card(&mut unit, Some(record.clone()));
    unit.cards
        .expect_set_link()
        .withf(|partner, card| *partner == PARTNER && card.id() == card_id(1) && card.link().is_none())
        .times(1)
        .returning(|_, _| Ok(()));
    let now = bench.now();
    unit.reports
        .expect_note_former_holder()
        .withf(move |_, card, employee, at| (*card, *employee, *at) == (card_id(1), employee_id(1), now))
        .times(1)
        .returning(|_, _, _, _| Ok(()));
    assert_eq!(unlink_one(&mut unit, &bench).map(|card| card.link()), Ok(None));
    let link = CardLink { employee: employee_id(1), status: CardStatus::Main };
    let holder = record.card.holder(link, Standing::Closed);
    assert_eq!(unit.events.data(), [&EventData::CardUnlinked(holder)]);
}

#[test]
fn unlinking_goes_by_the_bank_the_day_and_the_holder() {
    let own = linked(1, employee_id(1), CardStatus::Additional);
    assert_ne!(own.bank.balance, kopecks(0), "it holds money");
    let foreign = linked(1, employee_id(2), CardStatus::Main);
    for (record, refusal) in [
        (Some(own), UnlinkCardError::Refused(UnlinkRefusal::InUse)),
        (Some(foreign), UnlinkCardError::CardNotFound),
        (Some(card_record(1)), UnlinkCardError::CardNotFound),
        (None, UnlinkCardError::CardNotFound),
    ] {
        let (bench, mut unit) = (Bench::new(), MockUnit::default());
        employee_with_main(&mut unit, None);
        stored_card(&mut unit, record);
        assert_eq!(unlink_one(&mut unit, &bench), Err(refusal));
        assert!(unit.events.data().is_empty());
    }
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.employees.expect_get().returning(|_, _| Ok(None));
    assert_eq!(unlink_one(&mut unit, &bench), Err(UnlinkCardError::EmployeeNotFound));
}

/// As a closing that has it as lost left it.
fn frozen(record: CardRecord) -> CardRecord {
    let (card, _) = record.card.freeze(record.bank.standing).unwrap();
    CardRecord { card, ..record }
}

/// Nothing opens it again, whatever way it goes: its status and its link stay.
#[test]
fn a_card_that_is_being_closed_as_lost_keeps_its_status_and_link() {
    let being_closed = |record: Option<CardRecord>, of_number: Option<CardRecord>| {
        let mut unit = MockUnit::default();
        employee_with_main(&mut unit, None);
        stored_card(&mut unit, record);
        by_number(&mut unit, of_number);
        unit.cards
            .expect_is_being_closed()
            .withf(|partner, card| (*partner, *card) == (PARTNER, card_id(1)))
            .times(1)
            .returning(|_, _| Ok(true));
        unit
    };
    let bench = Bench::new();
    let own = frozen(linked(1, employee_id(1), CardStatus::Main));
    for status in [CardStatus::Main, CardStatus::Additional] {
        let mut unit = being_closed(Some(own.clone()), None);
        let refused = switch(&mut unit, &bench, PARTNER, employee_id(1), card_id(1), status);
        assert_eq!(refused, Err(SwitchCardError::BeingClosed(BeingClosed)), "{status}");
    }
    for status in CardStatus::ALL {
        let mut unit = being_closed(None, Some(frozen(card_record(1))));
        let refused = link(&mut unit, &bench, PARTNER, employee_id(1), number(1), *status);
        assert_eq!(refused, Err(LinkCardError::BeingClosed(BeingClosed)), "{status}");
    }
    let empty = BankView { balance: kopecks(0), ..own.bank };
    let mut unit = being_closed(Some(CardRecord { bank: empty, ..own.clone() }), None);
    assert_eq!(unlink_one(&mut unit, &bench), Err(UnlinkCardError::BeingClosed(BeingClosed)));
    // The status that it has changes nothing, and a card that the bank has closed is unlinked.
    let mut unit = MockUnit::default();
    employee_with_main(&mut unit, None);
    stored_card(&mut unit, Some(own.clone()));
    let blocked = CardStatus::TemporarilyBlocked;
    assert!(switch(&mut unit, &bench, PARTNER, employee_id(1), card_id(1), blocked).is_ok());
    let mut unit = MockUnit::default();
    employee_with_main(&mut unit, None);
    let closed = BankView { standing: Standing::Closed, ..own.bank };
    stored_card(&mut unit, Some(CardRecord { bank: closed, ..own }));
    unit.cards.expect_set_link().times(1).returning(|_, _| Ok(()));
    unit.reports.expect_note_former_holder().times(1).returning(|_, _, _, _| Ok(()));
    assert!(unlink_one(&mut unit, &bench).is_ok());
}

/// Its own block is lifted as before.
#[test]
fn a_blocked_card_that_no_closing_has_is_switched() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    employee_with_main(&mut unit, None);
    stored_card(&mut unit, Some(frozen(linked(1, employee_id(1), CardStatus::Main))));
    unit.cards.expect_is_being_closed().times(1).returning(|_, _| Ok(false));
    expect_link(&mut unit, CardStatus::Main);
    assert!(switch_to_main(&mut unit, &bench).is_ok());
}
