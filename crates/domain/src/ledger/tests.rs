use super::*;
use proptest::prelude::*;
use uuid::Uuid;

fn movement(kind: MovementKind, amount: i64) -> Movement {
    Movement::new(kind, Reference::Order(OrderId::new(Uuid::nil())), Kopecks::new(amount)).unwrap()
}

#[test]
fn a_movement_is_a_requests_or_a_transfers() {
    let id = Uuid::from_u128(1);
    for reference in [
        Reference::Order(OrderId::new(id)),
        Reference::Replenishment(ReplenishmentId::new(id)),
        Reference::Closing(ClosingId::new(id)),
        Reference::Withdrawal(WithdrawalId::new(id)),
    ] {
        assert_eq!(reference.request(), Some(id));
    }
    let transfer = TransferReference::parse("bank-statement-17").unwrap();
    assert_eq!(Reference::Transfer(transfer).request(), None);
}

#[test]
fn a_hold_needs_money() {
    let poor = Balances::default().after(&movement(MovementKind::Deposit, 99)).unwrap();
    let refusal = poor.after(&movement(MovementKind::Hold, 100));
    assert_eq!(refusal, Err(LedgerError::Insufficient(Account::Available)));
    assert!(poor.after(&movement(MovementKind::Hold, 99)).is_ok());
}

#[test]
fn money_that_is_not_held_can_neither_be_captured_nor_released() {
    let balances = Balances::default().after(&movement(MovementKind::Deposit, 100)).unwrap();
    for kind in [MovementKind::Capture, MovementKind::Release] {
        assert_eq!(balances.after(&movement(kind, 1)), Err(LedgerError::Insufficient(Account::Held)));
    }
}

#[test]
fn no_more_comes_back_than_was_spent_and_no_more_is_paid_out_than_is_available() {
    let steps = [(MovementKind::Deposit, 100), (MovementKind::Hold, 60), (MovementKind::Capture, 60)];
    let balances = steps
        .into_iter()
        .fold(Balances::default(), |sheet, (kind, amount)| sheet.after(&movement(kind, amount)).unwrap());
    let refused = balances.after(&movement(MovementKind::Return, 61));
    assert_eq!(refused, Err(LedgerError::Insufficient(Account::Spent)));
    let returned = balances.after(&movement(MovementKind::Return, 60)).unwrap();
    assert_eq!((returned.available, returned.spent), (Kopecks::new(100), Kopecks::ZERO));
    for kind in [MovementKind::Withdrawal, MovementKind::Correction] {
        let refused = balances.after(&movement(kind, 41));
        assert_eq!(refused, Err(LedgerError::Insufficient(Account::Available)));
        let paid = balances.after(&movement(kind, 40)).unwrap();
        assert_eq!((paid.deposited, paid.available), (Kopecks::new(-60), Kopecks::ZERO));
    }
}

#[test]
fn a_reference_has_1_to_64_visible_ascii_characters() {
    let longest = "r".repeat(64);
    for text in ["7", "~!", &longest] {
        assert_eq!(TransferReference::parse(text).unwrap().as_str(), text);
    }
    for text in ["", " ", "a b", "a\n", "\u{7f}", "é", &"r".repeat(65)] {
        assert!(TransferReference::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_reason_has_1_to_200_characters() {
    assert_eq!(parse_reason(" по ошибке ").unwrap(), "по ошибке");
    assert!(parse_reason(&"ж".repeat(200)).is_ok());
    for text in ["", " ", "a\nb", &"ж".repeat(201)] {
        assert!(parse_reason(text).is_err(), "{text:?}");
    }
}

#[test]
fn the_balance_is_what_is_available_and_what_is_held() {
    let [deposited, available, held, spent] = [-10, 5, 3, 2].map(Kopecks::new);
    let balances = Balances { deposited, available, held, spent };
    let on = Account::ALL.iter().map(|account| (*account, balances.on(*account)));
    let expected = [
        (Account::Deposited, deposited),
        (Account::Available, available),
        (Account::Held, held),
        (Account::Spent, spent),
    ];
    assert!(on.eq(expected));
    assert_eq!(balances.balance(), Ok(Kopecks::new(8)));
}

#[test]
fn zero_and_negative_amounts_cannot_be_moved() {
    let reference = || Reference::Order(OrderId::new(Uuid::nil()));
    for amount in [0, -1, i64::MIN] {
        let refused = Movement::new(MovementKind::Deposit, reference(), Kopecks::new(amount));
        assert_eq!(refused, Err(LedgerError::NotPositive));
    }
}

#[test]
fn every_kind_of_movement_is_an_entry_of_its_own() {
    for kind in MovementKind::ALL {
        assert_eq!(EntryType::from(*kind).kind(), *kind);
    }
    assert_eq!(EntryType::ALL.len(), MovementKind::ALL.len());
}

#[test]
fn an_overflow_changes_nothing() {
    let rich = Balances::default().after(&movement(MovementKind::Deposit, i64::MAX)).unwrap();
    assert!(matches!(rich.after(&movement(MovementKind::Deposit, 2)), Err(LedgerError::Overflow(_))));
}

proptest! {
    #[test]
    fn accounts_always_add_up_to_zero(steps in prop::collection::vec((0..MovementKind::ALL.len(), 1_i64..1_000), 0..200)) {
        let mut balances = Balances::default();
        for (kind, amount) in steps {
            let movement = movement(MovementKind::ALL[kind], amount);
            prop_assert_eq!(Kopecks::sum(movement.entries().map(|entry| entry.amount)), Ok(Kopecks::ZERO));
            if let Ok(next) = balances.after(&movement) {
                prop_assert_eq!(balances.available.plus(movement.change_of_available()), Ok(next.available));
                balances = next;
            }
            prop_assert_eq!(Kopecks::sum(Account::ALL.iter().map(|account| balances.on(*account))), Ok(Kopecks::ZERO));
            prop_assert!(!balances.available.is_negative() && !balances.held.is_negative() && !balances.spent.is_negative());
        }
    }
}
