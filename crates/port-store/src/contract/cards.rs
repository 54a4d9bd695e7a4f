//! Cards.

use crate::page::{Listed, Page};
use kopeck_domain::Kopecks;
use kopeck_domain::calendar::CLOCK_SKEW;
use kopeck_domain::card::CardFields;
use kopeck_domain::card::{
    AccountBalance, BankStatus, BankView, BlockState, Card, CardLink, CardStatus, CardType, PartnerBlock,
    Standing,
};
use kopeck_domain::card_number::CardNumber;
use kopeck_domain::ids::{CardId, EmployeeId, PartnerId};
use kopeck_domain::limit::Limit;
use time::{Date, Duration, OffsetDateTime};

use super::support::{
    at, get_card, id, insert_cards, last_day, link, new_card, new_virtual_card, page, partner, read,
    sample_limits, some_cards, some_employee, some_order, virtual_order, write,
};
use crate::{Activation, AvailableFilter, CardFilter, CardRecord, NewCard, Rule, Store, StoreError};

fn main_card(store: &dyn Store, partner: PartnerId, employee: EmployeeId) -> Option<CardId> {
    read(store, move |unit| unit.cards().main_card(partner, employee))
}

fn of_employee(store: &dyn Store, partner: PartnerId, employee: EmployeeId) -> Vec<(CardId, CardStatus)> {
    read(store, move |unit| unit.cards().of_employee(partner, employee))
}

fn set_view(store: &dyn Store, partner: PartnerId, card: CardId, view: BankView, valid_until: Date) {
    write(store, move |unit| unit.cards().set_bank_view(partner, card, &view, valid_until)).unwrap();
}

fn available(
    store: &dyn Store,
    partner: PartnerId,
    kind: Option<CardType>,
    today: Date,
    page: Page,
) -> Listed<Card> {
    read(store, move |unit| unit.cards().available(partner, AvailableFilter { kind, today }, page))
}

/// By identifier and by number, virtual and plastic.
pub fn a_card_is_read_as_it_was_issued(store: &dyn Store) {
    let partner = partner(store);
    let order = some_order(store, partner);
    let cards = [new_card(order, 0), new_virtual_card(order, 1)];
    assert_eq!(get_card(store, partner, cards[0].record.card.id()), None);
    insert_cards(store, partner, &cards).unwrap();
    for NewCard { record, .. } in cards {
        let (id, number) = (record.card.id(), record.card.number());
        assert_eq!(get_card(store, partner, id), Some(record.clone()));
        assert_eq!(read(store, move |unit| unit.cards().by_number(partner, number)), Some(record));
    }
}

/// An employee's cards stand in the order of their issue, whenever they were linked.
pub fn a_card_is_linked_and_unlinked(store: &dyn Store) {
    let partner = partner(store);
    let (employee, other) = (some_employee(store, partner), some_employee(store, partner));
    let cards = some_cards(store, partner, 3);
    assert_eq!(of_employee(store, partner, employee), []);
    assert_eq!(main_card(store, partner, employee), None);
    link(store, partner, &cards[2], Some((employee, CardStatus::Main))).unwrap();
    link(store, partner, &cards[0], Some((employee, CardStatus::TemporarilyBlocked))).unwrap();
    link(store, partner, &cards[1], Some((other, CardStatus::Additional))).unwrap();
    let linked = get_card(store, partner, cards[2].id()).unwrap().card.link();
    assert_eq!(linked, Some(CardLink { employee, status: CardStatus::Main }));
    let expected = [(cards[0].id(), CardStatus::TemporarilyBlocked), (cards[2].id(), CardStatus::Main)];
    assert_eq!(of_employee(store, partner, employee), expected);
    let with_cards = read(store, move |unit| unit.employees().with_cards(partner, employee));
    assert_eq!(
        with_cards.map(|(employee, cards)| (employee.id(), cards)),
        Some((employee, expected.to_vec()))
    );
    let stranger = cards[0].id().uuid().into();
    assert_eq!(read(store, move |unit| unit.employees().with_cards(partner, stranger)), None);
    assert_eq!(main_card(store, partner, employee), Some(cards[2].id()));
    assert_eq!(main_card(store, partner, other), None);
    link(store, partner, &cards[2], None).unwrap();
    assert_eq!(get_card(store, partner, cards[2].id()).unwrap().card.link(), None);
    assert_eq!(of_employee(store, partner, employee), expected[..1]);
    assert_eq!(main_card(store, partner, employee), None);
}

/// The second is refused, whether it is linked or switched; it may take the first one's place.
pub fn an_employee_has_one_main_card(store: &dyn Store) {
    let partner = partner(store);
    let (employee, other) = (some_employee(store, partner), some_employee(store, partner));
    let cards = some_cards(store, partner, 3);
    link(store, partner, &cards[0], Some((employee, CardStatus::Main))).unwrap();
    let refused = Err(StoreError::Conflict(Rule::OneMainCard));
    assert_eq!(link(store, partner, &cards[1], Some((employee, CardStatus::Main))), refused);
    link(store, partner, &cards[1], Some((employee, CardStatus::Additional))).unwrap();
    assert_eq!(link(store, partner, &cards[1], Some((employee, CardStatus::Main))), refused);
    link(store, partner, &cards[2], Some((other, CardStatus::Main))).unwrap();
    link(store, partner, &cards[0], Some((employee, CardStatus::Additional))).unwrap();
    link(store, partner, &cards[1], Some((employee, CardStatus::Main))).unwrap();
    assert_eq!(main_card(store, partner, employee), Some(cards[1].id()));
}

/// Nor one that does not exist.
pub fn an_employee_of_another_partner_cannot_have_the_card(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let card = &some_cards(store, first, 1)[0];
    for employee in [some_employee(store, second), id()] {
        let refused = link(store, first, card, Some((employee, CardStatus::Additional)));
        assert_eq!(refused, Err(StoreError::Conflict(Rule::Reference)));
    }
    assert_eq!(get_card(store, first, card.id()).unwrap().card.link(), None);
}

/// Neither seen nor linked nor refreshed by another; two partners may have cards of one number.
pub fn a_card_is_its_partners_own(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let order = some_order(store, first);
    let new = new_card(order, 0);
    insert_cards(store, first, std::slice::from_ref(&new)).unwrap();
    let card = &new.record.card;
    let (id, number) = (card.id(), card.number());
    assert_eq!(get_card(store, second, id), None);
    assert_eq!(read(store, move |unit| unit.cards().by_number(second, number)), None);
    assert_eq!(available(store, second, None, last_day(), page(1, 10)).total, 0);
    let employee = some_employee(store, second);
    link(store, second, card, Some((employee, CardStatus::Main))).unwrap();
    assert_eq!(main_card(store, second, employee), None);
    let blocked = BankView { standing: Standing::Blocked, ..new.record.bank };
    set_view(store, second, id, blocked, last_day());
    assert_eq!(get_card(store, first, id), Some(new.record.clone()));

    let foreign_order = insert_cards(store, second, &[new_card(order, 1)]);
    assert_eq!(foreign_order, Err(StoreError::Conflict(Rule::Reference)));
    // The bank knows a card by its number alone.
    let mut twin = new_card(some_order(store, second), 0);
    twin.record.card = with_number(twin.record.card, number);
    assert_eq!(insert_cards(store, second, &[twin]), Err(StoreError::Conflict(Rule::CardNumber)));
}

/// All data of it; the daily account stays.
pub fn newer_data_of_the_bank_is_stored(store: &dyn Store) {
    let partner = partner(store);
    let order = some_order(store, partner);
    let (new, neighbour) = (new_virtual_card(order, 0), new_card(order, 1));
    insert_cards(store, partner, &[new.clone(), neighbour.clone()]).unwrap();
    let later = BankView {
        balance: Kopecks::new(-50),
        remaining_top_up: Kopecks::new(1_499_950),
        activated_at: Some(at(40)),
        standing: Standing::Closed,
        seen_at: at(50),
    };
    let back = BankView { seen_at: at(50), ..new.record.bank };
    let id = new.record.card.id();
    for (view, valid_until) in [(later, last_day() + Duration::DAY), (back, last_day())] {
        set_view(store, partner, id, view, valid_until);
        let card = new.record.card.clone().with_valid_until(valid_until);
        let expected = CardRecord { card, bank: view, ..new.record.clone() };
        assert_eq!(get_card(store, partner, id), Some(expected.clone()));
        let older = BankView { balance: Kopecks::new(7), seen_at: at(49), ..view };
        set_view(store, partner, id, older, last_day() - Duration::DAY);
        assert_eq!(get_card(store, partner, id), Some(expected), "an older word is passed over");
    }
    let ahead = BankView { seen_at: at(50) + CLOCK_SKEW + Duration::DAY, ..back };
    set_view(store, partner, id, ahead, last_day());
    set_view(store, partner, id, back, last_day());
    assert_eq!(get_card(store, partner, id).map(|record| record.bank), Some(back), "the clock was set back");
    assert_eq!(get_card(store, partner, neighbour.record.card.id()), Some(neighbour.record));
}

/// What was never fetched stays so; what the bank says next is taken again.
pub fn data_of_the_bank_can_be_outdated(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    let cards = some_cards(store, partner, 3);
    let (fetched, never, kept) = (cards[0].id(), cards[1].id(), cards[2].id());
    for card in [fetched, kept] {
        write(store, move |unit| unit.transactions().append(partner, card, &[], at(60))).unwrap();
    }
    let before = cards.iter().map(|card| get_card(store, partner, card.id()).unwrap()).collect::<Vec<_>>();
    let outdate = |partner, cards: &[CardId]| {
        let cards = cards.to_vec();
        let too_old_at = OffsetDateTime::UNIX_EPOCH;
        write(store, move |unit| unit.cards().outdate_bank_view(partner, &cards, too_old_at)).unwrap();
    };
    outdate(other, &[fetched, never, kept]);
    outdate(partner, &[]);
    for (card, before) in cards.iter().zip(&before) {
        assert_eq!(get_card(store, partner, card.id()).as_ref(), Some(before));
    }
    outdate(partner, &[fetched, never, id()]);
    let long_ago = OffsetDateTime::UNIX_EPOCH;
    for (card, before) in [(fetched, &before[0]), (never, &before[1])] {
        let after = get_card(store, partner, card).unwrap();
        assert!(after.bank.seen_at <= long_ago);
        assert_eq!(after.transactions_seen_at.is_some(), before.transactions_seen_at.is_some());
        assert!(after.transactions_seen_at.is_none_or(|seen| seen <= long_ago));
        let bank = BankView { seen_at: before.bank.seen_at, ..after.bank };
        let restored = CardRecord { bank, transactions_seen_at: before.transactions_seen_at, ..after };
        assert_eq!(restored, *before, "nothing else changed");
    }
    assert_eq!(get_card(store, partner, kept).as_ref(), Some(&before[2]));
    set_view(store, partner, fetched, before[0].bank, last_day());
    assert_eq!(get_card(store, partner, fetched).unwrap().bank, before[0].bank);
    let a_moment_before = before[0].bank.seen_at - Duration::MICROSECOND;
    write(store, move |unit| unit.cards().outdate_bank_view(partner, &[fetched], a_moment_before)).unwrap();
    assert!(get_card(store, partner, fetched).unwrap().bank.seen_at <= long_ago);
}

/// Once a card is activated, and once its code has expired.
pub fn activation_codes_are_forgotten(store: &dyn Store) {
    let partner = partner(store);
    let order = some_order(store, partner);
    let mut cards: Vec<NewCard> = (0..4).map(|ordinal| new_virtual_card(order, ordinal)).collect();
    let day = |new: &NewCard| new.activation.as_ref().unwrap().valid_until;
    let over = day(&cards[0]) - 400 * Duration::DAY;
    cards[2].activation.as_mut().unwrap().valid_until = over;
    cards[3].activation.as_mut().unwrap().valid_until = over + Duration::DAY;
    insert_cards(store, partner, &cards).unwrap();
    let with_codes = || {
        let items = read(store, move |unit| unit.orders().result(partner, order, 0, 10));
        let activations = items.iter().map(|item| (item.ordinal, item.activation.as_ref().unwrap()));
        activations
            .filter(|(_, activation)| activation.code.is_some())
            .map(|(ordinal, _)| ordinal)
            .collect::<Vec<_>>()
    };
    let record = &cards[1].record;
    let seen = BankView { seen_at: record.bank.seen_at + Duration::SECOND, ..record.bank };
    set_view(store, partner, record.card.id(), seen, last_day());
    assert_eq!(with_codes(), [0, 1, 2, 3]);
    set_view(store, partner, record.card.id(), BankView { activated_at: Some(at(9)), ..seen }, last_day());
    assert_eq!(with_codes(), [0, 2, 3]);
    let forget = |before| write(store, move |unit| unit.cards().forget_activation_codes(before, 1)).unwrap();
    assert_eq!((forget(over), with_codes()), (0, vec![0, 2, 3]), "a code is valid on its last day");
    assert_eq!((forget(over + 2 * Duration::DAY), with_codes()), (1, vec![0, 3]), "the limit holds");
    assert_eq!((forget(over + 2 * Duration::DAY), with_codes()), (1, vec![0]));
    assert_eq!(forget(over + 2 * Duration::DAY), 0);
    let items = read(store, move |unit| unit.orders().result(partner, order, 0, 10));
    for (item, new) in items.iter().zip(&cards) {
        let kept = |activation: &Activation| (activation.valid_until, activation.first_top_up);
        assert_eq!(item.activation.as_ref().map(kept), new.activation.as_ref().map(kept), "the rest stays");
    }
}

/// The oldest first, of every partner; a refresh changes nothing else.
pub fn accounts_are_due_by_their_last_refresh(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let own = some_cards(store, first, 2).iter().map(|card| (first, card.id())).collect::<Vec<_>>();
    let other = (second, some_cards(store, second, 1)[0].id());
    let refresh = |(partner, card): (PartnerId, CardId), moment, value| {
        let account = AccountBalance { value: Kopecks::new(value), updated_at: moment };
        write(store, move |unit| unit.cards().set_account(partner, card, &account)).unwrap();
        account
    };
    let due = |moment, limit| {
        let day = moment..at(2_000);
        let due = read(store, move |unit| unit.cards().accounts_due(day.clone(), limit));
        due.into_iter().map(|due| (due.partner, due.card)).collect::<Vec<_>>()
    };
    let before = get_card(store, first, own[0].1).unwrap();
    let account = refresh(own[0], at(1_000), -7);
    assert_eq!(get_card(store, first, own[0].1), Some(CardRecord { account, ..before }));
    refresh(own[1], at(1_002), 1);
    refresh(other, at(1_001), 2);
    refresh((second, own[0].1), at(1_009), 3);
    assert_eq!(due(at(1_002), 10), [own[0], other]);
    assert_eq!(due(at(1_003), 2), [own[0], other], "the limit holds");
    assert_eq!(due(at(1_003), 3), [own[0], other, own[1]]);
    assert_eq!(due(at(1_000), 10), []);
    refresh(other, at(2_001), 4);
    refresh(own[0], at(2_000), 4);
    assert_eq!(due(at(1_000), 10), [own[0], other], "by a clock that was set back since");
    assert_eq!(due(at(1_003), 2), [own[1], own[0]]);
}

fn with_number(card: Card, number: CardNumber) -> Card {
    Card::from_stored(CardFields { number, ..card.into_fields() })
}

/// A card is valid on its last day.
pub fn unassigned_cards_are_open_valid_and_not_linked(store: &dyn Store) {
    let partner = partner(store);
    let employee = some_employee(store, partner);
    let order = some_order(store, partner);
    let mut cards: Vec<NewCard> = (0..6).map(|ordinal| new_card(order, ordinal)).collect();
    cards[1] = new_virtual_card(order, 1);
    cards[2].record.card = cards[2].record.card.clone().with_valid_until(last_day() - Duration::DAY);
    cards[3].record.bank.standing = Standing::Blocked;
    cards[4].record.bank.standing = Standing::Closed;
    insert_cards(store, partner, &cards).unwrap();
    let cards: Vec<Card> = cards.into_iter().map(|new| new.record.card).collect();
    link(store, partner, &cards[5], Some((employee, CardStatus::Additional))).unwrap();

    let free = |kind, today| available(store, partner, kind, today, page(1, 10));
    let today = last_day();
    assert_eq!(free(None, today), Listed { items: cards[..2].to_vec(), total: 2 });
    assert_eq!(free(None, today - Duration::DAY), Listed { items: cards[..3].to_vec(), total: 3 });
    assert_eq!(free(None, today + Duration::DAY), Listed { items: Vec::new(), total: 0 });
    assert_eq!(free(Some(CardType::Mlz), today), Listed { items: vec![cards[1].clone()], total: 1 });
    assert_eq!(free(Some(CardType::Kkl), today), Listed { items: Vec::new(), total: 0 });
    link(store, partner, &cards[5], None).unwrap();
    assert_eq!(free(Some(CardType::Mp4), today).items, [cards[0].clone(), cards[5].clone()]);
}

/// In the order of their issue.
pub fn unassigned_cards_come_in_pages(store: &dyn Store) {
    let partner = partner(store);
    let employee = some_employee(store, partner);
    let mut cards = some_cards(store, partner, 3);
    cards.extend(some_cards(store, partner, 3));
    let taken = cards.remove(2);
    link(store, partner, &taken, Some((employee, CardStatus::Main))).unwrap();
    for (number, range) in [(1, 0..2), (2, 2..4), (3, 4..5), (4, 5..5), (Page::MAX_NUMBER, 5..5)] {
        let listed = available(store, partner, None, last_day(), page(number, 2));
        assert_eq!(listed, Listed { items: cards[range].to_vec(), total: 5 }, "page {number}");
    }
}

fn listed(store: &dyn Store, partner: PartnerId, filter: CardFilter, page: Page) -> Listed<CardRecord> {
    read(store, move |unit| unit.cards().list(partner, &filter, page))
}

/// Each filter by itself, two at once, and none; as the cards are shown one by one.
pub fn cards_are_listed_by_each_filter(store: &dyn Store) {
    let (partner, other) = (partner(store), partner(store));
    some_cards(store, other, 1);
    let (holder, second) = (some_employee(store, partner), some_employee(store, partner));
    let order = some_order(store, partner);
    let mut new: Vec<NewCard> = (0..8).map(|ordinal| new_card(order, ordinal)).collect();
    new[1] = new_virtual_card(order, 1);
    new[2].record.card = new[2].record.card.clone().with_valid_until(last_day() - Duration::DAY);
    new[3].record.bank.standing = Standing::Blocked;
    new[4].record.bank.standing = Standing::Closed;
    insert_cards(store, partner, &new).unwrap();
    let cards: Vec<Card> = new.into_iter().map(|new| new.record.card).collect();
    let links = [
        (3, holder, CardStatus::TemporarilyBlocked, BlockState::Blocking),
        (4, holder, CardStatus::Additional, BlockState::Blocked),
        (5, holder, CardStatus::TemporarilyBlocked, BlockState::Blocking),
        (6, second, CardStatus::TemporarilyBlocked, BlockState::Blocked),
        (7, second, CardStatus::Main, BlockState::Unblocking),
    ];
    for (place, employee, status, state) in links {
        let link = Some(CardLink { employee, status });
        let block = PartnerBlock { state, change: 1 };
        let card = Card::from_stored(CardFields { link, block, ..cards[place].clone().into_fields() });
        write(store, move |unit| unit.cards().set_link(partner, &card)).unwrap();
    }
    let later = some_cards(store, partner, 1);
    let records: Vec<CardRecord> =
        cards.iter().chain(&later).map(|card| get_card(store, partner, card.id()).unwrap()).collect();
    let none = CardFilter::default();
    let of_status = |status| CardFilter { bank_status: Some(status), ..none };
    for (filter, expected) in [
        (none, &[0, 1, 2, 3, 4, 5, 6, 7, 8][..]),
        (CardFilter { linked: Some(true), ..none }, &[3, 4, 5, 6, 7]),
        (CardFilter { linked: Some(false), ..none }, &[0, 1, 2, 8]),
        (CardFilter { status: Some(CardStatus::TemporarilyBlocked), ..none }, &[3, 5, 6]),
        (CardFilter { status: Some(CardStatus::Main), ..none }, &[7]),
        (of_status(BankStatus::Open), &[0, 1, 2, 8]),
        (of_status(BankStatus::Blocking), &[5]),
        (of_status(BankStatus::Blocked), &[6]),
        (of_status(BankStatus::Unblocking), &[7]),
        (of_status(BankStatus::BlockedByBank), &[3]),
        (of_status(BankStatus::Closed), &[4]),
        (CardFilter { kind: Some(CardType::Mlz), ..none }, &[1]),
        (CardFilter { kind: Some(CardType::Kkl), ..none }, &[]),
        (CardFilter { order: Some(order), ..none }, &[0, 1, 2, 3, 4, 5, 6, 7]),
        (CardFilter { order: Some(later[0].order()), ..none }, &[8]),
        (CardFilter { employee: Some(holder), ..none }, &[3, 4, 5]),
        (CardFilter { employee: Some(id()), ..none }, &[]),
        (CardFilter { expires_before: Some(last_day()), ..none }, &[2]),
        (CardFilter { expires_before: Some(last_day() - Duration::DAY), ..none }, &[]),
        (CardFilter { number: Some(cards[2].number()), ..none }, &[2]),
        (CardFilter { number: Some(cards[2].number()), linked: Some(true), ..none }, &[]),
        (CardFilter { order: Some(order), employee: Some(second), linked: Some(true), ..none }, &[6, 7]),
        (CardFilter { linked: Some(false), employee: Some(second), ..none }, &[]),
    ] {
        let expected: Vec<CardRecord> = expected.iter().map(|place| records[*place].clone()).collect();
        let total = expected.len() as u64;
        assert_eq!(
            listed(store, partner, filter, page(1, 20)),
            Listed { items: expected, total },
            "{filter:?}"
        );
    }
}

/// In the order of their issue, with and without a filter.
pub fn cards_come_in_pages(store: &dyn Store) {
    let partner = partner(store);
    let cards = [some_cards(store, partner, 3), some_cards(store, partner, 2)].concat();
    let records: Vec<CardRecord> =
        cards.iter().map(|card| get_card(store, partner, card.id()).unwrap()).collect();
    for filter in [CardFilter::default(), CardFilter { linked: Some(false), ..CardFilter::default() }] {
        for (number, range) in [(1, 0..2), (2, 2..4), (3, 4..5), (4, 5..5), (Page::MAX_NUMBER, 5..5)] {
            let listed = listed(store, partner, filter, page(number, 2));
            assert_eq!(listed, Listed { items: records[range].to_vec(), total: 5 }, "page {number}");
        }
    }
}

/// Of every shape, on any number of cards; nothing else of them changes, and no card of another partner.
pub fn one_limit_is_set_for_many_cards(store: &dyn Store) {
    let (first, second) = (partner(store), partner(store));
    let cards = some_cards(store, first, 1_000);
    let before = get_card(store, first, cards[0].id()).unwrap();
    assert_eq!(before.limit, Limit::Unlimited);
    let set = |partner, cards: &[Card], limit: &Limit| {
        let (ids, limit) = (cards.iter().map(|card| card.id()).collect::<Vec<_>>(), limit.clone());
        write(store, move |unit| unit.cards().set_limit(partner, &ids, &limit)).unwrap();
    };
    for limit in sample_limits().into_iter().rev() {
        set(first, &cards[..999], &limit);
        let after = get_card(store, first, cards[0].id()).unwrap();
        assert_eq!(after, CardRecord { limit: limit.clone(), ..before.clone() });
        assert_eq!(get_card(store, first, cards[998].id()).unwrap().limit, limit);
        assert_eq!(get_card(store, first, cards[999].id()).unwrap().limit, Limit::Unlimited);
    }
    let limit = sample_limits().pop().unwrap();
    set(second, &cards, &limit);
    set(first, &[], &limit);
    assert_eq!(get_card(store, first, cards[0].id()), Some(before));
}

/// Nor is a place in an order filled twice; what is refused leaves nothing.
pub fn a_number_is_issued_once(store: &dyn Store) {
    let partner = partner(store);
    let (order, lines) = virtual_order(3);
    super::support::insert_order(store, partner, &order, &lines).unwrap();
    let first = new_virtual_card(order.id(), 0);
    insert_cards(store, partner, std::slice::from_ref(&first)).unwrap();
    let mut same_number = new_virtual_card(order.id(), 2);
    same_number.record.card = with_number(same_number.record.card, first.record.card.number());
    for (wrong, is_number) in [(same_number, true), (new_virtual_card(order.id(), 0), false)] {
        let batch = [new_virtual_card(order.id(), 1), wrong];
        let refused = insert_cards(store, partner, &batch);
        if is_number {
            assert_eq!(refused, Err(StoreError::Conflict(Rule::CardNumber)));
        } else {
            assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
        }
        assert_eq!(available(store, partner, None, last_day(), page(1, 10)).total, 1);
    }
    insert_cards(store, partner, &[new_virtual_card(order.id(), 1)]).unwrap();
}

/// With the link, and found until it is confirmed.
pub fn a_block_is_stored_and_found_until_it_is_confirmed(store: &dyn Store) {
    let partner = partner(store);
    let employee = some_employee(store, partner);
    let cards = some_cards(store, partner, 2);
    let blocks = || {
        let all = read(store, |unit| unit.cards().unconfirmed_blocks(u32::MAX));
        all.into_iter().filter(|(of, _)| *of == partner).map(|(_, card)| card).collect::<Vec<_>>()
    };
    assert_eq!(blocks(), []);
    let link = Some(CardLink { employee, status: CardStatus::TemporarilyBlocked });
    let blocking = PartnerBlock { state: BlockState::Blocking, change: 7 };
    let blocked = Card::from_stored(CardFields { link, block: blocking, ..cards[0].clone().into_fields() });
    let stored = blocked.clone();
    write(store, move |unit| unit.cards().set_link(partner, &stored)).unwrap();
    assert_eq!(blocks(), std::slice::from_ref(&blocked));
    assert_eq!(get_card(store, partner, blocked.id()).unwrap().card, blocked);
    assert_eq!(read(store, |unit| unit.cards().unconfirmed_blocks(0)), []);
    let ids: Vec<CardId> = cards.iter().map(|card| card.id()).collect();
    let those = |of, ids: &[CardId]| {
        let ids = ids.to_vec();
        read(store, move |unit| unit.cards().blocked(of, &ids))
    };
    assert_eq!(those(partner, &ids), [(blocked.id(), BlockState::Blocking)]);
    assert_eq!((those(partner, &ids[1..]), those(id(), &ids)), (Vec::new(), Vec::new()));
    let (confirmed, _) = blocked.clone().confirm_block(Standing::Open).unwrap();
    let stored = confirmed.clone();
    write(store, move |unit| unit.cards().set_link(partner, &stored)).unwrap();
    assert_eq!(blocks(), []);
    assert_eq!(get_card(store, partner, confirmed.id()).unwrap().card, confirmed);
    assert_eq!(those(partner, &ids), [(blocked.id(), BlockState::Blocked)]);
    for state in [BlockState::Unblocking, BlockState::Open] {
        let block = PartnerBlock { state, change: 8 };
        let card = Card::from_stored(CardFields { block, ..confirmed.clone().into_fields() });
        write(store, move |unit| unit.cards().set_link(partner, &card)).unwrap();
        assert_eq!(those(partner, &ids), [], "{state}");
    }
}
