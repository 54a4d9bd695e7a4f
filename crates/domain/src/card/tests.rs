use super::*;
use time::macros::date;
use uuid::Uuid;

fn employee(id: u128) -> EmployeeId {
    EmployeeId::new(Uuid::from_u128(id))
}

fn card(link: Option<(u128, CardStatus)>) -> Card {
    Card::from_stored(CardFields {
        id: CardId::new(Uuid::from_u128(9)),
        number: CardNumber::parse("4006381333931").unwrap(),
        kind: CardType::Mp4,
        order: OrderId::new(Uuid::nil()),
        valid_until: date!(2029 - 11 - 30),
        link: link.map(|(id, status)| CardLink { employee: employee(id), status }),
        block: PartnerBlock::default(),
    })
}

const LAST_DAY: Date = date!(2029 - 11 - 30);
const DAY_AFTER: Date = date!(2029 - 12 - 01);

#[test]
fn a_card_expires_on_the_day_after_its_last() {
    assert!(!card(None).is_expired(LAST_DAY));
    assert!(card(None).is_expired(DAY_AFTER));
}

#[test]
fn only_one_type_is_virtual() {
    let of_a_number = CardType::ALL.iter().filter(|kind| kind.is_virtual());
    assert_eq!(of_a_number.collect::<Vec<_>>(), [&CardType::Mlz]);
}

#[test]
fn the_bank_may_give_a_card_another_last_day() {
    let later = card(None).with_valid_until(date!(2031 - 05 - 31));
    assert_eq!(later.valid_until(), date!(2031 - 05 - 31));
    assert_eq!(later.with_valid_until(LAST_DAY), card(None));
}

#[test]
fn a_number_has_the_form_of_its_type() {
    let plastic = card(None).into_fields();
    assert_eq!(Card::try_from(plastic.clone()), Ok(card(None)));
    let number = CardNumber::parse("9031234567").unwrap();
    let virtual_card = CardFields { kind: CardType::Mlz, number, ..plastic.clone() };
    assert!(Card::try_from(virtual_card.clone()).is_ok());
    assert!(Card::try_from(CardFields { kind: CardType::Mlz, ..plastic }).is_err());
    assert!(Card::try_from(CardFields { kind: CardType::Mp4, ..virtual_card }).is_err());
}

#[test]
fn the_expiry_of_a_card_has_two_events() {
    let holder = card(Some((1, CardStatus::Main)));
    let told = |standing| CardAtBank {
        card: holder.id(),
        employee: Some(employee(1)),
        bank_status: BankStatus::of(standing, BlockState::Open),
    };
    assert_eq!(expiry_notice_due(LAST_DAY), date!(2029 - 10 - 31));
    let expiring = Some(CardEvent::Expiring(told(Standing::Blocked)));
    assert_eq!(holder.expiry_event(Standing::Blocked, LAST_DAY), (expiring, Some(DAY_AFTER)));
    assert_eq!(holder.expiry_event(Standing::Closed, LAST_DAY), (None, Some(DAY_AFTER)));
    for &standing in Standing::ALL {
        let expired = Some(CardEvent::Expired(told(standing)));
        assert_eq!(holder.expiry_event(standing, DAY_AFTER), (expired, None));
    }
}

#[test]
fn changes_at_the_bank_are_events() {
    let now = OffsetDateTime::UNIX_EPOCH;
    let view = |activated_at, standing| BankView {
        balance: Kopecks::ZERO,
        remaining_top_up: Kopecks::ZERO,
        activated_at,
        standing,
        seen_at: now,
    };
    let told = |standing| CardAtBank {
        card: card(None).id(),
        employee: None,
        bank_status: BankStatus::of(standing, BlockState::Open),
    };
    let asleep = view(None, Standing::Open);
    for &before in Standing::ALL {
        for &after in Standing::ALL {
            let events = card(None).bank_events(&view(Some(now), before), &view(Some(now), after));
            let expected = (before != after).then_some(CardEvent::BankStatus(told(after)));
            assert_eq!(events, expected.into_iter().collect::<Vec<_>>());
        }
        let events = card(None).bank_events(&asleep, &view(Some(now), before));
        assert_eq!(events[0], CardEvent::Activated(told(before)));
    }
    let richer = BankView { balance: Kopecks::new(1), ..asleep };
    assert_eq!(card(None).bank_events(&asleep, &richer), []);
}

/// Every way a card can be linked × every status asked for × every standing × main card or none × the day.
/// The card with the block that its first status of this kind brings.
fn blocked_by(status: CardStatus, card: Card) -> Card {
    let block = match status {
        CardStatus::TemporarilyBlocked => PartnerBlock { state: BlockState::Blocking, change: 1 },
        CardStatus::Main | CardStatus::Additional => PartnerBlock::default(),
    };
    Card::from_stored(CardFields { block, ..card.into_fields() })
}

#[test]
fn the_whole_table_of_linking() {
    let links = [None].into_iter().chain(
        [1, 2].into_iter().flat_map(|id| CardStatus::ALL.iter().map(move |status| Some((id, *status)))),
    );
    for link in links {
        for &asked in CardStatus::ALL {
            for &standing in Standing::ALL {
                for main in [None, Some(CardId::new(Uuid::from_u128(5)))] {
                    for today in [LAST_DAY, DAY_AFTER] {
                        let result = card(link).link_to(employee(1), asked, main, standing, today);
                        let expected = match link {
                            _ if standing == Standing::Closed => Err(LinkRefusal::Closed),
                            Some((2, _)) => Err(LinkRefusal::LinkedToAnother),
                            Some((_, status)) if status == asked => Ok(LinkOutcome::Unchanged(card(link))),
                            Some(_) => Err(LinkRefusal::AlreadyLinked),
                            None if today > LAST_DAY => Err(LinkRefusal::Expired),
                            None if standing != Standing::Open => Err(LinkRefusal::NotAvailable),
                            None if asked == CardStatus::Main && main.is_some() => {
                                Err(LinkRefusal::HasMainCard)
                            }
                            None => Ok(LinkOutcome::Changed(blocked_by(asked, card(Some((1, asked)))))),
                        };
                        assert_eq!(result, expected, "{link:?} {asked} {standing} {main:?} {today}");
                    }
                }
            }
        }
    }
}

#[test]
fn the_whole_table_of_switching() {
    let (own, other) = (CardId::new(Uuid::from_u128(9)), CardId::new(Uuid::from_u128(5)));
    for &present in CardStatus::ALL {
        for &asked in CardStatus::ALL {
            for &standing in Standing::ALL {
                for main in [None, Some(own), Some(other)] {
                    for today in [LAST_DAY, DAY_AFTER] {
                        let before = card(Some((1, present)));
                        let link = before.link().unwrap();
                        let result = before.clone().switch(link, asked, main, standing, today);
                        let expected = if standing == Standing::Closed {
                            Err(SwitchRefusal::Closed)
                        } else if today > LAST_DAY {
                            Err(SwitchRefusal::Expired)
                        } else if standing != Standing::Open {
                            Err(SwitchRefusal::Blocked)
                        } else if present == asked {
                            Ok(LinkOutcome::Unchanged(before))
                        } else if asked == CardStatus::Main && main == Some(other) {
                            Err(SwitchRefusal::HasMainCard)
                        } else {
                            Ok(LinkOutcome::Changed(blocked_by(asked, card(Some((1, asked))))))
                        };
                        assert_eq!(result, expected, "{present} {asked} {standing} {main:?} {today}");
                    }
                }
            }
        }
    }
}

#[test]
fn linking_and_switching_to_blocked_blocks_the_card() {
    let linked =
        card(None).link_to(employee(1), CardStatus::TemporarilyBlocked, None, Standing::Open, LAST_DAY);
    let Ok(LinkOutcome::Changed(linked)) = linked else { panic!("{linked:?}") };
    assert_eq!(linked.block(), PartnerBlock { state: BlockState::Blocking, change: 1 });
    let link = linked.link().unwrap();
    let (blocked, told) = linked.clone().confirm_block(Standing::Open).unwrap();
    assert!(matches!(told, Some(CardEvent::BankStatus(card)) if card.bank_status == BankStatus::Blocked));
    assert_eq!(blocked.clone().confirm_block(Standing::Open), None);
    // While the bank itself blocks it, nothing changes for the partner.
    assert_eq!(linked.confirm_block(Standing::Blocked).unwrap().1, None);
    let freed = blocked.switch(link, CardStatus::Main, None, Standing::Open, LAST_DAY);
    let Ok(LinkOutcome::Changed(freed)) = freed else { panic!("{freed:?}") };
    assert_eq!(freed.block(), PartnerBlock { state: BlockState::Unblocking, change: 2 });
}

/// Every standing, with and without activation and money, on the last day and after it.
#[test]
fn the_whole_table_of_unlinking() {
    let linked = card(Some((1, CardStatus::TemporarilyBlocked)));
    let block = PartnerBlock { state: BlockState::Blocked, change: 3 };
    let linked = Card::from_stored(CardFields { block, ..linked.into_fields() });
    for &standing in Standing::ALL {
        for (today, is_expired) in [(LAST_DAY, false), (DAY_AFTER, true)] {
            for activated_at in [None, Some(OffsetDateTime::UNIX_EPOCH)] {
                for balance in [-1, 0, 1] {
                    let bank = BankView {
                        balance: Kopecks::new(balance),
                        remaining_top_up: Kopecks::ZERO,
                        activated_at,
                        standing,
                        seen_at: OffsetDateTime::UNIX_EPOCH,
                    };
                    let is_over = standing == Standing::Closed || is_expired;
                    assert_eq!(linked.is_over(standing, today), is_over);
                    let unused = activated_at.is_none() && balance == 0;
                    let unlinked = linked.clone().unlink(&bank, today);
                    assert_eq!(unlinked.is_ok(), is_over || unused, "{bank:?}");
                    let Ok(unlinked) = unlinked else { continue };
                    assert_eq!(unlinked.link(), None);
                    // The block of a card that is free again is lifted.
                    let free = PartnerBlock { state: BlockState::Unblocking, change: 4 };
                    assert_eq!(unlinked.block(), if is_over { block } else { free });
                }
            }
        }
    }
}

#[test]
fn a_closed_card_never_changes() {
    let (expired, main) = (date!(2100 - 01 - 01), CardStatus::Main);
    for today in [LAST_DAY, expired] {
        let linked = card(None).link_to(employee(1), main, None, Standing::Closed, today);
        assert_eq!(linked, Err(LinkRefusal::Closed));
        let held = card(Some((1, main)));
        let link = held.link().unwrap();
        let switched = held.switch(link, CardStatus::Additional, None, Standing::Closed, today);
        assert_eq!(switched, Err(SwitchRefusal::Closed));
    }
}

#[test]
fn a_card_is_frozen_linked_or_not() {
    let blocking = PartnerBlock { state: BlockState::Blocking, change: 1 };
    for status in [CardStatus::Main, CardStatus::Additional] {
        let (frozen, told) = card(Some((1, status))).freeze(Standing::Open).unwrap();
        assert_eq!(
            frozen,
            blocked_by(CardStatus::TemporarilyBlocked, card(Some((1, CardStatus::TemporarilyBlocked))))
        );
        let Some(CardEvent::Status(holder)) = told else { panic!("{told:?}") };
        assert_eq!(
            (holder.status, holder.bank_status),
            (CardStatus::TemporarilyBlocked, BankStatus::Blocking)
        );
        assert_eq!(frozen.freeze(Standing::Open), None);
    }
    let (frozen, told) = card(None).freeze(Standing::Open).unwrap();
    assert_eq!((frozen.link(), frozen.block()), (None, blocking));
    assert!(matches!(told, Some(CardEvent::BankStatus(card)) if card.bank_status == BankStatus::Blocking));
    assert_eq!(frozen.freeze(Standing::Open), None);
    // While the bank itself blocks it, nothing changes for the partner.
    assert_eq!(card(None).freeze(Standing::Blocked).unwrap().1, None);
}

/// Frozen and unfrozen, it is as it was, but for the number of its block.
#[test]
fn an_unfrozen_card_has_its_status_again() {
    let other = CardId::new(Uuid::from_u128(8));
    let unblocked = |card: &Card| card.clone().into_fields().link;
    for status in [CardStatus::Main, CardStatus::Additional] {
        let before = card(Some((1, status)));
        let (frozen, _) = before.clone().freeze(Standing::Open).unwrap();
        let (unfrozen, told) = frozen.clone().unfreeze(status, None, Standing::Open, LAST_DAY).unwrap();
        assert_eq!(unblocked(&unfrozen), unblocked(&before));
        assert!(!unfrozen.block().is_set());
        assert!(matches!(told, CardEvent::Status(holder) if holder.status == status));
        let (beside, _) = frozen.clone().unfreeze(status, Some(other), Standing::Blocked, LAST_DAY).unwrap();
        assert_eq!(beside.link().unwrap().status, CardStatus::Additional);
        assert_eq!(frozen.clone().unfreeze(status, None, Standing::Closed, LAST_DAY), None);
        assert_eq!(frozen.unfreeze(status, None, Standing::Open, DAY_AFTER), None);
        assert_eq!(before.unfreeze(status, None, Standing::Open, LAST_DAY), None);
    }
    assert_eq!(card(None).unfreeze(CardStatus::Main, None, Standing::Open, LAST_DAY), None);
}

#[test]
fn a_closed_card_keeps_its_place_and_is_no_main_card() {
    for status in [CardStatus::Main, CardStatus::Additional] {
        let (closed, told) = card(Some((1, status))).close().unwrap();
        let link = closed.link().unwrap();
        assert_eq!((link.employee, link.status), (employee(1), CardStatus::TemporarilyBlocked));
        assert_eq!(closed.block(), PartnerBlock::default());
        let CardEvent::Status(holder) = told else { panic!("{told:?}") };
        assert_eq!((holder.status, holder.bank_status), (CardStatus::TemporarilyBlocked, BankStatus::Closed));
        assert_eq!(closed.close(), None);
    }
    assert_eq!(card(None).close(), None);
    for &before in Standing::ALL {
        for &next in Standing::ALL {
            let expected = if before == Standing::Closed { before } else { next };
            assert_eq!(before.followed_by(next), expected);
        }
    }
}
