use std::sync::Mutex;

use super::*;
use crate::testing::*;
use kopeck_domain::card::{BankStatus, BlockState, CardFields, CardStatus, PartnerBlock};
use kopeck_domain::event::EventData;
use kopeck_port_bank::{BankError, MockBankGateway};
use kopeck_port_store::CardRecord;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};

/// A linked card with this block.
fn record(n: u64, state: BlockState, change: u32) -> CardRecord {
    let record = linked(n, employee_id(1), CardStatus::TemporarilyBlocked);
    let block = PartnerBlock { state, change };
    let card = Card::from_stored(CardFields { block, ..record.card.into_fields() });
    CardRecord { card, ..record }
}

/// Cards that are stored as the test changes them.
type Stored = Arc<Mutex<Vec<CardRecord>>>;

fn stored(records: &[CardRecord]) -> (MockUnit, Stored) {
    let stored: Stored = Arc::new(Mutex::new(records.to_vec()));
    let mut unit = MockUnit::default();
    let cards = Arc::clone(&stored);
    unit.cards.expect_unconfirmed_blocks().returning(move |_| {
        let mut due = cards.lock().unwrap().clone();
        due.retain(|record| record.card.block().unconfirmed().is_some());
        Ok(due.into_iter().map(|record| (PARTNER, record.card)).collect())
    });
    let cards = Arc::clone(&stored);
    unit.cards.expect_get().returning(move |_, id| {
        Ok(cards.lock().unwrap().iter().find(|record| record.card.id() == id).cloned())
    });
    let cards = Arc::clone(&stored);
    unit.cards.expect_set_link().returning(move |_, card| {
        cards.lock().unwrap().iter_mut().find(|record| record.card.id() == card.id()).unwrap().card =
            card.clone();
        Ok(())
    });
    (unit, stored)
}

fn sender(unit: MockUnit, bank: MockBankGateway) -> (BlockSender, Arc<InPlaceStore<MockUnit>>) {
    let store = Arc::new(InPlaceStore::new(unit));
    (BlockSender::new(Arc::clone(&store) as _, Arc::new(bank), Bench::new().shared()), store)
}

fn states(stored: &Stored) -> Vec<BlockState> {
    stored.lock().unwrap().iter().map(|record| record.card.block().state).collect()
}

#[test]
fn the_bank_is_notified_under_a_key_of_the_change_until_it_confirms() {
    let records = [
        record(1, BlockState::Blocking, 1),
        record(2, BlockState::Unblocking, 2),
        record(3, BlockState::Blocked, 1),
    ];
    let (unit, stored) = stored(&records);
    let mut bank = MockBankGateway::new();
    let instruction = |n, blocked, change| Instruction::SetBlock { card: number(n), blocked, change };
    let submission = move |n: u64, blocked, change| Submission {
        key: BankKey::new(format!("block/{}/{change}", card_id(n.into()))).unwrap(),
        instruction: instruction(n, blocked, change),
    };
    let away = || Err(BankError::Unknown("no answer".to_owned()));
    let both = [submission(1, true, 1), submission(2, false, 2)];
    bank.expect_submit()
        .withf(move |sent| *sent == both)
        .times(1)
        .returning(move |_| vec![away(), Ok(Verdict::Done)]);
    let first = [submission(1, true, 1)];
    bank.expect_submit().withf(move |sent| *sent == first).times(1).returning(|_| vec![Ok(Verdict::Done)]);
    let (mut sender, store) = sender(unit, bank);
    assert_eq!(sender.run_once(), Ok(Progress::BankUnavailable));
    assert_eq!(states(&stored), [BlockState::Blocking, BlockState::Open, BlockState::Blocked]);
    assert_eq!(sender.run_once(), Ok(Progress::More));
    assert_eq!(states(&stored), [BlockState::Blocked, BlockState::Open, BlockState::Blocked]);
    assert_eq!(sender.run_once(), Ok(Progress::Idle));
    let told = transact(&*store, Access::Read, |unit| unit.events().after(PARTNER, 0, &[], 10)).unwrap();
    let statuses = told.iter().map(|event| match &event.event.data {
        EventData::CardBankStatus(card) => (card.card, card.bank_status),
        other => panic!("{other:?}"),
    });
    assert_eq!(
        statuses.collect::<Vec<_>>(),
        [(card_id(2), BankStatus::Open), (card_id(1), BankStatus::Blocked)]
    );
}

#[test]
fn a_block_without_a_verdict_is_sent_again_later() {
    let (unit, stored) = stored(&[record(1, BlockState::Blocking, 1), record(2, BlockState::Blocking, 1)]);
    let mut bank = MockBankGateway::new();
    bank.expect_submit().times(1).returning(|_| vec![Ok(Verdict::Pending), Ok(Verdict::Pending)]);
    bank.expect_submit().times(1).returning(|_| vec![Ok(Verdict::Done), Ok(Verdict::Done)]);
    let (mut sender, _) = sender(unit, bank);
    assert_eq!(sender.run_once(), Ok(Progress::BankUnavailable));
    assert_eq!(states(&stored), [BlockState::Blocking; 2]);
    assert_eq!(sender.run_once(), Ok(Progress::More));
    assert_eq!(states(&stored), [BlockState::Blocked; 2]);
}

#[test]
fn a_block_that_the_partner_changed_meanwhile_is_not_confirmed() {
    let (unit, stored) = stored(&[record(1, BlockState::Blocking, 1)]);
    let mut bank = MockBankGateway::new();
    let changed = Arc::clone(&stored);
    bank.expect_submit().times(1).returning(move |_| {
        changed.lock().unwrap()[0] = record(1, BlockState::Unblocking, 2);
        vec![Ok(Verdict::Done)]
    });
    let (mut sender, _) = sender(unit, bank);
    assert_eq!(sender.run_once(), Ok(Progress::More));
    assert_eq!(states(&stored), [BlockState::Unblocking]);
}

/// The card stays blocked for the partner; a person has to find out why.
#[test]
fn a_refused_block_is_not_sent_again() {
    let (unit, stored) = stored(&[record(1, BlockState::Blocking, 1), record(2, BlockState::Blocking, 1)]);
    let mut bank = MockBankGateway::new();
    let refused = |reason| Ok(Verdict::Declined(reason));
    // The second card is closed.
    bank.expect_submit()
        .times(1)
        .returning(move |_| vec![refused(DeclineReason::Refused), refused(DeclineReason::Blocked)]);
    let (mut sender, _) = sender(unit, bank);
    assert_eq!(sender.run_once(), Ok(Progress::More));
    assert_eq!(sender.run_once(), Ok(Progress::Idle));
    assert_eq!(states(&stored), [BlockState::Blocking, BlockState::Blocked]);
}
