use std::sync::Mutex;

use super::*;
use crate::testing::*;
use kopeck_domain::card::Standing;
use kopeck_domain::card_number::CardNumber;
use kopeck_port_bank::{BankCard, BankError, MockBankGateway};
use kopeck_port_store::BankFeedState;
use kopeck_port_store::mock::{InPlaceStore, MockUnit};
use time::OffsetDateTime;
use time::macros::datetime;

/// The first moment of the day on which every test starts.
const MIDNIGHT: OffsetDateTime = datetime!(2026-03-09 21:00 UTC);

type Accounts = Arc<Mutex<Vec<(u64, OffsetDateTime)>>>;

/// Cards by number with the moments of their last refresh, stored like a database does.
fn stored(accounts: &[(u64, OffsetDateTime)]) -> (MockUnit, Accounts) {
    let accounts: Accounts = Arc::new(Mutex::new(accounts.to_vec()));
    let mut unit = MockUnit::default();
    let list = Arc::clone(&accounts);
    unit.cards.expect_accounts_due().returning(move |day, limit| {
        let mut due = list.lock().unwrap().clone();
        due.retain(|(_, updated_at)| !day.contains(updated_at));
        due.sort_by_key(|(_, updated_at)| *updated_at);
        due.truncate(usize::try_from(limit).unwrap());
        let due = due.into_iter().map(|(n, _)| AccountDue {
            partner: PARTNER,
            card: card_id(u128::from(n)),
            number: number(n),
        });
        Ok(due.collect())
    });
    unit.bank_feed.expect_state().returning(|| Ok(BankFeedState::default()));
    unit.cards.expect_get().returning(|_, _| Ok(Some(card_record(1))));
    unit.cards.expect_set_bank_view().returning(|_, _, _, _| Ok(true));
    unit.transactions.expect_latest_id().returning(|_, _| Ok(0));
    unit.transactions.expect_append().returning(|_, _, _, _| Ok(()));
    let list = Arc::clone(&accounts);
    unit.cards.expect_set_account().returning(move |partner, card, account| {
        assert_eq!((partner, account.value), (PARTNER, kopecks(90)));
        let mut list = list.lock().unwrap();
        let row = list.iter_mut().find(|(n, _)| card_id(u128::from(*n)) == card).unwrap();
        row.1 = account.updated_at;
        Ok(())
    });
    (unit, accounts)
}

fn answer() -> BankCard {
    BankCard {
        balance: kopecks(70),
        remaining_top_up: kopecks(80),
        account: kopecks(90),
        activated_at: None,
        standing: Standing::Open,
        valid_until: LAST_DAY,
    }
}

/// A bank that responds for the cards of `fate`, and the numbers of its queries.
fn bank(
    fate: impl Fn(CardNumber) -> Result<Option<BankCard>, BankError> + Send + 'static,
) -> (MockBankGateway, Arc<Mutex<Vec<CardNumber>>>) {
    let (mut bank, asked) = (MockBankGateway::new(), Arc::<Mutex<Vec<_>>>::default());
    let log = Arc::clone(&asked);
    bank.expect_card().returning(move |number| {
        log.lock().unwrap().push(number);
        fate(number)
    });
    bank.expect_transactions().returning(|_, _, _| Ok(Vec::new()));
    (bank, asked)
}

fn refresher(bench: &Bench, unit: MockUnit, bank: MockBankGateway) -> AccountRefresher {
    AccountRefresher::new(Arc::new(InPlaceStore::new(unit)), Arc::new(bank), bench.shared())
}

/// Rounds until nothing is left to do at this moment.
fn settle(refresher: &mut AccountRefresher) {
    while refresher.run_once(&|| false).unwrap() == Progress::More {}
}

fn silence() -> Result<Option<BankCard>, BankError> {
    Err(BankError::Unavailable("down".to_owned()))
}

#[test]
fn a_card_is_due_from_midnight_of_the_service_on() {
    let (bench, before) = (Bench::new(), MIDNIGHT - Duration::microseconds(1));
    let (unit, accounts) = stored(&[(1, before), (2, MIDNIGHT), (3, BEFORE)]);
    let (bank, asked) = bank(|_| Ok(Some(answer())));
    settle(&mut refresher(&bench, unit, bank));
    assert_eq!(*accounts.lock().unwrap(), [(1, START), (2, MIDNIGHT), (3, START)]);
    assert_eq!(*asked.lock().unwrap(), [number(3), number(1)], "the longest due comes first");
}

/// Another server's clock may be ahead: what it refreshed after its midnight is fresh for this server too.
#[test]
fn a_refresh_of_the_day_by_a_clock_that_is_ahead_counts() {
    let (bench, next) = (Bench::new(), MIDNIGHT + Duration::DAY);
    let (ahead, beyond) = (next + CLOCK_SKEW - Duration::SECOND, next + CLOCK_SKEW);
    let (unit, accounts) = stored(&[(1, ahead), (2, beyond)]);
    let (bank, _) = bank(|_| Ok(Some(answer())));
    settle(&mut refresher(&bench, unit, bank));
    assert_eq!(*accounts.lock().unwrap(), [(1, ahead), (2, START)]);
}

#[test]
fn once_a_day_however_many_days_the_clock_jumps() {
    let (bench, cards) = (Bench::new(), [(1, BEFORE), (2, BEFORE)]);
    let (unit, accounts) = stored(&cards);
    let (bank, asked) = bank(|_| Ok(Some(answer())));
    let mut refresher = refresher(&bench, unit, bank);
    settle(&mut refresher);
    bench.clock.advance(Duration::hours(11));
    settle(&mut refresher);
    assert_eq!(asked.lock().unwrap().len(), 2, "the day has not ended");
    bench.clock.advance(Duration::days(40));
    settle(&mut refresher);
    settle(&mut refresher);
    assert_eq!(asked.lock().unwrap().len(), 4);
    let now = START + Duration::hours(11) + Duration::days(40);
    assert_eq!(*accounts.lock().unwrap(), [(1, now), (2, now)]);
}

#[test]
fn more_than_a_batch_is_refreshed_batch_by_batch() {
    let (bench, cards) = (Bench::new(), (1..=250).map(|n| (n, BEFORE)).collect::<Vec<_>>());
    let (unit, accounts) = stored(&cards);
    let (bank, asked) = bank(|_| Ok(Some(answer())));
    settle(&mut refresher(&bench, unit, bank));
    assert!(accounts.lock().unwrap().iter().all(|(_, updated_at)| *updated_at == START));
    assert_eq!(asked.lock().unwrap().len(), 250);
}

/// Silent cards at the head of the list, more than end a round and more than fill a batch.
#[test]
fn cards_without_a_response_do_not_delay_the_others() {
    for (silent, unknown) in [(1, 0), (120, 0), (0, 120), (7, 7)] {
        let bench = Bench::new();
        let odd = |n: u64| n <= silent + unknown;
        let at = |n| if odd(n) { BEFORE } else { BEFORE + Duration::SECOND };
        let (unit, accounts) = stored(&(1..=300).map(|n| (n, at(n))).collect::<Vec<_>>());
        let (bank, _) = bank(move |card| match card {
            card if card <= number(silent) => silence(),
            card if card <= number(silent + unknown) => Ok(None),
            _ => Ok(Some(answer())),
        });
        let mut refresher = refresher(&bench, unit, bank);
        for _ in 0..silent + 10 {
            refresher.run_once(&|| false).unwrap();
        }
        for (n, updated_at) in accounts.lock().unwrap().iter() {
            assert_eq!(*updated_at, if odd(*n) { BEFORE } else { START }, "{n} of {silent} and {unknown}");
        }
    }
}

#[test]
fn accounts_without_a_response_are_refreshed_once_the_bank_recovers() {
    let bench = Bench::new();
    let (unit, accounts) = stored(&(1..=20).map(|n| (n, BEFORE)).collect::<Vec<_>>());
    let well = Arc::new(Mutex::new(false));
    let state = Arc::clone(&well);
    let (bank, asked) = bank(move |_| if *state.lock().unwrap() { Ok(Some(answer())) } else { silence() });
    let mut refresher = refresher(&bench, unit, bank);
    assert_eq!(refresher.run_once(&|| false), Ok(Progress::Idle));
    assert_eq!(asked.lock().unwrap().len(), 5, "a bank that is away is not asked for every card");
    *well.lock().unwrap() = true;
    bench.clock.advance(PAUSE);
    settle(&mut refresher);
    assert!(accounts.lock().unwrap().iter().all(|(_, updated_at)| *updated_at == START + PAUSE));
}

#[test]
fn a_stop_comes_before_the_next_call() {
    let (bench, cards) = (Bench::new(), [(1, BEFORE), (2, BEFORE)]);
    let (unit, _) = stored(&cards);
    let (bank, asked) = bank(|_| Ok(Some(answer())));
    let stopping = Arc::clone(&asked);
    let mut refresher = refresher(&bench, unit, bank);
    assert_eq!(refresher.run_once(&|| !stopping.lock().unwrap().is_empty()), Ok(Progress::Idle));
    assert_eq!(asked.lock().unwrap().len(), 1);
}

/// The clock was three years ahead for a while: cards that were refreshed meanwhile are due as if it had not been.
#[test]
fn a_refresh_in_the_future_does_not_count() {
    let bench = Bench::new();
    let (unit, accounts) = stored(&[(1, START), (2, START - Duration::DAY), (3, START)]);
    let (bank, asked) = bank(|_| Ok(Some(answer())));
    let mut refresher = refresher(&bench, unit, bank);
    bench.clock.step(Duration::days(1_100));
    while refresher.run_once(&|| false) == Ok(Progress::More) {}
    assert_eq!(asked.lock().unwrap().len(), 3);
    bench.clock.step(-Duration::days(1_100));
    while refresher.run_once(&|| false) == Ok(Progress::More) {}
    assert_eq!(asked.lock().unwrap().len(), 6);
    assert!(accounts.lock().unwrap().iter().all(|(_, updated_at)| *updated_at == START));
}

#[test]
fn a_store_that_fails_ends_the_round_and_the_next_goes_on() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.bank_feed.expect_state().returning(|| Ok(BankFeedState::default()));
    unit.cards.expect_accounts_due().returning(|_, _| Err(broken()));
    let mut refresher = refresher(&bench, unit, MockBankGateway::new());
    assert_eq!(refresher.run_once(&|| false), Err(broken()));
    assert_eq!(refresher.run_once(&|| false), Err(broken()));
}

/// Looking costs a reading of the clock while there is nothing to do.
#[test]
fn an_idle_refresher_does_not_ask_the_store_again_within_a_minute() {
    let (bench, mut unit) = (Bench::new(), MockUnit::default());
    unit.bank_feed.expect_state().returning(|| Ok(BankFeedState::default()));
    let looked = Arc::<Mutex<u32>>::default();
    let count = Arc::clone(&looked);
    unit.cards.expect_accounts_due().returning(move |_, _| {
        *count.lock().unwrap() += 1;
        Ok(Vec::new())
    });
    let mut refresher = refresher(&bench, unit, MockBankGateway::new());
    for (seconds, times) in [(0, 1), (30, 1), (29, 1), (1, 2), (10, 2)] {
        bench.clock.advance(Duration::seconds(seconds));
        assert_eq!(refresher.run_once(&|| false), Ok(Progress::Idle));
        assert_eq!(*looked.lock().unwrap(), times, "{seconds} s later");
    }
}
